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

    def section(self, document: str, name: str, start: str) -> tuple[str, str]:
        """(anchor, hash of the revision) of a section by its anchor or its number: in the document's newest revision
        whose hash begins with `start`, or in its head where that is empty. Both are empty for what isn't there.
        """


def pin_citations(document: Any, known: Known) -> None:
    """Resolve the names in the choices of a document, in place; it may hold anything.

    A section that isn't there stays without a pin: the gate says so. A lever that was merged stays as the spec names
    it: what was signed keeps its hash, and the gate follows the merge.
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
    kind, revision = citation.get("kind"), citation.get("revision")
    start = "" if revision in PIN_TO_HEAD else revision
    if kind == "evidence" and start == "":
        citation["revision"] = known.row(citation.get("code"))
    named = (citation.get("document"), citation.get("anchor"), start)
    if kind == "section" and all(isinstance(name, str) for name in named):
        anchor, pin = known.section(*named)
        citation.update({"anchor": anchor, "revision": pin} if pin else {"revision": start})


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
