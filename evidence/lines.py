"""Numbers, approaches and sources as lines of text, so that a plain form can hold them. Pure.

A number: `−7..−9% | verdict | vs v1 | tier 1 | n 3 | verified`. A source: `commit: 62449212` or
`document: section 2 | decode-evidence-map#wins`. A line that is left as it was stands for exactly what it came from.
"""

import re
from collections.abc import Sequence
from typing import Any

from v2kb.rules.evidence import SOURCE_KINDS
from v2kb.rules.numbers import ROLES, TIERS, format_number, parse_numbers, read_number
from v2kb.rules.problem import Problem

MAX_LINES = 100
MAX_LINE_CHARS = 600
_DIRECTIONS = {"lower is better": "lower", "higher is better": "higher"}
_ROLE_WORDS = {role.replace("_", " "): role for role in ROLES}
_OPTION_FIX = (
    "After the number write verdict, bound or data point, vs and the anchor, tier 1 to 3, n and a count, or verified."
)


def number_lines(numbers: Sequence[dict[str, Any]]) -> str:
    """One line per number."""
    return "\n".join(number_line(number) for number in numbers)


def number_line(number: dict[str, Any]) -> str:
    """A number as a line that `read_numbers` reads back."""
    parsed = parse_numbers(number["text"])
    alike = len(parsed) == 1 and all(parsed[0][name] == number[name] for name in ("value", "low", "high", "unit"))
    parts = [_flat(number["text"] if alike or not number["readable"] else format_number(number))]
    parts.append(number["role"].replace("_", " "))
    if number["compared_with"]:
        parts.append(f"vs {_flat(number['compared_with'])}")
    if number["direction"]:
        parts.append(f"{number['direction']} is better")
    if number["tier"]:
        parts.append(f"tier {number['tier']}")
    if number["n"]:
        parts.append(f"n {number['n']}")
    if number["verified"]:
        parts.append("verified")
    return " | ".join(parts)


def read_numbers(
    text: str, *, role: str, known: Sequence[dict[str, Any]] = ()
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Read one number per line. `role` is that of a line that names none; `known` numbers keep what a line can't say.

    What looks like no number we can read is kept as text, marked unreadable. Problems name the line.
    """
    kept = {number_line(number): number for number in known}
    numbers, problems = [], []
    for index, line in _lines("numbers", text, problems):
        if line in kept:
            numbers.append(kept[line])
            continue
        first, *options = [part.strip() for part in line.split("|")]
        readable = [number for number in parse_numbers(first, role=role) if number["readable"]]
        if len(readable) > 1:
            message = f"Line {index} holds {len(readable)} numbers."
            problems.append(Problem("numbers", message, "Write one number per line."))
            continue
        number = readable[0] if readable else read_number({"role": role})[0]
        number["text"] = first[:300]
        for option in options:
            if not _set_option(number, option):
                problems.append(Problem("numbers", f"Line {index}: {option[:40]!r} is not understood.", _OPTION_FIX))
        numbers.append(number)
    return numbers, problems


def _set_option(number: dict[str, Any], option: str) -> bool:
    word = option.lower()
    if word in _ROLE_WORDS:
        number["role"] = _ROLE_WORDS[word]
    elif word in _DIRECTIONS:
        number["direction"] = _DIRECTIONS[word]
    elif word == "verified":
        number["verified"] = True
    elif found := re.fullmatch(r"(?:vs\.?|against)\s+(.{1,300})", option, re.IGNORECASE):
        number["compared_with"] = found.group(1).strip()
    elif (found := re.fullmatch(r"tier\s*([0-9])", word)) and found.group(1) in TIERS:
        number["tier"] = found.group(1)
    elif found := re.fullmatch(r"n\s*=?\s*([1-9][0-9]{0,5})", word):
        number["n"] = found.group(1)
    else:
        return not word
    return True


def approach_lines(approaches: Sequence[str]) -> str:
    """One line per approach."""
    return "\n".join(_flat(approach) for approach in approaches)


def read_approaches(text: str, *, known: Sequence[str] = ()) -> tuple[list[str], list[Problem]]:
    """Read one approach per line."""
    kept = {_flat(approach): approach for approach in known}
    problems: list[Problem] = []
    return [kept.get(line, line) for _, line in _lines("approaches", text, problems)], problems


def source_lines(sources: Sequence[dict[str, str]]) -> str:
    """One line per source."""
    return "\n".join(source_line(source) for source in sources)


def source_line(source: dict[str, str]) -> str:
    """A source as a line that `read_sources` reads back."""
    place = source["document"] + (f"#{source['anchor']}" if source["anchor"] else "")
    return f"{source['kind']}: {_flat(source['text'])}" + (f" | {place}" if place else "")


def read_sources(text: str, *, known: Sequence[dict[str, str]] = ()) -> tuple[list[dict[str, str]], list[Problem]]:
    """Read one source per line; a line without a kind is a note, one that begins with http is a url."""
    kept = {source_line(source): source for source in known}
    sources, problems = [], []
    for _, line in _lines("sources", text, problems):
        if line in kept:
            sources.append(kept[line])
            continue
        said, _, place = line.rpartition(" | ") if " | " in line else (line, "", "")
        kind, colon, words = said.partition(":")
        kind = kind.strip().lower()
        if not colon or kind not in SOURCE_KINDS:
            kind, words = ("url" if said.startswith(("http://", "https://")) else "note"), said
        document, _, anchor = place.strip().partition("#")
        sources.append({"kind": kind, "text": words.strip(), "document": document, "anchor": anchor})
    return sources, problems


def _lines(field: str, text: str, problems: list[Problem]) -> list[tuple[int, str]]:
    lines = [(index, _flat(line)) for index, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if len(lines) > MAX_LINES:
        problems.append(Problem(field, f"{len(lines)} lines; at most {MAX_LINES} are kept.", "Leave some out."))
    for index, line in lines:
        if len(line) > MAX_LINE_CHARS and field != "approaches":
            problems.append(Problem(field, f"Line {index} has {len(line)} characters.", f"At most {MAX_LINE_CHARS}."))
    return lines[:MAX_LINES]


def _flat(text: str) -> str:
    return " ".join(str(text).split())
