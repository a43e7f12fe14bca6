"""Marked tables: the form in which a spec's fields stand in markdown without loss.

A comment `<!-- v2kb: smem.regions -->` names the part that the table or text below it holds. A table's columns are
field names; a column that is left out is blank in all rows. A row that belongs to another (a slice to its region) names
it in the column `of`. A table of `field` and `value` holds the single fields of a part. Prose ends at
`<!-- v2kb: end -->`. Cells escape `\\`, `|` and `,` with a backslash; `<br>` is a line end.
"""

import re
from dataclasses import dataclass
from typing import Any

from v2kb.rules.scope import DIMENSIONS, WORD_DIMENSIONS
from v2kb.rules.spec_document import empty_row, empty_spec
from v2kb.rules.spec_fields import ROW_FIELDS
from v2kb.rules.spec_fields.evidence import ACKNOWLEDGED, CITATION
from v2kb.rules.spec_words import NOTE_PLACES

FIELDS, ROWS, NAMED, PROSE, TITLE = "fields", "rows", "named", "prose", "title"
OF = "of"
END = "end"
MARK = re.compile(r"<!-- v2kb: ([a-z_]+(?:\.[a-z0-9_]+)*) -->\s*$")
_TEXT_MARK = re.compile(r"<!-- (\\*)v2kb:")
_ESCAPED = re.compile(r"\\(.)|(<br>)", re.S)


@dataclass(frozen=True, slots=True)
class Part:
    """One marked part: `path`, its form, and its columns or fields. `parent` is the table whose rows own
    its rows; `single` where each of them owns one record.
    """

    path: str
    form: str
    columns: tuple[str, ...] = ()
    parent: str = ""
    single: bool = False

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


def _record(path: str) -> Part:
    """Single fields of a part: neither tables nor parts of their own."""
    holder: Any = empty_spec()
    for name in path.split("."):
        holder = holder[name]
    single = [name for name, blank in holder.items() if not isinstance(blank, dict)]
    return Part(path, FIELDS, tuple(name for name in single if f"{path}.{name}" not in ROW_FIELDS))


def _table(path: str, parent: str = "") -> Part:
    fields = [
        name
        for name, blank in empty_row(path).items()
        if not isinstance(blank, dict) and blank is not None and f"{path}.{name}" not in ROW_FIELDS
    ]
    return Part(path, ROWS, tuple(f for f in fields if (path, f) not in _OWN_TABLES), parent)


_OWN_TABLES = {("choices", "citations"), ("choices", "acknowledged")}
_CITED = tuple(
    dict.fromkeys(["kind", *(name for fields in CITATION.values() for name in fields if name != "stance"), "stance"])
)
_WAVE = ("items", "tasks", "old_warps", "new_warps")
_NOTES = {place: Part(f"notes.{place}", PROSE) for place in NOTE_PLACES}

