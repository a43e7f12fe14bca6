"""Making the index of a snapshot: what is found by words, facts for filters, and every line by its key."""

import json
import os
import sqlite3
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from v2kb.cli.index import ROW, SECTION, families_of
from v2kb.rules.antiloop_facts import code_order
from v2kb.rules.row_facts import row_facts, row_words, states_of_line
from v2kb.rules.search_fts5 import TOKENIZER, marked
from v2kb.rules.search_words import document_words
from v2kb.rules.snapshot import Line, lines_by_kind

MIN_WORD_CHARS = 4
KEPT = 3
LEFT_BEHIND_S = 3600
"""How old an unfinished index is that nobody can still be writing."""
_SCHEMA = f"""
    CREATE TABLE seen (snapshot BLOB PRIMARY KEY, state TEXT);
    CREATE TABLE line (id INTEGER PRIMARY KEY, kind TEXT, key TEXT, json TEXT);
    CREATE INDEX line_key ON line (kind, key);
    CREATE TABLE short (
      id INTEGER PRIMARY KEY, code TEXT, code_order INTEGER, archived INTEGER, verdict TEXT, lever TEXT
    );
    CREATE TABLE facts (id INTEGER PRIMARY KEY, json TEXT);
    CREATE TABLE hash (value TEXT, row INTEGER);
    CREATE INDEX hash_value ON hash (value);
    CREATE TABLE row_entry (id INTEGER PRIMARY KEY, title TEXT, body TEXT, whole TEXT);
    CREATE TABLE section_entry (id INTEGER PRIMARY KEY, title TEXT, body TEXT, whole TEXT);
    CREATE VIRTUAL TABLE row_fts USING fts5(title, body, whole, content='row_entry', content_rowid='id', {TOKENIZER});
    CREATE VIRTUAL TABLE section_fts
      USING fts5(title, body, whole, content='section_entry', content_rowid='id', {TOKENIZER});
    CREATE VIRTUAL TABLE word_fts USING fts5(word, tokenize='trigram');
"""


def make_index(text: str, path: Path) -> None:
    """Write the index of a snapshot's lines to `path`, whole or not at all. Raises OSError, sqlite3.Error."""
    lines = lines_by_kind(text)
    path.parent.mkdir(parents=True, exist_ok=True)
    _tidy(path.parent)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        unfinished.unlink(missing_ok=True)
        connection = sqlite3.connect(unfinished)
        try:
            connection.executescript(_SCHEMA)
            _fill(connection, lines)
            connection.commit()
        finally:
            connection.close()
        unfinished.replace(path)
    except BaseException:
        for left in path.parent.glob(f"{unfinished.name}*"):
            left.unlink(missing_ok=True)
        raise


def _tidy(folder: Path) -> None:
    """Remove all indexes but the newest ones, and what a kill left behind."""
    changed = {}
    for file in folder.iterdir():
        with suppress(FileNotFoundError):  # another command tidies too
            changed[file] = file.stat().st_mtime
    indexes = sorted((file for file in changed if file.suffix == ".sqlite"), key=changed.__getitem__)
    before = time.time() - LEFT_BEHIND_S
    left = [file for file, when in changed.items() if ".tmp" in file.name and when < before]
    for file in [*indexes[:-KEPT], *left]:
        file.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, lines: Mapping[str, list[Line]]) -> None:
    keys = {"lever": "slug", "row": "code", "document": "slug", "op": "slug", "spec": "code", "rule": "id"}
    for kind, found in lines.items():
        connection.executemany(
            "INSERT INTO line (kind, key, json) VALUES (?, ?, ?)",
            ((kind, _key(kind, line, keys), json.dumps(line, ensure_ascii=False)) for line in found),
        )
    names = _names_of_survivors(lines.get("lever", []))
    words: set[str] = set()
    codes = sorted((row["code"] for row in lines.get("row", [])), key=code_order)
    in_order = {code: rank for rank, code in enumerate(codes)}
    for place, row in enumerate(lines.get("row", []), 1):
        slug, called = names.get(row["content"]["lever"], (row["content"]["lever"], []))
        facts = row_facts(row["content"], states_of_line(row)) | {"archived": row["archived"], "lever": slug}
        connection.execute(
            "INSERT INTO short VALUES (?, ?, ?, ?, ?, ?)",
            [place, row["code"], in_order[row["code"]], row["archived"], facts["verdict"], slug],
        )
        connection.execute("INSERT INTO facts VALUES (?, ?)", [place, json.dumps(facts)])
        hashes = [(value, place) for value in (row["head_hash"], *row["older"])]
        connection.executemany("INSERT INTO hash VALUES (?, ?)", hashes)
        words |= _put(connection, ROW, place, *row_words(row["code"], row["content"], called, row["cells"]))
    documents = {document["slug"]: document for document in lines.get("document", [])}
    for place, section in enumerate(lines.get("section", []), 1):
        words |= _put(connection, SECTION, place, *section_words(section, documents[section["document"]]))
    connection.executemany(
        "INSERT INTO word_fts (word) VALUES (?)", [[marked(word)] for word in sorted(filter(_may_be_meant, words))]
    )
    for table in ("row_fts", "section_fts"):
        connection.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


def _key(kind: str, line: Line, keys: Mapping[str, str]) -> str:
    return f"{line['document']}#{line['anchor']}" if kind == "section" else str(line.get(keys.get(kind, ""), ""))


def _names_of_survivors(levers: Iterable[Line]) -> dict[str, tuple[str, list[str]]]:
    """Slug -> (slug of the lever that stands for it, all names of that lever, its own first)."""
    by_slug = {lever["slug"]: lever for lever in levers}
    families = families_of(by_slug.values())
    standing = {slug: by_slug[families.survivor(slug)] for slug in by_slug}
    return {slug: (lever["slug"], [lever["name"], *lever["aliases"]]) for slug, lever in standing.items()}


def section_words(section: Line, document: Line) -> tuple[str, str]:
    """(title, text) by which a section is found."""
    number = f"§{section['number']} " if section["number"] else ""
    title = "" if section["title"] == document["title"] else section["title"]
    hashes = [section["hash"], *([document["head_hash"]] if section["order"] == 0 else [])]
    text = "\n".join([section["text"], document["slug"], document["path"], *hashes])
    return f"{document['title']} {number}{title}".strip(), text


def _put(connection: sqlite3.Connection, kind: str, place: int, title: str, text: str) -> set[str]:
    """Store one entry; returns its words."""
    named, named_whole = document_words(title)
    body, body_whole = document_words(text)
    whole = f"{named_whole} {body_whole}".strip()
    connection.execute(f"INSERT INTO {kind}_entry VALUES (?, ?, ?, ?)", [place, named, body, whole])
    return set(f"{named} {body} {whole}".split())


def _may_be_meant(word: str) -> bool:
    """Whether a misspelt word may stand for this one."""
    return len(word) >= MIN_WORD_CHARS and not any(sign.isdigit() for sign in word)
