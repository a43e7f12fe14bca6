"""Where the words of a query stand in a text as people wrote it, and a piece of the text with them marked."""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from v2kb.rules.names import lever_key, plain_signs, warp_counts
from v2kb.rules.search_words import CAMEL, UNIT, Word, percentages

MAX_MARKED_CHARS = 40_000
MAX_ATOMS = 8
SNIPPET_CHARS = 200
_RUN = re.compile(r"[^\W_]+")

Atom = tuple[str, int, int]
Piece = tuple[str, bool]
"""Text, and whether it is marked."""


def marks(text: str, wanted: Sequence[Word]) -> list[tuple[int, int]]:
    """(start, end) of what the words match in `text`, in order and apart; beyond MAX_MARKED_CHARS nothing is marked."""
    plain = plain_signs(text[:MAX_MARKED_CHARS])
    atoms = _atoms(plain)
    found = [(start, end) for start, end, keys in percentages(plain) if any(word.whole in keys for word in wanted)]
    joined = [first.whole + second.whole for first, second in pairwise(wanted)]
    for place in range(len(atoms)):
        for word in wanted:
            if count := _run_length(atoms, place, word):
                found.append((atoms[place][1], atoms[place + count - 1][2]))
        found += _in_one_piece(atoms, place, wanted, joined)
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
    for run in _RUN.finditer(plain):
        if any(start <= run.start() < end for start, end, _ in counts):
            continue
        edges = [0, *sorted({cut.start() for edge in (CAMEL, UNIT) for cut in edge.finditer(run[0])}), len(run[0])]
        for low, high in pairwise(edges):
            if key := lever_key(run[0][low:high]):
                found.append((key, run.start() + low, run.start() + high))
    return sorted(found, key=lambda atom: atom[1])


def _run_length(atoms: Sequence[Atom], place: int, word: Word) -> int:
    """How many atoms from `place` on are the word's, 0 when they are not."""
    count = len(word.atoms)
    run = [atom for atom, _, _ in atoms[place : place + count]]
    if not count or len(run) < count or run[:-1] != list(word.atoms[:-1]):
        return 0
    fits = run[-1].startswith(word.prefix) if word.prefix else run[-1] == word.atoms[-1]
    return count if fits else 0


def _in_one_piece(
    atoms: Sequence[Atom], place: int, wanted: Sequence[Word], joined: Sequence[str]
) -> list[tuple[int, int]]:
    """`cp.async` for the word `cpasync`, and `cpasync` for the words `cp async`."""
    found = []
    text = ""
    for atom, _, end in atoms[place : place + MAX_ATOMS]:
        text += atom
        if text in joined or any(
            text == word.whole or (word.prefix and len(word.atoms) == 1 and text.startswith(word.prefix))
            for word in wanted
        ):
            found.append((atoms[place][1], end))
            break
    return found


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
