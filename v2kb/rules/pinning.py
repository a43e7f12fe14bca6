"""What a spec names, pinned: an alias becomes its lever, what is cited without a revision gets that of now."""

from collections.abc import Mapping
from typing import Any, Protocol

PIN_TO_HEAD = ("", "HEAD")
MIN_PIN = 8
"""Characters of a hash that are enough to name a revision."""


class Known(Protocol):
    """Where names are looked up; each answer is empty for what isn't there."""

    def lever(self, name: str) -> str:
        """The slug to write for the lever with this name in any spelling; nothing for a slug, also a merged one."""

    def row(self, code: Any) -> str:
        """The hash of a row's head."""

    def document(self, slug: Any) -> str:
        """The hash of a document's newest revision."""

    def section(self, document: str, anchor: str, start: str) -> str:
        """The hash of the document's newest revision that begins with `start` and has this section."""


def pin_citations(document: Any, known: Known) -> None:
    """Resolve the names in the choices of a document, in place; it may hold anything.

    A lever that was merged stays as the spec names it: what was signed keeps its hash, and the gate follows the merge.
    """
    choices = document.get("choices")
    for choice in choices if isinstance(choices, list) else []:
        if not isinstance(choice, dict):
            continue
        name = choice.get("lever")
        if isinstance(name, str) and (slug := known.lever(name)):
            choice["lever"] = slug
        for citation in choice.get("citations") or []:
            if isinstance(citation, dict):
                _pin(citation, known)
        for acknowledged in choice.get("acknowledged") or []:
            if isinstance(acknowledged, dict) and acknowledged.get("revision") in PIN_TO_HEAD:
                acknowledged["revision"] = known.row(acknowledged.get("code"))


def _pin(citation: dict[str, Any], known: Known) -> None:
    kind = citation.get("kind")
    if citation.get("revision") in PIN_TO_HEAD:
        if kind == "evidence":
            citation["revision"] = known.row(citation.get("code"))
        elif kind == "section":
            citation["revision"] = known.document(citation.get("document"))
        return
    named = [citation.get(name) for name in ("document", "anchor", "revision")]
    if kind == "section" and all(isinstance(name, str) for name in named):
        citation["revision"] = known.section(*named) or citation["revision"]


def covering(rows: Any, pins: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a document's ops with the newest contracts, and a row for each op of `pins` that has none.

    `pins` maps ops (slugs) to the hashes of their newest contracts. Rows of sub-ops that name no op belong to the one
    op where there is only one.
    """
    kept = [dict(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    for row in kept:
        if not row.get("op") and len(pins) == 1:
            (row["op"],) = pins
        if row.get("op") in pins:
            row["contract"] = pins[row["op"]]
    kept = [row for row in kept if row.get("op") in pins or row.get("name")]
    named = {row.get("op") for row in kept}
    return kept + [{"op": slug, "contract": contract} for slug, contract in pins.items() if slug not in named]
