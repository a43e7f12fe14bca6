"""Section 2: the regions of shared memory, slices inside a region, and how far a ring may grow."""

import re
from typing import Any

from v2kb.rules.spec_markdown.blocks import TABLE, Block, TableRow
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import (
    NUMBER,
    as_number,
    cell,
    columns,
    formula,
    one_line,
    sentences,
    span_of,
    whole,
)

_REGION = {
    "name": ("region", "name", "buffer"),
    "ordinal": ("ordinal", "ord", "index", "#"),
    "size": ("size", "bytes", "size bytes"),
    "alignment": ("align", "alignment"),
    "can_pack": ("can pack", "pack", "packable"),
    "page_count": ("page count", "pages"),
    "release_step": ("release step", "release"),
    "owner": ("owner", "filled by", "writer"),
    "contents": ("contents", "content", "what", "holds"),
}
_NAMES = re.compile(
    r"([A-Za-z_][A-Za-z_0-9]{0,99}?)_?([0-9]{1,12})\s*(?:\.\.\.?|…|-|–|to)\s*(?:([A-Za-z_]{0,99}?)_?)([0-9]{1,12})$"
)
_SIZE = re.compile(rf"^({NUMBER})\s*(KB|KiB|B|bytes?)?\s*(?:each|/\s*slot|per slot)?$", re.I)
_COUNT = re.compile(rf"^(-?(?:{NUMBER}))\s*(?:each|pages?)?$", re.I)
_YES = ("true", "yes", "y", "1", "✓", "✅")
_NO = ("false", "no", "n", "0", "✗", "❌", "")
_TMA = re.compile(r"\bTMA[ -](?:dst|destination|target)", re.I)
_SLICE_LEAD = re.compile(
    rf"({NUMBER}|[A-Z][A-Z0-9_]*)\s+per-(?:stage|slot) slices\s*@\s*\+?\s*s\s*[·*×]\s*({NUMBER}|[A-Z][A-Z0-9_]*)\s*:?",
    re.I,
)
_SLICE = re.compile(rf"([A-Za-z][^,;@+()]{{0,80}}?)\s*@\s*\+\s*({NUMBER})(?:\s*\(({NUMBER})\s*B\))?")
_BYTES_BEFORE = re.compile(rf"\s({NUMBER})\s*B$")
_ALIGNED = re.compile(
    r"\b([A-Za-z]\w*)(?: slices?)?(?: at \+[0-9,]+)?(?:\s+and\s+([A-Za-z]\w*)(?: slices?)?)?"
    r" (?:is|are) ([0-9]{1,12})-aligned"
)
_GROW = re.compile(
    rf"\b([A-Z][A-Z0-9_]*)\s+(?:can|may|could)\s+(?:grow|rise|be raised|go)\s+(?:up\s+)?to\s+({NUMBER})\b"
)
_OFFSETS = re.compile(r"every\s+address\s+via\s+\S*smem_region_offset", re.I)
_STATIC = re.compile(rf"\bstatic\s+(?:__shared__|shared(?:\s+memory)?)\s*[:=]?\s*({NUMBER})\s*B\b", re.I)


def read_smem(draft: Draft) -> None:
    """Regions with their slices, claims on the ring's length, and what the body does with offsets."""
    blocks = draft.blocks("smem")
    for block in blocks:
        found = columns(block, _REGION) if block.kind == TABLE else {}
        if {"name", "size"} <= found.keys():
            _regions(draft, block, found)
    for block in blocks:
        if block.kind == TABLE:
            continue
        _alignments(draft, block)
        if match := _OFFSETS.search(block.plain):
            draft.put("smem.ignores_offsets", "no", block.line_at(match.start()), block)
        if match := _STATIC.search(block.plain):
            draft.put("smem.static_shared_bytes", whole(match[1]), block.line_at(match.start()), block)
    for block in draft.blocks():
        if block.kind != TABLE:
            _growth(draft, block)


