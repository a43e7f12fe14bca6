"""What the editor shows: sections in groups, their fields and tables. Names are paths inside the spec document."""

from kernels.editor.layout.barriers import LEDGER, SEM_SECTION
from kernels.editor.layout.delivery import GATES, WIRING
from kernels.editor.layout.evidence import (
    ACKNOWLEDGED,
    ANCHOR_SECTION,
    BANDS,
    CHOICE,
    CHOICES,
    CITATIONS,
    PREDICTION,
    SCOPE,
    SCOPE_LISTS,
    WAVE_QUANT,
)
from kernels.editor.layout.memory import SMEM, TMEM
from kernels.editor.layout.overview import OVERVIEW
from kernels.editor.layout.parts import Cell, Fields, Input, Section, Table, anchor_of, every_table
from kernels.editor.layout.record import AMENDMENTS, AUDIT, NOTES, QUESTIONS, REVIEWS, audit_to_begin_with
from kernels.editor.layout.work import GRANULARITY, ROLES_SECTION

GROUPS: tuple[tuple[str, tuple[Section, ...]], ...] = (
    ("Contract", (OVERVIEW,)),
    ("Plan", (SMEM, TMEM, SEM_SECTION, LEDGER, ROLES_SECTION, GRANULARITY)),
    ("Evidence", (CHOICES, ANCHOR_SECTION)),
    ("Delivery", (GATES, WIRING)),
    ("Record", (QUESTIONS, REVIEWS, AMENDMENTS, AUDIT, NOTES)),
)
SECTIONS: tuple[Section, ...] = tuple(section for _, sections in GROUPS for section in sections)
BY_SLUG = {section.slug: section for section in SECTIONS}
CHOICE_TABLES = (CITATIONS, BANDS, ACKNOWLEDGED)

__all__ = [
    "ACKNOWLEDGED",
    "BANDS",
    "BY_SLUG",
    "CHOICE",
    "CHOICE_TABLES",
    "CITATIONS",
    "GROUPS",
    "PREDICTION",
    "SCOPE",
    "SCOPE_LISTS",
    "SECTIONS",
    "WAVE_QUANT",
    "Cell",
    "Fields",
    "Input",
    "Section",
    "Table",
    "anchor_of",
    "audit_to_begin_with",
    "every_table",
]
