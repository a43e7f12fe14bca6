"""What a change of an evidence row means: whether it is material, who may accept it, and how it is shown.

Source: evidence-and-gate section 1. All contents come from `evidence.read_content`.
"""

from collections.abc import Collection, Hashable
from dataclasses import dataclass
from typing import Any

from v2kb.rules.evidence import DEAD, FIELDS, FULL, NOT_BLOCKING, WEAK, WIN, blocking_kind, cause_label, is_blocking
from v2kb.rules.numbers import contains
from v2kb.rules.scope import DIMENSIONS, EQUAL, INSIDE, LABELS, describe, normalise_scope, relation


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a change is material: `code` is stable, `sentence` is for the owner of a spec that pinned the row."""

    code: str
    field: str
    sentence: str


def material_change(
    old: dict[str, Any],
    new: dict[str, Any],
    *,
    old_superseded: bool = False,
    new_superseded: bool = False,
    flag_confirmed: bool = False,
) -> list[Reason]:
    """Return why approved specs that pinned `old` are stale now; empty for a change of wording.

    Both contents come from `read_content`. `flag_confirmed`: a flag was confirmed since the pin.
    """
    reasons = []
    for field, label in (("verdict", "verdict"), ("cause_class", "cause class"), ("lever", "lever")):
        if old[field] != new[field]:
            was, now = (_shown(field, value) for value in (old[field], new[field]))
            reasons.append(Reason(field, field, f"The {label} changed from {was} to {now}."))
    if normalise_scope(old["scope"]) != normalise_scope(new["scope"]):
        sentence = f"The scope changed from “{describe(old['scope'])}” to “{describe(new['scope'])}”."
        reasons.append(Reason("scope", "scope", sentence))
    before = blocking_kind(old, superseded=old_superseded)
    after = blocking_kind(new, superseded=new_superseded)
    if before != after:
        words = {FULL: "blocking", WEAK: "weakly blocking", NOT_BLOCKING: "not blocking"}
        reasons.append(Reason("blocking", "cause_class", f"The row was {words[before]} and is {words[after]} now."))
    reasons += _number_reasons(old["numbers"], new["numbers"])
    if old_superseded != new_superseded:
        sentence = "The row was superseded." if new_superseded else "The row is no longer superseded."
        reasons.append(Reason("supersession", "", sentence))
    if flag_confirmed:
        reasons.append(Reason("flag", "", "A flag on the row was confirmed."))
    return reasons


def _shown(field: str, value: str) -> str:
    return (cause_label(value) if field == "cause_class" else value) or "none"


def _number_reasons(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> list[Reason]:
    """Compare what two revisions measured; data points of related work don't count."""
    before = [number for number in old if number["role"] != "data_point"]
    after = [number for number in new if number["role"] != "data_point"]
    reasons = []
    for number in after:
        if not any(number["role"] == known["role"] and _states(known, number) for known in before):
            reasons.append(Reason("number", "numbers", f"“{number['text']}” is outside what the row stated before."))
    for number in before:
        if not any(number["role"] == now["role"] and _states(number, now) for now in after):
            reasons.append(Reason("number", "numbers", f"“{number['text']}” is no longer stated."))
    return reasons


def _states(known: dict[str, Any], number: dict[str, Any]) -> bool:
    if known["readable"] and number["readable"]:
        return contains(known, number)
    return known["readable"] == number["readable"] and known["text"] == number["text"]


