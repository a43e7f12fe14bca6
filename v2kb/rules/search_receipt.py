"""Searching before design: how a row stands to a planned design, what a designer may decide of a hit, whether a stored
search still holds, and what the decisions put into the new spec.

Sources: evidence-and-gate section 2; AL3 (`antiloop_facts.Snapshot.dead_matches`) for what blocks.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from v2kb.rules.evidence import DEAD, WEAK, blocking_kind, cause_label
from v2kb.rules.problem import Problem
from v2kb.rules.scope import DISJOINT, EQUAL, INSIDE, NO_ALIASES, OVERLAPPING, Aliases, explain, relation
from v2kb.rules.spec_document import empty_row

CITE, CONTRADICTS, NOT_RELEVANT, REPROPOSE = "cite", "contradicts", "not_relevant", "repropose"
DECISIONS = {
    CITE: "cite",
    CONTRADICTS: "contradicts",
    NOT_RELEVANT: "not relevant",
    REPROPOSE: "re-propose",
}
BECOME_CITATIONS = (CITE, CONTRADICTS, REPROPOSE)
NEEDS_REASON = (NOT_RELEVANT, REPROPOSE)
MAX_REASON = 500

SUPERSEDED, FLAGGED, OUTSIDE, ARCHIVED = "superseded", "flagged", "out of scope", "archived"
ASIDES = (SUPERSEDED, FLAGGED, OUTSIDE, ARCHIVED)
_RELATIONS = {
    EQUAL: "its scope is yours",
    INSIDE: "your scope lies inside its scope",
    OVERLAPPING: "its scope overlaps yours",
    DISJOINT: "its scope and yours are disjoint",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a row stands to a design. `aside` says why it is not among the first rows ("" when it is)."""

    relation: str = ""
    relation_words: str = ""
    scopes: tuple[str, ...] = ()
    blocks: bool = False
    why: str = ""
    aside: str = ""


def standing(
    content: Mapping[str, Any],
    scope: Mapping[str, Any] | None,
    *,
    is_my_lever: bool,
    superseded_by: Sequence[str] = (),
    flagged: bool = False,
    archived: bool = False,
    aliases: Aliases = NO_ALIASES,
) -> Standing:
    """Compare a row with a design of this scope (None: none is given, so every scope overlaps it).

    A row that blocks is never put aside: a flag or an archive does not disarm it. `is_my_lever` says whether the row's
    lever, or one below it, is among those that the design adopts; `aliases` are those of the vocabulary.
    """
    how = relation(scope, content.get("scope"), aliases) if scope is not None else ""
    parts = explain(scope, content.get("scope"), aliases) if scope is not None else []
    kind = blocking_kind(dict(content), superseded=bool(superseded_by))
    blocks, why = False, ""
    if content.get("verdict") == DEAD:
        label = cause_label(str(content.get("cause_class") or ""))
        if superseded_by:
            why = f"superseded by {', '.join(superseded_by)}"
        elif not kind:
            why = f"its cause does not block: {label or 'none'}"
        elif how == DISJOINT:
            why = _RELATIONS[DISJOINT]
        elif not is_my_lever:
            why = f"it blocks only designs that adopt {content.get('lever')}"
        else:
            blocks = True
            why = f"cause: {label}" if label else "no cause class is given, so it counts in full"
            why += ", weakly: never measured" if kind == WEAK else ""
            why += f"; {_RELATIONS[how]}" if how else ""
    aside = ""
    if not blocks:
        told = ((superseded_by, SUPERSEDED), (archived, ARCHIVED), (how == DISJOINT, OUTSIDE), (flagged, FLAGGED))
        aside = next((name for holds, name in told if holds), "")
    return Standing(how, _RELATIONS.get(how, ""), tuple(part.sentence for part in parts), blocks, why, aside)


@dataclass(frozen=True, slots=True)
class NewBlocker:
    """A row that blocks the design now and did not when the search was made."""

    code: str
    content_hash: str
    why: str


@dataclass(frozen=True, slots=True)
class ReceiptCheck:
    """Whether a stored search still holds; `sentence` says so to people."""

    new: tuple[NewBlocker, ...] = ()
    problem: str = ""

    @property
    def is_current(self) -> bool:
        return not self.new and not self.problem

    @property
    def sentence(self) -> str:
        if self.problem:
            return f"It could not be run again: {self.problem}"
        if self.new:
            rows = ", ".join(blocker.code for blocker in self.new)
            return f"New blocking {'row' if len(self.new) == 1 else 'rows'} since: {rows}. Search again and decide."
        return "No blocking row has appeared since."


def receipt_is_current(then: Iterable[Mapping[str, Any]], now: Iterable[Mapping[str, Any]]) -> ReceiptCheck:
    """Compare the rows of a receipt with those that the same search finds now.

    Rows are {"code", "content_hash", "blocks", "why"}. A row that blocked before is no news, whatever its wording is
    now: the gate compares pins (AL2).
    """
    blocked = {row["code"] for row in then if row["blocks"]}
    return ReceiptCheck(
        tuple(
            NewBlocker(row["code"], row["content_hash"], row["why"])
            for row in now
            if row["blocks"] and row["code"] not in blocked
        )
    )


