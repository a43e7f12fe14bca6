"""What was typed into a calculator: from an address to plain values, and back to the address that holds them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode

from kernels.calculators.forms import MAX_ROWS, Form, Rows
from v2kb.rules.calculators import CALCULATORS
from v2kb.rules.spec_words import THIS_SPEC

TASK = "task"
_ROW = re.compile(r"([a-z]+)-(\d{1,4})-([a-z_]+)")


@dataclass
class Typed:
    """The values of a form: `fields` by name, `rows` by table as (number in the form, values by field)."""

    form: Form
    fields: dict[str, str]
    rows: dict[str, list[tuple[int, dict[str, str]]]]
    places: dict[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True where nothing at all was typed."""
        return not any(self.fields.values()) and not any(self.rows.values())

    def address(self) -> str:
        """The page with these values, empty ones left out and rows numbered from 0."""
        pairs = [(name, value) for name, value in self.fields.items() if value]
        for table, rows in self.rows.items():
            for place, (_, values) in enumerate(rows):
                pairs += [(f"{table}-{place}-{name}", value) for name, value in values.items() if value]
        query = f"?{urlencode(pairs)}" if pairs else ""
        return reverse("kernels:calculator", args=[self.form.slug]) + query

    def answer(self) -> dict[str, Any]:
        """What the calculator says; each problem has the `anchor` of its field, "" where it has none."""
        found = CALCULATORS[self.form.slug](self._given())
        return {**found, "problems": [{**p, "anchor": self._anchor(p["field"])} for p in found["problems"]]}

    def _given(self) -> dict[str, Any]:
        """Plain values for the rules; notes in `places` which field of the form each of their paths is."""
        given: dict[str, Any] = {name: value for name, value in self.fields.items() if value}
        for table, rows in self.rows.items():
            if table == "symbols":
                given["symbols"] = {values["name"]: values["value"] for _, values in rows}
                self.places |= {f"symbols.{values['name']}": f"symbols-{number}-value" for number, values in rows}
                continue
            given[table] = []
            others: dict[str, list[dict[str, str]]] = {}
            for number, values in rows:
                plain = {name: value for name, value in values.items() if name != TASK}
                task = values.get(TASK) or THIS_SPEC
                own = given[table] if task == THIS_SPEC else others.setdefault(task, [])
                path = table if task == THIS_SPEC else f"others[{list(others).index(task)}].{table}"
                self.places[f"{path}[{len(own)}]"] = f"{table}-{number}"
                self.places.setdefault(f"{path.rpartition('.')[0]}.name", f"{table}-{number}-{TASK}")
                own.append(plain)
            if others:
                given["others"] = [{"name": name, table: rows} for name, rows in others.items()]
        return given

    def _anchor(self, path: str) -> str:
        place = next((known for known in self.places if path == known or path.startswith(f"{known}.")), "")
        if place:
            return self.places[place] + path[len(place) :].replace(".", "-")
        name = re.split(r"[.\[]", path, maxsplit=1)[0]
        tables = {rows.name for rows in self.form.rows}
        return name if name in self.fields or name in tables else ""


def typed_in(form: Form, query: QueryDict) -> Typed:
    """Read the values of a form from an address; what belongs to no field is left out. Never raises."""
    fields = {part.name: query.get(part.name, "").strip() for part in form.fields}
    rows: dict[str, dict[int, dict[str, str]]] = {table.name: {} for table in form.rows}
    names = {table.name: [part.name for part in table.fields] for table in form.rows}
    for key, value in query.items():
        found = _ROW.fullmatch(key)
        if found and found[3] in names.get(found[1], ()):
            row = rows[found[1]].setdefault(int(found[2]), dict.fromkeys(names[found[1]], ""))
            row[found[3]] = value.strip()
    filled = {
        table.name: [(n, row) for n, row in sorted(rows[table.name].items()) if _is_filled(table, row)][:MAX_ROWS]
        for table in form.rows
    }
    return Typed(form, fields, filled)


def _is_filled(table: Rows, row: Mapping[str, str]) -> bool:
    """A row counts from the first text in it; a tick or the name of its task alone is not one."""
    return any(row[part.name] for part in table.fields if part.kind == "text" and part.name != TASK)


def example_of(form: Form) -> str:
    """The address of the worked example."""
    rows = {
        table.name: [
            (number, {part.name: row.get(part.name, "") for part in table.fields})
            for number, row in enumerate(form.example.get(table.name, ()))
        ]
        for table in form.rows
    }
    fields = {part.name: form.example.get(part.name, "") for part in form.fields}
    return Typed(form, fields, rows).address()
