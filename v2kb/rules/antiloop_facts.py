"""Facts that the gate rules share: levers and their families, rows, DEAD matches, all read defensively."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from v2kb.rules.evidence import DEAD, WEAK, blocking_kind, weak_dead
from v2kb.rules.lever_family import Families
from v2kb.rules.names import lever_key
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import DISJOINT, describe, explain, relation


class Unknown(Exception):
    """A document names something that the snapshot lacks, or can't be read. The gate turns it into ERROR.

    `field` is a path inside the spec; `fix` says what to do.
    """

    def __init__(self, message: str, path: str, fix: str) -> None:
        super().__init__(message)
        self.message, self.field, self.fix = message, path, fix


def mapping(value: Any) -> Mapping[str, Any]:
    """Return `value` if it is a mapping, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Return the entries of a list or tuple, else nothing."""
    return list(value) if isinstance(value, (list, tuple)) else []


def text(value: Any) -> str:
    """Return stripped text; anything that isn't text is empty."""
    return value.strip() if isinstance(value, str) else ""


def code_order(code: str) -> tuple[str, int, str]:
    """Sort key of row codes: D2 before D10."""
    found = re.fullmatch(r"([A-Za-z]+)([0-9]{1,9})", code, re.ASCII)
    return (found.group(1), int(found.group(2)), code) if found else (code, -1, code)


@dataclass(frozen=True)
class Row:
    """One evidence row of the snapshot. `head` is the content of its head revision."""

    code: str
    head_hash: str
    revisions: Mapping[str, Any]
    flagged: bool
    superseded_by: tuple[str, ...]

    @property
    def head(self) -> Mapping[str, Any]:
        """Return the head's content; raises Unknown when the snapshot lacks it."""
        content = self.revisions.get(self.head_hash)
        if not isinstance(content, Mapping):
            message = f"The head revision of {self.code} is missing from the snapshot."
            raise Unknown(message, "", "Ask a curator to check this row.")
        return content


@dataclass(frozen=True)
class Match:
    """A DEAD row beside a choice. `counts` says whether AL3 and AL4 hold it against the choice, `why` if not."""

    row: Row
    relation: str
    scope_sentences: tuple[str, ...]
    blocking: str
    counts: bool
    why: str

    def as_document(self) -> dict[str, Any]:
        """Return what the result page shows: the row's mechanism, numbers, scope, and how the scopes relate."""
        head = self.row.head
        return {
            "code": self.row.code,
            "revision": self.row.head_hash,
            "title": text(head.get("title")),
            "relation": self.relation,
            "scope": describe(head.get("scope")),
            "scopes": list(self.scope_sentences),
            "blocking": self.blocking or "not",
            "weak": self.blocking == WEAK or weak_dead(dict(head)),
            "cause_class": text(head.get("cause_class")),
            "mechanism": text(head.get("mechanism")),
            "not_checked": text(head.get("not_checked")),
            "numbers": [format_number(dict(n)) for n in items(head.get("numbers")) if isinstance(n, Mapping)],
            "flagged": self.row.flagged,
            "counts": self.counts,
            "why": self.why,
        }


