"""Where the words of a query stand in a text as people wrote it, and a piece of the text with them marked."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from v2kb.rules.names import lever_key, plain_signs, warp_counts
from v2kb.rules.search_words import CAMEL, UNIT, Word, comparisons, percentages, quantities

MAX_MARKED_CHARS = 40_000
MAX_ATOMS = 8
SNIPPET_CHARS = 200
_COMPARED_PERCENT = re.compile("^[gl][et]pct")
_RUN = re.compile(r"[^\W_]+")
_key = lru_cache(maxsize=10_000)(lever_key)

Atom = tuple[str, int, int]
Piece = tuple[str, bool]
"""Text, and whether it is marked."""


def marks(text: str, wanted: Sequence[Word]) -> list[tuple[int, int]]:
    """(start, end) of what the words match in `text`, in order and apart; beyond MAX_MARKED_CHARS nothing is marked."""
    plain = plain_signs(text[:MAX_MARKED_CHARS])
    atoms = _atoms(plain)
    named = {word.whole for word in wanted}
    named |= {_COMPARED_PERCENT.sub("pct", whole) for whole in named}
    found = [(start, end) for start, end, keys in percentages(plain) if not named.isdisjoint(keys)]
    runs = [(word.atoms[:-1], word.prefix or word.atoms[-1], bool(word.prefix)) for word in wanted if word.atoms]
    pieces = named | {first.whole + second.whole for first, second in pairwise(wanted)}
    begins = tuple(word.prefix for word in wanted if word.prefix and len(word.atoms) == 1)
    longest = max(map(len, pieces), default=0)
    for place, (_, start, _) in enumerate(atoms):
        found += [(start, end) for run in runs if (end := _end_of_run(atoms, place, *run))]
        if end := _end_of_piece(atoms, place, pieces, begins, longest):
            found.append((start, end))
    return _apart(found)


def snippet(text: str, wanted: Sequence[Word], longest: int = SNIPPET_CHARS) -> list[Piece]:
    """About `longest` characters of `text` on one line, where most marks are, in pieces."""
    flat = " ".join(text.split())
    found = marks(flat, wanted)
    start = max(
        (begin for begin, _ in found),
        key=lambda begin: (sum(begin <= place and end <= begin + longest for place, end in found), -begin),
        default=0,
    )
    start = _word_start(flat, max(0, start - longest // 4))
    end = _word_end(flat, min(len(flat), start + longest))
    pieces = cut(flat[start:end], [(low - start, high - start) for low, high in found if start <= low and high <= end])
    return [*([("… ", False)] if start else []), *pieces, *([(" …", False)] if end < len(flat) else [])]


def cut(text: str, found: Iterable[tuple[int, int]]) -> list[Piece]:
    """`text` cut at the marks."""
    pieces: list[Piece] = []
    place = 0
    for start, end in found:
        pieces += [(text[place:start], False), (text[start:end], True)]
        place = end
    return [piece for piece in [*pieces, (text[place:], False)] if piece[0]]


def _atoms(plain: str) -> list[Atom]:
    """The atoms of text with plain signs, as documents are read, each with its place."""
    found: list[Atom] = []
    counts = warp_counts(plain)
    for start, end, count in counts:
        found += [(count, start, end), ("warp", start, end)]
    figures = list(quantities(plain))
    found += [(piece, start, end) for start, end, figure in figures for piece in figure.split(".")]
    found += [(name, start, end) for start, end, name in comparisons(plain)]
    read = [(start, end) for start, end, _ in (*counts, *figures)]
    for run in _RUN.finditer(plain):
        begin = max((end for start, end in read if start <= run.start() < end), default=run.start())
        text = plain[begin : run.end()]
        edges = [0, *sorted({cut.start() for edge in (CAMEL, UNIT) for cut in edge.finditer(text)}), len(text)]
        for low, high in pairwise(edges):
            if key := _key(text[low:high]):
                found.append((key, begin + low, begin + high))
    return sorted(found, key=lambda atom: atom[1])


def _end_of_run(atoms: Sequence[Atom], place: int, first: tuple[str, ...], last: str, may_go_on: bool) -> int:
    """Where the atoms of a word end that begin at `place`, 0 when they are not there."""
    at = place + len(first)
    if at >= len(atoms) or not (atoms[at][0].startswith(last) if may_go_on else atoms[at][0] == last):
        return 0
    fits = all(atom == wanted for (atom, _, _), wanted in zip(atoms[place:at], first, strict=True))
    return atoms[at][2] if fits else 0


def _end_of_piece(atoms: Sequence[Atom], place: int, pieces: set[str], begins: tuple[str, ...], longest: int) -> int:
    """Where the atoms end that together are one of the `pieces` or begin so: `cp.async` for the word `cpasync`."""
    text = ""
    for atom, _, end in atoms[place : place + MAX_ATOMS]:
        text += atom
        if text in pieces or text.startswith(begins):
            return end
        if len(text) > longest:
            break
    return 0


def _apart(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(end, apart[-1][1]))
        else:
            apart.append((start, end))
    return apart


def _word_start(text: str, place: int) -> int:
    return 0 if place <= 0 else text.rfind(" ", 0, place + 1) + 1


def _word_end(text: str, place: int) -> int:
    if place >= len(text):
        return len(text)
    space = text.rfind(" ", 0, place)
    return space if space > place - 40 and space > 0 else place
