"""An upstream kernel catalogue, as a parsed document, to a snapshot, its kernel inventory and its families. Pure.

Facts are read from prose ("owner/branch @ commit (studied date)", "Merge-base ... = commit") or from "Field: value"
lines. Whatever looks like a fact and can't be read is listed in `unread`; nothing is dropped silently.
"""

import datetime
import re
from dataclasses import dataclass, field

from references.importers.inventory import Kernel, Unread, inventory_table, read_inventory
from references.importers.markdown import Block, Document, Section, parse_markdown, plain_text
from references.importers.tables import Table

FAMILY_LETTERS = "ABCDE"

_COMMIT = r"`?(?P<commit>[0-9a-f]{7,40})`?\b"
_TITLE_SOURCE = re.compile(r"(?P<owner>[\w.-]+)/(?P<name>[\w./-]+?)`?\s*@\s*" + _COMMIT)
_REMOTE = re.compile(
    r"git\s+remote\s+add\s+(?P<remote>[\w.-]+)\s+\\?\s*(?P<url>(?:https?://|git@)\S+?)(?:\.git)?(?=[\s`]|$)"
)
_REPOSITORY_URL = re.compile(r"(?:https?://[^/\s]+/|git@[^:\s]+:)(?P<path>[\w.-]+/[\w.-]+)$")
_MERGE_BASE = re.compile(r"merge[- ]?base[^=:\n]{0,80}[=:]\s*\**\s*" + _COMMIT, re.IGNORECASE)
_STUDIED = re.compile(r"(?:studied|read|as of|date)\W{0,4}(?:on\s+)?(?P<date>\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_FIELD = re.compile(
    r"^[\s>*|-]*\**"
    r"(?P<name>repository|branch|commit|studied(?:\s+on)?|date|merge[- ]?base)\**\s*[:|]\**\s*(?P<value>[^|\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_FAMILY_TITLE = re.compile(r"^Family\s+(?P<letter>[A-Z])\b\s*[—–:-]*\s*(?P<title>.*)$", re.IGNORECASE | re.DOTALL)
_STATED = r"^\W*{name}\W*?[:—–]\W*(?P<value>.+)$"
_WHEN_TO_COPY = re.compile(_STATED.format(name=r"when\s+to\s+copy"), re.IGNORECASE | re.DOTALL)
_IDIOM = re.compile(_STATED.format(name=r"idiom"), re.IGNORECASE | re.DOTALL)
_IDIOM_WORDS = (
    (r"consumer[- ]only", "consumer-only"),
    (r"pipeline", "role pipeline"),
    (r"helper", "sub-op helper"),
)


@dataclass(frozen=True)
class Snapshot:
    """The upstream repository as the catalogue saw it; a field that could not be read is empty (or None) and listed."""

    repository: str
    branch: str
    commit: str
    studied_on: datetime.date | None
    merge_base: str


@dataclass(frozen=True)
class Family:
    """A kernel pattern, A to E. `anchor` is the section that describes it."""

    letter: str
    title: str
    idiom: str
    when_to_copy: str
    anchor: str


@dataclass(frozen=True)
class Catalogue:
    """What a catalogue document says. `unread` says, with lines, what it says and could not be read."""

    snapshot: Snapshot
    kernels: list[Kernel]
    families: list[Family]
    unread: list[Unread] = field(default_factory=list)


def looks_like_catalogue(document: Document) -> bool:
    """Whether the document holds an inventory table: one with a kernel and a family column."""
    return inventory_table(document) is not None


def read_catalogue(document: Document | str) -> Catalogue:
    """Read a catalogue; never raises. A text is parsed first."""
    if isinstance(document, str):
        document = parse_markdown(document)
    unread: list[Unread] = []
    snapshot = _read_snapshot(document, unread)
    kernels = read_inventory(document, unread)
    families = _read_families(document, unread)
    described = {family.letter for family in families}
    for letter in FAMILY_LETTERS:
        if letter not in described:
            users = [kernel.name for kernel in kernels if kernel.family == letter]
            used = f" though {', '.join(users)} belong to it" if users else ""
            unread.append(Unread(0, f"Family {letter}", f"no section describes it{used}"))
    return Catalogue(snapshot, kernels, families, sorted(unread, key=lambda item: item.line))


def _read_snapshot(document: Document, unread: list[Unread]) -> Snapshot:
    head = _head(document)
    fields = {
        re.sub(r"[\s-]+", " ", match["name"].lower()): match["value"].strip(" *`") for match in _FIELD.finditer(head)
    }
    source = _TITLE_SOURCE.search(head)
    repository, branch = _repository_and_branch(head, fields, source)
    commit = _commit_of(fields.get("commit", "")) or (source["commit"] if source else "")
    merge_base = _MERGE_BASE.search(head)
    found = Snapshot(
        repository=repository,
        branch=branch,
        commit=commit,
        studied_on=_studied_on(head, fields, unread),
        merge_base=_commit_of(fields.get("merge base", "")) or (merge_base["commit"] if merge_base else ""),
    )
    for name in ("repository", "branch", "commit", "studied_on", "merge_base"):
        if not getattr(found, name):
            unread.append(Unread(1, document.title, f"the snapshot's {name.replace('_', ' ')} could not be read"))
    return found


def _head(document: Document) -> str:
    """Front matter and text above the first second-level section: where a catalogue says what it describes."""
    parts = []
    for section in document.sections:
        if parts and section.level >= 2:
            break
        parts.append(section.text)
    stated = [f"{name}: {' '.join(values)}" for name, values in document.front_matter.fields]
    return "\n".join(stated + parts)


def _repository_and_branch(head: str, fields: dict[str, str], source: re.Match[str] | None) -> tuple[str, str]:
    """Stated fields win. In "a/b @ commit", `a` is a git remote that the text adds; then `b` is the branch."""
    repository, branch = fields.get("repository", ""), fields.get("branch", "")
    if source:
        remote = next((match for match in _REMOTE.finditer(head) if match["remote"] == source["owner"]), None)
        if remote:
            path = _REPOSITORY_URL.search(remote["url"])
            repository = repository or (path["path"] if path else remote["url"])
            branch = branch or source["name"]
        else:
            repository = repository or f"{source['owner']}/{source['name']}"
    return repository, branch


def _commit_of(text: str) -> str:
    match = re.search(_COMMIT, text)
    return match["commit"] if match else ""


def _studied_on(head: str, fields: dict[str, str], unread: list[Unread]) -> datetime.date | None:
    stated = fields.get("studied on") or fields.get("studied") or fields.get("date") or ""
    match = re.search(r"(?P<date>\d{4}-\d{2}-\d{2})", stated) or _STUDIED.search(head)
    if not match:
        return None
    try:
        return datetime.date.fromisoformat(match["date"])
    except ValueError:
        unread.append(Unread(1, match["date"], "is not a date"))
        return None


def _read_families(document: Document, unread: list[Unread]) -> list[Family]:
    families: dict[str, Family] = {}
    for section in document.sections:
        match = _FAMILY_TITLE.match(section.title)
        found = [_family_of_section(section, match)] if match else _families_of_tables(section, unread)
        for family in found:
            if family.letter not in FAMILY_LETTERS:
                unread.append(Unread(section.start_line, section.title, "families go from A to E"))
            elif family.letter in families:
                unread.append(Unread(section.start_line, section.title, f"family {family.letter} is described twice"))
            else:
                families[family.letter] = family
                _list_missing(family, section, unread)
    return [families[letter] for letter in sorted(families)]


def _list_missing(family: Family, section: Section, unread: list[Unread]) -> None:
    if not family.when_to_copy:
        unread.append(Unread(section.start_line, section.title, f"family {family.letter} does not say when to copy it"))
    if not family.idiom:
        unread.append(Unread(section.start_line, section.title, f"family {family.letter} names no known idiom"))


def _family_of_section(section: Section, match: re.Match[str]) -> Family:
    title = re.sub(r"\s*\([^()]*\)\s*$", "", match["title"]).strip()
    texts = [text for block in section.blocks for text in _texts(block)]
    return Family(
        letter=match["letter"].upper(),
        title=title,
        idiom=_stated(texts, _IDIOM) or _idiom_of(title),
        when_to_copy=_stated(texts, _WHEN_TO_COPY),
        anchor=section.anchor,
    )


def _families_of_tables(section: Section, unread: list[Unread]) -> list[Family]:
    """Families of a table with a family (or letter) column and a "when to copy" column."""
    families = []
    for table in section.tables:
        names = [plain_text(cell).lower() for cell in table.header]
        copy_at = next((at for at, name in enumerate(names) if "when to copy" in name), None)
        letter_at = next((at for at, name in enumerate(names) if name in ("family", "letter")), None)
        if copy_at is None or letter_at is None:
            continue
        title_at = next((at for at, name in enumerate(names) if name in ("title", "pattern", "name")), letter_at)
        idiom_at = next((at for at, name in enumerate(names) if "idiom" in name), None)
        for row in table.rows:
            cells = [plain_text(cell) for cell in row.cells]
            letter = re.match(r"^([A-Z])\b\s*[—–:-]*\s*(.*)$", cells[letter_at]) if len(cells) == len(names) else None
            if not letter:
                unread.append(Unread(row.line, " | ".join(row.cells), "the row can't be read as a family"))
                continue
            title = letter[2] if title_at == letter_at else cells[title_at]
            idiom = cells[idiom_at] if idiom_at is not None else _idiom_of(title)
            families.append(Family(letter[1], title or letter[1], idiom, cells[copy_at], section.anchor))
    return families


def _texts(block: Block | Table) -> list[str]:
    if isinstance(block, Table) or block.kind == "code":
        return []
    return [item.text for item in block.items] if block.items else [block.text]


def _stated(texts: list[str], pattern: re.Pattern[str]) -> str:
    for text in texts:
        match = pattern.match(text)
        if match:
            return " ".join(match["value"].split())
    return ""


def _idiom_of(title: str) -> str:
    """The synchronisation idiom that the family's title names, or nothing."""
    return next((idiom for pattern, idiom in _IDIOM_WORDS if re.search(pattern, title, re.IGNORECASE)), "")
