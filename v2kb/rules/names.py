"""Identifiers as this field writes them: one key for every spelling of a lever, exact codes.

`split-k`, `split_k` and `splitK` are one name, and so are `7-warp`, `7w` and `nwarps=7`. Micro signs, minus
signs and multiplication signs count as their plain spelling.
"""

import re
import unicodedata

MAX_TEXT = 200_000

_FOLD = str.maketrans(
    {
        "µ": "u",
        "μ": "u",
        "−": "-",
        "‐": "-",
        "‑": "-",
        "‒": "-",
        "–": "-",
        "—": "-",
        "﹣": "-",
        "－": "-",
        "×": "x",
        "✕": "x",
        "→": " ",
        "‖": " ",
        "‘": "'",
        "’": "'",
    }
)
_WARPS_AFTER = re.compile(
    r"\b(?:n|num)[ _-]?warps?[ ]?=?[ ]?([0-9]{1,3})\b|\bnw[ ]?=?[ ]?([0-9]{1,3})\b", re.ASCII | re.IGNORECASE
)
_WARPS_BEFORE = re.compile(
    r"(?<![A-Za-z0-9_.])([0-9]{1,3})[ _-]?(?:warps?|w)(?![A-Za-z0-9_])", re.ASCII | re.IGNORECASE
)
_SEPARATORS = re.compile(r"[\W_]+")
SPEC_SERIES = "S"
"""The server issues S1, S2, ... to specs; no evidence row has such a code."""
ROW_CODE = re.compile(rf"(?!{SPEC_SERIES}[0-9])([A-Z]{{1,3}})([1-9][0-9]{{0,5}})", re.ASCII)
ROW_CODE_FIX = f"Write one to three capitals and a number: D12. {SPEC_SERIES} is the series of specs."
_CODE = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z]{1,3})-?([0-9]{1,6})(?![A-Za-z0-9_])", re.ASCII)
_HASH = re.compile(r"(?<![A-Za-z0-9_])(?=[0-9a-f]*[0-9])([0-9a-f]{7,64})(?![A-Za-z0-9_])", re.ASCII | re.IGNORECASE)
_BRITISH = (
    ("specialised", "specialized"),
    ("specialisation", "specialization"),
    ("optimis", "optimiz"),
    ("fibre", "fiber"),
)


def plain_signs(text: str) -> str:
    """Return `text` with its micro, minus and multiplication signs in plain spelling, character for character."""
    return text.translate(_FOLD)


def fold(text: str) -> str:
    """Return `text` with its micro, minus and multiplication signs and compatibility letters in plain
    spelling.
    """
    return unicodedata.normalize("NFKC", str(text)[:MAX_TEXT].translate(_FOLD)).translate(_FOLD)


def fold_warps(text: str) -> str:
    """Rewrite `nwarps=7`, `7w` and `7 warps` to `7-warp`. Expects folded text."""
    text = _WARPS_AFTER.sub(lambda found: f"{found.group(1) or found.group(2)}-warp", text)
    return _WARPS_BEFORE.sub(lambda found: f"{found.group(1)}-warp", text)


def warp_counts(text: str) -> list[tuple[int, int, str]]:
    """Return (start, end, count) of every `nwarps=7`, `7w` and `7 warps` in text with plain signs."""
    found = [*_WARPS_AFTER.finditer(text), *_WARPS_BEFORE.finditer(text)]
    return [(match.start(), match.end(), next(filter(None, match.groups()))) for match in found]


def _close(gap: re.Match[str]) -> str:
    text, before, after = gap.string, gap.start() - 1, gap.end()
    between_digits = before >= 0 and after < len(text) and text[before].isdigit() and text[after].isdigit()
    return "_" if between_digits else ""


def lever_key(name: str) -> str:
    """Return the key under which two spellings of a lever or identifier are the same; empty if nothing is
    left.

    Separators go away, except between two digits, so that `1-2` and `12` stay apart.
    """
    text = fold_warps(fold(name)).casefold()
    for british, american in _BRITISH:
        text = text.replace(british, american)
    return _SEPARATORS.sub(_close, text)


def lever_slug(name: str) -> str:
    """Return a readable slug (ASCII letters, digits, hyphens; at most 80) for a lever's name."""
    text = unicodedata.normalize("NFKD", fold(name)).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", text).strip("-")[:80].strip("-")


def exact_codes(query: str) -> list[str]:
    """Return what may be a row's code in `query`, upper-case, in order: `d3 and W-1` gives `["D3", "W1"]`.

    These are candidates (`W13` is also a weight); the caller looks them up and lists those that exist first.
    """
    found = (f"{letters.upper()}{int(digits)}" for letters, digits in _CODE.findall(fold(query)))
    return list(dict.fromkeys(found))


def exact_hashes(query: str) -> list[str]:
    """Return what may be a commit or content hash in `query`: 7 to 64 hexadecimal digits, at least one a
    digit.
    """
    return list(dict.fromkeys(found.lower() for found in _HASH.findall(fold(query))))
