"""How far the anti-loop gate looks for one document: a part of the evidence gives the same answer as all of it."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from v2kb.rules.antiloop_facts import Snapshot, Unknown, items, mapping, text


@dataclass(frozen=True, slots=True)
class Reach:
    """Rows (codes) that a document names, and levers (slugs) whose DEAD rows stand beside one of its choices.

    What supersedes a row is looked at too, and every DEAD row whose lever is not in the vocabulary.
    """

    codes: frozenset[str]
    levers: frozenset[str]


def reach_of(document: Any, levers: Iterable[Mapping[str, Any]]) -> Reach:
    """What `antiloop.evaluate` looks at for a document; `levers` is the whole vocabulary, as a snapshot has it.

    A lever that is unknown, or whose family is broken, is refused without a look at any row.
    """
    vocabulary = Snapshot({"levers": {lever["slug"]: lever for lever in levers}})
    codes, reached = set(), set()
    for choice in map(mapping, items(mapping(document).get("choices"))):
        codes |= {text(mapping(citation).get("code")) for citation in items(choice.get("citations"))}
        codes.add(text(mapping(choice.get("prediction")).get("row")))
        with suppress(Unknown):
            reached |= vocabulary.family(vocabulary.levers_named(text(choice.get("lever")))).keys()
    return Reach(frozenset(codes - {""}), frozenset(reached))
