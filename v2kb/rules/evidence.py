"""What the content of an evidence revision must hold, and when a row blocks.

Sources: evidence-and-gate section 1. A DEAD row is a universal claim, so what is missing in it counts against
the design, not for it: without cause class it blocks, without scope it covers every case.
"""

import datetime
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from v2kb.rules.numbers import SPELLINGS, read_number
from v2kb.rules.problem import Problem
from v2kb.rules.scope import read_scope

DEAD, WIN, UNTESTED = "DEAD", "WIN", "UNTESTED"
VERDICTS = (DEAD, WIN, UNTESTED)
FULL, WEAK, NOT_BLOCKING = "full", "weak", ""
SOURCE_KINDS = ("document", "commit", "note", "run", "url")
MAX_TITLE = 300
MAX_TEXT = 10_000
MAX_LIST = 100
NO_CAUSES: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True)
class CauseClass:
    """Why a lever is dead. `blocking` is `full`, `weak` (a survey ruled it out, nobody measured it) or empty."""

    slug: str
    label: str
    blocking: str


CAUSE_CLASSES = {
    cause.slug: cause
    for cause in (
        CauseClass("mechanism_refuted", "mechanism refuted", FULL),
        CauseClass("flat", "flat (no headroom)", FULL),
        CauseClass("regressed_in_scope", "regressed in scope", FULL),
        CauseClass("regressed_elsewhere", "regressed elsewhere", FULL),
        CauseClass("correctness_failure", "correctness failure", FULL),
        CauseClass("ruled_out_by_construction", "ruled out by construction", FULL),
        CauseClass("ruled_out_by_survey", "ruled out by survey", WEAK),
        CauseClass("out_of_scope", "out of scope", NOT_BLOCKING),
        CauseClass("harness_invalid", "harness invalid", NOT_BLOCKING),
        CauseClass("tooling_blocked", "tooling blocked", NOT_BLOCKING),
        CauseClass("abandoned", "abandoned", NOT_BLOCKING),
    )
}


def cause_label(slug: str) -> str:
    """Return how people read a cause class: its label, or the words of the slug of one that curators added."""
    return CAUSE_CLASSES[slug].label if slug in CAUSE_CLASSES else slug.replace("_", " ")


_TEXTS = {
    "lever": 80,
    "title": MAX_TITLE,
    "mechanism": MAX_TEXT,
    "not_checked": MAX_TEXT,
    "bound": MAX_TEXT,
    "measured_note": MAX_TEXT,
}
FIELDS = (
    "lever",
    "title",
    "verdict",
    "scope",
    "numbers",
    "mechanism",
    "cause_class",
    "approaches",
    "not_checked",
    "bound",
    "structural",
    "measured_on",
    "measured_note",
    "sources",
)


@dataclass(frozen=True, slots=True)
class RevisionCheck:
    """A revision in its one spelling, what stops it, and what it lacks for its verdict.

    `refusals` must be empty before the content is stored. `missing` is shown with an imported row.
    """

    content: dict[str, Any]
    refusals: tuple[Problem, ...]
    missing: tuple[Problem, ...]


# --- content ---


def check_revision(
    raw: Any,
    *,
    imported: bool = False,
    causes: Mapping[str, str] = NO_CAUSES,
    units: Mapping[str, str] = SPELLINGS,
) -> RevisionCheck:
    """Normalise the content of a revision and judge it.

    For a new verdict a field that the verdict needs is a refusal. For an import of an existing map
    (`imported=True`) it is only listed as missing: such rows are taken as they stand. `causes` and `units` as in
    `read_content`.
    """
    content, problems = read_content(raw, causes, units)
    missing = missing_fields(content)
    if imported:
        return RevisionCheck(content, tuple(problems), tuple(missing))
    named = {problem.field for problem in problems}
    return RevisionCheck(content, (*problems, *(p for p in missing if p.field not in named)), tuple(missing))


