"""Single cells of an experiment log: dates, words of verdicts, texts with line breaks, commits. Pure, no guesses."""

import datetime
import re
from collections.abc import Mapping
from typing import Any

from references.importers.markdown import plain_text
from v2kb.rules.experiments import NOTHING
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.numbers import SPELLINGS

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_TIME = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:Z|UTC|[+-]\d{2}:?\d{2})?)?"
_ISO = re.compile(rf"(\d{{4}})([-/.])(\d{{1,2}})\2(\d{{1,2}}){_TIME}", re.ASCII)
_DAY_FIRST = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?\.?\s+([A-Za-z]{3,9})\.?,?\s+(\d{4})", re.ASCII)
_MONTH_FIRST = re.compile(r"([A-Za-z]{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})", re.ASCII)
_PART = re.compile(r"[;()\n]|,\s")
_MARKS = " *_`"
_BARE = re.compile(r"[0-9][0-9.,'/ ]*", re.ASCII)


def is_nothing(cell: str) -> bool:
    """Whether a cell says that it says nothing: empty, a dash, `n/a`, `none`."""
    return plain_text(cell).strip(" *_").casefold() in NOTHING


def cell_text(cell: str) -> str:
    """A cell's text with its markdown, `<br>` as a line break; empty where it says nothing."""
    return "" if is_nothing(cell) else with_breaks(cell).strip()


def with_breaks(cell: str) -> str:
    """The cell with `<br>` as line breaks."""
    return _BREAK.sub("\n", cell)


def word_key(cell: str) -> str:
    """The key of a verdict's word: without marks, case and doubled space."""
    return " ".join(plain_text(_BREAK.sub(" ", cell)).strip(" *_~.").casefold().split())[:200]


def read_day(cell: str) -> str | None:
    """The one date of a cell in ISO form; None where there is none, or more than one way to read it.

    Reads `2026-07-03`, `2026/7/3`, a time of day behind it, `3 July 2026` and `Jul 3, 2026`; never `03/07/2026`.
    """
    text = plain_text(cell).strip(" *_")
    found = _ISO.fullmatch(text)
    if found:
        return _day(int(found[1]), int(found[3]), int(found[4]))
    for pattern, (day, month, year) in ((_DAY_FIRST, (1, 2, 3)), (_MONTH_FIRST, (2, 1, 3))):
        found = pattern.fullmatch(text)
        if found and found[month][:3].lower() in MONTHS:
            return _day(int(found[year]), MONTHS.index(found[month][:3].lower()) + 1, int(found[day]))
    return None


def _day(year: int, month: int, day: int) -> str | None:
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return None


def read_figures(
    cell: str, unit: str, role: str, units: Mapping[str, str] = SPELLINGS
) -> tuple[list[dict[str, Any]], list[str]]:
    """(the numbers of a cell that should hold some, its texts that are none). A figure that stands alone has `unit`,
    that of the column; without one it is a text. Where nothing is read at all, the cell is the text.
    `units` as for `parse_numbers`.
    """
    numbers: list[dict[str, Any]] = []
    texts = []
    for part in _PART.split(cell):
        piece = part.strip(_MARKS)
        found = [number | {"text": piece} for number in _of_unit(piece, unit, role, units)]
        found = found or parse_numbers(piece, role=role, units=units)
        numbers += found
        texts += [number["text"] for number in found if not number["readable"]]
        if not found and _BARE.fullmatch(piece):
            texts.append(piece)
    return numbers, texts if numbers or texts or not cell else [cell]


def with_unit(cell: str, unit: str, units: Mapping[str, str] = SPELLINGS) -> str:
    """The cell with `unit`, that of its column, behind each figure that stands alone. `units` as above."""
    parts = re.split(f"({_PART.pattern})", cell)
    for place, part in enumerate(parts):
        if _of_unit(part.strip(_MARKS), unit, "verdict", units):
            figure = part.rstrip()
            parts[place] = f"{figure} {unit}{part[len(figure) :]}"
    return "".join(parts)


def _of_unit(piece: str, unit: str, role: str, units: Mapping[str, str]) -> list[dict[str, Any]]:
    """The number that a figure which stands alone is with this unit behind it; none of other text."""
    whole = f"{piece} {unit}"
    read = parse_numbers(whole, role=role, units=units) if unit else []
    return [number for number in read if number["text"] == whole]


def read_commit(cell: str) -> str | None:
    """The one commit of a cell, or None where it holds several words."""
    text = re.sub(r"^commit:?\s+", "", plain_text(cell).strip(" *"), flags=re.IGNORECASE)
    return text if text and not re.search(r"[\s,;]", text) else None
