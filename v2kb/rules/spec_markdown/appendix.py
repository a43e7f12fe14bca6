"""The appendix: what it says of questions and fields, as amendments of the design above it."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, Block, Section
from v2kb.rules.spec_markdown.draft import MAX_NOTE, Draft
from v2kb.rules.spec_markdown.phrases import one_line
from v2kb.rules.spec_markdown.wiring import ENUM, FLAG

_RESOLVED = re.compile(r"^(Q[0-9]{1,3}[a-z]?)\s*\(\s*(RESOLVED|OPEN|FROZEN)(?:\s*/\s*(FROZEN|RESOLVED))?", re.I)
_DATE = re.compile(r"\b(20[0-9]{2}-[0-9]{2}-[0-9]{2})\b")
_BY = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}\s*,\s*([A-Za-z][^)]{0,60})\)")
_SECTION = re.compile(r"§\s?([0-9]{1,12}(?:\.[0-9]{1,12})?)")


def read_appendix(draft: Draft) -> None:
    """One amendment per paragraph or item; those that only describe set no field."""
    for section in draft.sections:
        if section.place != "appendix":
            continue
        for block in section.blocks:
            if block.kind in (ITEM, PARAGRAPH):
                _amendment(draft, section, block)


def _amendment(draft: Draft, section: Section, block: Block) -> None:
    text = block.plain
    asked = _RESOLVED.match(text)
    fields = _state(draft, asked, block.source) if asked else []
    for found in (
        _release(draft, text),
        _loader_pages(draft, text),
        _route(text),
        _enums(draft, text),
        _descriptors(draft, text),
        _packs(draft, text),
        _flag(draft, text),
    ):
        fields += found
    date, by, place = _DATE.search(section.title), _BY.search(section.title), _SECTION.search(text)
    values = {
        "id": f"A{len(draft.rows('amendments')) + 1}",
        "date": date[1] if date else "",
        "by": by[1].strip() if by else "",
        "section": f"§{place[1]}" if place else "",
        "resolves": [asked[1]] if asked and asked[2].upper() != "OPEN" else [],
        "text": block.source,
        "fields": [{"field": path, "value": value} for path, value in fields],
    }
    path = draft.row("amendments", values, block.first, block)
    block.whole = bool(path) and len(block.source) <= MAX_NOTE
    if not path:
        return
    if not fields:
        draft.doubt(block.first, "This part of the appendix changes no field that is known; its text is kept.", path)
    for number, (field, value) in enumerate(fields):
        line = block.line_at(max(block.plain.find(f"={value}"), 0)) if value.isdigit() else block.first
        draft.lines[f"{path}.fields[{number}]"] = line
        draft.lines.setdefault(field, line)


def _state(draft: Draft, asked: re.Match[str], text: str) -> list[tuple[str, str]]:
    state = (asked[3] or asked[2]).upper()
    for index, question in enumerate(draft.rows("open_questions")):
        if question.get("id") == asked[1]:
            said = re.sub(r"^\**Q[0-9]{1,3}[a-z]?\s*(?:\([^)]*\))?\**\s*:?\s*", "", text)
            path = f"open_questions[{index}]"
            return [(f"{path}.state", state), *([(f"{path}.resolution", said)] if state != "OPEN" else [])]
    return []


def _release(draft: Draft, text: str) -> list[tuple[str, str]]:
    """Who releases pages, who could, and whether only pages in use are released."""
    flat = text.replace("\n", " ")
    fields = []
    if re.search(r"\blauncher\b[^.;]{0,40}\bblanket\b", flat):
        fields.append(("roles.release.owners", "launcher"))
    if re.search(r"\bstorer release\b[^.;]{0,60}\bALTERNATIVE\b|\bALTERNATIVE owner\b", flat):
        fields.append(("roles.release.alternative", "storer"))
    if re.search(r"\bpages the task USES\b|\btask_uses_page\b", flat, re.I):
        fields.append(("roles.release.only_used_pages", "yes"))
    if match := re.search(r"auto_consumer_finish\s*=\s*(false|true)", flat):
        fields.append(("roles.release.auto_consumer_finish", {"false": "no", "true": "yes"}[match[1]]))
    if re.search(r"\bEMPTY storer\b|\bstorer (?:is|stays) empty\b", flat):
        for index, row in enumerate(draft.rows("roles.rows")):
            if row.get("role") == "storer":
                fields.append((f"roles.rows[{index}].empty", "yes"))
    return fields


def _loader_pages(draft: Draft, text: str) -> list[tuple[str, str]]:
    """What the loader's generated page prefix does on every path, for it runs before the body; a prefix that waits for
    all pages sees each sequence of their parity.
    """
    prefix = re.search(r"\b(?:codegen )?loader page prefix\s*\([^()]*\)", text.replace("\n", " "))
    if not prefix:
        return []
    fields = [
        (f"roles.rows[{index}].{path}pages", one_line(prefix[0])[:500])
        for index, row in enumerate(draft.rows("roles.rows"))
        if row.get("role") == "loader"
        for path in ("", "bounds_fail_", "inactive_")
    ]
    if re.search(r"\bwaits all\b", prefix[0]) and re.search(r"\bparity\b", text):
        fields.append(("sems.protocol.parity_wait", "every_sequence"))
    return fields


def _route(text: str) -> list[tuple[str, str]]:
    match = re.search(r"\b(engineer|ferret|kda)\s+(?:replaces|writes)\s+the\s+bod(?:y|ies)\b", text)
    return [("engine.routing.route", match[1])] if match else []


def _enums(draft: Draft, text: str) -> list[tuple[str, str]]:
    tasks = draft.rows("wiring.tasks")
    return [
        (f"wiring.tasks[{index}].id", match[2])
        for match in ENUM.finditer(text)
        for index, task in enumerate(tasks)
        if match[2] and task.get("enum") == match[1]
    ]


def _descriptors(draft: Draft, text: str) -> list[tuple[str, str]]:
    told = []
    if re.search(r"\bexplicit\s+additions\s+landed\b", text):
        told.append(("descriptor_entries", "yes"))
    if rank := re.search(r"\bpath\s+is\s+(?:the\s+)?(?:v[0-9]\s+)?([1-5])-?D\b", text):
        told.append(("descriptor_rank", rank[1]))
    return [
        (f"wiring.tasks[{index}].{name}", value)
        for index in range(len(draft.rows("wiring.tasks")))
        for name, value in told
    ]


def _packs(draft: Draft, text: str) -> list[tuple[str, str]]:
    flat = text.replace("\n", " ")
    match = re.search(r"\bassert is implemented at (.+?)\.\s", flat)
    if not match or not re.search(r"\bpacks?\b", flat):
        return []
    return [
        (f"scale_packs[{index}].where", one_line(match[1])[:500]) for index in range(len(draft.rows("scale_packs")))
    ]


def _flag(draft: Draft, text: str) -> list[tuple[str, str]]:
    match = re.search(r"\benv\s+flag\s+is\s+", text)
    named = FLAG.match(text, match.end()) if match else None
    if not named:
        return []
    off = [("wiring.default_off", "yes")] if re.search(r"flag OFF \(default\)|default-OFF", text) else []
    return [("wiring.flag", named[1]), *off]
