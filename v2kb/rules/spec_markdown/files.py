"""Reading a spec from a file of either kind: markdown, or JSON with the line of each of its fields."""

import json
import re
from typing import Any

from v2kb.rules.spec_document import empty_spec, normalise
from v2kb.rules.spec_markdown.blocks import MAX_BYTES
from v2kb.rules.spec_markdown.draft import LEFT, READ, Placement, Reading
from v2kb.rules.spec_markdown.reading import read_markdown

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:\n]', re.S)
MAX_DEPTH = 64


def read_file(text: Any) -> Reading:
    """Read a spec from markdown, or from JSON where the text begins with a brace. Never raises for text."""
    if isinstance(text, str):
        text = text.encode("utf-8", "replace").decode()  # halves of a surrogate pair are no text
    if isinstance(text, str) and text.removeprefix("\ufeff").lstrip().startswith("{"):
        return _read_json(text)
    return read_markdown(text)


def _read_json(text: str) -> Reading:
    if len(text.encode("utf-8", "replace")) > MAX_BYTES:
        return _unreadable(f"The text is larger than {MAX_BYTES // 2**20} MB.", 1)
    try:
        raw = json.loads(text.removeprefix("\ufeff"), parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        return _unreadable(f"This is no JSON: {error.msg} in line {error.lineno}, column {error.colno}.", error.lineno)
    except (ValueError, RecursionError):
        return _unreadable("This JSON is nested too deeply to be read.", 1)
    document, problems = normalise(raw)
    lines = json_lines(text)
    left = tuple(
        Placement(line, line, LEFT, (problem.field,), f"{problem.message} {problem.fix}".strip())
        for problem in problems
        if (line := Reading({}, (), lines, {}).line_of(problem.field))
    )
    whole = Placement(1, text.count("\n") + 1, READ, ())
    return Reading(document, (whole, *left), lines, {}, tuple(problems))


def _unreadable(why: str, line: int) -> Reading:
    return Reading(empty_spec(), (Placement(line, line, LEFT, (), why),), {}, {}, (), why)


def json_lines(text: str) -> dict[str, int]:
    """Path of each field and row of valid JSON -> its line."""
    lines: dict[str, int] = {}
    line = 1
    # One entry per open bracket: its path, and the number of the next row (None inside braces).
    stack: list[list[Any]] = []
    name, pending = "", ""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
            continue
        if token in "[{" and len(stack) < MAX_DEPTH:
            path = _path(stack, name)
            lines[path] = line if path.endswith("]") else lines.get(path, line)
            stack.append([path, 0 if token == "[" else None])
            if token == "[":
                lines.setdefault(f"{path}[0]", line)
            name = ""
        elif token in "]}" and stack:
            stack.pop()
        elif token == "," and stack and stack[-1][1] is not None:
            stack[-1][1] += 1
        elif token == ":" and stack and stack[-1][1] is None:
            name = pending
            lines.setdefault(_path(stack, name), line)
        elif token[0] == '"':
            pending = token[1:-1]
            if stack and stack[-1][1] is not None:
                lines[f"{stack[-1][0]}[{stack[-1][1]}]"] = line
            line += token.count("\n")
    return lines


def _path(stack: list[list[Any]], name: str) -> str:
    if not stack:
        return ""
    path, row = stack[-1]
    if row is not None:
        return f"{path}[{row}]"
    return f"{path}.{name}" if path else name
