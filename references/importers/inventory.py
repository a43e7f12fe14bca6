"""The kernel inventory table of an upstream catalogue: files, family, task types, ids and arities per kernel. Pure."""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from references.importers.markdown import Document, plain_text
from references.importers.tables import Row, Table
from v2kb.rules.words import counted

_FILE = re.compile(r"[\w./<>-]+\.(?:cuh|cu|hpp|h|cc|cpp|py)\b")
_FAMILY = re.compile(r"^([A-E])\b\s*(.*)$", re.DOTALL)
_TASK_NAME = re.compile(r"\b[A-Z][A-Z0-9]*(?:_|\[_)[A-Z0-9_\[\]/]*[A-Z0-9\]]")
_PARENTHESES = re.compile(r"\(([^()]*)\)")
_ARITY = re.compile(r"\(\s*(\d{1,3})\s*,\s*(\d{1,3})\s*\)")
_ID = re.compile(r"\b\d{1,5}\b")
_NOTHING = ("", "—", "–", "-", "none", "n/a")


@dataclass(frozen=True)
class Unread:
    """Something a document says and the importer could not read: its line (0 = nowhere), its text, and why."""

    line: int
    text: str
    why: str

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line else ""
        return f"{where}{self.text}: {self.why}"


@dataclass(frozen=True)
class Kernel:
    """One kernel of the inventory. `family` is "" for infrastructure; `arities` holds (inputs, outputs) per task id."""

    name: str
    family: str
    files: list[str]
    task_types: list[str]
    task_ids: list[int]
    arities: list[tuple[int, int]]
    note: str
    line: int


@dataclass
class _Columns:
    kernel: int
    family: int
    files: int | None = None
    task: int | None = None
    ids: int | None = None
    arity: int | None = None


@dataclass
class _Task:
    names: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    note: str = ""
    is_task: bool = True


def inventory_table(document: Document) -> Table | None:
    """The first table with a column for kernels and one for families, other than a table of families themselves."""
    for section in document.sections:
        for table in section.tables:
            if _columns(table) is not None:
                return table
    return None


def read_inventory(document: Document, unread: list[Unread]) -> list[Kernel]:
    """Kernels of the document's inventory, in order; what can't be read goes to `unread`."""
    table = inventory_table(document)
    columns = _columns(table) if table else None
    if table is None or columns is None:
        unread.append(Unread(0, document.title, "no table has a column for kernels and one for families"))
        return []
    kernels: list[Kernel] = []
    for row in table.rows:
        if len(row.cells) != len(table.header):
            unread.append(Unread(row.line, " | ".join(row.cells), "the row has not as many cells as the header"))
            continue
        kernels += _read_row(row, columns, unread)
    return kernels


def _columns(table: Table | None) -> _Columns | None:
    if table is None:
        return None
    names = [_PARENTHESES.sub("", plain_text(cell)).strip().lower() for cell in table.header]

    def at(*words: str) -> int | None:
        return next((index for index, name in enumerate(names) if any(word in name for word in words)), None)

    kernel, family = at("kernel"), at("family")
    if kernel is None or family is None or kernel == family:
        return None
    ids = next((index for index, name in enumerate(names) if re.fullmatch(r"(task )?ids?|id range", name)), None)
    return _Columns(kernel, family, at("files"), at("task type", "task"), ids, at("arity", "tuple", "in/out"))


def _read_row(row: Row, columns: _Columns, unread: list[Unread]) -> list[Kernel]:
    cells = [plain_text(cell) for cell in row.cells]

    def fail(text: str, why: str) -> None:
        unread.append(Unread(row.line, text, why))

    groups = _kernel_groups(cells, columns, fail)
    family, family_note = _family(cells[columns.family], fail)
    task = _task(cells, columns, fail)
    arities = _arities(cells[columns.arity], fail) if columns.arity is not None else []
    if task.is_task:
        _check_task(task, arities, cells[columns.kernel], fail)
    names_per = _share(task.names, len(groups), "task type", cells[columns.kernel], fail)
    ids_per = _share(task.ids, len(groups), "task id", cells[columns.kernel], fail)
    arities_per = _share(arities, len(groups), "arity", cells[columns.kernel], fail)
    kernels = []
    for index, (name, files, note) in enumerate(groups):
        notes = [text for text in (note, family_note, task.note) if text]
        kernels.append(
            Kernel(
                name, family, files, names_per[index], ids_per[index], arities_per[index], "; ".join(notes), row.line
            )
        )
    return kernels


