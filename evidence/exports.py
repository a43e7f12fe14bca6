"""What leaves the product: the team's map, rows and the experiment history, as markdown, CSV and JSON lines.

Everything can be imported again and then changes nothing.
"""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from typing import Any

from evidence.importers.load import log_of_map
from evidence.importers.map_writing import MapRow, table_line, write_map
from evidence.importers.records import guarded
from evidence.importers.typed_cells import NO, YES
from evidence.lines import approach_lines, number_lines, source_lines
from evidence.models import EvidenceRow, ExperimentEntry, ImportedLine
from evidence.selectors import by_code
from references.models import Document
from v2kb.core.errors import Missing
from v2kb.rules.canonical import canonical_json
from v2kb.rules.scope import describe

ROW_COLUMNS = [
    "Code", "Verdict", "Title", "Lever", "Cause class", "Number", "Mechanism", "Not checked", "Bound", "Scope",
    "Approaches", "Numbers, typed", "Sources, typed", "Structural", "Date", "Revision", "Hash of content", "Archived",
]  # fmt: skip
HISTORY_COLUMNS = ["Date", "Env", "Verdict", "Why", "Trace", "Commit"]
HISTORY_MORE = ["Lever", "Speaks of", "Corrects"]
HASH_CHARS = 12
NAMES = ("map.md", "rows.csv", "rows.jsonl", "history.md", "history.csv", "history.jsonl")
TYPES = {"md": "text/markdown", "csv": "text/csv", "jsonl": "application/jsonl"}


def maps() -> list[Document]:
    """The imported documents from which rows came, by title."""
    logs = ImportedLine.objects.filter(log__startswith=log_of_map(""), row__isnull=False).values("log").distinct()
    slugs = [line["log"].removeprefix(log_of_map("")) for line in logs.order_by()]
    return list(Document.objects.filter(slug__in=slugs).select_related("head").order_by("title"))


def export(name: str, *, document: str = "") -> Iterator[str]:
    """The parts of an export. `name` is map.md, rows.csv, rows.jsonl, history.md, history.csv or history.jsonl.

    `document` is the slug of the map to write again; without it, rows of all maps go into a new one. Raises Missing
    evidence.no_export.
    """
    writers = {
        "map.md": lambda: iter([export_map(document)]),
        "rows.csv": _rows_csv,
        "rows.jsonl": _rows_jsonl,
        "history.md": _history_table,
        "history.csv": _history_csv,
        "history.jsonl": _history_jsonl,
    }
    if name not in writers:
        raise Missing("evidence.no_export", f"There is no export {name[:40]}.", fix=f"Use one of {', '.join(NAMES)}.")
    return writers[name]()


def export_map(slug: str = "") -> str:
    """The map `slug` with its rows as they stand now and those that no map has; without `slug`, all rows in a new one.

    Raises Missing evidence.no_export where no such map was imported.
    """
    rows = {row.code: row for row in by_code(EvidenceRow.objects.filter(head__isnull=False).select_related("head"))}
    if not slug:
        live = {code: MapRow(code, row.head.content) for code, row in rows.items() if not row.archived_at}
        return write_map("", live)
    document = next((one for one in maps() if one.slug == slug), None)
    if document is None or document.head is None:
        raise Missing("evidence.no_export", f"There is no imported map {slug[:80]}.", fix="Pick one from the list.")
    lines = ImportedLine.objects.filter(log__startswith=log_of_map(""), row__isnull=False)
    said: dict[str, dict[str, dict[str, Any]]] = {}
    for log, code, content in lines.values_list("log", "row__code", "content"):
        said.setdefault(code, {})[log] = content.get("content", {})
    mine = {
        code: MapRow(code, row.head.content, said.get(code, {}).get(log_of_map(slug)), row.archived_at is not None)
        for code, row in rows.items()
        if code not in said or log_of_map(slug) in said[code]
    }
    return write_map(document.head.text, mine)


def csv_lines(rows: Iterable[list[str]]) -> Iterator[str]:
    """CSV, every cell in quotation marks; what a spreadsheet would take for a formula begins with an apostrophe."""
    for row in rows:
        buffer = io.StringIO()
        csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow([guarded(cell) for cell in row])
        yield buffer.getvalue()


