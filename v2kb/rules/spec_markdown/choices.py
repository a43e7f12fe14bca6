"""Section 6: the evidence table as choices with polarity and citations; dead rows that are said not to apply."""

import re
from typing import Any

from v2kb.rules.code_citation import PINS, code_text, places_in, stated_pins
from v2kb.rules.spec_markdown.blocks import ITEM, TABLE, Block, TableRow
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import cell, columns, one_line

_EVIDENCE = {
    "title": ("design choice", "choice", "decision"),
    "rests_on": ("rests on", "evidence", "rows", "source", "based on"),
    "notes": ("notes", "note", "why", "rationale", "comment"),
    "lever": ("lever",),
    "polarity": ("polarity", "stance"),
}
_ROWS = re.compile(r"(?<![A-Za-z0-9_@/.-])([DWU][1-9][0-9]?(?:\s?/\s?[DWU][1-9][0-9]?)*)(?![A-Za-z0-9_=/])")
_SECTION = re.compile(r"\b([A-Za-z][A-Za-z0-9-]{0,80})\s+(§[0-9.]{0,11}[0-9](?:/§[0-9.]{0,11}[0-9]){0,9})")
_DOCUMENT = re.compile(r"\b([A-Za-z0-9][A-Za-z0-9_-]{0,80})\.md\b")
_AVOIDS = re.compile(r"^(?:no|not|never|avoid|without)\b", re.I)
_KEEPS = re.compile(r"\b(?:untouched|unchanged|kept|stays? as)\b", re.I)
_DEFERS = re.compile(r"^(?:defer|later)\b|\bdeferred\b", re.I)
_DEFERRED_PART = re.compile(r"([a-z]+\s*\([^()]*\)|[^;.()]+?)\s+deferred\s+to\s+[^;.]+", re.I)
_NOT_ROWS = re.compile(r"^NOT\s+([DWU][0-9]{1,12}(?:\s*[/,]\s*[DWU][0-9]{1,12})*)\s*:\s*(.+)", re.S)
_NOT_DOCUMENTS = frozenset(("plan", "see", "and", "the", "in", "spec", "of", "per", "table"))

_NAME_PINS = (
    'Write a line "Code: tree@commit" at the head of the file for all such places, or name them in the choice as '
    "tree:path@commit:lines."
)


def read_choices(draft: Draft) -> None:
    """Each line of the evidence table is a choice; each `NOT D2/D3` of section 1 an acknowledged dead row."""
    for block in draft.blocks("evidence", "engine"):
        found = columns(block, _EVIDENCE) if block.kind == TABLE else {}
        if {"title", "rests_on"} <= found.keys():
            documents = _documents(draft)
            deferred = [part for row in block.rows if (part := _choice(draft, block, row, found, documents))]
            for said, cited, line in deferred:
                title = one_line(re.split(r"\s+deferred\b", said)[0])
                context = [{**citation, "stance": "context"} for citation in cited]
                values = {"id": _next_id(draft), "title": title[:200], "polarity": "defers", "rationale": said}
                path = draft.row("choices", {**values, "citations": context}, line, block)
                draft.checked(line, "A part of this row is deferred: it is a choice of its own.", path)
            block.whole = len(found) == len(block.header)
    for block in draft.blocks("engine"):
        if block.kind == ITEM and (match := _NOT_ROWS.match(block.plain)):
            _acknowledge(draft, block, match)


def _next_id(draft: Draft) -> str:
    return f"C{len(draft.rows('choices')) + 1}"


def _choice(
    draft: Draft, block: Block, row: TableRow, found: dict[str, int], documents: list[str]
) -> tuple[str, list[dict[str, str]], int] | None:
    said = {name: cell(row.cells, found, name) for name in _EVIDENCE}
    if not said["title"]:
        block.left.append(row.line)
        return None
    values: dict[str, Any] = {
        "id": _next_id(draft),
        "title": said["title"][:200],
        "lever": said["lever"],
        "polarity": _polarity(said),
        "rationale": "\n".join(part for part in (said["rests_on"], said["notes"]) if part),
        "citations": citations(said["rests_on"], said["notes"], documents),
    }
    _pin_code(draft, values["citations"])
    path = draft.row("choices", values, row.line, block)
    if path and not values["citations"]:
        draft.doubt(row.line, "Nothing in this row reads as an evidence row, a section or a place in code.", path)
    unpinned = [code_text(c) for c in values["citations"] if c["kind"] == "code" and not all(map(c.get, PINS))]
    if path and unpinned:
        why = f"{', '.join(unpinned)} names no tree and commit, so nobody can look it up. {_NAME_PINS}"
        draft.doubt(row.line, why, f"{path}.citations")
    part = _DEFERRED_PART.search(said["notes"])
    return (one_line(part[0]), values["citations"], row.line) if part and values["polarity"] != "defers" else None


