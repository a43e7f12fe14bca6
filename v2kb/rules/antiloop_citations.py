"""The citations of a choice: what each names, and whether it can carry the choice."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from v2kb.rules.antiloop_facts import Row, Snapshot, Unknown, items, mapping, text
from v2kb.rules.code_citation import code_text
from v2kb.rules.spec_words import STANCES

# The name of a branch, and HEAD, are of another commit tomorrow.
_COMMIT_HASH = re.compile(r"[0-9a-fA-F]{6,64}")


@dataclass(frozen=True)
class Cited:
    """One citation of a choice. `good` says that it can carry the choice, `why_not` what is wrong with it, `mend`
    what to do about that.
    """

    kind: str
    label: str
    good: bool
    why_not: str = ""
    mend: str = ""
    row: Row | None = None
    revision: str = ""
    path: str = ""

    @property
    def falls_away(self) -> str:
        """Return what would take a good citation from its choice: code and sections stay as they were pinned."""
        return "flagged, superseded or removed" if self.row else "removed"

    @property
    def verdict(self) -> str:
        """Return the verdict of the cited revision, empty for anything that is no evidence."""
        return text(mapping(self.row.revisions.get(self.revision)).get("verdict")) if self.row else ""

    def as_document(self) -> dict[str, Any]:
        """Return the citation as an input of a gate line."""
        return {
            "kind": self.kind,
            "label": self.label,
            "revision": self.revision,
            "verdict": self.verdict,
            "good": self.good,
            "why_not": self.why_not,
        }


def read_citation(raw: Any, path: str, snapshot: Snapshot, place: str) -> Cited:
    """Resolve one citation; `place` says to people where it stands. Raises Unknown for a row, document, section, kind
    or stance that doesn't exist.
    """
    citation = mapping(raw)
    kind, stance = text(citation.get("kind")), citation.get("stance")
    if stance not in STANCES:
        raise Unknown(f"{place} has no known stance.", f"{path}.stance", f"Choose one of {', '.join(STANCES)}.")
    if kind == "evidence":
        return _cited_row(citation, path, snapshot, place)
    if kind == "section":
        return _cited_section(citation, path, snapshot, place)
    if kind == "code":
        return _cited_code(citation, path)
    message = f"{place} is of the kind {kind!r}, which is not known."
    raise Unknown(message, f"{path}.kind", "Use evidence, section or code.")


def _cited_code(citation: Mapping[str, Any], path: str) -> Cited:
    """A place in code carries a choice where somebody else finds it: in a tree, at the hash of a commit."""
    named = {name: text(citation.get(name)) for name in ("tree", "path", "commit", "lines")}
    label = code_text({**named, "commit": named["commit"][:12]}) or "a place in code"
    if not _COMMIT_HASH.fullmatch(named["commit"]):
        named["commit"] = ""
    lacking = [name for name in ("tree", "path", "commit") if not named[name]]
    why_not = f"it names no {' and no '.join(lacking)}" if lacking else ""
    mend = _name_the_place(named, lacking) if lacking else ""
    return Cited("code", label, not lacking, why_not, mend, path=path)


def _name_the_place(named: Mapping[str, str], lacking: list[str]) -> str:
    """What to type for a place in code, with a word in angle brackets for each part that it lacks.

    Neither tree nor commit may hold such brackets, so that a copy of this text as it stands carries nothing.
    """
    shown = code_text({**named, **{name: f"<{name}>" for name in lacking}})
    tree = named["tree"] or "<tree>"
    what = {
        "tree": "<tree> is the repository that holds the file, such as mpk or upstream",
        "path": f"<path> is the file, from the root of {tree}",
        "commit": f"<commit> is the hash of the commit of {tree} at which you read it (git rev-parse HEAD)",
    }
    return f"write it as {shown}, where {', and '.join(what[name] for name in lacking)}"


def _cited_section(citation: Mapping[str, Any], path: str, snapshot: Snapshot, place: str) -> Cited:
    slug, anchor, revision = (text(citation.get(name)) for name in ("document", "anchor", "revision"))
    mend = "Copy the citation from the section's page."
    revisions = snapshot.documents.get(slug)
    if not isinstance(revisions, Mapping):
        message = f"{place} cites the document {slug!r}, and there is no such document."
        raise Unknown(message, f"{path}.document", f"Import the document, or cite another. {mend}")
    if anchor not in items(revisions.get(revision)):
        message = f"{place} cites the section {slug}#{anchor}, and the document has no such section"
        raise Unknown(f"{message}{' at that revision' * bool(revision)}.", f"{path}.anchor", mend)
    return Cited("section", f"{slug}#{anchor}", True, revision=revision, path=path)


def _cited_row(citation: Mapping[str, Any], path: str, snapshot: Snapshot, place: str) -> Cited:
    code, revision = text(citation.get("code")), text(citation.get("revision"))
    row = snapshot.rows.get(code)
    if row is None:
        said = f"{place} cites {code!r}, and there is no such evidence row." if code else f"{place} is empty."
        raise Unknown(said, f"{path}.code", "Type the code of an existing row, such as D3, or remove it.")
    why_not = mend = ""
    if not isinstance(row.revisions.get(revision), Mapping):
        why_not, mend = "the pinned revision is no accepted revision of this row", 'press "Pin newest" beside it'
    elif row.flagged:
        why_not, mend = "a flag on the row was confirmed", "cite another row, or ask a curator to take the flag down"
    elif row.superseded_by:
        newer = ", ".join(row.superseded_by)
        why_not, mend = f"superseded by {newer}", f"cite {newer} in its place"
    return Cited("evidence", code, not why_not, why_not, mend, row, revision, path)