def _regions(draft: Draft, block: Block, found: dict[str, int]) -> None:
    expected = 0
    for row in block.rows:
        if re.match(r"^\W*(?:total|sum)\b", cell(row.cells, found, "name"), re.I):
            _total(draft, row, found)
            continue
        size = _bytes(cell(row.cells, found, "size"))
        name, slots = _named(cell(row.cells, found, "name"))
        span = span_of(cell(row.cells, found, "ordinal"))
        if not name or not size:
            block.left.append(row.line)
            continue
        if span and not slots:
            slots = span[1] - span[0] + 1
        if span and slots and span[1] - span[0] + 1 != slots:
            draft.doubt(
                row.line, f"{name} names {slots} regions, but its ordinals are {span[0]} to {span[1]}.", "smem.regions"
            )
        _region(
            draft,
            block,
            row,
            found,
            {"name": name, "size_bytes": size, "slots": slots or 1, "first": span, "next": expected},
        )
        expected += slots or 1
    block.whole = len(found) == len(block.header)


def _region(draft: Draft, block: Block, row: TableRow, found: dict[str, int], read: dict[str, Any]) -> None:
    contents = cell(row.cells, found, "contents")
    ring = ring_symbol(draft, read["slots"])
    packs = cell(row.cells, found, "can_pack")
    can_pack = _yes_or_no(packs)
    values = {
        "ordinal": _ordinal(draft, read),
        "slots": ring or str(read["slots"]),
        "name": read["name"],
        "size_bytes": read["size_bytes"],
        "alignment": formula(cell(row.cells, found, "alignment")),
        "page_count": _count(cell(row.cells, found, "page_count")),
        "can_pack": bool(can_pack),
        "release_step": _count(cell(row.cells, found, "release_step")),
        "tma_dst": bool(_TMA.search(contents)),
        "owner": cell(row.cells, found, "owner"),
        "contents": contents,
    }
    path = draft.row("smem.regions", values, row.line, block)
    if not path:
        return
    if ring and ring != str(read["slots"]):
        why = f"{read['name']} has {read['slots']} regions, and {ring} is {read['slots']}: its row follows {ring}."
        draft.checked(row.line, why, f"{path}.slots")
    if can_pack is None:
        why = f'"{packs}" says neither yes nor no: {read["name"]} is taken not to pack.'
        draft.doubt(row.line, why, f"{path}.can_pack")
    _slices(draft, path, contents, row.line)


def _yes_or_no(text: str) -> bool | None:
    """What the first word says, nothing being no; None where it says neither."""
    word = re.split(r"[\s(,;.]", text.lower())[0]
    return True if word in _YES else False if word in _NO else None


def _ordinal(draft: Draft, read: dict[str, Any]) -> str:
    """The ordinal as a sum of the rows before where it continues them, so that it follows a ring that grows."""
    first = read["first"][0] if read["first"] else None
    if first is None:
        return ""
    if first != read["next"]:
        return str(first)
    return sum_of([row.get("slots", "1") for row in draft.rows("smem.regions")])


def sum_of(parts: list[str]) -> str:
    """A sum such as 3*STAGES + 4 of numbers and symbols; "0" for none."""
    names: dict[str, int] = {}
    rest = 0
    for part in parts:
        if (known := as_number(part)) is not None:
            rest += known
        else:
            names[part] = names.get(part, 0) + 1
    terms = [name if count == 1 else f"{count}*{name}" for name, count in names.items()]
    if rest or not terms:
        terms.append(str(rest))
    return " + ".join(terms)


def ring_symbol(draft: Draft, slots: int) -> str:
    """STAGES where the spec gives it exactly this many; "" otherwise."""
    return "STAGES" if slots > 1 and draft.value("symbols.STAGES") == str(slots) else ""


def _named(text: str) -> tuple[str, int]:
    """(name, how many regions the row stands for; 0 where the name doesn't say)."""
    match = _NAMES.search(text)
    if match and int(match[4]) >= int(match[2]) and match[3] in ("", match[1]):
        start = match.start(2)
        return text[:start].strip() or match[1], int(match[4]) - int(match[2]) + 1
    return text.strip(), 0


def _bytes(text: str) -> str:
    match = _SIZE.match(text.strip())
    if not match:
        return formula(re.sub(r"\s*(?:B|bytes)?\s*(?:each)?$", "", text.strip()))
    number = match[1].replace(",", "")
    return f"{number}*1024" if (match[2] or "").upper() in ("KB", "KIB") else number


def _count(text: str) -> str:
    match = _COUNT.match(text.strip())
    return match[1].replace(",", "") if match else formula(text)


