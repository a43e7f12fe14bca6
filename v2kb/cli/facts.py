"""What a check takes from the snapshot: contracts of ops, specs of the queue, evidence rows; and what it had to leave
out. A spec can be checked without a snapshot, and then each of these is named on standard error.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from v2kb.cli.checkout import NoCheckout, age_note, find_checkout, is_old
from v2kb.cli.exits import CLEAR, TOO_OLD, WARNINGS, CliError
from v2kb.cli.index import Index
from v2kb.cli.terminal import Terminal
from v2kb.rules.names import lever_key
from v2kb.rules.pinning import MIN_PIN, Known, covering, pin_citations, pin_contracts
from v2kb.rules.snapshot import Line
from v2kb.rules.spec_check import beside, report_beside
from v2kb.rules.spec_rules import SpecReport

SYNC = "`v2kb sync` fetches what the server has."
NOT_THERE = "the snapshot doesn't have them"

_NO_OP = "The file names no op, so that no contract was asked; name one with --op SLUG."


@dataclass
class Facts:
    """The snapshot at hand, or why there is none. `ops` are the ops (slugs) that the file is to be read for;
    `left_out` collects what was asked for in vain, by kind, `newest` the ops whose newest contract was taken.
    """

    index: Index | None
    why_none: str = NOT_THERE
    is_old: bool = False
    age: str = ""
    ops: tuple[str, ...] = ()
    left_out: dict[str, list[str]] = field(default_factory=dict)
    newest: list[str] = field(default_factory=list)

    def report(self, document: dict[str, Any]) -> SpecReport:
        """What the spec rules say of a document, with what the snapshot knows of the things that it names.

        Where ops are given, a part that stays without one is missing it.
        """
        covered = self.covered(document)
        named = beside(covered)
        if not named.ops:
            self.left_out[_NO_OP] = []
        return report_beside(
            covered,
            ops=self.contracts(covered),
            specs=self.neighbours(covered),
            rows=self._contents("row", "evidence rows", named.rows),
            known_ops={op["slug"] for op in self.index.lines("op")} if self.ops and self.index else None,
        )

    def contracts(self, document: dict[str, Any]) -> dict[str, Any]:
        """Slug -> newest contract, of the ops that a document names."""
        return self._contents("op", "contracts of ops", beside(document).ops)

    def neighbours(self, document: dict[str, Any]) -> dict[str, Any]:
        """Code -> content, of the specs that share an SM with a document by its queue."""
        return self._contents("spec", "specs of the queue", beside(document).specs)

    def covered(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document with the newest contracts of `ops`, as the app begins a spec over them."""
        if not self.ops:
            return document
        return {**document, "ops": covering(document["ops"], {slug: self.contract(slug) for slug in self.ops})}

    def pinned(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document as the app would keep it: citations pinned to what the snapshot has, and an op whose contract
        isn't said to its newest one. Needs a snapshot.
        """
        document = self.covered(document)
        known = _Known(self.index)
        pin_citations(document, known)
        self.newest = sorted(set(pin_contracts(document["ops"], known)))
        return document

    def contract(self, slug: str) -> str:
        """The hash of an op's newest contract. Raises CliError for an op that isn't there."""
        line = self.line("op", slug)
        if line is None:
            if self.index is None:
                raise CliError(f"--op {slug}: {self.why_none}.", SYNC)
            known = ", ".join(op["slug"] for op in self.index.lines("op"))
            raise CliError(f"--op: there is no op {slug}.", f"The snapshot has {known or 'no op'}.")
        return line["contract"]

    def line(self, kind: str, key: str) -> Line | None:
        """The snapshot's line of this kind; None where there is none."""
        return self.index.line(kind, key) if self.index else None

    def _contents(self, kind: str, said: str, keys: Iterable[str]) -> dict[str, Any]:
        found = {key: self.line(kind, key) for key in sorted(keys)}
        if absent := [key for key, line in found.items() if line is None]:
            self.left_out[said] = absent
        return {key: line["content"] for key, line in found.items() if line is not None}

    def notes(self) -> list[str]:
        """What a person must know beside the result: what was left out, and what was taken."""
        named = "; ".join(f"{kind} {', '.join(keys)}" for kind, keys in self.left_out.items() if keys)
        said = [f"Left out: {named}: {self.why_none}. {SYNC}"] if named else []
        if self.newest:
            said.append(f"Taken with the newest contract, for the file pins none: {', '.join(self.newest)}.")
        if _NO_OP in self.left_out:
            said.append(_NO_OP)
        return said

    def exit_code(self, code: int) -> int:
        """The code of a command that found `code`: an old snapshot counts where nothing blocks."""
        return TOO_OLD if self.is_old and code in (CLEAR, WARNINGS) else code


def facts_at_hand(ops: Iterable[str] = ()) -> Facts:
    """The snapshot around the current folder, or none. Raises CliError for one that can't be read."""
    try:
        checkout = find_checkout()
    except NoCheckout as error:
        return Facts(None, f"there is no snapshot ({error.message.rstrip('.')})", ops=tuple(ops))
    if not checkout.snapshot.exists():
        return Facts(None, f"there is no snapshot at {checkout.snapshot}", ops=tuple(ops))
    index = checkout.index()
    return Facts(index, is_old=is_old(checkout, index), age=age_note(checkout, index), ops=tuple(ops))


def say_notes(terminal: Terminal, facts: Facts) -> None:
    """Say beside the result what was left out and how old the snapshot is."""
    for note in facts.notes():
        terminal.say(f"note: {note}")
    if facts.age:
        terminal.say(facts.age)


class _Known(Known):
    """Names as a snapshot has them."""

    def __init__(self, index: Index) -> None:
        self.index = index

    @cached_property
    def _levers(self) -> dict[str, str]:
        return {lever_key(alias): lever["slug"] for lever in self.index.levers for alias in lever["aliases"]}

    def lever(self, name: str) -> str:
        slug = self._levers.get(lever_key(name), "")
        is_slug = name == slug or any(lever["slug"] == name and lever["merged_into"] for lever in self.index.levers)
        return "" if is_slug else slug

    def contract(self, op: Any) -> str:
        return (self.index.line("op", str(op)) or {}).get("contract", "")

    def row(self, code: Any) -> str:
        return (self.index.line("row", str(code)) or {}).get("head_hash", "")

    def section(self, document: str, name: str, start: str) -> tuple[str, str]:
        held = self.index.line("document", document) or {"revisions": {}, "head_hash": ""}
        start = start or held["head_hash"]
        for whole, anchors in held["revisions"].items() if len(start) >= MIN_PIN else ():
            anchor = name if name in anchors else self._numbered(document, name.removeprefix("§"))
            if whole.startswith(start) and anchor in anchors:
                return anchor, whole
        return "", ""

    def _numbered(self, document: str, number: str) -> str:
        """The anchor of the section with this number: a snapshot numbers the sections of heads alone."""
        sections = self.index.sections_of(document) if number else []
        return next((line["anchor"] for line in sections if line["number"] == number), "")
