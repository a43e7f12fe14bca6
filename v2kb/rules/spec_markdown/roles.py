"""Section 4: duties per role, what each does when its tile lies outside or is inactive, and who releases pages."""

import re
from collections.abc import Iterator

from v2kb.rules.spec_markdown.blocks import ITEM, PARAGRAPH, TABLE, Block, plain
from v2kb.rules.spec_markdown.draft import MAX_NOTE, Draft
from v2kb.rules.spec_markdown.phrases import (
    ARROW,
    cell,
    clauses,
    columns,
    folded,
    one_line,
    role_in,
    roles_in,
    sentences,
)

_HEAD = re.compile(
    r"^(loader|launcher|mma(?: warp)?|consumers?|storer|controller)\b[^\n:]{0,60}?(?:\(|:|—|–|-| W[0-9])", re.I
)
_BAIL = re.compile(r"^(?:bounds[ -]?fail|inactive)[^\n]{0,80}", re.I)
_PREFIX = re.compile(r"\bdep(?:endency)?[ -]prefix\b", re.I)
_TABLE = {
    "role": ("role", "warp role", "warps"),
    "dependency": ("dependency", "dep prefix", "dep"),
    "duty": ("duty", "duties", "responsibility", "normal", "does"),
    "pages": ("pages", "page duty"),
    "handshake": ("handshake", "barriers"),
    "bounds_fail": ("bounds fail", "bounds-fail"),
    "inactive": ("inactive", "inactive path"),
}
_WAITS = re.compile(r"\b(?:mbarrier_wait\(|waits?\s+(?:for\s+|on\s+)?)([A-Za-z_][A-Za-z0-9_]*)")
_ARRIVES = re.compile(
    r"\b(?:mbarrier_arrive_expect_tx\(|tcgen05_commit\(|(?:release-)?arrives?\s+(?:on\s+)?)([A-Za-z_][A-Za-z0-9_]*)"
)
_ALSO = re.compile(r"\s*(?:\[[^\]]*\])?\s*\+\s*([A-Za-z_][A-Za-z0-9_]*)")
_LAST_USE = re.compile(r"last_use\s*\[s\]\s*=")
_ALL_ROLES = re.compile(r"\b(?:each|every|all(?: four)?) roles?\b", re.I)
_RELEASES = re.compile(r"\breleases?\b[^.;]*\bpages?\b|\bpages? release\b", re.I)
_NO_WAIT = re.compile(r"\bno cross-role wait is issued\b|\bno role waits\b", re.I)
_REINIT_FIRST = re.compile(
    r"\beach role\b.{0,40}\bre-?inits\b.{0,20}\bbefore bailing\b|\bre-?init-?before-?bail\b", re.I
)
_STAGES = re.compile(r"^STAGES\s*=\s*([0-9]{1,12})")


def read_roles(draft: Draft) -> None:
    """One row per role, with its paths; the release of pages."""
    blocks = draft.blocks("roles")
    for block in blocks:
        found = columns(block, _TABLE) if block.kind == TABLE else {}
        if {"role", "duty"} <= found.keys():
            _table(draft, block, found)
        elif block.kind == PARAGRAPH and _STAGES.match(block.plain) and draft.value("symbols.STAGES"):
            draft.put("roles.stages", "STAGES", block.first, block)
    for role, head, steps in _groups(blocks):
        _duty(draft, role, head, steps)
    for block in blocks:
        if _BAIL.match(block.plain):
            _bail(draft, block)
        elif _PREFIX.search(block.plain[:80]):
            _dependencies(draft, block)
    for block in blocks:
        _release(draft, block)
    _owners(draft)
    _consumer_pages(draft)
    _starts(draft)


def _groups(blocks: list[Block]) -> Iterator[tuple[str, Block, list[Block]]]:
    """(role, its paragraph, the steps below it)."""
    for number, block in enumerate(blocks):
        head = _HEAD.match(block.plain) if block.kind in (PARAGRAPH, ITEM) else None
        if not head:
            continue
        steps = []
        for following in blocks[number + 1 :] if block.kind == PARAGRAPH else []:
            if following.kind != ITEM or _HEAD.match(following.plain):
                break
            steps.append(following)
        yield role_in(head[1]), block, steps


def _duty(draft: Draft, role: str, head: Block, steps: list[Block]) -> None:
    blocks = [head, *steps]
    text = "\n".join([head.source, *(f"{number}. {step.source}" for number, step in enumerate(steps, 1))])
    path = row_of(draft, role, head)
    if not path or len(text) > MAX_NOTE or not draft.put(f"{path}.duty", text, head.first, head):
        return
    for block in blocks:
        block.whole = True
        block.used.append(f"{path}.duty")
        _pages(draft, path, block)
        _phases(draft, block)
    handshake = _handshake(draft, plain(text))
    if handshake:
        draft.put(f"{path}.handshake", handshake, head.first)


