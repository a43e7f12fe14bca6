"""Shapes of structured documents: what each field may hold, its one spelling, and what to say when it fails.

A shape reads any value and returns a canonical one (str, int, bool, None, list, dict), adding a `Problem` for
everything it had to leave out or cut. A shape never raises, and a missing value takes the field's blank.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from v2kb.rules.numbers import plain_decimal, read_decimal
from v2kb.rules.problem import Problem

Problems = list[Problem]
Shape = Callable[[Any, str, Problems], Any]

MAX_PROBLEMS = 200
_SHOWN = 40
# Control characters but tabs and newlines, and halves of surrogate pairs.
_NO_TEXT = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff]")


def add_problem(problems: Problems, field: str, message: str, fix: str) -> None:
    """Append a problem, up to MAX_PROBLEMS."""
    if len(problems) < MAX_PROBLEMS:
        problems.append(Problem(field, message, fix))


def type_name(value: Any) -> str:
    """Name a value's type in plain words."""
    names = {dict: "a set of fields", list: "a list", tuple: "a list", bool: "true or false", str: "text"}
    return names.get(type(value), "a number" if isinstance(value, (int, float)) else type(value).__name__)


def _clean(value: str, path: str, problems: Problems) -> str:
    text = value.replace("\r\n", "\n").replace("\r", "\n")
    kept = _NO_TEXT.sub("", text)
    if kept != text:
        add_problem(problems, path, "It holds characters that are not text.", "Remove the control characters.")
    return kept


def text(limit: int, *, lines: bool = False, blank: str = "") -> Shape:
    """Text of at most `limit` characters; on one line unless `lines`. Ends are trimmed, line ends are
    newlines.
    """

    def read(value: Any, path: str, problems: Problems) -> str:
        if value is None:
            return blank
        if not isinstance(value, str):
            add_problem(problems, path, f"It must be text, not {type_name(value)}.", "Write it as text.")
            return blank
        cleaned = _clean(value, path, problems)
        cleaned = cleaned.strip() if lines else " ".join(cleaned.split())
        if len(cleaned) > limit:
            add_problem(problems, path, f"It has {len(cleaned):,} characters; {limit:,} are kept.", "Shorten it.")
            cleaned = cleaned[:limit]
        return cleaned or blank

    return read


def formula(*, blank: str = "", limit: int = 400) -> Shape:
    """A size or count: an int or an expression over symbols. It is kept as text and evaluated by the rules."""
    as_text = text(limit, blank=blank)

    def read(value: Any, path: str, problems: Problems) -> str:
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value) if value.bit_length() <= 256 else "too large"
        if isinstance(value, float):
            add_problem(problems, path, "It must be a whole number or a formula.", "Write it as text, such as 3/2.")
            return blank
        return as_text(value, path, problems)

    return read


def decimal() -> Shape:
    """A decimal as text in its one spelling; text that is not a number stays as typed for the rules to
    refuse.
    """
    as_text = text(60)

    def read(value: Any, path: str, problems: Problems) -> str:
        if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 128:
            value = str(value)
        if isinstance(value, float):
            add_problem(problems, path, "It must be a number written as text.", 'Write "2.5" in quotation marks.')
            return ""
        kept = as_text(value, path, problems).replace("−", "-")
        number = read_decimal(kept)
        if number is None:
            return kept
        plain = plain_decimal(number)
        return plain.rstrip("0").rstrip(".") if "." in plain else plain

    return read


def one_of(*choices: str, blank: str = "") -> Shape:
    """One of a list of words; `blank` for none."""

    def read(value: Any, path: str, problems: Problems) -> str:
        if value is None or value == "":
            return blank
        if isinstance(value, str) and value.strip() in choices:
            return value.strip()
        shown = value[:_SHOWN] if isinstance(value, str) else type_name(value)
        add_problem(problems, path, f'"{shown}" is not one of the choices.', f"Use {', '.join(choices)}.")
        return blank

    return read


