"""Facts that the gate rules share: levers and their families, rows, citations, DEAD matches, all read
defensively.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from v2kb.rules.code_citation import code_text
from v2kb.rules.evidence import DEAD, WEAK, blocking_kind, weak_dead
from v2kb.rules.lever_family import Families
from v2kb.rules.names import lever_key
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import DISJOINT, describe, explain, relation

ADOPTS, AVOIDS, KEEPS, DEFERS = "adopts", "avoids", "keeps", "defers"
POLARITIES = (ADOPTS, AVOIDS, KEEPS, DEFERS)
STANCES = ("supports", "contradicts", "context")


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


@dataclass(frozen=True)
class Cited:
    """One citation of a choice. `good` says that it can carry the choice, `why_not` what is wrong with it, `mend`
    what to do about that.
    """

    kind: str
    label: str
    good: bool
    why_not: str = ""
    mend: str = ""
    row: Row | None = None
    revision: str = ""
    path: str = ""

    @property
    def verdict(self) -> str:
        """Return the verdict of the cited revision, empty for anything that is no evidence."""
        return text(mapping(self.row.revisions.get(self.revision)).get("verdict")) if self.row else ""

    def as_document(self) -> dict[str, Any]:
        """Return the citation as an input of a gate line."""
        return {
            "kind": self.kind,
            "label": self.label,
            "revision": self.revision,
            "verdict": self.verdict,
            "good": self.good,
            "why_not": self.why_not,
        }


def read_citation(raw: Any, path: str, snapshot: Snapshot, place: str) -> Cited:
    """Resolve one citation; `place` says to people where it stands. Raises Unknown for a row, document, section, kind
    or stance that doesn't exist.
    """
    citation = mapping(raw)
    kind, stance = text(citation.get("kind")), citation.get("stance")
    if stance not in STANCES:
        raise Unknown(f"{place} has no known stance.", f"{path}.stance", f"Choose one of {', '.join(STANCES)}.")
    if kind == "evidence":
        return _cited_row(citation, path, snapshot, place)
    if kind == "section":
        return _cited_section(citation, path, snapshot, place)
    if kind == "code":
        return _cited_code(citation, path)
    message = f"{place} is of the kind {kind!r}, which is not known."
    raise Unknown(message, f"{path}.kind", "Use evidence, section or code.")


def _cited_code(citation: Mapping[str, Any], path: str) -> Cited:
    """A place in code carries a choice where somebody else finds it: in a tree, at a commit."""
    named = {name: text(citation.get(name)) for name in ("tree", "path", "commit", "lines")}
    lacking = [name for name in ("tree", "path", "commit") if not named[name]]
    label = code_text({**named, "commit": named["commit"][:12]}) or "a place in code"
    why_not = f"it names no {' and no '.join(lacking)}" if lacking else ""
    mend = f"write it as {code_text({name: named[name] or name for name in ('tree', 'path', 'commit', 'lines')})}"
    return Cited("code", label, not lacking, why_not, mend, path=path)


def _cited_section(citation: Mapping[str, Any], path: str, snapshot: Snapshot, place: str) -> Cited:
    slug, anchor, revision = (text(citation.get(name)) for name in ("document", "anchor", "revision"))
    mend = "Copy the citation from the section's page."
    revisions = snapshot.documents.get(slug)
    if not isinstance(revisions, Mapping):
        message = f"{place} cites the document {slug!r}, and there is no such document."
        raise Unknown(message, f"{path}.document", f"Import the document, or cite another. {mend}")
    if anchor not in items(revisions.get(revision)):
        message = f"{place} cites the section {slug}#{anchor}, and the document has no such section"
        raise Unknown(f"{message}{' at that revision' * bool(revision)}.", f"{path}.anchor", mend)
    return Cited("section", f"{slug}#{anchor}", True, revision=revision, path=path)


def _cited_row(citation: Mapping[str, Any], path: str, snapshot: Snapshot, place: str) -> Cited:
    code, revision = text(citation.get("code")), text(citation.get("revision"))
    row = snapshot.rows.get(code)
    if row is None:
        said = f"{place} cites {code!r}, and there is no such evidence row." if code else f"{place} is empty."
        raise Unknown(said, f"{path}.code", "Type the code of an existing row, such as D3, or remove it.")
    why_not = mend = ""
    if not isinstance(row.revisions.get(revision), Mapping):
        why_not, mend = "the pinned revision is no accepted revision of this row", 'press "Pin newest" beside it'
    elif row.flagged:
        why_not, mend = "a flag on the row was confirmed", "cite another row, or ask a curator to take the flag down"
    elif row.superseded_by:
        newer = ", ".join(row.superseded_by)
        why_not, mend = f"superseded by {newer}", f"cite {newer} in its place"
    return Cited("evidence", code, not why_not, why_not, mend, row, revision, path)


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
