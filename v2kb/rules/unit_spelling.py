"""Which spelling an installation may add to a unit: one that ordinary text behind a figure is not mistaken for."""

import re

from v2kb.rules.names import plain_signs

_FORM = re.compile(r"[A-Za-z]+(?:/[A-Za-z]+)?", re.ASCII)
MAX_SPELLING = 30
_ORDINARY = """
a about above again against an and approx around as at avg before below between but by ca circa down exceed faster fewer
for from greater half high higher if in into is it large larger least less low lower max mean median min minus more most
near negative no not of off on or out over per plus same slower small smaller so speedup than that the then through till
to too under until up versus vs was with within without worse
bank barrier batch block call channel chunk col column commit core cta cycle day dim element epoch expert failure
gpu grid group head hour hr iter iteration kernel lane layer level line minute month op page part pass point rank read
reg register rep request round row run sample section shard slice slot sm spec stage step stream sync tensor test thread
tier tile token trial try variant vector version warp wave way week worker write year
bit bps flop gb/s/sm gbit ghz gflop hz kbit khz mbit mhz pb tb tbit watt
"""
_ORDINARY_WORDS = frozenset(_ORDINARY.split())
"""Words that qualify or join figures, what is counted, and units that v2kb does not know."""


def read_spelling(text: str) -> tuple[str, str]:
    """Return (the spelling as texts are searched for it, why it can be none): `µsec` gives (`usec`, "")."""
    spelling = plain_signs(text.strip())
    shown = repr(text.strip()[:60])
    if re.search(r"[0-9]", spelling):
        return "", f"{shown} holds a digit and would be taken for part of a number."
    if len(spelling) == 1:
        return "", f"{shown} is one sign; names of variants, factors and sizes would be read as units."
    if len(spelling) > MAX_SPELLING or not _FORM.fullmatch(spelling):
        return "", f"{shown} is not 2 to {MAX_SPELLING} letters of ASCII, with one slash between them at most."
    word = spelling.casefold()
    if word in _ORDINARY_WORDS or word.removesuffix("s") in _ORDINARY_WORDS:
        return "", f"{shown} is an ordinary word behind a figure, or another unit; such text would be misread."
    return spelling, ""
