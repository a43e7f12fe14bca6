"""One choice of a spec as the gate rules see it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from v2kb.rules.antiloop_citations import Cited, read_citation
from v2kb.rules.antiloop_facts import Match, Snapshot, Unknown, items, mapping, text
from v2kb.rules.scope import describe
from v2kb.rules.spec_words import POLARITIES

ADOPTS, KEEPS = "adopts", "keeps"


@dataclass
class Choice:
    """One choice of the spec with what the rules need to know of it. Properties raise Unknown."""

    index: int
    raw: Mapping[str, Any]
    snapshot: Snapshot
    spec: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """Return where the choice is in the spec, for example `choices[0]`."""
        return f"choices[{self.index}]"

    @property
    def id(self) -> str:
        """Return the choice's id, or its place when it has none."""
        return text(self.raw.get("id")) or f"#{self.index + 1}"

    @property
    def name(self) -> str:
        """Return how a sentence about the choice begins: `Choice C1`."""
        return f"Choice {self.id}"

    @property
    def lever(self) -> str:
        """Return the lever as it is written."""
        return text(self.raw.get("lever"))[:80]

    @property
    def scope(self) -> str:
        """Return the choice's scope in words."""
        return describe(self.raw.get("scope"))

    @cached_property
    def polarity(self) -> str:
        """Return the polarity."""
        polarity = self.raw.get("polarity")
        if polarity not in POLARITIES:
            shown = text(polarity)[:40] or "empty"
            message = f'"What the spec does with the lever" is {shown}.'
            raise Unknown(message, f"{self.path}.polarity", f"Choose one of {', '.join(POLARITIES)}.")
        return polarity

    @cached_property
    def levers(self) -> set[str]:
        """Return the slugs that the choice's lever stands for; empty when it names none and adopts none."""
        name = text(self.raw.get("lever"))
        if not name and self.polarity != ADOPTS:
            return set()
        levers = self.snapshot.levers_named(name) if name else set()
        if not levers:
            message = f'"Lever" names {name[:80]!r}, which is not in the vocabulary.' if name else '"Lever" is empty.'
            fix = "Pick a lever from the vocabulary, or ask a curator to add it with an answer to each near match."
            raise Unknown(message, f"{self.path}.lever", fix)
        return levers

    @cached_property
    def citations(self) -> list[Cited]:
        """Return the resolved citations."""
        raw = items(self.raw.get("citations"))
        return [
            read_citation(c, f"{self.path}.citations[{i}]", self.snapshot, f'row {i + 1} of "Rests on"')
            for i, c in enumerate(raw)
        ]

    @cached_property
    def op_scopes(self) -> list[tuple[str, Any]]:
        """Return (op, scope of its contract) for the spec's ops; nothing where contracts aren't known at all."""
        contracts = self.snapshot.contracts
        if contracts is None:
            return []
        scopes = []
        for index, op in enumerate(map(mapping, items(self.spec.get("ops")))):
            slug, pinned = text(op.get("op")), text(op.get("contract"))
            if not slug:
                name = text(op.get("name")) or f"row {index + 1} of the ops"
                message = f"{name} names no op, so its scope is not known."
                raise Unknown(message, f"ops[{index}].op", "Choose its op in the section Overview.")
            if pinned not in contracts:
                message = f"the contract that the spec pins of its op {slug!r} is not known."
                raise Unknown(message, f"ops[{index}].contract", "Begin the spec anew from the op's page.")
            scopes.append((slug, contracts[pinned]))
        return scopes

    @cached_property
    def dead(self) -> list[Match]:
        """Return the DEAD rows of the lever's family, those that don't count included."""
        return self.snapshot.dead_matches(self.levers, self.raw.get("scope")) if self.levers else []

    @property
    def against(self) -> list[Match]:
        """Return the DEAD rows that stand against the choice."""
        return [match for match in self.dead if match.counts]

    @property
    def rests_on_untested_alone(self) -> bool:
        """Say whether every citation that carries the choice is an UNTESTED row."""
        good = [citation for citation in self.citations if citation.good]
        return bool(good) and all(citation.verdict == "UNTESTED" for citation in good)
