"""One line of the experiment history: date, environment, verdict, why, and where its traces are.

Sources: formats 6.5 and the table of history verdicts in the vocabulary. A history verdict is never a row's verdict.
"""

import datetime
import re
from typing import Any

from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence_change import FieldChange
from v2kb.rules.names import ROW_CODE
from v2kb.rules.problem import Problem

WIN, NULL, REGRESS, PARKED, KILLED = VERDICTS = ("WIN", "NULL", "REGRESS", "PARKED", "KILLED")
LINK_KINDS = ("row", "kernel", "run")
MAX_LENGTHS = {"env": 120, "why": 1000, "trace": 300, "commit": 80}
MAX_LINKS = 20
LABELS = {
    "on": "date",
    "env": "environment",
    "verdict": "verdict",
    "why": "why",
    "trace": "trace directory",
    "commit": "commit",
    "lever": "lever",
    "links": "rows, kernels, runs",
}
FIELDS = tuple(LABELS)
NEEDED = {"env": "Name the machine and its state, for example B200, driver 570.", "why": "Say in one line why."}
NOTHING = frozenset(
    {"", "-", "–", "—", "−", "n/a", "na", "n.a.", "none", "null", "nil", "?", "unknown", "tbd", "nan"}
)  # what a cell says that says nothing
_BREAK = re.compile(r"\s*<br\s*/?>\s*", re.IGNORECASE)
_COMMIT = re.compile(r"[\w./@:+-]+")
_TARGETS = {
    "row": ROW_CODE,
    "kernel": re.compile(r"[-a-zA-Z0-9_]{1,80}", re.ASCII),
    "run": re.compile(r"[A-Za-z0-9-]{1,40}", re.ASCII),
}


def read_entry(raw: dict[str, Any]) -> tuple[dict[str, Any], list[Problem]]:
    """Return (entry with every field of `FIELDS` in its one spelling, problems).

    `on` is a date in ISO form, `lever` a slug or empty, `links` a sorted list of texts such as `row:D3`.
    """
    problems = [
        Problem(str(n)[:60], f"An entry has no field {str(n)[:40]!r}.", "Remove it.") for n in raw if n not in FIELDS
    ]
    entry: dict[str, Any] = {"on": _date(raw.get("on"), problems)}
    for name, longest in MAX_LENGTHS.items():
        entry[name] = _line(name, raw.get(name), longest, problems)
    for name, fix in NEEDED.items():
        if not entry[name] and not any(problem.field == name for problem in problems):
            problems.append(Problem(name, f"The {name} is empty.", fix))
    if entry["commit"] and not _COMMIT.fullmatch(entry["commit"]):
        problems.append(Problem("commit", f"{entry['commit'][:40]!r} names no one commit.", "Write its hash alone."))
    verdict = raw.get("verdict")
    entry["verdict"] = verdict if verdict in VERDICTS else ""
    if not entry["verdict"]:
        said = f"{str(verdict)[:40]!r} is no verdict of an experiment." if verdict else "The verdict is empty."
        problems.append(Problem("verdict", said, f"Use one of: {', '.join(VERDICTS)}."))
    entry["lever"] = _line("lever", raw.get("lever"), 80, problems)
    entry["links"] = _links(raw.get("links"), problems)
    return entry, problems


def entry_hash(entry: dict[str, Any]) -> str:
    """The hash of what an entry says."""
    return content_hash({name: entry[name] for name in FIELDS})


def identity(entry: dict[str, Any]) -> tuple[str, ...]:
    """What says which experiment an entry is about, apart from what it claims: date, environment, lever, traces."""
    return tuple(entry[name] for name in ("on", "env", "lever", "trace", "commit"))


def entry_diff(old: dict[str, Any], new: dict[str, Any]) -> list[FieldChange]:
    """The fields in which a correction differs from the prior claim, links by link."""
    changes = []
    for name, label in LABELS.items():
        was, now = old[name], new[name]
        if was != now:
            lost, came = (
                tuple(item for item in one if item not in other) if name == "links" else ()
                for one, other in ((was, now), (now, was))
            )
            changes.append(FieldChange(name, label, was, now, lost, came))
    return changes


def split_links(text: str) -> list[str]:
    """Links from text: `D3`, `row:D3`, `kernel:fused`, `run:R12`, separated by commas, semicolons or space."""
    parts = [part for part in re.split(r"[\s,;]+", text) if part]
    return [part if ":" in part else f"row:{part}" for part in parts]


def _links(raw: Any, problems: list[Problem]) -> list[str]:
    if raw in (None, ""):
        return []
    if not isinstance(raw, (list, tuple)) or len(raw) > MAX_LINKS:
        problems.append(Problem("links", f"links must be a list of at most {MAX_LINKS}.", "Send fewer."))
        return []
    links = set()
    for item in raw:
        kind, _, target = str(item).partition(":")
        kind = kind.strip().lower()
        target = target.strip().upper() if kind == "row" else target.strip()
        if kind not in LINK_KINDS or not _TARGETS[kind].fullmatch(target):
            problems.append(
                Problem("links", f"{str(item)[:60]!r} is no link.", "Write row:D3, kernel:its-name or run:its-id.")
            )
            continue
        links.add(f"{kind}:{target}")
    return sorted(links)


def _line(field: str, value: Any, longest: int, problems: list[Problem]) -> str:
    """One line of text: line breaks are spaces, an escaped pipe is a pipe, `n/a` and the like are empty."""
    if value is None:
        return ""
    if not isinstance(value, str):
        problems.append(Problem(field, f"{field} must be text.", "Write it as plain text."))
        return ""
    text = " ".join(_BREAK.sub(" ", value).replace("\\|", "|").split())
    text = text.strip("` ") if field in ("trace", "commit") else text
    text = "" if text.casefold() in NOTHING else text
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        problems.append(Problem(field, f"{field} holds characters that are not text.", "Remove them."))
        return ""
    if len(text) > longest:
        problems.append(
            Problem(field, f"{field} has {len(text)} characters; at most {longest} are kept.", "Shorten it.")
        )
        return text[:longest]
    return text


def _date(value: Any, problems: list[Problem]) -> str:
    try:
        return datetime.date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        said = f"{str(value)[:40]!r} is no date." if value else "The date is empty."
        problems.append(Problem("on", said, "Write for example 2026-07-03."))
        return ""
