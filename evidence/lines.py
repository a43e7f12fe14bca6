"""Numbers, approaches and sources as lines of text, so that a plain form or a cell can hold them. Pure.

A number: `−7..−9% | verdict | vs v1 | tier 1 | n 3 | verified`. A source: `commit: 62449212` or
`document: section 2 | decode-evidence-map#wins`. A pipe of the text itself is written `\\|`. A line that is left as it
was stands for exactly what it came from.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from v2kb.rules.evidence import SOURCE_KINDS
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.numbers import ROLES, SPELLINGS, TIERS, format_number, read_number
from v2kb.rules.problem import Problem

MAX_LINES = 100
MAX_LINE_CHARS = 600
_DIRECTIONS = {"lower is better": "lower", "higher is better": "higher"}
_NO_DIRECTION, _AS_TEXT = "no direction", "as text"
_BAR = re.compile(r"(\\*)\|")
_ROLE_WORDS = {role.replace("_", " "): role for role in ROLES}
_OPTION_FIX = (
    "After the number write verdict, bound or data point, vs and the anchor, tier 1 to 3, n and a count, or verified."
    " Or write lower is better, higher is better, no direction, as text."
)


def number_lines(numbers: Sequence[dict[str, Any]]) -> str:
    """One line per number."""
    return "\n".join(number_line(number) for number in numbers)


def number_line(number: dict[str, Any]) -> str:
    """A number as a line that `read_numbers` reads back, also where nobody added spellings of units."""
    parsed = _readable(number["text"])
    said = ("value", "low", "high", "unit", "qualifier")
    alike = len(parsed) == 1 and all(parsed[0][name] == number[name] for name in said)
    parts = [_flat(number["text"] if alike or not number["readable"] else format_number(number))]
    parts.append(number["role"].replace("_", " "))
    if parsed and not number["readable"]:
        parts.append(_AS_TEXT)
    if compared := _flat(number["compared_with"]):
        parts.append(f"vs {compared}")
    if number["direction"]:
        parts.append(f"{number['direction']} is better")
    elif number["readable"] and any(found["direction"] for found in _readable(parts[0])):
        parts.append(_NO_DIRECTION)
    if number["tier"]:
        parts.append(f"tier {number['tier']}")
    if number["n"]:
        parts.append(f"n {number['n']}")
    if number["verified"]:
        parts.append("verified")
    return " | ".join(map(_escaped, parts))


def read_numbers(
    text: str,
    *,
    role: str,
    known: Sequence[dict[str, Any]] = (),
    longest: int = MAX_LINE_CHARS,
    units: Mapping[str, str] = SPELLINGS,
) -> tuple[list[dict[str, Any]], list[Problem]]:
    """Read one number per line. `role` is that of a line that names none; `known` numbers keep what a line can't say;
    `units` as for `parse_numbers`.

    What looks like no number we can read is kept as text, marked unreadable. Problems name the line; one of them is a
    line of more than `longest` characters.
    """
    kept = {number_line(number): number for number in known}
    numbers, problems = [], []
    for index, line in _lines("numbers", text, problems, kept, longest):
        if line in kept:
            numbers.append(kept[line])
            continue
        first, *options = _parts(line)
        readable = [] if _AS_TEXT in map(str.lower, options) else _readable(first, role, units)
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


def _readable(text: str, role: str = "verdict", units: Mapping[str, str] = SPELLINGS) -> list[dict[str, Any]]:
    return [number for number in parse_numbers(text, role=role, units=units) if number["readable"]]


def _set_option(number: dict[str, Any], option: str) -> bool:
    word = option.lower()
    if word in _ROLE_WORDS:
        number["role"] = _ROLE_WORDS[word]
    elif word in _DIRECTIONS:
        number["direction"] = _DIRECTIONS[word]
    elif word == _NO_DIRECTION:
        number["direction"] = ""
    elif word == "verified":
        number["verified"] = True
    elif found := re.fullmatch(r"(?:vs\.?|against)\s+(.{1,300})", option, re.IGNORECASE):
        number["compared_with"] = found.group(1).strip()
    elif (found := re.fullmatch(r"tier\s*([0-9])", word)) and found.group(1) in TIERS:
        number["tier"] = found.group(1)
    elif found := re.fullmatch(r"n\s*=?\s*([1-9][0-9]{0,5})", word):
        number["n"] = found.group(1)
    else:
        return word in ("", _AS_TEXT)
    return True


def approach_lines(approaches: Sequence[str]) -> str:
    """One line per approach."""
    return "\n".join(_flat(approach) for approach in approaches)


def read_approaches(text: str, *, known: Sequence[str] = ()) -> tuple[list[str], list[Problem]]:
    """Read one approach per line."""
    kept = {_flat(approach): approach for approach in known}
    problems: list[Problem] = []
    return [kept.get(line, line) for _, line in _lines("approaches", text, problems, kept)], problems


def source_lines(sources: Sequence[dict[str, str]]) -> str:
    """One line per source."""
    return "\n".join(source_line(source) for source in sources)


def source_line(source: dict[str, str]) -> str:
    """A source as a line that `read_sources` reads back."""
    place = source["document"] + (f"#{source['anchor']}" if source["anchor"] else "")
    return _flat(f"{source['kind']}: {_escaped(source['text'])}" + (f" | {place}" if place else ""))


def read_sources(
    text: str, *, known: Sequence[dict[str, str]] = (), longest: int = MAX_LINE_CHARS
) -> tuple[list[dict[str, str]], list[Problem]]:
    """Read one source per line; a line without a kind is a note, one that begins with http is a url. `longest`: as for
    `read_numbers`.
    """
    kept = {source_line(source): source for source in known}
    sources, problems = [], []
    for _, line in _lines("sources", text, problems, kept, longest):
        if line in kept:
            sources.append(kept[line])
            continue
        said, _, place = line.rpartition(" | ") if " | " in line else (line, "", "")
        kind, colon, words = said.partition(":")
        kind = kind.strip().lower()
        if not colon or kind not in SOURCE_KINDS:
            kind, words = ("url" if said.startswith(("http://", "https://")) else "note"), said
        document, _, anchor = place.strip().partition("#")
        text = _BAR.sub(lambda found: found[1][: len(found[1]) // 2] + "|", words.strip())
        sources.append({"kind": kind, "text": text, "document": document, "anchor": anchor})
    return sources, problems


def _lines(
    field: str, text: str, problems: list[Problem], kept: Collection[str], longest: int = MAX_LINE_CHARS
) -> list[tuple[int, str]]:
    lines = [(index, _flat(line)) for index, line in enumerate(text.splitlines(), start=1) if line.strip()]
    if len(lines) > MAX_LINES:
        problems.append(Problem(field, f"{len(lines)} lines; at most {MAX_LINES} are kept.", "Leave some out."))
    for index, line in lines:
        if len(line) > longest and field != "approaches" and line not in kept:
            problems.append(Problem(field, f"Line {index} has {len(line)} characters.", f"At most {longest}."))
    return lines[:MAX_LINES]


def _flat(text: str) -> str:
    return " ".join(str(text).split())


def _escaped(text: str) -> str:
    """The text with its pipes written `\\|`, and the backslashes before one doubled."""
    return _BAR.sub(lambda found: found[1] * 2 + "\\|", text)


def _parts(line: str) -> list[str]:
    """The parts between the pipes that are no text, in plain writing."""
    parts, part, at = [], "", 0
    for found in _BAR.finditer(line):
        part += line[at : found.start()] + found[1][: len(found[1]) // 2]
        at = found.end()
        if len(found[1]) % 2:
            part += "|"
        else:
            parts.append(part.strip())
            part = ""
    return [*parts, (part + line[at:]).strip()]
