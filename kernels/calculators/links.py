"""From a section of a spec to the calculator that helps there, with what the document holds filled in."""

from collections.abc import Mapping
from typing import Any

from kernels.calculators.forms import MAX_ROWS, OF_SECTION, Form, Rows
from kernels.calculators.typed import Typed

_FROM = {"regions": ("smem", "regions"), "objects": ("tmem", "objects")}


def calculator_link(section: str, document: Mapping[str, Any]) -> dict[str, str] | None:
    """{title, url} of the calculator of a section, None where there is none. `document` may be a draft as typed."""
    form = OF_SECTION.get(section)
    if form is None:
        return None
    tmem = document.get("tmem")
    fields = {part.name: "" for part in form.fields}
    if form.slug == "tmem-columns" and isinstance(tmem, dict):
        fields["alloc_columns"] = _text(tmem.get("alloc_columns"))
    rows = {table.name: _rows(table, document) for table in form.rows}
    return {"title": form.title, "url": _without_lone_symbols(form, fields, rows).address()}


def _without_lone_symbols(form: Form, fields: dict[str, str], rows: dict[str, Any]) -> Typed:
    """Symbols come along only with something that uses them: a calculator with symbols alone would only complain."""
    if not any(found for name, found in rows.items() if name != "symbols"):
        rows = {**rows, "symbols": []}
    return Typed(form, fields, rows)


def _rows(table: Rows, document: Mapping[str, Any]) -> list[tuple[int, dict[str, str]]]:
    if table.name == "symbols":
        symbols = document.get("symbols")
        found = [{"name": name, "value": value} for name, value in symbols.items()] if isinstance(symbols, dict) else []
    else:
        part, name = _FROM[table.name]
        place = document.get(part)
        found = place.get(name) if isinstance(place, dict) else None
    names = [part.name for part in table.fields]
    rows = [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []
    return [(n, {name: _text(row.get(name)) for name in names}) for n, row in enumerate(rows[:MAX_ROWS])]


def _text(value: Any) -> str:
    return "1" if value is True else value.strip() if isinstance(value, str) else ""