def _pin_code(draft: Draft, cited: list[dict[str, str]]) -> None:
    """Give places in code the tree and commit that the head of the file states for all of them."""
    pins = stated_pins(draft.about.get("code", ""))
    for citation in cited if pins else ():
        if citation["kind"] == "code" and not any(map(citation.get, PINS)):
            citation.update(pins)


def _polarity(said: dict[str, str]) -> str:
    stated = said["polarity"].lower().rstrip("s")
    if stated in ("adopt", "avoid", "keep", "defer"):
        return f"{stated}s"
    title = said["title"]
    if _AVOIDS.match(title) or re.search(r"\bnot reintroduced\b", said["notes"], re.I):
        return "avoids"
    if _KEEPS.search(title):
        return "keeps"
    return "defers" if _DEFERS.search(title) else "adopts"


def _documents(draft: Draft) -> list[str]:
    """Names of the documents that the file links or lists."""
    return sorted({name for block in draft.blocks() for name in _DOCUMENT.findall(block.plain)})


def _document(name: str, known: list[str]) -> str:
    """The document that a short name stands for: `m1` for the one whose name begins so."""
    longer = [other for other in known if other.startswith(f"{name}-")]
    return longer[0] if name not in known and len(longer) == 1 else name


def citations(rests_on: str, notes: str, documents: list[str]) -> list[dict[str, str]]:
    """Rows, sections and places in code that a choice names: what it rests on supports it, the rest is context."""
    found: list[dict[str, str]] = []
    for text, stance in ((rests_on, "supports"), (notes, "context")):
        for match in _ROWS.finditer(text):
            consulted = re.match(r"[^;,+]{0,20}\bconsulted\b", text[match.end() :])
            for code in re.split(r"\s?/\s?", match[1]):
                _cite(found, {"kind": "evidence", "code": code, "stance": "context" if consulted else stance})
        for match in _SECTION.finditer(text):
            document = _document(match[1], documents)
            for anchor in match[2].split("/") if match[1].lower() not in _NOT_DOCUMENTS else ():
                _cite(found, {"kind": "section", "document": document, "anchor": anchor, "stance": stance})
        for place in places_in(text):
            _cite(found, {"kind": "code", **place, "stance": stance})
    return found


def _cite(found: list[dict[str, str]], citation: dict[str, str]) -> None:
    if not any({**known, "stance": ""} == {**citation, "stance": ""} for known in found):
        found.append(citation)


def probing_choice(draft: Draft) -> int:
    """Index of the choice that probes an untested row: the first that adopts and cites a U row; -1 for none."""
    for index, choice in enumerate(draft.rows("choices")):
        rows = [c.get("code", "") for c in choice.get("citations", [])]
        if choice.get("polarity") == "adopts" and any(code.startswith("U") for code in rows):
            return index
    return -1


def _acknowledge(draft: Draft, block: Block, match: re.Match[str]) -> None:
    """A dead row that the spec says it is not: with the choice that cites it, else with the one that probes."""
    reason = one_line(match[2])
    for code in re.findall(r"[DWU][0-9]{1,12}", match[1]):
        index = probing_choice(draft)
        for number, choice in enumerate(draft.rows("choices")):
            if choice.get("polarity") == "adopts" and code in [c.get("code") for c in choice.get("citations", [])]:
                index = number
        if index < 0:
            draft.doubt(block.first, f"{code} is said not to apply, but no choice adopts what it could speak against.")
            continue
        draft.row(f"choices[{index}].acknowledged", {"code": code, "reason": reason[:500]}, block.first, block)
    block.whole = bool(block.used) and len(reason) <= 500