def read_content(
    raw: Any, causes: Mapping[str, str] = NO_CAUSES, units: Mapping[str, str] = SPELLINGS
) -> tuple[dict[str, Any], list[Problem]]:
    """Return (content with every field of `FIELDS`, problems of type, length and vocabulary).

    `causes` maps what curators added to the cause classes, new ones and other names, to the slug that is kept; `units`
    maps spellings to the unit that is kept.
    """
    if not isinstance(raw, dict):
        return _empty(), [Problem("", "The content is not a set of named fields.", "Send one value per field.")]
    content = _empty()
    problems = [
        Problem(str(name)[:60], f"Evidence has no field {str(name)[:40]!r}.", "Remove it.")
        for name in raw
        if name not in FIELDS
    ]
    for name, longest in _TEXTS.items():
        content[name], found = _text(name, raw.get(name), longest)
        problems += found
    for name in ("lever", "title"):
        if not content[name] and not any(problem.field == name for problem in problems):
            problems.append(Problem(name, f"The {name} is empty.", f"Give the {name}."))
    content["verdict"] = _choice(raw, "verdict", VERDICTS, problems)
    cause = _choice(raw, "cause_class", ("", *CAUSE_CLASSES, *causes), problems)
    content["cause_class"] = causes.get(cause, cause)
    content["scope"], found = read_scope(raw.get("scope"))
    problems += [problem.under("scope") for problem in found]
    content["structural"] = raw.get("structural", False)
    if not isinstance(content["structural"], bool):
        problems.append(Problem("structural", "structural must be true or false.", "Tick it or leave it."))
        content["structural"] = False
    content["measured_on"], found = _date(raw.get("measured_on"))
    problems += found
    content["numbers"], found = _list("numbers", raw.get("numbers"), partial(read_number, units=units))
    problems += found
    content["approaches"], found = _list("approaches", raw.get("approaches"), _approach)
    problems += found
    content["sources"], found = _list("sources", raw.get("sources"), _source)
    problems += found
    return content, problems


def _empty() -> dict[str, Any]:
    content: dict[str, Any] = dict.fromkeys(FIELDS, "")
    return content | {"scope": {}, "numbers": [], "approaches": [], "sources": [], "structural": False}


def _text(field: str, value: Any, longest: int) -> tuple[str, list[Problem]]:
    if value is None:
        return "", []
    if not isinstance(value, str):
        return "", [Problem(field, f"{field} must be text.", "Write it as plain text.")]
    if "\0" in value:
        return "", [Problem(field, f"{field} holds a NUL character.", "Remove it.")]
    if any("\ud800" <= sign <= "\udfff" for sign in value):
        return "", [Problem(field, f"{field} holds half a character.", "Remove it.")]
    text = value.replace("\r\n", "\n").strip()
    if len(text) > longest:
        message = f"{field} has {len(text)} characters; at most {longest} are kept."
        return text[:longest], [Problem(field, message, "Shorten it, or move the detail to a document and cite that.")]
    return text, []


def _choice(raw: dict[str, Any], field: str, allowed: Collection[str], problems: list[Problem]) -> str:
    value = raw.get(field) or ""
    if isinstance(value, str) and value in allowed:
        return value
    shown = ", ".join(item for item in allowed if item)
    if value == "":
        problems.append(Problem(field, f"The {field} is empty.", f"Use one of: {shown}."))
    else:
        problems.append(Problem(field, f"{field} {str(value)[:40]!r} is not known.", f"Use one of: {shown}."))
    return ""


def _date(value: Any) -> tuple[str, list[Problem]]:
    if value in (None, ""):
        return "", []
    try:
        return datetime.date.fromisoformat(value).isoformat(), []
    except (TypeError, ValueError):
        message = f"measured_on {str(value)[:40]!r} is not a date."
        return "", [Problem("measured_on", message, "Write for example 2026-07-03; put anything else in the note.")]


def _list(field: str, value: Any, read: Any) -> tuple[list[Any], list[Problem]]:
    if value in (None, ""):
        return [], []
    if not isinstance(value, (list, tuple)) or len(value) > MAX_LIST:
        return [], [Problem(field, f"{field} must be a list of at most {MAX_LIST} entries.", "Send a shorter list.")]
    items, problems = [], []
    for index, raw in enumerate(value):
        item, found = read(raw)
        items.append(item)
        problems += [problem.under(f"{field}[{index}]") for problem in found]
    return items, problems


def _approach(raw: Any) -> tuple[str, list[Problem]]:
    text, problems = _text("", raw, MAX_TEXT)
    return text, problems or ([] if text else [Problem("", "An approach is empty.", "Describe it or remove it.")])


