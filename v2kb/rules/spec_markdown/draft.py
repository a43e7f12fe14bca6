"""What is being read: a raw spec document, the line of each of its fields, and what became of each line of the file."""

from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.problem import Problem
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.blocks import Block, Section
from v2kb.rules.spec_words import NOTE_PLACES

READ, PARTLY, TEXT, LEFT, CHECKED, DOUBT = "read", "partly", "text", "left", "checked", "doubt"
STATES = (READ, PARTLY, TEXT, LEFT, CHECKED, DOUBT)
MAX_NOTE = 20_000
# More rows than any table of a spec may have.
MAX_ROWS = 129


@dataclass(frozen=True, slots=True)
class Placement:
    """What became of lines `first` to `last`: `state` is one of

    read (all of it is in fields), partly (fields were read and the text is kept), text (kept as a note), checked (only
    compared with what was read), doubt (something could not be decided), left (no field can hold it). `where` names
    fields; `why` says what to look at.
    """

    first: int
    last: int
    state: str
    where: tuple[str, ...]
    why: str = ""

    def as_document(self) -> dict[str, Any]:
        """Return the placement as plain values."""
        return {"first": self.first, "last": self.last, "state": self.state, "where": list(self.where), "why": self.why}


@dataclass(frozen=True)
class Reading:
    """A canonical spec document read from a file. `lines` maps paths to line numbers; `about` holds status, designer,
    date and code, which have no field of their own; `unreadable` says why nothing could be read at all.
    """

    document: dict[str, Any]
    placements: tuple[Placement, ...]
    lines: dict[str, int]
    about: dict[str, str]
    problems: tuple[Problem, ...] = ()
    unreadable: str = ""

    def line_of(self, path: str) -> int:
        """The line of a field or of what holds it; 1 where the file doesn't have it."""
        while path:
            if path in self.lines:
                return self.lines[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return 1

    @property
    def unplaced(self) -> tuple[Placement, ...]:
        """What a person should look at: text without a field, lines that were left, doubts."""
        return tuple(p for p in self.placements if p.state in (TEXT, LEFT) or p.why)


@dataclass
class Draft:
    """A document under construction."""

    raw: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    sections: list[Section] = field(default_factory=list)
    doubts: list[Placement] = field(default_factory=list)
    about: dict[str, str] = field(default_factory=dict)
    notes: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    # Tables that a marked table of the file states in full: prose adds no rows to them.
    stated: set[str] = field(default_factory=set)

    # --- writing ---

    def put(self, path: str, value: Any, line: int, block: Block | None = None) -> bool:
        """Set one field, unless it has a value; say so when the file gives it another. True when it holds `value`."""
        if self._is_stated(path) and block is None:
            return False
        holder, name = self._holder(path)
        now = holder.get(name)
        if now not in (None, "", [], {}) and not (now is False and value is True):
            if now != value:
                self.doubt(line, f"{path} is {_short(now)}; here the file says {_short(value)}.", path)
                return False
        elif self._is_stated(path):
            return False
        else:
            holder[name] = value
            self.lines[path] = line
        if block is not None:
            block.used.append(path)
        return True

    def row(self, table: str, values: dict[str, Any], line: int, block: Block | None = None) -> str:
        """Append a row and return its path; "" where a marked table states the whole, or the table is full."""
        if self._is_stated(table):
            return ""
        holder, name = self._holder(table)
        rows = holder.setdefault(name, [])
        if len(rows) >= MAX_ROWS:
            if block is not None:
                block.left.append(line)
            return ""
        rows.append({key: value for key, value in values.items() if value not in (None, "")})
        path = f"{table}[{len(rows) - 1}]"
        self.lines[path] = line
        self.lines.setdefault(table, line)
        if block is not None:
            block.used.append(path)
        return path

    def rows(self, table: str) -> list[dict[str, Any]]:
        """Rows that a table has so far."""
        holder, name = self._holder(table)
        return holder.setdefault(name, [])

    def value(self, path: str) -> Any:
        """What a field holds so far; "" for none."""
        holder, name = self._holder(path)
        return holder.get(name, "")

    def _holder(self, path: str) -> tuple[dict[str, Any], str]:
        holder: Any = self.raw
        steps = path.replace("[", ".[").split(".")
        for step in steps[:-1]:
            holder = (
                holder[int(step[1:-1])] if step.startswith("[") else holder.setdefault(step, self._blank(steps, step))
            )
        return holder, steps[-1]

    @staticmethod
    def _blank(steps: list[str], step: str) -> Any:
        following = steps[steps.index(step) + 1]
        return [] if following.startswith("[") else {}

    def _is_stated(self, path: str) -> bool:
        return any(path == part or path.startswith((f"{part}.", f"{part}[")) for part in self.stated)

    def doubt(self, line: int, why: str, *where: str) -> None:
        """Say what could not be decided at a line."""
        self.doubts.append(Placement(line, line, DOUBT, tuple(where), why))

    def checked(self, line: int, why: str, *where: str) -> None:
        """Say what a line was compared with."""
        self.doubts.append(Placement(line, line, CHECKED, tuple(where), why))

    def keep(self, path: str, line: int, text: str, why: str) -> None:
        """Keep in the notes what a marked table states and no field can hold."""
        self.note(_note_place(path), line, text)
        self.doubts.append(Placement(line, line, LEFT, (f"notes.{_note_place(path)}",), why))

    def note(self, place: str, line: int, text: str) -> None:
        """Keep text of the file in the notes of a part."""
        self.notes.setdefault(place, []).append((line, text))

    # --- reading back ---

    def blocks(self, *places: str) -> list[Block]:
        """Blocks of the sections with these places, in the order of the file; of all sections without any."""
        return [b for section in self.sections if not places or section.place in places for b in section.blocks]

    def finish(self) -> Reading:
        """Keep as text what was not read in full, and return the reading."""
        self._mark_headings()
        placements = [placement for section in self.sections for placement in self._settle(section)]
        document, problems = normalise(self.raw)
        placements += self._cut(document, problems)
        placements += self._write_notes()
        document, problems = normalise(self.raw)
        order = sorted([*placements, *self.doubts], key=lambda p: (p.first, p.last))
        return Reading(document, tuple(order), self.lines, self.about, tuple(problems))

    def _mark_headings(self) -> None:
        """A part that the file doesn't state is missed where its heading stands, if there is one."""
        first = {section.place: section.line for section in reversed(self.sections) if section.line}
        for part, place in _PLACES.items():
            line = first.get(place) or (first.get("smem") if place == "tmem" else None)
            if line:
                self.lines.setdefault(part, line)

    def _settle(self, section: Section) -> list[Placement]:
        place = section.place if section.place in NOTE_PLACES else "preamble"
        found = []
        if section.line and section.title and not section.place and section.level > 1:
            self.note(place, section.line, f"{'#' * section.level} {section.title}")
            why = "This heading names no part of a spec that is known; what follows is kept as text."
            found.append(Placement(section.line, section.line, TEXT, (f"notes.{place}",), why))
        for block in section.blocks:
            found.append(self._place(block, block.place or place))
        return found

    def _place(self, block: Block, place: str) -> Placement:
        where = tuple(dict.fromkeys(block.used))
        if block.whole and not block.left:
            return Placement(block.first, block.last, READ, where)
        self.note(place, block.first, self._kept(block))
        if where:
            why = f"Lines {_listed(block.left)} could not be read as rows." if block.left else ""
            return Placement(block.first, block.last, PARTLY, (*where, f"notes.{place}"), why)
        return Placement(block.first, block.last, TEXT, (f"notes.{place}",))

    @staticmethod
    def _kept(block: Block) -> str:
        if not block.left or not block.rows:
            return block.raw
        return "\n".join([*block.lines[:2], *(row.raw for row in block.rows if row.line in block.left)])

    def _cut(self, document: dict[str, Any], problems: list[Problem]) -> list[Placement]:
        """What the document can't hold goes to the notes as it stands in the file."""
        found = []
        for path, line in list(self.lines.items()):
            if _lookup(document, path) is not None or ("." not in path and "[" not in path):
                continue
            found.append(self._cut_one(path, line, "The document holds no more rows here."))
        for problem in problems:
            found.append(self._cut_one(problem.field, 0, f"{problem.message} {problem.fix}"))
        return found

    def _cut_one(self, path: str, line: int, why: str) -> Placement:
        reading = Reading({}, (), self.lines, {})
        line = line or reading.line_of(path)
        value = _lookup(self.raw, path)
        if value not in (None, "", [], {}):
            self.note(_note_place(path), line, f"{path}: {value}")
        return Placement(line, line, LEFT, (f"notes.{_note_place(path)}",), f"{path}: {why}")

    def _write_notes(self) -> list[Placement]:
        found = []
        written = self.raw.setdefault("notes", {})
        for place, kept in self.notes.items():
            texts = [str(written.get(place) or "").strip()] if written.get(place) else []
            size = sum(len(text) + 2 for text in texts)
            for line, text in sorted(kept):
                size += len(text) + 2
                if size > MAX_NOTE:
                    why = f"notes.{place} is full at {MAX_NOTE:,} characters; this text is not in the document."
                    found.append(Placement(line, line + text.count("\n"), LEFT, (), why))
                    size -= len(text) + 2
                    continue
                texts.append(text)
                self.lines.setdefault(f"notes.{place}", line)
            if texts:
                written[place] = "\n\n".join(texts)
        return found


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _listed(lines: list[int]) -> str:
    return ", ".join(str(line) for line in sorted(set(lines)))


def _lookup(document: Any, path: str) -> Any:
    for step in path.replace("[", ".[").split("."):
        if step.startswith("["):
            number = step[1:-1]
            if not isinstance(document, list) or int(number) >= len(document):
                return None
            document = document[int(number)]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            return None
    return document


_PLACES = {
    "ops": "contract",
    "symbols": "contract",
    "engine": "engine",
    "smem": "smem",
    "claims": "smem",
    "tmem": "tmem",
    "sems": "sems",
    "roles": "roles",
    "granularity": "granularity",
    "choices": "evidence",
    "anchors": "evidence",
    "measurement": "gates",
    "scale_packs": "gates",
    "gates": "gates",
    "wiring": "wiring",
    "open_questions": "questions",
    "reviews": "reviews",
    "amendments": "appendix",
    "self_audit": "audit",
}


def _note_place(path: str) -> str:
    return _PLACES.get(path.split(".")[0].split("[")[0], "preamble")