def _pages(draft: Draft, path: str, block: Block) -> None:
    """Sentences of a duty that say what happens to pages, on the normal path and where the bounds fail."""
    for said in sentences(block.plain):
        if re.search(r"\bbounds\b[^.;]{0,40}\bfail", said, re.I) and (match := re.search(rf"{ARROW}\s*(.+)", said)):
            draft.put(f"{path}.bounds_fail", one_line(match[1]), block.first, block)
            if "page" in match[1]:
                draft.put(f"{path}.bounds_fail_pages", one_line(match[1])[:500], block.first, block)
        elif _RELEASES.search(said) and not draft.value(f"{path}.pages") and not _HEAD.match(said):
            draft.put(f"{path}.pages", said[:500], block.first, block)


def _phases(draft: Draft, block: Block) -> None:
    """`mbarrier_wait(NAME, 0)` states the parity that its waiter starts with."""
    for match in re.finditer(r"\bmbarrier_wait\(([A-Za-z_][A-Za-z0-9_]*)(?:\[[^\]]*\])?,\s*([01])\)", block.plain):
        for index, row in enumerate(draft.rows("sems.rows")):
            if folded(row.get("name", "")) == folded(match[1]):
                draft.put(f"sems.rows[{index}].first_phase", match[2], block.line_at(match.start()), block)


def row_of(draft: Draft, role: str, block: Block) -> str:
    """The path of a role's row, made when there is none."""
    for index, row in enumerate(draft.rows("roles.rows")):
        if row.get("role") == role:
            return f"roles.rows[{index}]"
    return draft.row("roles.rows", {"role": role}, block.first, block)


def _handshake(draft: Draft, text: str) -> str:
    """Which barriers of the table a text says it waits for and arrives at."""
    names = {folded(row.get("name", "")): row.get("name", "") for row in draft.rows("sems.rows")}
    starts = {key.removesuffix("tma"): name for key, name in names.items() if key.endswith("tma")}
    found: dict[str, list[str]] = {"waits": [], "arrives": []}
    for verb, pattern in (("waits", _WAITS), ("arrives", _ARRIVES)):
        for match in pattern.finditer(text):
            said = [match[1]]
            if also := _ALSO.match(text, match.end()):
                said.append(also[1])
            for word in said:
                name = names.get(folded(word)) or starts.get(folded(word), "")
                if name and name not in found[verb]:
                    found[verb].append(name)
    return "; ".join(f"{verb} {', '.join(listed)}" for verb, listed in found.items() if listed)[:500]


def _bail(draft: Draft, block: Block) -> None:
    """What roles do when a tile lies outside or is inactive: clauses that name a role are its own, those that name all
    concern all. A heading that names both paths states both.
    """
    parts = [part for said in sentences(block.plain) for part in _parts(said)]
    flat = one_line(block.plain)
    head = flat[: flat.find(":")] if ":" in flat[:120] else flat[:120]
    both = bool(re.search(r"bounds", head, re.I)) and bool(re.search(r"inactive", head, re.I))
    paths = ("bounds_fail", "inactive") if both else ("inactive",) if "inactive" in head.lower() else ("bounds_fail",)
    pages = [p for p in parts if re.search(r"\bpages?\b", p) and re.search(r"\b(?:arrived|released?)\b", p)]
    general = [p for p in parts if _ALL_ROLES.search(p) or re.search(r"\bno cross-role wait\b", p)]
    for index, row in enumerate(draft.rows("roles.rows")):
        own = [p for p in parts if _is_of(p, row.get("role", "")) and p not in general and p not in pages]
        mine = [p for p in pages if row.get("role") in roles_in(p)]
        said = "; ".join(dict.fromkeys([*own, *mine, *general]))
        handshake = "; ".join(own) or ("no cross-role wait" if _NO_WAIT.search(flat) else "")
        for name in paths:
            for field, value in (
                ("", said[:MAX_NOTE]),
                ("_pages", "; ".join(mine)[:500]),
                ("_handshake", handshake[:500]),
            ):
                path = f"roles.rows[{index}].{name}{field}"
                if value and not draft.value(path):
                    draft.put(path, value, block.first, block)
        if "inactive" in paths and _NO_WAIT.search(flat):
            draft.put(f"roles.rows[{index}].waits_when_inactive", "no", block.first, block)
        if "inactive" in paths and _REINIT_FIRST.search(flat):
            draft.put(f"roles.rows[{index}].reinit_before_bail", "yes", block.first, block)