def _source(raw: Any) -> tuple[dict[str, str], list[Problem]]:
    source = {"kind": "", "text": "", "document": "", "anchor": ""}
    if not isinstance(raw, dict):
        return source, [Problem("", "A source must have a kind and a text.", "Name where the verdict comes from.")]
    problems = [
        Problem(str(n)[:60], f"A source has no field {str(n)[:40]!r}.", "Remove it.") for n in raw if n not in source
    ]
    source["kind"] = _choice(raw, "kind", SOURCE_KINDS, problems)
    for name in ("text", "document", "anchor"):
        source[name], found = _text(name, raw.get(name), MAX_TITLE if name != "text" else MAX_TEXT)
        problems += found
    if not source["text"] and not source["document"]:
        problems.append(Problem("text", "A source needs a text or a document.", "Say where it can be found."))
    return source, problems


def missing_fields(content: dict[str, Any]) -> list[Problem]:
    """Return what a revision lacks for its verdict; `content` comes from `read_content`.

    WIN: a number with what it is compared with and a source or run, or structural with mechanism and
    source. DEAD: cause class, mechanism, scope, what was not checked. UNTESTED: bound, no verdict number.
    """
    verdict = content["verdict"]
    if verdict == WIN:
        return _missing_in_win(content)
    if verdict == DEAD:
        wanted = {
            "cause_class": (
                "A DEAD row needs the class of its cause.",
                "Pick one; without it the row blocks every re-proposal.",
            ),
            "mechanism": ("A DEAD row needs its mechanism.", "Say in a sentence why the lever fails."),
            "scope": (
                "A DEAD row needs its scope.",
                "Name at least one dimension; without any the row covers every case.",
            ),
            "not_checked": (
                "A DEAD row needs what was not checked.",
                "Name what a later attempt might still try, or write none.",
            ),
        }
        return [Problem(field, message, fix) for field, (message, fix) in wanted.items() if not content[field]]
    if verdict == UNTESTED:
        missing = []
        if not content["bound"]:
            missing.append(
                Problem(
                    "bound",
                    "An UNTESTED row needs its bound or caveat.",
                    "Say what the upside is bounded by.",
                )
            )
        for index, number in enumerate(content["numbers"]):
            if number["role"] == "verdict":
                message = "An UNTESTED row has no verdict number of its own."
                fix = "Mark the number as a bound or as a data point of related work, or change the verdict."
                missing.append(Problem(f"numbers[{index}].role", message, fix))
        return missing
    return []


def _missing_in_win(content: dict[str, Any]) -> list[Problem]:
    missing = []
    if content["structural"]:
        if not content["mechanism"]:
            missing.append(Problem("mechanism", "A structural WIN needs its mechanism.", "Say what it fixed and how."))
    else:
        verdicts = [number for number in content["numbers"] if number["readable"] and number["role"] == "verdict"]
        if not verdicts:
            fix = "Give the measured number with its unit, or mark the row as structural."
            missing.append(Problem("numbers", "A WIN needs a measured number.", fix))
        elif not any(number["compared_with"] for number in verdicts):
            message = "No number of this WIN says what it is compared with."
            missing.append(Problem("numbers", message, "Name the anchor of at least one verdict number."))
    if not content["sources"]:
        missing.append(
            Problem("sources", "A WIN needs a source or a run.", "Add the run, document or commit that backs it.")
        )
    return missing


# --- blocking ---


def blocking_kind(content: dict[str, Any], *, superseded: bool = False) -> str:
    """Return `full`, `weak` or an empty text: whether a row stands against a design that adopts its lever.

    A missing or unknown cause class blocks in full. A superseded row does not block: its successor speaks. A
    flag is a doubt and no verdict, so it changes nothing here; it only stops the row from being cited alone.
    """
    if content.get("verdict") != DEAD or superseded:
        return NOT_BLOCKING
    cause = content.get("cause_class")
    known = CAUSE_CLASSES.get(cause) if isinstance(cause, str) else None
    return known.blocking if known else FULL


def is_blocking(content: dict[str, Any], *, superseded: bool = False) -> bool:
    """Say whether a row blocks, in full or weakly."""
    return blocking_kind(content, superseded=superseded) != NOT_BLOCKING


def weak_dead(content: dict[str, Any]) -> bool:
    """Say whether a row is "DEAD, weak": a universal negative that rests on at most one approach tried."""
    return content.get("verdict") == DEAD and len(content.get("approaches") or []) <= 1
