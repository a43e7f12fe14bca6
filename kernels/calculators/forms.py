"""The form of each calculator: its fields and tables of rows, in words, and a worked example."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

MAX_ROWS = 64


@dataclass(frozen=True)
class Field:
    """One value that is typed. `kind` is text or check; `blank` is what an empty one stands for."""

    name: str
    label: str
    help: str = ""
    blank: str = ""
    kind: str = "text"
    unit: str = ""


@dataclass(frozen=True)
class Rows:
    """A table of rows; `spare` empty ones are offered at first, and an empty row counts for nothing."""

    name: str
    title: str
    row: str
    fields: tuple[Field, ...]
    help: str = ""
    spare: int = 1
    folded: bool = False


@dataclass(frozen=True)
class Form:
    """One calculator: what it answers, its parts, and plain values of a worked example by field."""

    slug: str
    title: str
    about: str
    fields: tuple[Field, ...]
    rows: tuple[Rows, ...]
    example: Mapping[str, Any]
    sections: tuple[str, ...] = ()


SYMBOLS = Rows(
    "symbols",
    "Symbols",
    "symbol",
    (Field("name", "name"), Field("value", "value or formula")),
    "Names that the formulas may use, such as STAGES = 8.",
    folded=True,
)
SMEM = Form(
    "smem-planner",
    "Shared-memory planner",
    "Where the planner puts the regions of a task, what each page wastes, and whether the next task still fits.",
    (
        Field(
            "queue",
            "Tasks that one SM runs in a row",
            "Names from the column task, with commas; this is an empty one.",
            "this",
        ),
        Field("page_bytes", "Bytes of a page", "", "16384", unit="B"),
        Field("pages", "Pages", "The capacity stays 224,256 B.", "14"),
    ),
    (
        Rows(
            "regions",
            "Regions",
            "region",
            (
                Field("task", "task", blank="this"),
                Field("name", "name"),
                Field("slots", "slots", blank="1"),
                Field("size_bytes", "size", unit="B"),
                Field("alignment", "alignment", blank="1024", unit="B"),
                Field("page_count", "pages", blank="from the size"),
                Field("can_pack", "may share a page", kind="check"),
                Field("release_step", "release step", blank="0"),
            ),
            "In the order of their ordinals. Sizes and counts are numbers or formulas. Empty rows count for nothing.",
            spare=3,
        ),
        SYMBOLS,
    ),
    {
        "queue": "this, this",
        "symbols": [{"name": "STAGES", "value": "8"}],
        "regions": [
            {"name": "W", "slots": "STAGES", "size_bytes": "16384", "page_count": "1", "release_step": "1"},
            {"name": "BSF", "size_bytes": "STAGES*3072+16", "release_step": "1"},
        ],
    },
    ("smem",),
)
WAVES = Form(
    "wave-quantisation",
    "Wave-quantisation tie test",
    "Whether more warps per task save a whole trip. A tie predicts a regression.",
    (
        Field("items", "Items in all", "Rows or tiles that are dealt to the warps."),
        Field("tasks", "Tasks", "How many run at once, one per SM."),
        Field("old_warps", "Warps per task now"),
        Field("new_warps", "Warps per task then"),
    ),
    (SYMBOLS,),
    {"items": "7168", "tasks": "136", "old_warps": "4", "new_warps": "7"},
    ("choices",),
)
FLOOR = Form(
    "achievable-floor",
    "Achievable floor",
    "The least time that moving these bytes takes at a bandwidth that was reached, never at the theoretical peak.",
    (
        Field("bytes", "Bytes that must move", "A number, a formula, or an amount with its unit: 31.5 MB, 48 MiB."),
        Field("low_tb_s", "Bandwidth from", "", "2.0", unit="TB/s"),
        Field("high_tb_s", "Bandwidth to", "", "3.4", unit="TB/s"),
    ),
    (SYMBOLS,),
    {"bytes": "49545216", "low_tb_s": "2.0", "high_tb_s": "3.4"},
    ("gates",),
)
TASKS = Form(
    "task-count",
    "Task count",
    "How many tasks a formula gives, beside the number that a plan lists.",
    (
        Field("num_tasks", "Number of tasks", "A formula, such as 8*(N/128)."),
        Field("listed", "Listed", "The number that the plan states; may be left empty."),
    ),
    (SYMBOLS,),
    {"num_tasks": "8*(N/128)", "listed": "64", "symbols": [{"name": "N", "value": "1024"}]},
    ("granularity",),
)
TMEM = Form(
    "tmem-columns",
    "Tensor-memory columns",
    "Which of the 512 columns each object takes, and how many have to be allocated.",
    (Field("alloc_columns", "Columns to be allocated", "A power of two from 32 to 512; may be left empty."),),
    (
        Rows(
            "objects",
            "Objects",
            "object",
            (
                Field("name", "name"),
                Field("slots", "slots", blank="1"),
                Field("columns", "columns of a slot"),
                Field("start", "first column", blank="after the row above"),
            ),
            spare=3,
        ),
        SYMBOLS,
    ),
    {
        "alloc_columns": "64",
        "objects": [
            {"name": "ACC", "slots": "2", "columns": "16", "start": "0"},
            {"name": "SFA", "columns": "4", "start": "32"},
            {"name": "SFB", "columns": "4", "start": "36"},
        ],
    },
    ("tmem",),
)
FORMS = {form.slug: form for form in (SMEM, WAVES, FLOOR, TASKS, TMEM)}
OF_SECTION = {section: form for form in FORMS.values() for section in form.sections}
