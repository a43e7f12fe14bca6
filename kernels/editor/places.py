"""Where a path of the spec document is edited."""

import re
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from kernels.editor.layout import SECTIONS, anchor_of, every_table

SECTION_OF = {part: section.slug for section in SECTIONS for part in section.covers}
NAMED = ("symbols", "wiring.placeholders")
_INDEX = re.compile(r"\[\d+\]")
_LABELS = {
    **{i.name: i.label for section in SECTIONS for i in section.inputs},
    **{
        f"{path}.{i.name}": i.label
        for section in SECTIONS
        for path, table in every_table(section.tables)
        for i in table.all_inputs
    },
    **{path: table.row for section in SECTIONS for path, table in every_table(section.tables)},
}


def section_of_path(path: str) -> str:
    """The editor section that holds a path of the document."""
    plain = _INDEX.sub("", path)
    while plain and plain not in SECTION_OF:
        plain = plain.rpartition(".")[0]
    return SECTION_OF.get(plain, "overview")


def form_path(path: str, document: Mapping[str, Any]) -> str:
    """The field of the form for a path of the document: symbols.STAGES -> symbols[0].value."""
    for part in NAMED:
        name = path.removeprefix(f"{part}.")
        held: Any = document
        for step in part.split("."):
            held = held.get(step) if isinstance(held, Mapping) else None
        if name != path and isinstance(held, Mapping) and name in held:
            return f"{part}[{list(held).index(name)}].value"
    return path


def label_of(path: str) -> str:
    """A field in the words of its form: smem.regions[2].size_bytes -> "size (B), region 3"."""
    plain = _INDEX.sub("", path)
    label = _LABELS.get(plain, plain.rpartition(".")[2].replace("_", " "))
    if path.endswith("]"):
        label = f"{label} {int(path[path.rindex('[') + 1 : -1]) + 1}"
    parent, _, _ = path.rpartition(".")
    return f"{label}, {label_of(parent)}" if "[" in parent else label


def field_label(path: str) -> str:
    """The field alone in the words of its form: wiring.tasks[0].wrapper_inputs -> "Wrapper new_input calls"."""
    return label_of(_INDEX.sub("", path))


def row_of_path(path: str) -> str:
    """The innermost row that a path of the document lies in, or ""."""
    return path[: path.rfind("]") + 1]


def field_url(code: str, path: str, document: Mapping[str, Any]) -> str:
    """The address of the field at `path` in the editor of the spec `code`; a choice has a page of its own."""
    found = re.match(r"choices\[(\d+)\]\.?(.*)", path)
    if found and int(found.group(1)) < len(document["choices"]):
        choice_id = document["choices"][int(found.group(1))].get("id") or ""
        if choice_id:
            url = reverse("kernels:spec_edit_choice", args=[code, choice_id])
            return f"{url}#f-{anchor_of(found.group(2))}"
    anchor = anchor_of(form_path(path, document))
    return f"{reverse('kernels:spec_edit', args=[code, section_of_path(path)])}#f-{anchor}"
