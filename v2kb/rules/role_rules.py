"""Rule R34 and its picture: what each role does with pages and barriers on each path of a task."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.barriers import has_roles
from v2kb.rules.release_rules import LAUNCHER, STORER, release_owners
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView
from v2kb.rules.spec_words import ROLES

TABLE = "roles.rows"
# The controller belongs to the runtime; a spec answers for the other four.
OWN_ROLES = tuple(role for role in ROLES if role != "controller")
PATHS = {"normal": ("", "on the normal path"), "bounds_fail": ("bounds_fail_", "out of bounds"),
         "inactive": ("inactive_", "when inactive")}  # fmt: skip
_PARTS = {"pages": "pages", "handshake": "barriers"}
_RELEASED_BY = {LAUNCHER: "mma", STORER: "storer"}
_NOTHING = ("none", "nothing", "no", "-", "0")
FILLED, BLANK, FINDING, EMPTY_BODY, NO_ROW, NOT_APPLICABLE = (
    "filled", "blank", "finding", "empty_body", "no_row", "not_applicable",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Issue:
    """What is wrong with one cell; `missing` where the answer is absent rather than bad."""

    path: str
    message: str
    fix: str
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One role on one path: its state, fields without an answer (-> what they are about), what else is wrong."""

    path: str
    state: str
    blanks: Mapping[str, str] = field(default_factory=dict)
    issues: tuple[Issue, ...] = ()


@dataclass(frozen=True, slots=True)
class RoleLine:
    """One role over all paths; `index` is its row in the table, None while it has none."""

    role: str
    index: int | None
    cells: tuple[Cell, ...]


def role_lines(view: SpecView) -> tuple[RoleLine, ...]:
    """Return one line per role of a pipeline, with a cell per path."""
    rows = view.doc["roles"]["rows"]
    by_role = {row["role"]: index for index, row in reversed(list(enumerate(rows)))}
    return tuple(_line(view, role, by_role.get(role)) for role in OWN_ROLES)


def _line(view: SpecView, role: str, index: int | None) -> RoleLine:
    if index is None:
        fix = "Add a row for the role; mark its body as empty where it does nothing."
        issue = Issue(TABLE, f"The {role} role has no row.", fix, missing=True)
        first, *others = PATHS
        cells = (Cell(first, NO_ROW, issues=(issue,)), *(Cell(path, NO_ROW) for path in others))
        return RoleLine(role, None, cells)
    return RoleLine(role, index, tuple(_cell(view, role, index, path) for path in PATHS))


def _cell(view: SpecView, role: str, index: int, path: str) -> Cell:
    row = view.doc["roles"]["rows"][index]
    if row["empty"]:
        issues = tuple(_empty_body_issues(view, role, f"{TABLE}[{index}].empty")) if path == "normal" else ()
        return Cell(path, FINDING if issues else EMPTY_BODY, issues=issues)
    if path == "inactive" and never_inactive(view):
        return Cell(path, NOT_APPLICABLE)
    place, prefix = f"{TABLE}[{index}]", PATHS[path][0]
    blanks = {f"{place}.{prefix}{part}": what for part, what in _PARTS.items() if not row[prefix + part]}
    issues = tuple(_issues(view, row, place, path))
    bad = any(not issue.missing for issue in issues)
    return Cell(path, FINDING if bad else BLANK if blanks or issues else FILLED, blanks, issues)


def never_inactive(view: SpecView) -> bool:
    """True when the spec says of every task that it always has work."""
    answers = {row["can_be_inactive"] for row in view.doc["granularity"]}
    return answers == {"no"}


def _empty_body_issues(view: SpecView, role: str, path: str) -> Iterator[Issue]:
    if role in _releasing_roles(view):
        message = f"The {role} role releases the pages, but its body is empty."
        yield Issue(path, message, "Give it a body, or name another owner of page release.")
    if owned := _owned(view, role):
        message = f"The {role} role re-initialises {owned}, but its body is empty."
        yield Issue(path, message, "Give it a body, or name another owner of these barriers.")


def _owned(view: SpecView, role: str) -> str:
    """Names of the barriers that the role re-initialises."""
    return ", ".join(sem.label() for sem in view.sems if sem.source["reinit_owner"] == role)


def _releasing_roles(view: SpecView) -> set[str]:
    return {_RELEASED_BY[owner] for owner in release_owners(view) if owner in _RELEASED_BY}


def _issues(view: SpecView, row: dict[str, Any], place: str, path: str) -> Iterator[Issue]:
    prefix, spoken = PATHS[path]
    role = row["role"]
    if role in _releasing_roles(view) and row[prefix + "pages"].lower().rstrip(".") in _NOTHING:
        yield Issue(
            f"{place}.{prefix}pages",
            f"The {role} role owns page release, but releases nothing {spoken}: the next occupant of the pages waits "
            "for ever.",
            "Each page is released exactly once on every path.",
        )
    if path == "inactive":
        yield from _inactive_issues(view, row, place)


