"""Sections 9 to 11: open questions with what they block, the review log, the self-audit."""

import re

from v2kb.rules.spec_markdown.blocks import ITEM, MAX_READ, PARAGRAPH, TABLE, Block, plain
from v2kb.rules.spec_markdown.draft import Draft
from v2kb.rules.spec_markdown.phrases import cell, columns, one_line

QUESTION = re.compile(r"^\**(Q[0-9]{1,3}[a-z]?)\**\s*(?:\(([^)]*)\))?\**\s*:\**\s*(.*)", re.S)
_BLOCKS = re.compile(r"(?<!not )\bblock(?:s|ing)\b\s*:?\s*(?:the\s+)?(.*)", re.I | re.S)
_STATE = re.compile(r"(RESOLVED|OPEN|FROZEN)\b(?:\s*/\s*(RESOLVED|FROZEN)\b)?(?:\s*[:—–-]\s*(.+))?", re.I)
# What a question says of itself behind its text: `(blocks the build)`, `(RESOLVED: 4 warps)`, `Blocks the verdict.`
_ASIDE = re.compile(
    r"\(((?:block(?:s|ing)|resolved|frozen|open)\b[^()]*)\)|(?<=[.;—–] )(block(?:s|ing) (?:the|stage)\b[^().;]*)", re.I
)
_STAGE = re.compile(r"\bstage[- ]?([2-5])\b", re.I)
_QUESTION_TABLE = {
    "id": ("id", "#", "question id"),
    "text": ("question", "text", "what"),
    "blocks": ("blocks", "blocking"),
    "state": ("state", "status"),
    "resolution": ("resolution", "answer"),
}
_VERDICT = re.compile(r"\b(SOUND|FLAWED)\b")
_ITEM_MARK = re.compile(r"\(([0-9]{1,2})\)\s+")
_THREAD = re.compile(r"\bthread\s+([A-Za-z0-9-]+)", re.I)
_DATE = re.compile(r"\b(20[0-9]{2}-[0-9]{2}-[0-9]{2})\b")
_ENGINE = re.compile(r"\b(Codex|ablation-logic-reviewer|Claude|GPT[-A-Za-z0-9.]*|Gemini)\b", re.I)
_REVIEW_TABLE = {
    "engine": ("engine", "reviewer"),
    "item": ("item", "subject"),
    "verdict": ("verdict",),
    "condition": ("condition", "conditions"),
    "fixed_where": ("fixed where", "fixed", "where"),
    "thread": ("thread",),
    "date": ("date",),
}
_AUDIT_TABLE = {
    "item": ("item", "check", "bar"),
    "answer": ("answer", "ok", "met", "state"),
    "where": ("where", "evidence"),
}


def blocks_of(text: str) -> str:
    """What a question blocks, by the words that say so; "" when they don't."""
    match = _BLOCKS.search(text)
    said = match[1] if match else ""
    first = re.split(r"[,;]", said)[0]
    if re.search(r"\bverdict\b", first, re.I):
        return "verdict"
    if stage := _STAGE.search(first):
        return f"stage-{stage[1]}"
    return "build" if re.search(r"\bbuild\b", first, re.I) else ""


def read_questions(draft: Draft) -> None:
    """Questions as written; the appendix amends their states."""
    for section in draft.sections:
        if section.place != "questions":
            continue
        stage = _STAGE.search(section.title)
        default = f"stage-{stage[1]}" if stage and "before" in section.title.lower() else ""
        for block in section.blocks:
            found = columns(block, _QUESTION_TABLE) if block.kind == TABLE else {}
            if {"id", "text"} <= found.keys():
                _question_table(draft, block, found)
            elif block.kind in (ITEM, PARAGRAPH) and (match := QUESTION.match(block.source[:MAX_READ])):
                _question(draft, block, match, default)


def _question(draft: Draft, block: Block, match: re.Match[str], default: str) -> None:
    inside = one_line(match[2] or "")
    text = f"({inside}) {match[3].strip()}" if inside else match[3].strip()
    asides = [inside, *(bracket or said for bracket, said in _ASIDE.findall(one_line(plain(match[3]))))]
    states = [found for aside in asides if (found := _STATE.match(aside))]
    said = next((blocks for aside in asides if (blocks := blocks_of(aside))), "")
    values = {"id": match[1], "text": text, "blocks": said or default}
    if states:
        values |= {"state": (states[0][2] or states[0][1]).upper(), "resolution": states[0][3] or ""}
    path = draft.row("open_questions", values, block.first, block)
    block.whole = bool(path)
    unclear = [aside for aside in asides if aside and not _STATE.match(aside)]
    if path and unclear and not said:
        why = f'"{unclear[0]}" names no stage, build or verdict; the heading gives {default or "nothing"}.'
        draft.doubt(block.first, why, f"{path}.blocks")


