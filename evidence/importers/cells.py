"""Reading the date-and-source cell of an evidence table. Pure."""

import datetime
import re
from dataclasses import dataclass

_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})((?:/\d{1,2})*)(?!\d)", re.ASCII)
_BACKTICKS = re.compile(r"`([^`]+)`")
_HASH = re.compile(r"(?<![A-Za-z0-9_])(?=[0-9a-f]*\d)[0-9a-f]{7,40}(?![A-Za-z0-9_])", re.ASCII)
_COMMIT = re.compile(r"\bcommit\s+(?:[\w./-]+@)?[0-9a-f]{7,40}\b", re.ASCII | re.IGNORECASE)
_SAME = re.compile(r"(?:same|ditto|as above)\W*", re.IGNORECASE)
MAX_NOTE_WORDS = 3
MAX_SOURCES = 20


@dataclass(frozen=True)
class CellDate:
    """`newest` is the last date in ISO form, or empty; `note` what the cell says about it; `rest` the cell without
    both.
    """

    newest: str
    note: str
    rest: str


def read_source_cell(
    cell: str, date_above: CellDate, sources_above: list[dict[str, str]]
) -> tuple[CellDate, list[dict[str, str]]]:
    """The date and the sources of a cell; `same` alone repeats both of the row above."""
    if _SAME.fullmatch(cell.strip()):
        return date_above, list(sources_above)
    date = read_date(cell)
    return date, read_sources(date.rest, sources_above)


def read_date(cell: str) -> CellDate:
    """Read `2026-06-20/27/28/29`, `2026-06-29 final`, `2026-07-03 ac3d9736`: the newest date, the words beside it,
    the rest.

    A few words right after the date, without a hash, belong to the date; several dates are kept in the note as written.
    """
    found = list(_DATE.finditer(cell))
    if not found:
        return CellDate("", "", cell.strip())
    dates = [date for match in found for date in _dates(match)]
    newest = max(dates).isoformat() if dates else ""
    rest = _DATE.sub("", cell)
    parts = [part.strip(" ,") for part in rest.split(";")]
    beside = ""
    first = cell.split(";")[0]
    if _DATE.search(first) and _is_note(parts[0]):
        beside, parts = parts[0], parts[1:]
    written = ", ".join(match.group(0) for match in found)
    note = " ".join(part for part in ("" if written == newest else written, beside) if part)
    return CellDate(newest, note, "; ".join(part for part in parts if part))


def _dates(match: re.Match[str]) -> list[datetime.date]:
    """The dates of one match; days that no month has are left out."""
    year, month = int(match[1]), int(match[2])
    days = [match[3], *[day for day in match[4].split("/") if day]]
    dates = []
    for day in days:
        try:
            dates.append(datetime.date(year, month, int(day)))
        except ValueError:
            continue
    return dates


def _is_note(text: str) -> bool:
    return bool(text) and "`" not in text and not _HASH.search(text) and len(text.split()) <= MAX_NOTE_WORDS


def read_sources(text: str, above: list[dict[str, str]]) -> list[dict[str, str]]:
    """Sources of a cell without its date, separated by semicolons; `same` repeats those of the row above."""
    sources: list[dict[str, str]] = []
    for part in text.split(";"):
        part = part.strip(" ,.")
        if not part:
            continue
        if _SAME.fullmatch(part):
            sources += [source for source in above if source not in sources]
            continue
        names = _BACKTICKS.findall(part)
        words = _BACKTICKS.sub("", part).strip(" ,.")
        if words:
            sources.append(_source("commit" if _COMMIT.search(words) else "note", words))
        sources += [_source("note", name) for name in names]
    return sources[:MAX_SOURCES]


def _source(kind: str, text: str) -> dict[str, str]:
    return {"kind": kind, "text": text, "document": "", "anchor": ""}
