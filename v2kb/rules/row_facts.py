"""What lists filter by and search reads of an evidence row: derived from its head and from what hangs on the row.

One reading for the database, which stores it beside each row, and for a snapshot in a checkout.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from v2kb.rules.evidence import blocking_kind, weak_dead
from v2kb.rules.scope import LABELS, RANGE_DIMENSIONS

SCOPE_FIELDS = {"arch": "arch", "dtype": "dtype", "op": "op_class", "envelope": "envelope", "sharding": "sharding"}
CELLS = ("title", "mechanism", "bound", "measured_note")


@dataclass(frozen=True, slots=True)
class RowStates:
    """What hangs on a row besides its head. `flags` counts open flags, `confirmed` those that a curator confirmed,
    `proposals` the open ones.
    """

    flags: int = 0
    confirmed: int = 0
    proposals: int = 0
    superseded_by: tuple[str, ...] = ()


def states_of_line(row: Mapping[str, Any]) -> RowStates:
    """What hangs on a row of a snapshot, by its line."""
    return RowStates(row["flags"], row["confirmed"], row["proposals"], tuple(row["superseded_by"]))


def row_facts(content: dict[str, Any], states: RowStates) -> dict[str, Any]:
    """The columns of a row. Several values are joined by commas; `measured` is the day's ordinal, `delta_low` and
    `delta_high` are the ends of its percentages, None where it has none.
    """
    scope = content["scope"]
    low, high = _percentages(content["numbers"])
    return {
        "verdict": content["verdict"],
        "cause": content["cause_class"],
        "blocking": blocking_kind(content, superseded=bool(states.superseded_by)),
        "tier": ",".join(sorted({number["tier"] for number in content["numbers"] if number["tier"]})),
        "state": ",".join(_standing(content, states)),
        "delta_low": low,
        "delta_high": high,
        "measured": date.fromisoformat(content["measured_on"]).toordinal() if content["measured_on"] else None,
        "baseline": scope.get("baseline", "").replace(",", " "),
        **{name: ",".join(scope.get(dimension) or []) for name, dimension in SCOPE_FIELDS.items()},
        **{name: scope.get(name, "") for name in RANGE_DIMENSIONS},
    }


def row_words(
    code: str, content: dict[str, Any], lever_names: Sequence[str], cells: Iterable[str] = ()
) -> tuple[str, str]:
    """(title, text) by which a row is found: what it says, every name of its lever, and of the `cells` of the map that
    it was imported from those that the row does not repeat.
    """
    text = _text(content, lever_names)
    more = sorted(words for words in cells if words not in text and words != content["title"])
    return f"{code} {content['title']}", "\n".join([text, *more])


def _standing(content: dict[str, Any], states: RowStates) -> list[str]:
    numbers = [number for number in content["numbers"] if number["readable"]]
    return [
        name
        for name, holds in (
            ("contested", states.proposals > 0),
            ("flagged", states.flags > 0),
            ("structural", content["structural"]),
            ("superseded", bool(states.superseded_by)),
            ("unverified", bool(numbers) and not any(number["verified"] for number in numbers)),
            ("weak", weak_dead(content)),
        )
        if holds
    ]


def _percentages(numbers: list[dict[str, Any]]) -> tuple[float | None, float | None]:
    ends = [
        float(number[name])
        for number in numbers
        if number["readable"] and number["unit"] == "percent"
        for name in ("value", "low", "high")
        if number[name] is not None
    ]
    return (min(ends), max(ends)) if ends else (None, None)


def _text(content: dict[str, Any], lever_names: Sequence[str]) -> str:
    texts = list(lever_names)
    texts += [content[name] for name in ("mechanism", "not_checked", "bound", "measured_note")]
    texts += [content["cause_class"], content["measured_on"], *content["approaches"]]
    texts += [f"{number['text']} {number['compared_with']}" for number in content["numbers"]]
    texts += [f"{source['text']} {source['document']}" for source in content["sources"]]
    for dimension, values in content["scope"].items():
        texts += values if isinstance(values, list) else [f"{LABELS[dimension]}={values}"]
    return "\n".join(text for text in texts if text)