def _inactive_issues(view: SpecView, row: dict[str, Any], place: str) -> Iterator[Issue]:
    role, waits = row["role"], f"{place}.waits_when_inactive"
    if not row["waits_when_inactive"]:
        message = f"The {role} role doesn't say whether it waits for another role when inactive."
        yield Issue(waits, message, "Answer no: every role finds out by itself and leaves.", missing=True)
    elif row["waits_when_inactive"] == "yes":
        message = f"The {role} role waits for another role when inactive: nobody arrives there, so it hangs."
        yield Issue(waits, message, "Let every role find out by itself, and wait for nobody on this path.")
    path, names = f"{place}.reinit_before_bail", _owned(view, role)
    if not names or row["reinit_before_bail"] == "yes":
        return
    if not row["reinit_before_bail"]:
        message = f"The {role} role doesn't say whether it re-initialises {names} before it leaves inactive."
        yield Issue(path, message, "Answer yes or no.", missing=True)
    else:
        message = (
            f"The {role} role leaves an inactive task without re-initialising {names}: a stray arrival of the former "
            "task stays in them."
        )
        yield Issue(path, message, "Re-initialise before the bail; on a dead task it costs a few instructions.")


@spec_rule(
    "R34",
    severity=ERROR,
    title="Every path of every role",
    source="the exemplar's section 4; house-style section 2",
    formula="each role answers for pages and barriers on the normal, bounds-fail and inactive path; inactive: no wait "
    "across roles, re-init before the bail; the owner of page release releases on each path",
    inputs=("roles.rows[]", "granularity[].can_be_inactive", "roles.release.owners"),
)
def r34(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_roles(view, report):
        return
    rows = view.doc["roles"]["rows"]
    if not rows:
        fix = "Add loader, mma, consumer and storer."
        report.missing(Missing(TABLE, "The spec doesn't say what each role does.", fix))
        return
    seen: set[str] = set()
    for index, row in enumerate(rows):
        if row["role"] and row["role"] in seen:
            report.add(f"{TABLE}[{index}].role", f"The {row['role']} role has two rows.", "Keep one.")
        elif not row["role"]:
            report.missing(Missing(f"{TABLE}[{index}].role", "This row names no role.", "Choose the role."))
        seen.add(row["role"])
    for line in role_lines(view):
        _ask_blanks(report, line)
        for issue in (issue for cell in line.cells for issue in cell.issues):
            if issue.missing:
                report.missing(Missing(issue.path, issue.message, issue.fix))
            else:
                report.add(issue.path, issue.message, issue.fix)


def _ask_blanks(report: Reporter, line: RoleLine) -> None:
    """One finding for all that a role doesn't say of its paths."""
    blank = [(path, what, PATHS[cell.path][1]) for cell in line.cells for path, what in cell.blanks.items()]
    if not blank:
        return
    asked: dict[str, list[str]] = {}
    for _, what, spoken in blank:
        asked.setdefault(what, []).append(spoken)
    parts = "; ".join(f"{what} {_listed(spoken)}" for what, spoken in asked.items())
    fix = "Write it; none is an answer. The inactive path falls away where no task can be inactive."
    report.missing(Missing(blank[0][0], f"The {line.role} role doesn't say what it does with {parts}.", fix))


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


ROLE_RULES: tuple[Rule, ...] = (r34,)


def role_matrix(view: SpecView) -> dict[str, Any]:
    """Return plain values for the picture of roles and paths.

    `roles` has one line per role: its row in the table (`index`, None while it has none), what it is for, and a cell
    per path with `state` (filled, blank, finding, empty_body, no_row, not_applicable), its texts, what is asked (pages,
    barriers) and its messages.
    """
    rows = view.doc["roles"]["rows"]
    return {
        "paths": [{"key": path, "title": spoken} for path, (_, spoken) in PATHS.items()],
        "roles": [
            {
                "role": line.role,
                "index": line.index,
                "duty": rows[line.index]["duty"] if line.index is not None else "",
                "cells": [_drawn(rows[line.index] if line.index is not None else {}, cell) for cell in line.cells],
            }
            for line in role_lines(view)
        ],
    }


def _drawn(row: dict[str, Any], cell: Cell) -> dict[str, Any]:
    prefix, _ = PATHS[cell.path]
    return {
        "path": cell.path,
        "state": cell.state,
        "pages": row.get(f"{prefix}pages", ""),
        "handshake": row.get(f"{prefix}handshake", ""),
        "text": row.get(prefix.rstrip("_") or "duty", ""),
        "asked": list(cell.blanks.values()),
        "messages": [issue.message for issue in cell.issues],
    }