# Headings in the order of a Stage-1 spec, and the parts below each.
LAYOUT: tuple[tuple[str, tuple[Part, ...]], ...] = (
    ("", (Part("title", TITLE), Part("summary", PROSE), _NOTES["preamble"])),
    ("0. Op contract", (_table("ops"), Part("symbols", NAMED, ("name", "value")), _NOTES["contract"])),
    ("1. Engine choice", (_record("engine"), _record("engine.routing"), _NOTES["engine"])),
    (
        "2. SMEM region plan",
        (
            _record("smem"), _table("smem.regions"), _table("smem.regions.slices", "smem.regions"), _table("claims"),
            _NOTES["smem"],
        ),
    ),
    ("2.1 TMEM", (_record("tmem"), _table("tmem.objects"), _NOTES["tmem"])),
    (
        "3. SEM ordinal table",
        (
            _record("sems"), _table("sems.rows"), _table("sems.channels"), _table("sems.one_shots"),
            _record("sems.protocol"), _NOTES["sems"],
        ),
    ),
    ("4. Stage count and roles", (_record("roles"), _table("roles.rows"), _record("roles.release"), _NOTES["roles"])),
    ("5. Task granularity", (_table("granularity"), _NOTES["granularity"])),
    (
        "6. Evidence table",
        (
            _table("choices"),
            Part("choices.scope", ROWS, DIMENSIONS, "choices", single=True),
            Part("choices.citations", ROWS, _CITED, "choices"),
            Part("choices.acknowledged", ROWS, tuple(ACKNOWLEDGED), "choices"),
            Part("choices.prediction", ROWS, _table("choices.prediction").columns, "choices", single=True),
            _table("choices.prediction.bands", "choices"),
            Part("choices.wave_quant", ROWS, _WAVE, "choices", single=True),
            _table("anchors"),
            _NOTES["evidence"],
        ),
    ),
    (
        "7. Gates and measurement",
        (
            _table("gates"), _record("measurement"), _table("measurement.targets"), _table("scale_packs"),
            _NOTES["gates"],
        ),
    ),
    (
        "8. Wiring sketch",
        (
            _record("wiring"), _table("wiring.tasks"), _table("wiring.files"),
            Part("wiring.placeholders", NAMED, ("name", "value")), _NOTES["wiring"],
        ),
    ),
    ("9. Open questions", (_table("open_questions"), _NOTES["questions"])),
    ("10. Design review log", (_record("reviews"), _table("reviews.rows"), _NOTES["reviews"])),
    ("10.5 Appendix", (_table("amendments"), _table("amendments.fields", "amendments"), _NOTES["appendix"])),
    ("11. Self-audit", (_table("self_audit"), _NOTES["audit"])),
)  # fmt: skip
PARTS: dict[str, Part] = {part.path: part for _, parts in LAYOUT for part in parts}


# --- cells ---


def encode(value: Any) -> str:
    """One field as the text of a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(
            _escape(item).replace(",", "\\,") if item not in ("", '""') else _quoted(item) for item in value
        )
    return _escape(str(value))


def _quoted(item: str) -> str:
    return '""' if not item else '\\"\\"'


def _escape(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("|", "\\|").replace("<br>", "\\<br>")
    return text.replace("\n", "<br>")


def decode(cell: str) -> str:
    """The text of a cell."""
    return _ESCAPED.sub(lambda match: match[1] if match[1] is not None else "\n", cell.strip(" \t"))


def decode_list(cell: str) -> list[str]:
    """The items of a cell that holds a list."""
    text = cell.strip(" \t")
    if not text:
        return []
    items, start, position = [], 0, 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == ",":
            items.append(text[start:position])
            start = position + 1
        position += 1
    items.append(text[start:])
    return ["" if item.strip() == '""' else decode(item) for item in items]


def shield(text: str) -> str:
    """Prose in which no line can be taken for a mark."""
    return _TEXT_MARK.sub(lambda match: f"<!-- {match[1]}\\v2kb:", text)


def unshield(text: str) -> str:
    """The prose that `shield` was given."""
    return re.sub(r"<!-- (\\*)\\v2kb:", lambda match: f"<!-- {match[1]}v2kb:", text)


def is_list(part: Part, column: str) -> bool:
    """Whether a column holds a list of words."""
    if part.path == "choices.scope":
        return column in WORD_DIMENSIONS
    if part.form == FIELDS:
        holder: Any = empty_spec()
        for name in part.path.split("."):
            holder = holder[name]
        return isinstance(holder[column], list)
    return part.path in ROW_FIELDS and isinstance(empty_row(part.path)[column], list)


def is_flag(part: Part, column: str) -> bool:
    """Whether a column holds true or false."""
    return part.form == ROWS and part.path in ROW_FIELDS and isinstance(empty_row(part.path)[column], bool)


def labels(rows: list[dict[str, Any]]) -> list[str]:
    """How other tables name each of these rows: by id or name where that is one row's alone, else by number."""
    names = [str(row.get("id") or row.get("name") or "") for row in rows]
    return [
        name if name and names.count(name) == 1 and not name.startswith("#") else f"#{number}"
        for number, name in enumerate(names, 1)
    ]