def row_cells(content: dict[str, Any]) -> dict[str, str]:
    """The cells of a row in its CSV, without code, revision, hash and whether it is archived.

    A carriage return is a line break, as it is to whoever reads the file.
    """
    cells = {
        "Verdict": content["verdict"],
        "Title": content["title"],
        "Lever": content["lever"],
        "Cause class": content["cause_class"],
        "Number": content["measured_note"],
        "Mechanism": content["mechanism"],
        "Not checked": content["not_checked"],
        "Bound": content["bound"],
        "Scope": describe(content["scope"]),
        "Approaches": approach_lines(content["approaches"]),
        "Numbers, typed": number_lines(content["numbers"]),
        "Sources, typed": source_lines(content["sources"]),
        "Structural": YES if content["structural"] else NO,
        "Date": content["measured_on"],
    }
    return {name: text.replace("\r\n", "\n").replace("\r", "\n") for name, text in cells.items()}


def _all_rows() -> list[EvidenceRow]:
    return by_code(EvidenceRow.objects.filter(head__isnull=False).select_related("head__lever"))


def _rows_csv() -> Iterator[str]:
    yield from csv_lines([ROW_COLUMNS])
    for row in _all_rows():
        own = {
            "Code": row.code,
            "Revision": str(row.head.number),
            "Hash of content": row.head.content_hash,
            "Archived": "yes" if row.archived_at else "no",
        }
        cells = row_cells(row.head.content) | own
        yield from csv_lines([[cells[name] for name in ROW_COLUMNS]])


def _rows_jsonl() -> Iterator[str]:
    for row in _all_rows():
        document = {
            "code": row.code,
            "verdict": row.head.verdict,
            "lever_name": row.head.lever.name,
            "revision": row.head.number,
            "archived": row.archived_at is not None,
            "content_hash": row.head.content_hash,
            "content": row.head.content,
        }
        yield f"{canonical_json(document)}\n"


def _entries() -> Iterator[ExperimentEntry]:
    entries = ExperimentEntry.objects.select_related("lever", "corrects").prefetch_related("links").order_by("pk")
    return entries.iterator(chunk_size=1000)


def _entry_cells(entry: ExperimentEntry) -> dict[str, str]:
    return {
        "Date": entry.on.isoformat(),
        "Env": entry.env,
        "Verdict": entry.verdict,
        "Why": entry.why,
        "Trace": entry.trace,
        "Commit": entry.commit,
        "Lever": entry.lever.slug if entry.lever else "",
        "Speaks of": ", ".join(str(link) for link in entry.links.all()),
        "Corrects": entry.corrects.content_hash[:HASH_CHARS] if entry.corrects else "",
    }


def _history_columns() -> list[str]:
    """The columns that are needed: the last three only where an entry has something there."""
    entries = ExperimentEntry.objects
    used = {
        "Lever": entries.filter(lever__isnull=False).exists(),
        "Speaks of": entries.filter(links__isnull=False).exists(),
        "Corrects": entries.filter(corrects__isnull=False).exists(),
    }
    return HISTORY_COLUMNS + [name for name in HISTORY_MORE if used[name]]


def _history_table() -> Iterator[str]:
    columns = _history_columns()
    yield f"# Experiment history\n\n{table_line(columns)}\n{'|---' * len(columns)}|\n"
    for entry in _entries():
        cells = _entry_cells(entry)
        yield f"{table_line([cells[name] for name in columns])}\n"


def _history_csv() -> Iterator[str]:
    columns = [*HISTORY_COLUMNS, *HISTORY_MORE]
    yield from csv_lines([columns])
    for entry in _entries():
        cells = _entry_cells(entry)
        yield from csv_lines([[cells[name] for name in columns]])


def _history_jsonl() -> Iterator[str]:
    for entry in _entries():
        document = {name.lower().replace(" ", "_"): text for name, text in _entry_cells(entry).items()}
        yield json.dumps(document | {"content_hash": entry.content_hash}, ensure_ascii=False) + "\n"
