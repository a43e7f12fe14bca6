"""Specs as files: templates to begin from, and exports."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from v2kb.rules.spec_document import normalise

TEMPLATES = Path(__file__).resolve().parents[2] / "v2kb" / "starter" / "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """A spec to begin from: one per upstream family, and some for a kind of op."""

    name: str
    family: str
    title: str
    document: dict[str, Any]


@cache
def templates() -> dict[str, Template]:
    """Templates by name, in the order of their families."""
    found = []
    for path in sorted(TEMPLATES.glob("*.json")):
        document, _ = normalise(json.loads(path.read_text(encoding="utf-8")))
        found.append(Template(path.stem, document["engine"]["family"], document["title"], document))
    return {template.name: template for template in sorted(found, key=lambda t: (t.family, t.name))}


def spec_json(content: dict[str, Any]) -> str:
    """The JSON of a spec's content, as one would keep it in a repository."""
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