def weakens(old: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Say whether a change disarms a blocking DEAD row: other verdict, other lever, weaker cause or less
    scope.
    """
    if old is None or not is_blocking(old):
        return False
    if not is_blocking(new) or (blocking_kind(old), blocking_kind(new)) == (FULL, WEAK) or old["lever"] != new["lever"]:
        return True
    return relation(old["scope"], new["scope"]) not in (EQUAL, INSIDE)


def acceptors_needed(old: dict[str, Any] | None, new: dict[str, Any], *, decided: str = "") -> int:
    """Return how many people must accept a change: two between WIN and DEAD, two to disarm a blocking DEAD row.

    The second keeps the first from being walked around: through a weaker cause, another lever, less scope. `decided`
    keeps it from being walked around through UNTESTED: the verdict that an UNTESTED row had last, WIN, DEAD or none.
    """
    if old is None:
        return 1
    turned = {decided or old["verdict"], new["verdict"]} == {WIN, DEAD}
    return 2 if turned or weakens(old, new) else 1


def turns_dead(old: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Say whether a change leads to DEAD, away from it, or disarms a blocking DEAD row: whoever has an open spec that
    adopts the lever has an interest in it. A new row changes nothing that stood before.
    """
    return old is not None and ((old["verdict"] == DEAD) != (new["verdict"] == DEAD) or weakens(old, new))


def may_accept(
    person: Hashable,
    *,
    proposer: Hashable,
    authors_since_head: Collection[Hashable] = (),
    accepted_by: Collection[Hashable] = (),
    recused: Collection[Hashable] = (),
    interested: Collection[Hashable] = (),
) -> list[Reason]:
    """Return why `person` may not accept a proposal; empty when nothing stands against it.

    `authors_since_head`: who wrote a revision of the row since its last accepted head. `accepted_by`: who
    accepted this proposal already. `recused`: who stands aside. `interested`: authors of open specs that adopt the
    row's lever, where the change `turns_dead`. Roles are the caller's matter.
    """
    reasons = []
    if person == proposer:
        reasons.append(Reason("own_proposal", "", "Nobody accepts their own proposal."))
    if person in authors_since_head:
        sentence = "You wrote a revision of this row since its last accepted state; someone else must accept."
        reasons.append(Reason("author", "", sentence))
    if person in accepted_by:
        reasons.append(Reason("already_accepted", "", "You accepted this proposal already; a second person must."))
    if person in recused:
        reasons.append(Reason("recused", "", "You stand aside from this proposal; you no longer decide it."))
    if person in interested:
        sentence = (
            "Your open spec or draft adopts this lever, or did in an earlier revision, so you may not accept a change "
            "from or to DEAD of it."
        )
        reasons.append(Reason("interested", "", sentence))
    return reasons


# --- joining two rows ---

JOINED = ("numbers", "approaches", "sources")


def joined(into: dict[str, Any], taken: dict[str, Any]) -> dict[str, Any]:
    """Return the content of row `into` with the numbers, approaches and sources of `taken` added to its own.

    Words stay those of `into`; the other row keeps its own. The verdict numbers and bounds of a row with another
    verdict come in as data points of related work: they don't speak for this verdict.
    """
    content = dict(into)
    same = into["verdict"] == taken["verdict"]
    for field in JOINED:
        added = [
            item if same or field != "numbers" else {**item, "role": "data_point"}
            for item in taken[field]
            if item not in into[field]
        ]
        content[field] = [*into[field], *(item for item in added if item not in into[field])]
    return content


# --- showing changes ---

FIELD_LABELS = {
    "lever": "lever",
    "title": "title",
    "verdict": "verdict",
    "numbers": "numbers",
    "mechanism": "mechanism",
    "cause_class": "cause class",
    "approaches": "approaches tried",
    "not_checked": "not checked",
    "bound": "bound or caveat",
    "structural": "structural",
    "measured_on": "measured on",
    "measured_note": "note on the measurement",
    "sources": "sources",
} | {f"scope.{name}": f"scope: {LABELS[name]}" for name in DIMENSIONS}
SAME, THEIRS, MINE, BOTH, CONFLICT = "same", "theirs", "mine", "both", "conflict"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs. For lists (`numbers`, `approaches`, `sources`) `removed` and `added` hold the
    entries.
    """

    field: str
    label: str
    old: Any
    new: Any
    removed: tuple[Any, ...] = ()
    added: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedField:
    """One field of a three-way view.

    `state`: same, theirs (only they changed it), mine, both (the same change twice) or conflict. `merged` is
    the value to start from; in a conflict it is theirs, which is the head.
    """

    field: str
    label: str
    base: Any
    theirs: Any
    mine: Any
    state: str
    merged: Any


def _flat(content: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in their order, with one field per scope dimension."""
    scope = normalise_scope(content.get("scope"))
    flat: dict[str, Any] = {}
    for field in FIELDS:
        if field == "scope":
            flat |= {f"scope.{name}": scope.get(name, "") for name in DIMENSIONS}
        else:
            flat[field] = content.get(field)
    return flat


def diff(old: dict[str, Any], new: dict[str, Any]) -> list[FieldChange]:
    """Return the fields that differ between two revisions, scope by dimension, lists by entry."""
    before, after = _flat(old), _flat(new)
    changes = []
    for field, label in ((name, FIELD_LABELS[name]) for name in before):
        was, now = before[field], after[field]
        if was == now:
            continue
        if field.startswith("scope.") or not (isinstance(was, list) and isinstance(now, list)):
            changes.append(FieldChange(field, label, was, now))
            continue
        removed = tuple(item for item in was if item not in now)
        added = tuple(item for item in now if item not in was)
        changes.append(FieldChange(field, label, was, now, removed, added))
    return changes


def three_way(base: dict[str, Any], theirs: dict[str, Any], mine: dict[str, Any]) -> list[MergedField]:
    """Compare a stale proposal (`mine`, made on `base`) with the head (`theirs`), for every field."""
    flat_base, flat_theirs, flat_mine = _flat(base), _flat(theirs), _flat(mine)
    view = []
    for field, was in flat_base.items():
        their, my = flat_theirs[field], flat_mine[field]
        if their == my:
            state, merged = (SAME if my == was else BOTH), my
        elif their == was:
            state, merged = MINE, my
        elif my == was:
            state, merged = THEIRS, their
        else:
            state, merged = CONFLICT, their
        view.append(MergedField(field, FIELD_LABELS[field], was, their, my, state, merged))
    return view


def merged_content(view: list[MergedField], chosen: dict[str, Any] | None = None) -> dict[str, Any]:
    """Put the content of a three-way view together; `chosen` holds the values picked for fields in conflict."""
    chosen = chosen or {}
    content: dict[str, Any] = {"scope": {}}
    for part in view:
        value = chosen.get(part.field, part.merged)
        if not part.field.startswith("scope."):
            content[part.field] = value
        elif value:
            content["scope"][part.field.removeprefix("scope.")] = value
    return content
