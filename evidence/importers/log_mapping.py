"""What the columns of a log and the words of its verdicts mean. Pure.

A person says which field each column is, and what each word of the verdict column means: a verdict of the history, a
verdict of a row with its cause class, or a line to leave out. The two lists are never mixed: every word is one of them.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from evidence.importers.log_cells import word_key
from v2kb.rules import experiments
from v2kb.rules.evidence import CAUSE_CLASSES, DEAD, NO_CAUSES, UNTESTED, VERDICTS, WIN
from v2kb.rules.number_reading import unit_of_heading

ENTRY, ROW, SKIP = "entry", "row", "skip"
FIELDS = {
    "date": "Date",
    "verdict": "Verdict",
    "why": "Why, or mechanism of a row",
    "env": "Environment",
    "trace": "Trace directory",
    "commit": "Commit",
    "lever": "Lever",
    "title": "Title of a row",
    "number": "Number of a row",
    "bound": "Bound of a row",
    "not_checked": "What a row did not check",
    "cause_class": "Cause class of a row",
    "source": "Source of a row",
    "code": "Code of a row",
    "scope": "Scope of a row",
    "approaches": "Approaches of a row, one a line",
    "numbers": "Numbers of a row, typed, one a line",
    "sources": "Sources of a row, typed, one a line",
    "structural": "Whether a row is structural",
    "links": "Rows, kernels, runs that an entry speaks of",
    "corrects": "Prior claim that an entry corrects",
    "key": "What names the line (an id)",
    "document": "Content of a row, as exported",
    "hash": "Hash of that content",
}
MANY = frozenset({"why", "number", "source", "links", "key", "env"})  # several columns may be one of these
HEADS = {
    "date": ("date", "day", "when", "time", "on", "timestamp", "measured on"),
    "verdict": ("verdict", "result", "outcome", "status", "decision"),
    "why": ("why", "reason", "notes", "note", "mechanism", "comment", "observation", "finding", "description"),
    "env": ("env", "environment", "machine", "gpu", "host", "card", "hardware"),
    "document": ("content",),
    "hash": ("content hash",),
    "trace": ("trace", "traces", "trace dir", "trace directory", "dir", "outputs", "artifacts"),
    "commit": ("commit", "sha", "hash", "git"),
    "lever": ("lever", "lever name", "technique", "optimization", "optimisation"),
    "title": ("title", "change", "experiment", "name", "what", "idea", "hypothesis"),
    "number": ("number", "numbers", "speed", "speedup", "delta", "latency", "us", "µs", "time us", "perf"),
    "bound": ("bound", "bound / caveat", "caveat", "ceiling"),
    "not_checked": ("not checked", "not_checked", "unchecked"),
    "cause_class": ("cause", "cause class", "cause_class"),
    "source": ("source", "sources", "link"),
    "code": ("code", "row", "#"),
    "scope": ("scope",),
    "approaches": ("approaches", "approaches tried"),
    "numbers": ("numbers, typed",),
    "sources": ("sources, typed",),
    "structural": ("structural",),
    "links": ("links", "rows", "rows, kernels, runs", "speaks of"),
    "corrects": ("corrects",),
    "key": ("id", "key", "no", "number of experiment", "exp"),
}  # fmt: skip
WORDS = {
    "win": (ENTRY, "WIN"), "kept": (ENTRY, "WIN"), "keep": (ENTRY, "WIN"), "merged": (ENTRY, "WIN"),
    "null": (ENTRY, "NULL"), "flat": (ENTRY, "NULL"), "no change": (ENTRY, "NULL"), "tie": (ENTRY, "NULL"),
    "reverted (below gate)": (ENTRY, "NULL"), "regress": (ENTRY, "REGRESS"), "regressed": (ENTRY, "REGRESS"),
    "regression": (ENTRY, "REGRESS"), "slower": (ENTRY, "REGRESS"), "parked": (ENTRY, "PARKED"),
    "killed": (ENTRY, "KILLED"), "dead": (ROW, DEAD), "untested": (ROW, UNTESTED),
}  # fmt: skip


def read_mapping(
    raw: Any, header: list[str], causes: Mapping[str, str] = NO_CAUSES
) -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Return (mapping {"columns": {header: field}, "words": {key: {as, verdict, cause_class}}}, problems).

    Problems are (place, message); a place is `columns`, `words`, or a word. `causes`: those that curators added.
    """
    raw = raw if isinstance(raw, dict) else {}
    columns = raw.get("columns") if isinstance(raw.get("columns"), dict) else {}
    words = raw.get("words") if isinstance(raw.get("words"), dict) else {}
    problems: list[tuple[str, str]] = []
    mapping: dict[str, Any] = {"columns": {}, "words": {}}
    for name in header:
        chosen = columns.get(name, "")
        if chosen not in ("", *FIELDS):
            problems.append(("columns", f"Column {name}: {str(chosen)[:40]!r} is no field."))
            chosen = ""
        mapping["columns"][name] = chosen
    unknown = [str(name)[:40] for name in columns if name not in header]
    if unknown:
        problems.append(("columns", f"The file has no column {unknown[0]}."))
    for name, label in FIELDS.items():
        mine = [column for column, chosen in mapping["columns"].items() if chosen == name]
        if len(mine) > 1 and name not in MANY:
            problems.append(("columns", f"{label} can be one column only: {', '.join(mine)}."))
    if "verdict" not in mapping["columns"].values():
        problems.append(("columns", "Say which column holds the verdict."))
    for word, meaning in words.items():
        read, problem = _meaning(meaning, causes)
        if problem:
            problems.append(("words", f"{str(word)[:60] or 'an empty cell'}: {problem}"))
        elif read:
            mapping["words"][word_key(str(word))] = read
    kinds = {meaning["as"] for meaning in mapping["words"].values()}
    named = set(mapping["columns"].values())
    if ENTRY in kinds:
        for name in ("date", "why"):
            if name not in named:
                problems.append(("columns", f"Entries of the history need a column for: {FIELDS[name].split(',')[0]}."))
    if ROW in kinds and not named & {"title", "lever"}:
        problems.append(("columns", "Rows of evidence need a column for their title or lever."))
    return mapping, problems