def decision_problems(rows: Sequence[Mapping[str, Any]], decisions: Mapping[str, Mapping[str, str]]) -> list[Problem]:
    """What is wrong with the decisions (code -> {"decision", "reason"}) on these rows; each at `decisions.<code>`."""
    by_code = {row["code"]: row for row in rows}
    problems = [
        Problem(f"decisions.{code}", f"{code} is not among the hits.", "Search again, then decide.")
        for code in decisions
        if code not in by_code
    ]
    for code, row in by_code.items():
        path, said = f"decisions.{code}", decisions.get(code, {})
        decision, reason = said.get("decision", ""), said.get("reason", "").strip()
        if decision and decision not in DECISIONS:
            problems.append(Problem(path, f"{decision[:40]!r} is no decision.", f"Use one of {', '.join(DECISIONS)}."))
        elif not decision and row["blocks"]:
            problems.append(Problem(path, f"{code} blocks you, and you have not decided.", "Decide on its card."))
        elif decision == REPROPOSE and row["verdict"] != DEAD:
            problems.append(Problem(path, f"{code} is not DEAD, so there is nothing to re-propose.", "Cite it."))
        elif decision in NEEDS_REASON and not reason:
            asked = "what is new in the mechanism" if decision == REPROPOSE else "why it does not matter here"
            problems.append(Problem(path, f"{code}: {DECISIONS[decision]} needs a reason.", f"Say {asked}."))
        elif len(reason) > MAX_REASON:
            problems.append(Problem(path, f"The reason on {code} is too long.", f"At most {MAX_REASON} characters."))
    return problems


def choices_of(
    rows: Sequence[Mapping[str, Any]], levers: Sequence[tuple[str, str]], scope: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The choices that a spec begins with: one per picked lever (slug, name), which adopts it, with what was cited.

    Rows say "lever" (slug) and "for" (the picked levers that they speak of). A cited row of a lever that was not picked
    gets a choice of its own, which avoids the lever when the row is DEAD and adopts it otherwise.
    """
    choices = {slug: _choice(slug, name, "adopts", scope) for slug, name in levers}
    for row in rows:
        decision = row["decision"]
        if decision not in BECOME_CITATIONS:
            continue
        slugs = [slug for slug in row["for"] if slug in choices] or [row["lever"]]
        for slug in slugs:
            adopts = row["verdict"] != DEAD or decision == REPROPOSE
            choice = choices.setdefault(slug, _choice(slug, row["lever_name"], "adopts" if adopts else "avoids", scope))
            stance = "contradicts" if decision != CITE else "context" if row["verdict"] == DEAD else "supports"
            choice["citations"].append(
                {"kind": "evidence", "code": row["code"], "revision": row["content_hash"], "stance": stance}
            )
            if decision == REPROPOSE:
                choice["polarity"] = "adopts"
                choice["new_mechanism"] = "\n".join(filter(None, [choice["new_mechanism"], row["reason"]]))
    return [{**choice, "id": f"C{number}"} for number, choice in enumerate(choices.values(), 1)]


def with_choices(
    typed: Sequence[Any], found: Sequence[Mapping[str, Any]], slugs: Mapping[str, str]
) -> tuple[list[Any], list[str]]:
    """(the choices of a draft with what a search decided, ids of those that got something). What is typed stays.

    `found` are from `choices_of`; those without a citation bring nothing. `slugs` maps names of levers as typed to
    their slugs. A choice of the same lever and polarity gets the citations that it lacks, and the new mechanism where
    it says none; a lever that only avoids or keeps is one to be re-proposed, so that is a choice of its own.
    """
    choices, changed = list(typed), []
    for one in found:
        if not one["citations"]:
            continue
        place = _place_of(choices, one, slugs)
        if place is None:
            choices.append({**one, "id": _free_id(choices)})
            changed.append(choices[-1]["id"])
            continue
        choice = dict(choices[place])
        held = choice.get("citations") if isinstance(choice.get("citations"), list) else []
        cited = {str(citation.get("code")).upper() for citation in held if isinstance(citation, dict)}
        more = [citation for citation in one["citations"] if citation["code"] not in cited]
        says_more = bool(one["new_mechanism"]) and not str(choice.get("new_mechanism") or "").strip()
        if more or says_more:
            choice["citations"] = [*held, *more]
            choice |= {"new_mechanism": one["new_mechanism"]} if says_more else {}
            choices[place] = choice
            changed.append(str(choice.get("id") or place + 1))
    return choices, changed


def _place_of(choices: Sequence[Any], one: Mapping[str, Any], slugs: Mapping[str, str]) -> int | None:
    """Where the choice of this lever stands: one of the same polarity, else any unless this is a re-proposal."""
    same = [
        (place, choice.get("polarity") or "adopts")
        for place, choice in enumerate(choices)
        if isinstance(choice, dict) and _slug(choice.get("lever"), slugs) == _slug(one["lever"], slugs)
    ]
    alike = [place for place, polarity in same if polarity == one["polarity"]]
    if alike:
        return alike[0]
    return same[0][0] if same and not one["new_mechanism"] else None


def _slug(name: Any, slugs: Mapping[str, str]) -> str:
    return slugs.get(str(name), str(name))


def _free_id(choices: Sequence[Any]) -> str:
    taken = {choice.get("id") for choice in choices if isinstance(choice, dict)}
    return next(name for number in count(1) if (name := f"C{number}") not in taken)


def _choice(slug: str, name: str, polarity: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **empty_row("choices"),
        "title": name[:200],
        "lever": slug,
        "polarity": polarity,
        "scope": dict(scope),
        "citations": [],
    }
