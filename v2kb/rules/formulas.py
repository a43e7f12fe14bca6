"""The formulas of a spec document: where they stand, which symbols they use, and what is left of a renamed one."""

import copy
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from v2kb.rules.arithmetic import Token, tokenise
from v2kb.rules.expressions import FUNCTIONS, ExpressionError

# Fields whose text is a formula, by their names.
FORMULAS = frozenset(
    {
        *("m", "tile_m", "tiles_per_task", "wedge_rounds", "low", "high"),
        *("ordinal", "size_bytes", "alignment", "page_count", "release_step", "offset_bytes", "static_shared_bytes"),
        *("columns", "start", "alloc_columns", "slots", "count", "tx_bytes", "num_op_sems"),
        *("depth", "full_base", "empty_base", "full_arrivals", "empty_arrivals", "arrivals"),
        *("stages", "num_tasks", "listed", "iterations", "active_low", "active_high"),
        *("items", "tasks", "old_warps", "new_warps", "grid", "launches", "weight_bytes", "layers"),
        *("inputs", "outputs", "register_split", "wrapper_inputs", "descriptor_rank", "instruction_dimensions"),
    }
)
# Names that mean something else than a symbol in these fields: the bytes of the region, the number of the slot, the
# active experts.
_LOCAL = {"page_count": "size", "release_step": "s", "offset_bytes": "s", "iterations": "active"}
_NAMED = ("symbols", "placeholders")


@dataclass(frozen=True, slots=True)
class Rename:
    """A name that `fields` formulas use and nothing defines any more, and the new symbol that it may have become."""

    old: str
    new: str
    fields: int


def renamed_symbols(document: Mapping[str, Any], before: Mapping[str, Any], known: Container[str]) -> list[Rename]:
    """Return what symbols of a canonical document were renamed to, while their old names are still used.

    `before` are the symbols that the spec had, `known` the names that have a value without being symbols. A new symbol
    that nothing uses stands for the old one; of several, those with the formula that the old one had.
    """
    symbols, used = document["symbols"], _uses(document)
    new = [name for name in symbols if name not in before and not used[name] and name not in known]
    renames = []
    for old, fields in used.items():
        if old not in symbols and old not in known:
            alike = [name for name in new if symbols[name] == before.get(old)]
            renames += [Rename(old, name, fields) for name in alike or new]
    return renames


def rename_symbol(document: Mapping[str, Any], old: str, new: str) -> dict[str, Any]:
    """Return a copy of a document, canonical or as typed, in which formulas, claims and amendments use `new` for
    `old`.
    """
    renamed = copy.deepcopy(dict(document))
    for holder, field in _formulas(renamed):
        for token in reversed(_names(holder[field], field)):
            if token.text == old:
                text = holder[field]
                holder[field] = f"{text[: token.position]}{new}{text[token.position + len(old) :]}"
    for entry in _amended(renamed, old):
        entry["field"] = f"symbols.{new}"
    return renamed


def _amended(document: Mapping[str, Any], symbol: str) -> list[dict[str, Any]]:
    """The entries of amendments that set a symbol."""
    amendments = document.get("amendments")
    listed = [a.get("fields") for a in amendments if isinstance(a, dict)] if isinstance(amendments, list) else []
    entries = [entry for fields in listed if isinstance(fields, list) for entry in fields]
    return [entry for entry in entries if isinstance(entry, dict) and entry.get("field") == f"symbols.{symbol}"]


def _uses(document: Mapping[str, Any]) -> Counter[str]:
    """Each name that formulas use, with the number of those formulas."""
    return Counter(
        name for holder, field in _formulas(document) for name in {t.text for t in _names(holder[field], field)}
    )


def _formulas(value: Any, above: str = "") -> Iterator[tuple[dict[str, Any], str]]:
    """(holder, field) of each formula. A claim's symbol is one, and so is what an amendment makes of a formula."""
    if isinstance(value, list):
        for item in value:
            yield from _formulas(item, above)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            if not isinstance(item, str):
                yield from _formulas(item, name)
            elif (above, name) == ("fields", "value"):
                if _is_formula(value.get("field")):
                    yield value, name
            elif name in FORMULAS or above in _NAMED or (above, name) == ("claims", "symbol"):
                yield value, name


def _is_formula(path: Any) -> bool:
    """True for the path of a field that holds a formula."""
    *_, above, name = ["", *str(path).split(".")]
    return name in FORMULAS or above in _NAMED


def _names(text: str, field: str) -> list[Token]:
    """The symbols in a formula; none while it can't be read."""
    try:
        tokens = tokenise(text)
    except ExpressionError:
        return []
    local = _LOCAL.get(field)
    return [t for t in tokens if t.kind == "name" and t.text not in FUNCTIONS and t.text != local]
