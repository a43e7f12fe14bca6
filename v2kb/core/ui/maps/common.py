"""What the pictures share: tones by name, and whether a text fits."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

CHAR_UNITS = 6.8
TONES = 6

Picture = Mapping[str, Any]


def tones(names: Iterable[str]) -> dict[str, int]:
    """Names that differ only by a trailing number share a tone (W0, W1 ...)."""
    order: dict[str, int] = {}
    return {name: order.setdefault(re.sub(r"\d+$", "", name), len(order)) % TONES for name in names}


def text_units(text: str) -> float:
    """Width of a text in the pictures' monospace face."""
    return len(text) * CHAR_UNITS


def fits(text: str, width: float) -> bool:
    """True when the text and a little room beside it fit into `width` units."""
    return text_units(text) + 4 <= width


def clipped(text: str, width: float) -> str:
    """The text, cut with a mark where it is longer than `width` units."""
    room = max(1, int(width / CHAR_UNITS))
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"
