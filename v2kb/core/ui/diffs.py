"""Line diffs for pages: what was added, removed and kept, with long kept stretches folded."""

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