def flag(*, blank: bool = False) -> Shape:
    """True or false."""

    def read(value: Any, path: str, problems: Problems) -> bool:
        if isinstance(value, bool):
            return value
        if value is not None:
            add_problem(problems, path, f"It must be true or false, not {type_name(value)}.", "Tick it or leave it.")
        return blank

    return read


def matching(pattern: str, limit: int, fix: str) -> Shape:
    """Text on one line that matches `pattern` in full, or nothing."""
    compiled = re.compile(pattern)
    as_text = text(limit)

    def read(value: Any, path: str, problems: Problems) -> str:
        kept = as_text(value, path, problems)
        if kept and not compiled.fullmatch(kept):
            add_problem(problems, path, f'"{kept[:_SHOWN]}" is not written as expected.', fix)
            return ""
        return kept

    return read


def record(fields: Mapping[str, Shape]) -> Shape:
    """A set of named fields; unknown ones are reported and left out."""

    def read(value: Any, path: str, problems: Problems) -> dict[str, Any]:
        if value is not None and not isinstance(value, Mapping):
            add_problem(
                problems,
                path,
                f"It must be a set of fields, not {type_name(value)}.",
                f"Use {', '.join(fields)}.",
            )
            value = None
        source = value or {}
        joint = f"{path}." if path else ""
        for key in source:
            if key not in fields:
                add_problem(
                    problems,
                    f"{joint}{str(key)[:_SHOWN]}",
                    "This field is not known here.",
                    f"Use {', '.join(fields)}.",
                )
        return {name: shape(source.get(name), f"{joint}{name}", problems) for name, shape in fields.items()}

    return read


def optional(shape: Shape) -> Shape:
    """The shape, or None where nothing was given."""

    def read(value: Any, path: str, problems: Problems) -> Any:
        return None if value is None else shape(value, path, problems)

    return read


def rows(shape: Shape, limit: int) -> Shape:
    """A list of at most `limit` rows of one shape."""

    def read(value: Any, path: str, problems: Problems) -> list[Any]:
        if value is None:
            return []
        if not isinstance(value, (list, tuple)):
            add_problem(problems, path, f"It must be a list, not {type_name(value)}.", "Give a list of rows.")
            return []
        if len(value) > limit:
            add_problem(problems, path, f"It has {len(value):,} rows; {limit} are kept.", "Split or shorten it.")
        return [shape(item, f"{path}[{index}]", problems) for index, item in enumerate(value[:limit])]

    return read


def named(key_pattern: str, shape: Shape, limit: int, fix: str) -> Shape:
    """A mapping of at most `limit` names to values of one shape; names match `key_pattern` in full."""
    compiled = re.compile(key_pattern)

    def read(value: Any, path: str, problems: Problems) -> dict[str, Any]:
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            add_problem(problems, path, f"It must be a set of names, not {type_name(value)}.", fix)
            return {}
        if len(value) > limit:
            add_problem(problems, path, f"It has {len(value):,} names; {limit} are kept.", "Remove unused names.")
        result = {}
        for key, item in list(value.items())[:limit]:
            if not isinstance(key, str) or not compiled.fullmatch(key.strip()):
                add_problem(problems, path, f'"{str(key)[:_SHOWN]}" cannot be a name here.', fix)
                continue
            result[key.strip()] = shape(item, f"{path}.{key.strip()}", problems)
        return result

    return read


def variant(key: str, shapes: Mapping[str, Mapping[str, Shape]]) -> Shape:
    """A record whose field `key` picks its other fields. A row without a known kind is left out (None)."""
    by_kind = {kind: record({key: one_of(*shapes), **fields}) for kind, fields in shapes.items()}

    def read(value: Any, path: str, problems: Problems) -> Any:
        kind = value.get(key) if isinstance(value, Mapping) else None
        if not isinstance(kind, str) or kind not in by_kind:
            add_problem(problems, f"{path}.{key}", "The kind is missing or unknown.", f"Use {', '.join(shapes)}.")
            return None
        return by_kind[kind](value, path, problems)

    return read
