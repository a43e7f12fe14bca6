"""YAML front matter at the top of a markdown text: names with their values, as they are written. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

MAX_LINES = 200
MAX_CHARS = 20_000
_FENCE = "---"
_ENDS = (_FENCE, "...")
_NAMED = re.compile(r"^[\w.-]+\s*:(\s|$)")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")
KEPT = "it is kept as text"

Field = tuple[str, list[str]]


@dataclass(frozen=True)
class FrontMatter:
    """`end` counts its lines with both fences, 0 where there is none.

    `fields` holds names with their values in order; nested names are joined by dots. `problem` says where and why what
    was meant as front matter can't be read: there are no fields then, and its lines are text of the document.
    """

    end: int = 0
    fields: list[Field] = field(default_factory=list)
    problem: str = ""

    def value(self, *names: str) -> str:
        """The first value of the first of these names that has one, on one line; empty where none has."""
        found = {name: " ".join(values[0].split()) for name, values in reversed(self.fields) if values}
        return next((found[name] for name in names if found.get(name)), "")


class _Unreadable(Exception):
    """`line` counts from 0 within the YAML."""

    def __init__(self, line: int, why: str) -> None:
        self.line, self.why = line, why
        super().__init__(why)


def read_front_matter(lines: list[str]) -> FrontMatter:
    """The front matter that a document's lines begin with; never raises.

    A first line `---` may be a rule as well: it opens front matter where the lines up to the next `---` or `...` are a
    YAML mapping, and was meant to where the line after it names something ("title: ...").
    """
    if not lines or lines[0].rstrip() != _FENCE:
        return FrontMatter()
    is_meant = len(lines) > 1 and _NAMED.match(lines[1]) is not None
    close = next((at for at in range(1, min(len(lines), MAX_LINES)) if lines[at].rstrip() in _ENDS), None)
    if close is None:
        return FrontMatter(
            problem=f"line 1: the front matter has no closing --- in its first {MAX_LINES} lines; {KEPT}"
            if is_meant
            else ""
        )
    try:
        return FrontMatter(close + 1, _fields("\n".join(lines[1:close])))
    except _Unreadable as error:
        if not is_meant:
            return FrontMatter()
        return FrontMatter(close + 1, problem=f"line {error.line + 2}: the front matter {error.why}; {KEPT}")


def _fields(text: str) -> list[Field]:
    if len(text) > MAX_CHARS:
        raise _Unreadable(0, f"has more than {MAX_CHARS:,} characters")
    try:
        for event in yaml.parse(text, yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise _Unreadable(event.start_mark.line, "uses an alias (*), which is not followed")
        root = yaml.compose(text, yaml.SafeLoader)
        if not isinstance(root, yaml.MappingNode):
            raise _Unreadable(0, "does not name its values")
        return list(_flat(root, ""))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line if error.problem_mark else 0
        raise _Unreadable(line, f"is not YAML ({error.problem or error.context})") from error
    except yaml.YAMLError as error:
        raise _Unreadable(0, "is not YAML (it holds characters that are not allowed)") from error
    except RecursionError as error:
        raise _Unreadable(0, "is nested too deeply") from error


def _flat(node: yaml.Node, name: str) -> Iterator[Field]:
    """Fields of a mapping, of a list that holds more than plain values, or of one value."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _Unreadable(key.start_mark.line, "has a name that is not text")
            yield from _flat(value, f"{name}.{_text(key)}" if name else _text(key))
    elif isinstance(node, yaml.SequenceNode) and all(isinstance(item, yaml.ScalarNode) for item in node.value):
        yield name, [_text(item) for item in node.value]
    elif isinstance(node, yaml.SequenceNode):
        for number, item in enumerate(node.value, start=1):
            yield from _flat(item, f"{name}.{number}")
    else:
        yield name, [_text(node)]


def _text(node: yaml.ScalarNode) -> str:
    """A value as it is written, nothing made of it: a date stays text, `null` and `yes` too."""
    if _NO_TEXT.search(node.value):
        raise _Unreadable(node.start_mark.line, "holds characters that are not text")
    return node.value.strip()