def _meaning(raw: Any, causes: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """One word's meaning and what is wrong with it; an empty meaning means that nobody has said it yet."""
    if not isinstance(raw, dict) or not raw.get("as"):
        return {}, ""
    kind, verdict, cause = raw["as"], raw.get("verdict", ""), raw.get("cause_class", "")
    if kind == SKIP:
        return {"as": SKIP, "verdict": "", "cause_class": ""}, ""
    known = {ENTRY: experiments.VERDICTS, ROW: VERDICTS}.get(kind)
    if known is None or verdict not in known:
        return {}, f"{str(kind)[:20]} {str(verdict)[:20]} is no meaning of a word."
    if cause and (kind != ROW or verdict != DEAD or cause not in {*CAUSE_CLASSES, *causes}):
        return {}, "only a DEAD row has a cause class, one of the list."
    return {"as": kind, "verdict": verdict, "cause_class": cause}, ""


def suggest(
    header: list[str], words: Iterable[str], saved: Iterable[tuple[str, dict[str, Any]]]
) -> tuple[str, dict[str, Any]]:
    """(name of the saved mapping that fits best or "", a mapping for a person to check).

    The one with the same columns wins, else the one that shares most of them, at least half; else the usual words.
    """
    best, share = ("", {}), 0.0
    mine = {_head(name) for name in header}
    for name, mapping in saved:
        theirs = {_head(column) for column in mapping.get("columns", {})}
        overlap = len(mine & theirs) / max(1, len(mine | theirs))
        if overlap > share and overlap >= 0.5:
            best, share = (name, mapping), overlap
    known = {_head(column): chosen for column, chosen in best[1].get("columns", {}).items()}
    columns = {name: known.get(_head(name), "") for name in header} if best[0] else _usual(header)
    meanings = {key: {"as": kind, "verdict": verdict, "cause_class": ""} for key, (kind, verdict) in WORDS.items()}
    if "code" in columns.values():  # lines with codes are rows
        meanings["win"] = {"as": ROW, "verdict": WIN, "cause_class": ""}
    meanings |= best[1].get("words", {})
    return best[0], {
        "columns": columns,
        "words": {key: meanings[key] for key in map(word_key, words) if key in meanings},
    }


def _usual(header: list[str]) -> dict[str, str]:
    columns, taken = {}, set()
    for name in header:
        head = _head(name)
        chosen = next((f for f, heads in HEADS.items() if head in heads and (f in MANY or f not in taken)), "")
        if not chosen and unit_of_heading(name):
            chosen = "number"
        columns[name] = chosen
        taken.add(chosen)
    return columns


def _head(name: str) -> str:
    return " ".join(re.sub(r"[_()\[\]:*]+", " ", name).casefold().split())


def columns_of(mapping: dict[str, Any], name: str) -> list[str]:
    """The columns that are this field."""
    return [column for column, chosen in mapping["columns"].items() if chosen == name]
