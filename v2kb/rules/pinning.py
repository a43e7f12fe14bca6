"""What a spec names, pinned: an alias becomes its lever, what is cited without a revision gets that of now."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

PIN_TO_HEAD = ("", "HEAD")
MIN_PIN = 8
"""Characters of a hash that are enough to name a revision."""


class Known(Protocol):
    """Where names are looked up; each answer is empty for what isn't there."""

    def lever(self, name: str) -> str:
        """The slug to write for the lever with this name in any spelling; nothing for a slug, also a merged one."""

    def contract(self, op: Any) -> str:
        """The hash of an op's newest contract."""

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


def pin_contracts(rows: Any, known: Known) -> list[str]:
    """Give the rows of a document's ops whose contract isn't said the newest one, in place; the ops that got one."""
    pinned = []
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and row.get("op") and row.get("contract", "") in PIN_TO_HEAD:
            row["contract"] = known.contract(row["op"])
            pinned += [row["op"]] * bool(row["contract"])
    return pinned


def _pin(citation: dict[str, Any], known: Known) -> None:
    kind, revision = citation.get("kind"), citation.get("revision")
    start = "" if revision in PIN_TO_HEAD else revision
    if kind == "evidence" and start == "":
        citation["revision"] = known.row(citation.get("code"))
    named = (citation.get("document"), citation.get("anchor"), start)
    if kind == "section" and all(isinstance(name, str) for name in named):
        anchor, pin = known.section(*named)
        citation.update({"anchor": anchor, "revision": pin} if pin else {"revision": start})


def _op_named(name: str, slugs: Iterable[str]) -> str:
    """The one op whose slug has the first word of `name`; "" for none or several."""
    words = re.findall(r"[a-z0-9]+", name.casefold())[:1]
    found = [slug for slug in slugs if words and words[0] in slug.casefold().split("-")]
    return found[0] if len(found) == 1 else ""


def covering(rows: Any, pins: Mapping[str, str]) -> list[dict[str, Any]]:
    """The rows of a document's ops with the newest contracts, and a row for each op of `pins` that has none.

    `pins` maps ops (slugs) to the hashes of their newest contracts. A row that names no op is of the op that its name
    begins with (`W13 routed` of `w13-grouped-gemm-b200`), or of the only op where it is the only such row and no other
    row is of that op; else it stays without.
    """
    kept = [dict(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    unbound = [row for row in kept if not row.get("op")]
    alone = len(unbound) == len(pins) == 1 and all(row.get("op") not in pins for row in kept)
    for row in unbound:
        row["op"] = next(iter(pins)) if alone else _op_named(str(row.get("name", "")), pins)
    for row in kept:
        if row["op"] in pins:
            row["contract"] = pins[row["op"]]
    kept = [row for row in kept if row.get("op") in pins or row.get("name")]
    named = {row.get("op") for row in kept}
    return kept + [{"op": slug, "contract": contract} for slug, contract in pins.items() if slug not in named]
