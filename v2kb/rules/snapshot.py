"""The snapshot of the evidence that lies in a repository: `.v2kb/snapshot.jsonl`, one line per thing, the head first.

    {"kind": "head", "format": 1, "made_at": "2026-11-29T10:00:00+00:00", "change": 412, "sha256": "...", ...}
    {"kind": "vocabulary" | "rule" | "lever" | "row" | "document" | "section" | "op" | "spec", ...}

Every line is canonical JSON and lines keep their order, so that a repository sees what changed and no more. The hash
covers all lines after the head (formats.md describes each kind).
"""

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from v2kb.rules.canonical import canonical_json

FORMAT = 1
KINDS = ("vocabulary", "rule", "lever", "row", "document", "section", "op", "spec")
Line = dict[str, Any]
_SHA256 = re.compile(r"[0-9a-f]{64}")


class SnapshotError(ValueError):
    """A snapshot that can't be used; the message says why, `fix` what to do."""

    def __init__(self, message: str, fix: str = "Run `v2kb sync` to fetch it again.") -> None:
        super().__init__(message)
        self.message, self.fix = message, fix


@dataclass(frozen=True, slots=True)
class Head:
    """What a snapshot says of itself. `change` is the high-water mark of the evidence; `counts` are lines by kind."""

    made_at: str
    change: int
    sha256: str
    counts: Mapping[str, int] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def etag(self) -> str:
        """What two snapshots share that differ in nothing but their date."""
        return f'"{self.format}.{self.change}.{self.sha256}"'


def sealed(lines: Iterable[Line], *, made_at: str, change: int) -> Iterator[str]:
    """The text of a snapshot, line by line: its head, then `lines`, each of which names its kind."""
    texts, counts, digest = [], dict.fromkeys(KINDS, 0), hashlib.sha256()
    for line in lines:
        counts[line["kind"]] += 1
        texts.append(canonical_json(line) + "\n")
        digest.update(texts[-1].encode())
    head = {"kind": "head", "format": FORMAT, "made_at": made_at, "change": change, "counts": counts,
            "sha256": digest.hexdigest()}  # fmt: skip
    yield canonical_json(head) + "\n"
    yield from texts


def read_head(first_line: str) -> Head:
    """The head of a snapshot. Raises SnapshotError."""
    try:
        raw = json.loads(first_line)
    except (ValueError, RecursionError):
        raise SnapshotError("The snapshot's first line is no JSON.") from None
    if not isinstance(raw, dict) or raw.get("kind") != "head":
        raise SnapshotError("The snapshot does not begin with its head.")
    if raw.get("format") != FORMAT:
        raise SnapshotError(
            f"The snapshot has format {raw.get('format')}; this v2kb reads format {FORMAT}.",
            "Install the version of v2kb that your server runs, then run `v2kb sync`.",
        )
    try:
        head = Head(str(raw["made_at"]), int(raw["change"]), str(raw["sha256"]), dict(raw["counts"]))
        is_whole = datetime.fromisoformat(head.made_at).tzinfo is not None and bool(_SHA256.fullmatch(head.sha256))
    except (KeyError, TypeError, ValueError):
        is_whole = False
    if not is_whole:
        raise SnapshotError("The snapshot's head is incomplete.")
    return head


def check_snapshot(text: str) -> tuple[Head, str]:
    """The head and the text of the lines after it. Raises SnapshotError, also where a line was changed or lost."""
    first, _, rest = text.partition("\n")
    head = read_head(first)
    if hashlib.sha256(rest.encode()).hexdigest() != head.sha256:
        raise SnapshotError("The snapshot is not as the server made it: its hash differs.")
    return head, rest


def read_snapshot(text: str) -> tuple[Head, dict[str, list[Line]]]:
    """The head and the lines by kind. Raises SnapshotError as `check_snapshot` does."""
    head, rest = check_snapshot(text)
    return head, lines_by_kind(rest)


def lines_by_kind(text: str) -> dict[str, list[Line]]:
    """The lines of a checked snapshot after its head, by kind and in their order."""
    found: dict[str, list[Line]] = defaultdict(list)
    for line in text.split("\n")[:-1]:
        read = json.loads(line)
        found[read["kind"]].append(read)
    return found


def gate_facts(lines: Mapping[str, list[Line]]) -> dict[str, Any]:
    """What the anti-loop gate looks at (`antiloop.evaluate`), of a snapshot's lines by kind."""
    (vocabulary,) = lines["vocabulary"]
    return {
        "rows": {row["code"]: _gate_row(row) for row in lines.get("row", ())},
        "levers": {
            lever["slug"]: {name: lever[name] for name in ("name", "aliases", "parent", "merged_into")}
            for lever in lines.get("lever", ())
        },
        "aliases": vocabulary["aliases"],
        "documents": {document["slug"]: document["revisions"] for document in lines.get("document", ())},
        "contracts": {op["contract"]: op["content"].get("scope", {}) for op in lines.get("op", ())},
    }


def _gate_row(row: Line) -> dict[str, Any]:
    older = {revision: {"verdict": verdict} for revision, verdict in row["older"].items()}
    return {
        "head_hash": row["head_hash"],
        "revisions": {**older, row["head_hash"]: row["content"]},
        "flagged": row["confirmed"] > 0,
        "superseded_by": row["superseded_by"],
    }
