"""Words and numbers of design specs: roles under their older names, counts, ranges, formulas, places, table columns."""

import re
from collections.abc import Iterable, Mapping

from v2kb.rules.spec_markdown.blocks import Block, plain

_ROLE_WORDS = (
    ("loader", re.compile(r"\bloader\b", re.I)),
    ("mma", re.compile(r"\b(?:launcher|mma[ _-]?(?:warp|role|issuer)|mma)\b", re.I)),
    ("consumer", re.compile(r"\b(?:consumers?|compute|epilogue warps?)\b", re.I)),
    ("storer", re.compile(r"\bstorer\b", re.I)),
    ("controller", re.compile(r"\b(?:controller|dispatcher|scheduler)\b", re.I)),
)
NUMBER = r"[0-9]{1,3}(?:,[0-9]{3}){1,4}|[0-9]{1,12}"
_NUMBER = re.compile(NUMBER)
_EXPRESSION = re.compile(r"[0-9A-Za-z_,.()*/+\- ]+")
_TIMES = str.maketrans({"·": "*", "×": "*", "⋅": "*", "∗": "*", "−": "-", "–": "-", "÷": "/"})
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9*(`\"])|\n\s*\n")
# Any arrow that documents use.
ARROW = r"(?:→|⟶|➔|➜|⇒|⇢|➝|-->|->|=>)"


def role_in(text: str) -> str:
    """The role that `text` names first; "" for none."""
    found = [(match.start(), role) for role, pattern in _ROLE_WORDS if (match := pattern.search(text))]
    return min(found)[1] if found else ""


def roles_in(text: str) -> list[str]:
    """Roles that `text` names, in their order in the text."""
    found = [(match.start(), role) for role, pattern in _ROLE_WORDS if (match := pattern.search(text))]
    return [role for _, role in sorted(found)]


def whole(text: str) -> str:
    """The first whole number of `text` without separators; "" for none."""
    match = _NUMBER.search(text)
    return match[0].replace(",", "") if match else ""


def as_number(text: str) -> int | None:
    """The value of a plain whole number; None for anything else."""
    return int(text) if re.fullmatch(r"[0-9]{1,12}", text) else None


def formula(text: str) -> str:
    """A count as arithmetic in ASCII, such as 4*active+2; "" when `text` is anything else."""
    kept = " ".join(plain(text).translate(_TIMES).split())
    return kept if _EXPRESSION.fullmatch(kept) and re.search(r"[0-9A-Za-z]", kept) else ""


def one_line(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def sentences(text: str) -> list[str]:
    """Sentences of prose, each on one line."""
    return [part for piece in SENTENCE_END.split(text) if (part := one_line(piece))]


def clauses(text: str, ends: str = ";") -> list[str]:
    """Parts of a sentence at semicolons, colons (`ends`) and spaced dashes that stand in no bracket."""
    parts, depth, start = [], 0, 0
    for position, sign in enumerate(text):
        depth = max(0, depth + {"(": 1, "[": 1, ")": -1, "]": -1}.get(sign, 0))
        dash = sign == "—" and text[position - 1 : position] == " "
        if depth == 0 and (sign in ends or dash):
            parts.append(text[start:position])
            start = position + 1
    return [part for piece in [*parts, text[start:]] if (part := one_line(piece))]


def span_of(text: str) -> tuple[int, int] | None:
    """First and last of `0..7`, `[0..7]`, `0-7` or a single number."""
    match = re.fullmatch(r"\s*\[?\s*\+?([0-9]{1,6})\s*(?:(?:\.\.\.?|…|-|–|to)\s*\+?([0-9]{1,6}))?\s*\]?\s*", text)
    if not match:
        return None
    first = int(match[1])
    last = int(match[2]) if match[2] else first
    return (first, last) if last >= first else None


def folded(name: str) -> str:
    """A name without case, underscores and a barrier's ending: `W_tma`, `W_tma_mbar[0..7]` and `w-tma` are one."""
    bare = re.sub(r"\[.*?\]|\(.*?\)", "", name)
    bare = re.sub(r"(?:_mbars?|_barriers?|_bar|_sem)$", "", bare.strip(), flags=re.I)
    return re.sub(r"[^a-z0-9]", "", bare.lower())


def bare_name(name: str) -> str:
    """A barrier's name without its ending and its range."""
    kept = re.sub(r"\[.*?\]|\(.*?\)", "", name).strip().strip("`")
    return re.sub(r"(?:_mbars?|_barriers?)$", "", kept)


def columns(block: Block, aliases: Mapping[str, Iterable[str]]) -> dict[str, int]:
    """Field -> column of a table, by what its header says: the first column that fits, and each column once."""
    found: dict[str, int] = {}
    heads = [re.sub(r"[^a-z0-9+ ]", " ", head.lower().replace("_", " ")).split() for head in block.header]
    taken: set[int] = set()
    for exact in (True, False):
        for name, words in aliases.items():
            if name in found:
                continue
            for number, head in enumerate(heads):
                if number not in taken and _fits(" ".join(head), words, exact):
                    found[name] = number
                    taken.add(number)
                    break
    return found


def _fits(head: str, words: Iterable[str], exact: bool) -> bool:
    return any(head == word or (not exact and re.search(rf"\b{re.escape(word)}\b", head)) for word in words)


def cell(cells: tuple[str, ...], found: Mapping[str, int], name: str) -> str:
    """The plain text of a named cell; a dash stands for nothing."""
    number = found.get(name, -1)
    if number < 0 or number >= len(cells):
        return ""
    text = one_line(plain(cells[number].replace("\\|", "|"))).strip()
    return "" if text in ("-", "–", "—", "n/a", "none given") else text
