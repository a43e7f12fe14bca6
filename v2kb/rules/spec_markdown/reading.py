"""Reading a Stage-1 spec from markdown: sections in any order, tables by their columns, prose by its words.

What is ambiguous is not decided: it stays in the notes of its part, and the placements say so.
"""

import re
from typing import Any

from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_markdown.appendix import read_appendix
from v2kb.rules.spec_markdown.blocks import MAX_BYTES, MAX_LINES, Section, lines_of, sections_of
from v2kb.rules.spec_markdown.choices import read_choices
from v2kb.rules.spec_markdown.contract import read_contract, read_head
from v2kb.rules.spec_markdown.draft import LEFT, Draft, Placement, Reading
from v2kb.rules.spec_markdown.engine import read_engine
from v2kb.rules.spec_markdown.exact import read_exact
from v2kb.rules.spec_markdown.gates import read_gates, read_scale_packs
from v2kb.rules.spec_markdown.log import read_audit, read_questions, read_reviews
from v2kb.rules.spec_markdown.memory import read_smem
from v2kb.rules.spec_markdown.predictions import read_prediction
from v2kb.rules.spec_markdown.roles import read_roles
from v2kb.rules.spec_markdown.semaphores import read_sems, read_storage
from v2kb.rules.spec_markdown.tasks import read_tasks
from v2kb.rules.spec_markdown.tmem import mark_tmem, read_tmem
from v2kb.rules.spec_markdown.wiring import read_wiring

_PLACES = (
    ("appendix", r"\bappendix\b|\bamendments?\b|\bresolutions\b"),
    ("audit", r"\bself-audit\b|\bself audit\b|\bquality bar\b"),
    ("questions", r"\bopen questions?\b|\bquestions\b"),
    ("reviews", r"\b(?:design[- ])?reviews?\b|\breview log\b"),
    ("tmem", r"\btmem\b|\btensor memory\b"),
    ("smem", r"\bsmem\b|\bshared memory\b|\bregions?\b"),
    ("sems", r"\bsems?\b|\bsemaphores?\b|\bmbars?\b|\bbarriers?\b"),
    ("engine", r"\bengine\b|\bdecision tree\b|\bpre-?registration\b|\bpredictions?\b"),
    ("contract", r"\bop contract\b|\bcontract\b|\bops\b|\bshapes\b"),
    ("roles", r"\broles?\b|\bstage count\b|\bresponsibilit|\bduties\b"),
    ("granularity", r"\bgranularity\b|\btasks?\b"),
    ("evidence", r"\bevidence\b|\bdesign choices\b|\bchoices\b"),
    ("gates", r"\bgates?\b|\bcorrectness\b|\bvalidation\b|\bmeasurement\b"),
    ("wiring", r"\bwiring\b|\bregistration\b|\bintegration\b"),
)  # fmt: skip
_COMPILED = tuple((place, re.compile(pattern, re.I)) for place, pattern in _PLACES)
_READERS = (
    read_head, read_contract, read_engine, read_smem, read_tmem, read_sems, read_storage, read_tasks, read_roles,
    read_choices, read_prediction, read_gates, read_questions, read_scale_packs, read_wiring, read_reviews, read_audit,
    read_appendix,
)  # fmt: skip


def place_of(title: str) -> str:
    """The part of a spec that a heading names: the one whose word comes first; "" for none."""
    bare = re.sub(r"\([^)]*\)", " ", title)
    found = [(match.start(), place) for place, pattern in _COMPILED if (match := pattern.search(bare))]
    return min(found, key=lambda item: item[0])[1] if found else ""


def read_markdown(text: Any) -> Reading:
    """Read a spec from markdown of at most 2 MB. Never raises for text; what can't be read is in the placements."""
    why = _unreadable(text)
    if why:
        return Reading(empty_spec(), (Placement(1, 1, LEFT, (), why),), {}, {}, (), why)
    lines = lines_of(text)
    if len(lines) > MAX_LINES:
        why = f"The text has more than {MAX_LINES:,} lines."
        return Reading(empty_spec(), (Placement(1, 1, LEFT, (), why),), {}, {}, (), why)
    draft = Draft()
    taken = read_exact(draft, lines)
    draft.sections = _placed(sections_of(lines, frozenset(taken)))
    mark_tmem(draft)
    for read in _READERS:
        read(draft)
    return draft.finish()


def _unreadable(text: Any) -> str:
    if not isinstance(text, str) or not text.strip():
        return "There is no text to read."
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return f"The text is larger than {MAX_BYTES // 2**20} MB."
    return ""


def _placed(sections: list[Section]) -> list[Section]:
    """Sections with their places. A heading below the second level that names no part continues the one above."""
    result: list[Section] = []
    for section in sections:
        section.place = "preamble" if section.level <= 1 and not result[1:] else place_of(section.title)
        if not section.place and section.level > 2 and result:
            section.place = result[-1].place
        result.append(section)
    return result