def _total(draft: Draft, row: TableRow, found: dict[str, int]) -> None:
    """The line of totals is compared with the rows, never stored."""
    regions = draft.rows("smem.regions")
    counts = [_value(draft, region.get("slots", "1")) for region in regions]
    sizes = [_evaluated(draft, region) for region in regions]
    stated = whole(cell(row.cells, found, "size"))
    if not stated or None in sizes or None in counts:
        draft.checked(row.line, "The totals were not compared: a size has no plain number.", "smem.regions")
        return
    total = sum(size * count for size, count in zip(sizes, counts, strict=True))
    if total == int(stated):
        draft.checked(row.line, f"The total of {total:,} B agrees with the rows.", "smem.regions")
    else:
        draft.doubt(
            row.line, f"The file says {int(stated):,} B in all; its rows add up to {total:,} B.", "smem.regions"
        )


def _value(draft: Draft, text: str) -> int | None:
    plain_number = as_number(text)
    return as_number(str(draft.value(f"symbols.{text}"))) if plain_number is None else plain_number


def _evaluated(draft: Draft, region: dict[str, Any]) -> int | None:
    """Bytes of a region: a number, a number of KB, or the one product and sum that slices give."""
    match = re.fullmatch(r"(\w+)(?:\*(\w+))?(?: \+ ([0-9]{1,12}))?", region["size_bytes"])
    if not match:
        return None
    factors = [_value(draft, part) for part in match.groups()[:2] if part]
    if None in factors:
        return None
    product = factors[0] * (factors[1] if len(factors) > 1 else 1)
    return product + int(match[3] or 0)


def _slices(draft: Draft, region: str, contents: str, line: int) -> None:
    lead = _SLICE_LEAD.search(contents)
    if not lead:
        return
    slots, stride = (part.replace(",", "") for part in lead.groups())
    count, width = as_number(slots), as_number(stride)
    ring = slots if count is None else ring_symbol(draft, count) or slots
    last_end = ""
    for part in re.split(r"[;+]\s+(?=[A-Za-z])|,\s+(?=[A-Z])", contents[lead.end() :]):
        found = _SLICE.search(part.strip())
        if not found:
            continue
        name, offset, size = one_line(found[1]), found[2].replace(",", ""), (found[3] or "").replace(",", "")
        if not size and (before := _BYTES_BEFORE.search(name)):
            size, name = before[1].replace(",", ""), name[: before.start()]
        inside = width is not None and int(offset) < width
        after = None not in (count, width) and int(offset) == count * width
        values = {
            "name": name.split("[")[0].split()[0] if name else "",
            "slots": ring if inside else "1",
            "offset_bytes": (f"s*{stride} + {offset}" if int(offset) else f"s*{stride}") if inside
            else f"{ring}*{stride}" if after else offset,
            "size_bytes": size,
            "contents": name,
        }  # fmt: skip
        path = draft.row(f"{region}.slices", values, line)
        last_end = f"{ring}*{stride} + {size}" if after and size else last_end
        if not size:
            draft.doubt(line, f"The size of slice {values['name']} is not stated.", path)
    if last_end:
        _follow(draft, region, last_end, count * width, line)


def _follow(draft: Draft, region: str, end: str, ring_bytes: int, line: int) -> None:
    """A region that ends where its last slice does gets its size as that formula, so that it follows the ring."""
    size = draft.value(f"{region}.size_bytes")
    if as_number(size) == ring_bytes + int(end.rpartition(" ")[2]):
        draft.rows("smem.regions")[-1]["size_bytes"] = end
        draft.checked(
            line, f"{int(size):,} B is where the last slice ends: the size is written as {end}.", f"{region}.size_bytes"
        )


def _alignments(draft: Draft, block: Block) -> None:
    for match in _ALIGNED.finditer(block.plain.replace("\n", " ")):
        for name in filter(None, match.groups()[:2]):
            for index, region in enumerate(draft.rows("smem.regions")):
                for number, part in enumerate(region.get("slices", [])):
                    if part.get("name") == name:
                        path = f"smem.regions[{index}].slices[{number}].alignment"
                        draft.put(path, match[3], block.line_at(match.start()), block)


def _growth(draft: Draft, block: Block) -> None:
    for match in _GROW.finditer(block.plain):
        now = draft.value(f"symbols.{match[1]}")
        if not now or match[1] in [claim.get("symbol") for claim in draft.rows("claims")]:
            continue
        said = next((s for s in sentences(block.plain) if match[1] in s and match[2] in s), match[0])
        values = {"symbol": match[1], "low": str(now), "high": match[2].replace(",", ""), "text": said[:500]}
        draft.row("claims", values, block.line_at(match.start()), block)
