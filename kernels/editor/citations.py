"""A citation as it is typed and as it is stored."""

from collections.abc import Mapping
from typing import Any

from references.selectors import parse_citation
from v2kb.rules.code_citation import code_text, read_code


def read_citation(row: Mapping[str, str]) -> dict[str, Any]:
    """What a typed target names. The pin stays while the target stays; else the head is pinned on saving."""
    target, stance = row["target"].strip(), row["stance"]
    pinned_target, _, pin = row["revision"].partition("|")
    revision = pin if pin and pinned_target == target else "HEAD"
    # A citation copied from a document's page carries its pin: slug#anchor@hash.
    if copied := parse_citation(target):
        document, anchor, copied_pin = copied
        revision = copied_pin or revision
        return {"kind": "section", "document": document, "anchor": anchor, "revision": revision, "stance": stance}
    if code := read_code(target):
        return {"kind": "code", **code, "sha256": pin if pinned_target == target else "", "stance": stance}
    if "#" in target:
        document, _, anchor = target.partition("#")
        return {"kind": "section", "document": document, "anchor": anchor, "revision": revision, "stance": stance}
    return {"kind": "evidence", "code": target, "revision": revision, "stance": stance}


def citation_target(citation: Mapping[str, Any]) -> str:
    """A citation as it is typed."""
    if citation.get("kind") == "section":
        return f"{citation.get('document', '')}#{citation.get('anchor', '')}"
    if citation.get("kind") == "code":
        return code_text(citation)
    return str(citation.get("code", ""))


def typed_citation(citation: Mapping[str, Any]) -> dict[str, str]:
    """A stored citation as a row of the form; the hidden revision says which target it belongs to."""
    target = citation_target(citation)
    pin = citation.get("sha256" if citation.get("kind") == "code" else "revision") or ""
    revision = f"{target}|{pin}"
    return {"target": target, "stance": citation.get("stance", ""), "revision": revision}
