"""A place in code as people write it: `tree:path@commit:lines`. Domain page, CodeCitation.

A document that was written beside its code often leaves tree and commit out. Such a place is code all the same, no
evidence row; but nobody can look it up, and rule AL1 of the gate counts it only once both are named.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

PINS = ("tree", "commit")
_SOURCE = r"[A-Za-z0-9_./+-]{1,200}\.(?:cuh?|pyx?|h|hpp|cpp|cc)"
_LINES = r"[0-9]{1,9}(?:-[0-9]{1,9})?"
_PINNED = re.compile(rf"(?P<tree>[^:@\s]+):(?P<path>[^@\s]+)@(?P<commit>[^:\s]+)(?::(?P<lines>{_LINES}))?\Z")
# Without tree or commit, only the ending of a path tells it from the code of a row.
_BARE = re.compile(
    rf":?(?:(?P<tree>[^:@\s]+):)?(?P<path>{_SOURCE})(?:@(?P<commit>[^:\s]*))?(?::(?P<lines>{_LINES}))?\Z"
)
_IN_PROSE = re.compile(
    rf"(?<![A-Za-z0-9_./@-])(?:(?P<tree>[A-Za-z0-9_.-]+):(?=[^\s:@]+@))?(?P<path>{_SOURCE})"
    rf"(?:@(?P<commit>[A-Za-z0-9_./-]+)(?::(?P<lines>{_LINES}))?|:(?P<lines_alone>{_LINES}))"
)
_STATED = re.compile(r"(?P<tree>[^:@\s]+)@(?P<commit>[^:@\s]+)")


def read_code(text: str) -> dict[str, str] | None:
    """Return tree, path, commit and lines of a typed place in code; None where `text` is something else."""
    found = _PINNED.match(text) or _BARE.match(text)
    return found.groupdict("") if found else None


def code_text(citation: Mapping[str, Any]) -> str:
    """Return a place in code as it is typed, without the parts that it doesn't name."""
    tree, path, commit, lines = (str(citation.get(name) or "") for name in ("tree", "path", "commit", "lines"))
    return f"{tree and f'{tree}:'}{path}{commit and f'@{commit}'}{lines and f':{lines}'}"


def places_in(prose: str) -> Iterator[dict[str, str]]:
    """Places in code that a sentence names, in their order: with lines, or with a commit."""
    for found in _IN_PROSE.finditer(prose):
        place = found.groupdict("")
        place["lines"] = place["lines"] or place["lines_alone"]
        del place["lines_alone"]
        yield place


def stated_pins(text: str) -> dict[str, str]:
    """Return the tree and commit that a file says its places in code are of, as in `mpk@f624d75a`; {} for none."""
    found = _STATED.search(text)
    return found.groupdict() if found else {}
