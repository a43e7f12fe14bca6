"""Diffs for pages: lines that were added, removed and kept, with long kept stretches folded; where two texts differ."""

from difflib import SequenceMatcher
from typing import Any


def line_diff(old: str, new: str, context: int = 3) -> list[dict[str, Any]]:
    """Lines with kind (same, add, del, skip), old and new line numbers (None where absent) and text.

    Empty when both texts are equal. `context` kept lines stand around each change.
    """
    before, after = old.splitlines(), new.splitlines()
    matcher = SequenceMatcher(a=before, b=after, autojunk=False)
    lines: list[dict[str, Any]] = []
    done = 0
    for group in matcher.get_grouped_opcodes(context):
        lines += _skip(group[0][1] - done)
        for tag, a1, a2, b1, b2 in group:
            lines += _lines(tag, before[a1:a2], after[b1:b2], a1, b1)
        done = group[-1][2]
    return lines + _skip(len(before) - done) if lines else []


def changed_part(old: str, new: str, around: int = 40, longest: int = 200) -> tuple[str, str]:
    """The stretch in which two texts differ, of each, with `around` characters of what they share and … where cut."""
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    return tuple(_stretch(text, start - around, len(text) - end + around, longest) for text in (old, new))


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _stretch(text: str, start: int, end: int, longest: int) -> str:
    start, end = max(start, 0), min(end, len(text))
    stop = min(end, start + longest)
    return ("…" if start else "") + text[start:stop].strip() + ("…" if stop < len(text) else "")


def _skip(count: int) -> list[dict[str, Any]]:
    if count <= 0:
        return []
    return [{"kind": "skip", "old": None, "new": None, "text": f"{count} unchanged line{'s' if count != 1 else ''}"}]


def _lines(tag: str, before: list[str], after: list[str], a1: int, b1: int) -> list[dict[str, Any]]:
    if tag == "equal":
        return [{"kind": "same", "old": a1 + n + 1, "new": b1 + n + 1, "text": text} for n, text in enumerate(before)]
    gone = [{"kind": "del", "old": a1 + n + 1, "new": None, "text": text} for n, text in enumerate(before)]
    came = [{"kind": "add", "old": None, "new": b1 + n + 1, "text": text} for n, text in enumerate(after)]
    return gone + came
