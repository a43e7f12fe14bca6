"""Reading what the field's own test harnesses leave behind: case files and result lines (docs/formats.md).

Nothing is computed from them: what a file does not say is not said here either.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CASE_FILES = ("result.json", "spec.json")
ALL_RESULTS = "all_results.json"
RESULT_LINES = ("GATE_RESULT", "KERNEL_RESULT", "KERNEL_RESULT_REFERENCE", "FAITHFUL_RESULT")
MAX_FILES, MAX_BYTES, MAX_LINES = 2000, 32 * 2**20, 200
_LINE = re.compile(rf"\b({'|'.join(sorted(RESULT_LINES, key=len, reverse=True))})\b[:\s]*(.*)")
_LOGS = (".log", ".txt", ".out", ".err", ".md", ".jsonl")


@dataclass(frozen=True, slots=True)
class Found:
    """One result: a case, or a result line as it stands. `read` is its JSON, or None where the text is none."""

    kind: str
    place: str
    text: str
    read: Any = None

    def as_document(self) -> dict[str, Any]:
        """The result as plain values."""
        return {"kind": self.kind, "place": self.place, "text": self.text, "read": self.read}


@dataclass
class Results:
    """What a folder holds, and what could not be read in it."""

    found: list[Found] = field(default_factory=list)
    left: list[str] = field(default_factory=list)


def read_results(folder: Path) -> Results:
    """Case files and result lines below a folder, in the order of their paths. Raises OSError."""
    results = Results()
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    if len(files) > MAX_FILES:
        results.left.append(f"{len(files) - MAX_FILES} files after the first {MAX_FILES} were not looked at.")
    for path in files[:MAX_FILES]:
        place = path.relative_to(folder).as_posix()
        is_case, is_log = path.name in (*CASE_FILES, ALL_RESULTS), path.suffix in _LOGS
        if not (is_case or is_log):
            continue
        try:
            if path.stat().st_size > MAX_BYTES:
                results.left.append(f"{place} is larger than {MAX_BYTES // 2**20} MB.")
                continue
            text = path.read_text(encoding="utf-8", errors="strict" if is_case else "replace")
            results.found += _cases(place, json.loads(text)) if is_case else list(_lines(place, text))
        except (OSError, ValueError, RecursionError) as error:
            results.left.append(f"{place} can't be read: {error}")
    return results


def _cases(place: str, raw: Any) -> list[Found]:
    """`result.json` is a case, `all_results.json` a list of them or an object by case id; `spec.json` says what ran."""
    name = place.rpartition("/")[2]
    if name == "spec.json":
        return [Found("spec", place, _case_words(raw), raw)] if isinstance(raw, dict) else []
    by_id = name == ALL_RESULTS and isinstance(raw, dict)
    many = list(raw.values()) if by_id else raw if isinstance(raw, list) else [raw]
    if not many or not all(isinstance(one, dict) for one in many):
        raise ValueError("it holds no cases")
    return [Found("case", place, _case_words(one), one) for one in many]


def _case_words(case: dict[str, Any]) -> str:
    """A case in a line, in the words of its own fields."""
    spec = case["spec"] if isinstance(case.get("spec"), dict) else case
    named = {
        name: case.get(name, spec.get(name)) for name in ("case_id", "name", "mode", "kind", "runtime", "M", "status")
    }
    words = [f"{name} {value}" for name, value in named.items() if isinstance(value, str | int) and value != ""]
    ops = case.get("ops")
    for op, values in ops.items() if isinstance(ops, dict) else ():
        if isinstance(values, dict):
            said = ", ".join(f"{k} {values[k]}" for k in ("cos", "rel_max", "rel_l2", "pass_vs_torch") if k in values)
            words.append(f"{op} ({said})")
    return ", ".join(words)


def _lines(place: str, text: str) -> Iterator[Found]:
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.search(line)
        if match and number <= 10**7:
            raw = match[2].strip()
            try:
                read = json.loads(raw)
            except (ValueError, RecursionError):
                read = None
            yield Found(match[1], f"{place}:{number}", raw, read)
