"""Words that name a kind of thing in the search over everything: `family A`, `spec S1`, `lever split-k`."""

import re
from dataclasses import dataclass

KINDS = {
    "row": "evidence",
    "lever": "levers",
    "spec": "specs",
    "op": "ops",
    "kernel": "kernels",
    "run": "runs",
    "experiment": "experiments",
    "section": "sections",
    "document": "sections",
    "family": "families",
}
"""Word -> the kind of hits that it names, as the parts of the search are called."""

_NAMED = re.compile(rf"\s*({'|'.join(KINDS)})\s+#?(\S.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class NamedKind:
    """A query that begins with the word for a kind: `kind` is a value of `KINDS`, `rest` what is looked for in it."""

    kind: str
    rest: str


def named_kind(text: str) -> NamedKind | None:
    """The kind that a query names with its first word, or None: `spec S1` is of specs, `specialised warps` is not."""
    found = _NAMED.fullmatch(text)
    return NamedKind(KINDS[found[1].lower()], found[2].strip()) if found else None