def _kernel_groups(cells: list[str], columns: _Columns, fail) -> list[tuple[str, list[str], str]]:
    """(name, files, note) per kernel. Files of one kernel are joined by "+", kernels are separated by commas."""
    text = cells[columns.kernel]
    note = "; ".join(_PARENTHESES.findall(text))
    if re.search(r"\+\s*specs?\b", note):
        fail(text, "names spec files without naming them")
    groups = []
    for part in _PARENTHESES.sub("", text).split(","):
        files = _FILE.findall(part)
        name = PurePosixPath(files[0]).stem if files else part.strip()
        if columns.files is not None and columns.files != columns.kernel:
            files = _FILE.findall(cells[columns.files]) or files
        if not name:
            fail(text, "a kernel without a name or file")
            continue
        if not files:
            fail(part.strip(), "names no file")
        groups.append((name, files, note))
    return groups


def _family(cell: str, fail) -> tuple[str, str]:
    match = _FAMILY.match(cell)
    if match:
        return match[1], match[2].strip()
    if cell.lower().startswith("infra"):
        return "", cell
    fail(cell, "is no family from A to E")
    return "", cell


def _task(cells: list[str], columns: _Columns, fail) -> _Task:
    """Task type names and ids of the row: "NAME[_X]_Y (244/245)", "225 / 226", or a sentence that it is no task."""
    text = cells[columns.task] if columns.task is not None else ""
    id_text = cells[columns.ids] if columns.ids is not None and columns.ids != columns.task else ""
    if text.lower() in _NOTHING and id_text.lower() in _NOTHING:
        return _Task(is_task=False)
    task = _Task()
    for token in _TASK_NAME.findall(text):
        task.names += expand_task_name(token)
    rest = _TASK_NAME.sub("", text)
    for inner in _PARENTHESES.findall(rest):
        numbers, _, remark = inner.partition("—")
        task.ids += [int(number) for number in _ID.findall(numbers)]
        remark = remark.strip() or ("" if _ID.search(numbers) else numbers.strip())
        task.note = "; ".join(part for part in (task.note, remark) if part)
    rest = _PARENTHESES.sub("", rest)
    if re.fullmatch(r"[\d\s/,–-]+", rest.strip() or " "):
        task.ids += [int(number) for number in _ID.findall(rest)]
    elif rest.strip(" /,"):
        task.note = "; ".join(part for part in (task.note, rest.strip(" /,")) if part)
        if not task.names and not task.ids:
            task.is_task = False
            if not re.match(r"^\W*(not|no)\b", rest, re.IGNORECASE):
                fail(text, "can't be read as a task type")
    task.ids += [int(number) for number in _ID.findall(id_text)]
    return task


def expand_task_name(token: str) -> list[str]:
    """All names of a shortened one: "A[_B]_C" is A_C and A_B_C; "X_P/Q_Y" is X_P_Y and X_Q_Y."""
    option = re.search(r"\[([A-Z0-9_]+)\]", token)
    if option:
        without = token.replace(option[0], "", 1)
        with_it = token.replace(option[0], option[1], 1)
        return [name for variant in (without, with_it) for name in expand_task_name(variant)]
    pieces = [piece for piece in token.split("/") if piece]
    if len(pieces) < 2 or any("_" not in piece for piece in (pieces[0], pieces[-1])):
        return pieces
    if all(piece.startswith("TASK_") for piece in pieces):
        return pieces
    stem, first = pieces[0].rsplit("_", 1)
    last, tail = pieces[-1].split("_", 1)
    return [f"{stem}_{choice}_{tail}" for choice in [first, *pieces[1:-1], last]]


def _arities(cell: str, fail) -> list[tuple[int, int]]:
    if cell.lower() in _NOTHING:
        return []
    if _ARITY.sub("", cell).strip(" /,"):
        fail(cell, "can't be read as pairs of inputs and outputs")
    return [(int(inputs), int(outputs)) for inputs, outputs in _ARITY.findall(cell)]


def _check_task(task: _Task, arities: list[tuple[int, int]], name: str, fail) -> None:
    if not task.names:
        fail(name, f"task ids {', '.join(map(str, task.ids))} stand without the name of their task type")
    if not task.ids:
        fail(name, "the task has no id")
    if not arities:
        fail(name, "the task has no arity")
    elif task.ids and len(arities) != len(task.ids):
        fail(name, f"{counted(len(task.ids), 'task id')} and {counted(len(arities), 'arity', 'arities')}")


def _share(values: list, kernels: int, what: str, text: str, fail) -> list[list]:
    """Values per kernel: one each where the counts agree, all where there is one kernel; else all to each, listed."""
    if kernels <= 1 or not values:
        return [values] * kernels
    if len(values) == kernels:
        return [[value] for value in values]
    many = {"arity": "arities"}.get(what, "")
    fail(text, f"{counted(len(values), what, many)} for {kernels} kernels: which belongs to which is not said")
    return [values] * kernels