def _question_table(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        values = {name: cell(row.cells, found, name) for name in found}
        if not values["id"]:
            block.left.append(row.line)
            continue
        said = values.get("blocks", "")
        values["blocks"] = (blocks_of(said) or blocks_of(f"blocking {said}")) if said else ""
        stated = values.get("state", "")
        values["state"] = next((s for s in ("RESOLVED", "FROZEN", "OPEN") if s in stated.upper()), "")
        path = draft.row("open_questions", values, row.line, block)
        if path and said and not values["blocks"]:
            draft.doubt(row.line, f'"{said}" names no stage, build or verdict.', f"{path}.blocks")
        if path and stated and not values["state"]:
            draft.doubt(row.line, f'"{stated}" is neither OPEN nor RESOLVED nor FROZEN.', f"{path}.state")
    block.whole = len(found) == len(block.header)


def read_reviews(draft: Draft) -> None:
    """Each numbered item of a review with its verdict."""
    for section in draft.sections:
        if section.place != "reviews":
            continue
        for block in section.blocks:
            found = columns(block, _REVIEW_TABLE) if block.kind == TABLE else {}
            if {"item", "verdict"} <= found.keys():
                for row in block.rows:
                    values = {name: cell(row.cells, found, name) for name in found}
                    verdict = _word(values["verdict"])
                    path = draft.row("reviews.rows", {**values, "verdict": verdict}, row.line, block)
                    if path and values["verdict"] and not verdict:
                        why = f'"{values["verdict"]}" is neither SOUND nor FLAWED.'
                        draft.doubt(row.line, why, f"{path}.verdict")
                block.whole = len(found) == len(block.header)
            elif _VERDICT.search(block.plain):
                _review(draft, block, section.title)


def _word(text: str) -> str:
    match = _VERDICT.search(text.upper())
    return match[1] if match else ""


def _review(draft: Draft, block: Block, title: str) -> None:
    text = block.plain
    about = {}
    for name, pattern in (("engine", _ENGINE), ("thread", _THREAD), ("date", _DATE)):
        match = pattern.search(title) or pattern.search(text)
        about[name] = match[1] if match else ""
    marks = list(_ITEM_MARK.finditer(text)) or [re.match("", text)]
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        said = text[mark.end() : end]
        verdict = _VERDICT.search(said)
        if not verdict:
            continue
        item = one_line(said[: verdict.start()]).rstrip(" —–:-")
        tail = said[verdict.end() :]
        parts = [(item, tail), *()] if not re.search(r"\b[0-9]{1,12}a\b", tail) else _lettered(item, tail)
        for name, rest in parts:
            values = {**about, "item": name[:500], "verdict": verdict[1], **_conditions(rest)}
            draft.row("reviews.rows", values, block.line_at(mark.start()), block)


def _lettered(item: str, tail: str) -> list[tuple[str, str]]:
    """Items 4a, 4b ... of one verdict."""
    marks = list(re.finditer(r"\b[0-9]{1,12}[a-d]\b", tail))
    ends = [mark.start() for mark in marks[1:]] + [len(tail)]
    found = []
    for mark, end in zip(marks, ends, strict=True):
        body = tail[mark.start() : end]
        found.append(
            (f"{item}: {one_line(body.split('(')[0]).strip(' ;')}", body[body.find("(") :] if "(" in body else "")
        )
    return found


def _conditions(text: str) -> dict[str, str]:
    """The bracket behind a verdict: its conditions, and where they were met."""
    start = text.find("(")
    if start < 0:
        return {}
    depth, end = 0, len(text)
    for position in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if depth == 0:
            end = position
            break
    inside = one_line(text[start + 1 : end])
    if inside[:1] in '"“':
        return {"condition": inside.strip('"“”')[:500]}
    inside = re.sub(r"^conditions?\s*:\s*", "", inside, flags=re.I)
    parts = re.split(r"\s+—\s+|;\s+(?=§)", inside)
    condition = parts[0].lstrip("→ ")
    return {"condition": condition[:500], "fixed_where": "; ".join(parts[1:])[:500]}


def read_audit(draft: Draft) -> None:
    """The self-audit: each line with its mark."""
    for block in draft.blocks("audit"):
        found = columns(block, _AUDIT_TABLE) if block.kind == TABLE else {}
        if {"item", "answer"} <= found.keys():
            for row in block.rows:
                values = {name: cell(row.cells, found, name) for name in found}
                answer = _answer(values["answer"])
                path = draft.row("self_audit", {**values, "answer": answer}, row.line, block)
                if path and values["answer"] and not answer:
                    draft.doubt(row.line, f'"{values["answer"]}" is neither yes nor no.', f"{path}.answer")
            block.whole = len(found) == len(block.header)
        elif block.kind == ITEM:
            text = one_line(block.plain)
            item, _, where = text.partition(" — ")
            values = {
                "item": re.sub(r"\s*[✓✗✅❌]\s*", " ", item).strip()[:500],
                "where": re.sub(r"\s*[✓✗✅❌]", "", where).strip()[:500],
            }
            answer = _answer(text)
            path = draft.row("self_audit", {**values, "answer": answer}, block.first, block)
            block.whole = bool(path) and len(text) <= 500
            if path and not answer:
                draft.doubt(block.first, "This line says neither yes nor no.", f"{path}.answer")


def _answer(text: str) -> str:
    low = text.lower()
    if "n/a" in low or "not applicable" in low:
        return "n/a"
    if re.search(r"[✗❌]|\bno\b\s*$|\[ \]", low):
        return "no"
    return "yes" if re.search(r"[✓✅]|\byes\b|\[x\]", low) else ""
