"""What a snapshot knows of a planned design: the board of step 0 of a spec, as `evidence.search.board` builds it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from v2kb.cli.index import Index
from v2kb.cli.search import Found, matching, search_rows
from v2kb.rules.evidence import DEAD, UNTESTED, VERDICTS, WIN
from v2kb.rules.row_facts import states_of_line
from v2kb.rules.search_query import split_query
from v2kb.rules.search_receipt import Standing, standing
from v2kb.rules.search_tiers import ABOVE, BELOW, MAX_ROWS, OWN
from v2kb.rules.snapshot import Line


class NoLever(ValueError):
    """A lever that the snapshot does not know; `near` are names that look like it."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no lever {name}.")
        self.name = name


@dataclass(frozen=True)
class Design:
    """What somebody plans: words in the query language, levers (names in any spelling), a scope (None: not given)."""

    text: str = ""
    levers: tuple[str, ...] = ()
    scope: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class BoardRow:
    """A row on the board. `speaks_of` are the picked levers that it counts for (slugs)."""

    row: Line
    why: str
    standing: Standing
    speaks_of: tuple[str, ...]
    lever_name: str

    @property
    def verdict(self) -> str:
        return self.row["content"]["verdict"]

    def as_document(self) -> dict[str, Any]:
        """What a receipt holds of the row."""
        return {
            "code": self.row["code"],
            "content_hash": self.row["head_hash"],
            "verdict": self.verdict,
            "lever": self.row["content"]["lever"],
            "lever_name": self.lever_name,
            "for": list(self.speaks_of),
            "blocks": self.standing.blocks,
            "why": self.standing.why,
        }


@dataclass(frozen=True)
class Board:
    """The rows, DEAD first, each verdict in the order of the search. `left_out` counts those beyond MAX_ROWS."""

    rows: tuple[BoardRow, ...]
    found: Found
    levers: tuple[str, ...] = ()
    left_out: int = 0

    def of(self, verdict: str) -> list[BoardRow]:
        """The rows with this verdict."""
        return [row for row in self.rows if row.verdict == verdict]


def board_of(index: Index, design: Design) -> Board:
    """Search for a design. Raises QueryError, NoLever."""
    found = search_rows(index, design.text)
    held_words, left_words = split_query(design.text)
    by_words = found if held_words == design.text else search_rows(index, held_words)
    archived = search_rows(index, held_words, archived=True)
    allowed = matching(index, left_words)
    family = _Family(index, _picked(index, design, found))
    verdicts = index.verdicts
    of_levers = _rows_of(index, family.sides)
    only_levers = bool(family.picked) and not held_words

    def of(verdict: str, places: Iterable[int]) -> list[int]:
        return [] if only_levers else [place for place in places if verdicts[place] == verdict]

    places = dict.fromkeys([*of(DEAD, by_words.places), *of(DEAD, archived.places), *of_levers[DEAD]])
    for verdict in (WIN, UNTESTED):
        narrowed = [place for place in of_levers[verdict] if place in allowed]
        places |= dict.fromkeys([*of(verdict, found.places), *narrowed])
    if len(places) > MAX_ROWS:  # whatever else is left out, the DEAD rows of the picked levers are not
        places = dict.fromkeys([*of_levers[DEAD], *places])
    shown = list(places)[:MAX_ROWS]
    rows = tuple(_board_rows(index, archived.reasons(shown) | by_words.reasons(shown), shown, design, family))
    return Board(rows, found, tuple(family.picked), max(0, len(places) - MAX_ROWS))


def _picked(index: Index, design: Design, found: Found) -> set[str]:
    slugs = set()
    for name in design.levers:
        slug = index.lever_named(name)
        if slug is None:
            raise NoLever(name)
        slugs.add(slug)
    filters = [wanted for wanted in found.query.filters if wanted.name == "lever" and not wanted.negated]
    named = (index.lever_named(value) for wanted in filters for value in wanted.values)
    return slugs | {slug for slug in named if slug}


@dataclass
class _Family:
    """The picked levers with those above and below them. `sides` maps a lever to how it stands to them."""

    index: Index
    slugs: set[str]
    picked: list[str] = field(default_factory=list)
    sides: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._for: dict[str, list[str]] = {}
        if not self.slugs:
            return
        names, families = self.index.lever_names, self.index.families
        self.picked = sorted(self.slugs, key=lambda slug: names[slug])
        own = families.merged_with(self.picked)
        above, below = dict.fromkeys(families.above(own), ABOVE), dict.fromkeys(families.below(own), BELOW)
        self.sides = below | above | dict.fromkeys(own, OWN)
        for slug in self.picked:
            for above_it in families.above([slug]):
                self._for.setdefault(above_it, []).append(slug)

    def speaks_of(self, slug: str) -> tuple[str, ...]:
        """The picked levers for which a row of this lever counts: the lever itself and what lies below it."""
        return tuple(self._for.get(slug, ()))


def _rows_of(index: Index, levers: Iterable[str]) -> dict[str, list[int]]:
    """Verdict -> places of the rows of these levers in the order of their codes; archived ones when DEAD."""
    rows: dict[str, list[int]] = {verdict: [] for verdict in VERDICTS}
    for place in sorted(index.of_levers(levers), key=index.code_order.__getitem__):
        verdict = index.verdicts[place]
        if verdict == DEAD or not index.codes[place][1]:
            rows[verdict].append(place)
    return rows


def _board_rows(
    index: Index, reasons: Mapping[int, str], places: Sequence[int], design: Design, family: _Family
) -> Iterable[BoardRow]:
    for place, row in zip(places, index.rows(places), strict=True):
        slug, states = row["content"]["lever"], states_of_line(row)
        speaks_of = family.speaks_of(slug)
        seen = standing(
            row["content"],
            design.scope,
            is_my_lever=bool(speaks_of) or not family.picked,
            superseded_by=states.superseded_by,
            flagged=states.flags > 0,
            archived=row["archived"],
            aliases=index.aliases,
        )
        why = reasons.get(place, "") or family.sides.get(slug, "")
        yield BoardRow(row, why, seen, speaks_of, index.lever_names[slug])