def _parts(said: str) -> list[str]:
    """Clauses of a sentence; those of a list of roles apart."""
    roles = r",\s+(?=(?:launcher|loader|storer|consumers?)\b)"
    return [part for clause in clauses(said, ";:") for part in re.split(roles, clause)]


def _is_of(part: str, role: str) -> bool:
    bare = re.sub(r"\([^()]*\)", "", part)
    return roles_in(bare)[:1] == [role] and bool(re.search(r"\b(?:arrives?|skips?|waits?|releases?|returns?)\b", bare))


def _dependencies(draft: Draft, block: Block) -> None:
    """`consumer + launcher get the prefix; loader does the dep inline`."""
    for clause in re.split(r";|\.\s", block.plain.replace("\n", " ")):
        low = clause.lower()
        if re.search(r"\binline\b", low):
            kind, named = "inline", roles_in(clause.split("inline")[0])
        elif re.search(r"\bget\b.*prefix", low):
            kind, named = "codegen", roles_in(re.split(r"\bget\b", clause)[0])
        elif re.search(r"\btransitive", low):
            kind, named = "transitive", roles_in(clause.split("transitive")[0])
        else:
            for role in roles_in(clause)[:1] if re.search(r"\bregistration\b|\bverify\b", low) else []:
                draft.doubt(
                    block.first, f'The dependency of the {role} is not stated: "{one_line(clause)}".', "roles.rows"
                )
            continue
        for role in named:
            path = row_of(draft, role, block)
            if path:
                draft.put(f"{path}.dependency", kind, block.first, block)


def _release(draft: Draft, block: Block) -> None:
    text = block.plain
    if match := re.search(r"auto_consumer_finish\s*=\s*(false|true)", text):
        draft.put(
            "roles.release.auto_consumer_finish",
            {"false": "no", "true": "yes"}[match[1]],
            block.line_at(match.start()),
            block,
        )
    if (match := _LAST_USE.search(text)) and not re.search(r"never[- ](?:visited|fired)|unvisited", text, re.I):
        line = block.line_at(match.start())
        if draft.put("roles.release.unvisited_stages", "no", line, block):
            draft.checked(
                line,
                "The release formula stands without a word on stages that are never visited.",
                "roles.release.unvisited_stages",
            )


def _owners(draft: Draft) -> None:
    """Roles whose duties release pages, in the order of the rows."""
    owners = []
    for index, row in enumerate(draft.rows("roles.rows")):
        name = {"mma": "launcher", "storer": "storer"}.get(row.get("role", ""))
        if name and row.get("pages"):
            owners.append((name, draft.lines.get(f"roles.rows[{index}].pages", 1)))
    if owners:
        draft.put("roles.release.owners", [name for name, _ in owners], owners[0][1])


def _consumer_pages(draft: Draft) -> None:
    """Without its generated suffix a consumer releases no page on any path."""
    flag = "roles.release.auto_consumer_finish"
    if draft.value(flag) != "no":
        return
    for index, row in enumerate(draft.rows("roles.rows")):
        if row.get("role") == "consumer":
            for path in ("", "bounds_fail_", "inactive_"):
                if not row.get(f"{path}pages"):
                    draft.put(f"roles.rows[{index}].{path}pages", "none: auto_consumer_finish=false", draft.lines[flag])


def _starts(draft: Draft) -> None:
    """A one-shot barrier that a role's first step waits for, and who arrives at it."""
    for index, row in enumerate(draft.rows("sems.rows")):
        name = row.get("name", "")
        if row.get("slots", "1") != "1" or not name:
            continue
        for role in draft.rows("roles.rows"):
            duty, line = role.get("duty", ""), draft.lines.get(f"sems.rows[{index}]", 1)
            if re.search(rf"\n1\. [^\n]*\bwaits? {re.escape(name)}\b", plain(duty)):
                draft.put(f"sems.rows[{index}].waited_at_start", "yes", line)
            if not row.get("arrivers") and re.search(
                rf"\blane 0\b[^.\n]*\barrives? {re.escape(name)}\b", plain(duty), re.I
            ):
                draft.put(f"sems.rows[{index}].arrivers", "elected", line)


def _table(draft: Draft, block: Block, found: dict[str, int]) -> None:
    for row in block.rows:
        role = role_in(cell(row.cells, found, "role"))
        if not role:
            block.left.append(row.line)
            continue
        values = {name: cell(row.cells, found, name) for name in found if name not in ("role", "dependency")}
        dependency = cell(row.cells, found, "dependency").lower()
        values["dependency"] = next((d for d in ("codegen", "inline", "transitive", "none") if d in dependency), "")
        draft.row("roles.rows", {"role": role, **values}, row.line, block)
    block.whole = len(found) == len(block.header)