class Snapshot:
    """The evidence as the gate sees it: rows, levers, document revisions, op contracts' scopes."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.documents = mapping(raw.get("documents"))
        self.contracts = mapping(raw["contracts"]) if "contracts" in raw else None
        self._levers = mapping(raw.get("levers"))
        self.aliases = {str(name): mapping(words) for name, words in mapping(raw.get("aliases")).items()}
        rows = (self._row(code, mapping(value)) for code, value in mapping(raw.get("rows")).items())
        self.rows = {row.code: row for row in sorted(rows, key=lambda row: code_order(row.code))}

    @staticmethod
    def _row(code: Any, raw: Mapping[str, Any]) -> Row:
        newer = raw.get("superseded_by")
        successors = [newer] if isinstance(newer, str) else items(newer)
        return Row(
            str(code),
            text(raw.get("head_hash")),
            mapping(raw.get("revisions")),
            bool(raw.get("flagged")),
            tuple(sorted(text(successor) for successor in successors if text(successor))),
        )

    @cached_property
    def _slugs_by_key(self) -> dict[str, set[str]]:
        """Return the lever slugs by the key of their slug, name and aliases."""
        index: dict[str, set[str]] = {}
        for slug, raw in self._levers.items():
            lever = mapping(raw)
            for name in (slug, lever.get("name"), *items(lever.get("aliases"))):
                if isinstance(name, str) and lever_key(name):
                    index.setdefault(lever_key(name), set()).add(str(slug))
        return index

    def levers_named(self, name: str) -> set[str]:
        """Return the levers that a name, slug or alias in any spelling stands for; empty when unknown."""
        return {name} if name in self._levers else self._slugs_by_key.get(lever_key(name), set())

    @cached_property
    def _families(self) -> Families[str]:
        """Return the vocabulary as a graph of slugs."""
        places = {str(slug): mapping(raw) for slug, raw in self._levers.items()}
        parents = {slug: text(raw.get("parent")) for slug, raw in places.items() if text(raw.get("parent"))}
        merged = {slug: text(raw.get("merged_into")) for slug, raw in places.items() if text(raw.get("merged_into"))}
        return Families(parents, merged)

    def family(self, slugs: set[str]) -> dict[str, str]:
        """Return the levers whose DEAD rows count: each slug with `lever`, those `merged` with it, `alias` twins,
        and every `ancestor` of them.

        Raises Unknown for a lever that doesn't exist and for a circle of parents.
        """
        family = dict.fromkeys(sorted(slugs), "lever")
        family |= dict.fromkeys(sorted(self._families.merged_with(slugs) - slugs), "merged")
        for slug in sorted(slugs):
            keys = [lever_key(str(n)) for n in (slug, *items(mapping(self._levers.get(slug)).get("aliases")))]
            for twin in sorted({twin for key in keys for twin in self._slugs_by_key.get(key, ())}):
                family.setdefault(twin, "alias")
        family |= dict.fromkeys(sorted(self._families.above(family) - family.keys()), "ancestor")
        for slug in family:
            self._refuse_broken(slug)
        return family

    def _refuse_broken(self, slug: str) -> None:
        seen: set[str] = set()
        while slug:
            if slug not in self._levers or slug in seen:
                problem = "is not in the vocabulary" if slug not in self._levers else "is its own ancestor"
                raise Unknown(f"The lever {slug!r} {problem}.", "", "Ask a curator to repair the lever's parent.")
            seen.add(slug)
            slug = self._families.parents.get(slug, "")

    def superseded(self, row: Row) -> bool:
        """Say whether a row's successor speaks for it. A successor that the snapshot lacks can't."""
        return any(code in self.rows and code != row.code for code in row.superseded_by)

    def dead_matches(self, slugs: set[str], scope: Any) -> list[Match]:
        """Return the DEAD rows of the levers' family, in the order of their codes, with how they relate to
        `scope`.

        Raises Unknown when a DEAD row names a lever that the vocabulary lacks: it could be any lever's.
        """
        family = self.family(slugs)
        matches = []
        for row in self.rows.values():
            if row.head.get("verdict") != DEAD:
                continue
            name = text(row.head.get("lever"))
            levers = self.levers_named(name)
            if not levers:
                message = f"The DEAD row {row.code} names the lever {name!r}, which is not in the vocabulary."
                raise Unknown(message, "", "Ask a curator to attach the row to a lever.")
            if levers & family.keys():
                matches.append(self._match(row, scope))
        return matches

    def _match(self, row: Row, scope: Any) -> Match:
        kind = relation(scope, row.head.get("scope"), self.aliases)
        sentences = tuple(part.sentence for part in explain(scope, row.head.get("scope"), self.aliases))
        superseded = self.superseded(row)
        blocking = blocking_kind(dict(row.head), superseded=superseded)
        if superseded:
            why = f"superseded by {', '.join(row.superseded_by)}"
        elif not blocking:
            why = f"its cause class {text(row.head.get('cause_class'))} does not block"
        else:
            why = "its scope and the choice's are disjoint" if kind == DISJOINT else ""
        return Match(row, kind, sentences, blocking, not why, why)
