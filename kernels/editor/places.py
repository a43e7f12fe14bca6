"""Where a path of the spec document is edited."""

import re
from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from kernels.editor.layout import anchor_of

SECTION_OF = {"smem": "smem", "sems": "sems", "roles": "roles", "granularity": "granularity", "choices": "choices"}
SECTION_OF |= {"anchors": "anchors", "open_questions": "anchors"}


def section_of_path(path: str) -> str:
    """The editor section that holds a path of the document."""
    return SECTION_OF.get(re.split(r"[.\[]", path, maxsplit=1)[0], "overview")


def field_url(code: str, path: str, document: Mapping[str, Any]) -> str:
    """The address of the field at `path` in the editor of the spec `code`; a choice has a page of its own."""
    found = re.match(r"choices\[(\d+)\]\.?(.*)", path)
    if found and int(found.group(1)) < len(document["choices"]):
        choice_id = document["choices"][int(found.group(1))].get("id") or ""
        if choice_id:
            url = reverse("kernels:spec_edit_choice", args=[code, choice_id])
            return f"{url}#f-{anchor_of(found.group(2))}"
    return f"{reverse('kernels:spec_edit', args=[code, section_of_path(path)])}#f-{anchor_of(path)}"
