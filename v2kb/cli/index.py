"""The snapshot as an SQLite file in the user's cache, made once for each snapshot: a look-up takes milliseconds."""

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from v2kb.rules.lever_family import Families
from v2kb.rules.names import lever_key
from v2kb.rules.row_facts import RowStates, row_facts, row_words
from v2kb.rules.scope import Aliases
from v2kb.rules.search_expression import Expression
from v2kb.rules.search_fts5 import TOKENIZER, WORD_CANDIDATES, marked, trigram_query, wanted_query
from v2kb.rules.search_rank import fit
from v2kb.rules.search_words import document_words
from v2kb.rules.snapshot import Head, Line, SnapshotError, read_head, read_snapshot

VERSION = 1
"""Part of the file's name: raise it whenever what is stored, or how words are read, changes."""
MIN_WORD_CHARS = 4
ROW, SECTION = "row", "section"
_SCHEMA = f"""
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT);
    CREATE TABLE line (id INTEGER PRIMARY KEY, kind TEXT, key TEXT, json TEXT);
    CREATE INDEX line_key ON line (kind, key);
    CREATE TABLE facts (id INTEGER PRIMARY KEY, code TEXT, archived INTEGER, verdict TEXT, lever TEXT, json TEXT);
    CREATE TABLE hash (value TEXT, row INTEGER);
    CREATE INDEX hash_value ON hash (value);
    CREATE TABLE row_entry (id INTEGER PRIMARY KEY, title TEXT, body TEXT, whole TEXT);
    CREATE TABLE section_entry (id INTEGER PRIMARY KEY, title TEXT, body TEXT, whole TEXT);
    CREATE VIRTUAL TABLE row_fts USING fts5(title, body, whole, content='row_entry', content_rowid='id', {TOKENIZER});
    CREATE VIRTUAL TABLE section_fts
      USING fts5(title, body, whole, content='section_entry', content_rowid='id', {TOKENIZER});
    CREATE VIRTUAL TABLE word_fts USING fts5(word, tokenize='trigram');
"""


def snapshot_index(snapshot: Path) -> "Index":
    """The index of a snapshot's file, made where there is none. Raises SnapshotError."""
    try:
        with snapshot.open(encoding="utf-8") as stream:
            head = read_head(stream.readline())
        state = snapshot.stat()
    except FileNotFoundError:
        raise SnapshotError(f"There is no snapshot at {snapshot}.", "Run `v2kb sync` to fetch one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{snapshot} can't be read: {error}.") from error
    seen = f"{state.st_size}.{state.st_mtime_ns}"
    path = cache_folder() / f"{head.sha256[:24]}.{VERSION}.sqlite"
    if path.exists():
        held = Index(path, head)
        if held.seen == seen:
            return held
        held.close()
    return _made(snapshot, path, seen)


def cache_folder() -> Path:
    """Where indexes lie: $XDG_CACHE_HOME/v2kb or ~/.cache/v2kb."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "v2kb"


def _made(snapshot: Path, path: Path, seen: str) -> "Index":
    head, lines = read_snapshot(snapshot.read_text(encoding="utf-8"))
    path.parent.mkdir(parents=True, exist_ok=True)
    for old in sorted(path.parent.glob("*.sqlite"), key=lambda file: file.stat().st_mtime)[:-3]:
        old.unlink(missing_ok=True)
    unfinished = path.with_suffix(f".{os.getpid()}.tmp")
    unfinished.unlink(missing_ok=True)
    connection = sqlite3.connect(unfinished)
    try:
        connection.executescript(_SCHEMA)
        _fill(connection, lines)
        connection.execute("INSERT INTO meta VALUES ('seen', ?)", [seen])
        connection.commit()
    finally:
        connection.close()
    unfinished.replace(path)
    return Index(path, head)


def _fill(connection: sqlite3.Connection, lines: Mapping[str, list[Line]]) -> None:
    keys = {"lever": "slug", "row": "code", "document": "slug", "op": "slug", "spec": "code", "rule": "id"}
    for kind, found in lines.items():
        connection.executemany(
            "INSERT INTO line (kind, key, json) VALUES (?, ?, ?)",
            ((kind, _key(kind, line, keys), json.dumps(line, ensure_ascii=False)) for line in found),
        )
    names = _names_of_survivors(lines.get("lever", []))
    words: set[str] = set()
    for place, row in enumerate(lines.get("row", []), 1):
        slug, called = names.get(row["content"]["lever"], (row["content"]["lever"], []))
        facts = row_facts(row["content"], states_of(row)) | {"archived": row["archived"], "lever": slug}
        connection.execute(
            "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?)",
            [place, row["code"], row["archived"], facts["verdict"], slug, json.dumps(facts)],
        )
        hashes = [(value, place) for value in (row["head_hash"], *row["older"])]
        connection.executemany("INSERT INTO hash VALUES (?, ?)", hashes)
        words |= _put(connection, ROW, place, *row_words(row["code"], row["content"], called, row["cells"]))
    documents = {document["slug"]: document for document in lines.get("document", [])}
    for place, section in enumerate(lines.get("section", []), 1):
        words |= _put(connection, SECTION, place, *section_words(section, documents[section["document"]]))
    connection.executemany("INSERT INTO word_fts (word) VALUES (?)", [[marked(word)] for word in sorted(words)])
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


def families_of(levers: Iterable[Line]) -> Families[str]:
    """The levers' families by slug."""
    known = list(levers)
    parents = {lever["slug"]: lever["parent"] for lever in known if lever["parent"]}
    return Families(parents, {lever["slug"]: lever["merged_into"] for lever in known if lever["merged_into"]})


def states_of(row: Line) -> RowStates:
    """What hangs on a row of the snapshot."""
    return RowStates(row["flags"], row["confirmed"], row["proposals"], tuple(row["superseded_by"]))


def section_words(section: Line, document: Line) -> tuple[str, str]:
    """(title, text) by which a section is found."""
    number = f"§{section['number']} " if section["number"] else ""
    title = "" if section["title"] == document["title"] else section["title"]
    hashes = [section["hash"], *([document["head_hash"]] if section["order"] == 0 else [])]
    text = "\n".join([section["text"], document["slug"], document["path"], *hashes])
    return f"{document['title']} {number}{title}".strip(), text


def _put(connection: sqlite3.Connection, kind: str, place: int, title: str, text: str) -> set[str]:
    """Store one entry; returns its words that a misspelt one may stand for."""
    named, named_whole = document_words(title)
    body, body_whole = document_words(text)
    whole = f"{named_whole} {body_whole}".strip()
    connection.execute(f"INSERT INTO {kind}_entry VALUES (?, ?, ?, ?)", [place, named, body, whole])
    found = set(f"{named} {body} {whole}".split())
    return {word for word in found if len(word) >= MIN_WORD_CHARS and not any(sign.isdigit() for sign in word)}


class Index:
    """One snapshot's file. Places number its rows, and its sections, from 1 in the order of their creation."""

    def __init__(self, path: Path, head: Head) -> None:
        self.head = head
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    @property
    def seen(self) -> str:
        """Size and time of the snapshot that was read."""
        return self._all("SELECT value FROM meta WHERE name = 'seen'")[0][0]

    def close(self) -> None:
        self._connection.close()

    def match(
        self, kind: str, wanted: Expression, unwanted: Expression | None = None, *, titles: bool = False
    ) -> list[int]:
        """Places that match `wanted` and not `unwanted`, ascending; with `titles` the title alone is asked."""
        asked = wanted_query(wanted, unwanted)
        if titles:
            asked = "{title} : (" + wanted_query(wanted, unwanted, columns=False) + ")"
        sql = f"SELECT rowid FROM {kind}_fts WHERE {kind}_fts MATCH ? ORDER BY rowid"
        return [place for (place,) in self._all(sql, [asked])]

    def scores(self, kind: str, wanted: Expression, places: Sequence[int]) -> dict[int, float]:
        """Place -> how well it fits (`search_rank.fit`)."""
        return {place: fit(wanted, *words) for place, *words in self._entries(kind, places)}

    def titles(self, kind: str, places: Sequence[int]) -> dict[int, str]:
        """Place -> the words of its title."""
        return {place: title for place, title, _, _ in self._entries(kind, places)}

    def alike(self, word: str) -> list[str]:
        """Known words that this one may be misspelt for, nearest first."""
        from v2kb.rules.spelling import may_be_misspelt, nearest_words  # a library that few look-ups need

        if not may_be_misspelt(word):
            return []
        sql = (
            "SELECT trim(word, '_') FROM word_fts WHERE word_fts MATCH ? AND length(word) BETWEEN ? AND ?"
            " ORDER BY rank LIMIT ?"
        )
        found = self._all(sql, [trigram_query(word), len(word) + 1, len(word) + 5, WORD_CANDIDATES])
        return nearest_words(word, [known for (known,) in found])

    def line(self, kind: str, key: str) -> Line | None:
        """The line of this kind with this code, slug or id; None where there is none."""
        found = self._all("SELECT json FROM line WHERE kind = ? AND key = ? LIMIT 1", [kind, key])
        return json.loads(found[0][0]) if found else None

    def lines(self, kind: str) -> list[Line]:
        """All lines of a kind, in their order."""
        return [json.loads(text) for (text,) in self._all("SELECT json FROM line WHERE kind = ? ORDER BY id", [kind])]

    def rows(self, places: Sequence[int]) -> list[Line]:
        """The rows at these places, in this order."""
        sql = f"SELECT facts.id, json FROM (SELECT id, code FROM facts WHERE id IN ({_marks(places)})) facts"
        sql += " JOIN line ON line.kind = 'row' AND line.key = facts.code"
        found = {place: json.loads(text) for place, text in self._all(sql, list(places))}
        return [found[place] for place in places]

    def sections(self, places: Sequence[int]) -> list[Line]:
        """The sections at these places, in this order."""
        held = self.lines(SECTION)
        return [held[place - 1] for place in places]

    @cached_property
    def codes(self) -> dict[int, tuple[str, bool]]:
        """Place -> (code, whether the row is archived)."""
        return {place: (code, bool(old)) for place, code, old in self._all("SELECT id, code, archived FROM facts")}

    @cached_property
    def verdicts(self) -> dict[int, str]:
        """Place -> the row's verdict."""
        return dict(self._all("SELECT id, verdict FROM facts"))

    @cached_property
    def aliases(self) -> Aliases:
        """The vocabulary's aliases of the words of scopes."""
        (vocabulary,) = self.lines("vocabulary")
        return vocabulary["aliases"]

    def facts(self) -> dict[int, dict[str, Any]]:
        """Place -> the row's facts, with `lever` and `archived` beside those of `row_facts`."""
        return {place: json.loads(text) for place, text in self._all("SELECT id, json FROM facts")}

    def of_hash(self, start: str) -> list[int]:
        """Places of rows one of whose revisions has a hash that begins so, ascending."""
        sql = "SELECT DISTINCT row FROM hash WHERE value >= ? AND value < ? ORDER BY row LIMIT 50"
        return [place for (place,) in self._all(sql, [start, f"{start}g"])]

    def of_levers(self, slugs: Iterable[str]) -> set[int]:
        """Places of the rows that stand under these levers."""
        wanted = list(slugs)
        sql = f"SELECT id FROM facts WHERE lever IN ({_marks(wanted)})"
        return {place for (place,) in self._all(sql, wanted)}

    @cached_property
    def levers(self) -> list[Line]:
        """All levers."""
        return self.lines("lever")

    @cached_property
    def families(self) -> Families[str]:
        """The levers' families by slug."""
        return families_of(self.levers)

    @cached_property
    def _lever_names(self) -> list[tuple[str, str]]:
        return [
            (lever_key(name), lever["slug"]) for lever in self.levers for name in (lever["name"], *lever["aliases"])
        ]

    @cached_property
    def lever_names(self) -> dict[str, str]:
        """Slug -> name."""
        return {lever["slug"]: lever["name"] for lever in self.levers}

    def lever_named(self, name: str) -> str | None:
        """The slug of the lever with this slug or name, in any spelling; None where there is none."""
        if name in self.lever_names:
            return name
        key = lever_key(name)
        return next((slug for known, slug in self._lever_names if key and known == key), None)

    def levers_called(self, name: str) -> set[str]:
        """Levers (slugs) with exactly this name, in any spelling, and all that lie below them."""
        key = lever_key(name)
        return self.families.below({slug for known, slug in self._lever_names if known == key} if key else set())

    def levers_like(self, name: str) -> set[str]:
        """Levers called so, or with a name that holds it, and all that lie below them."""
        if called := self.levers_called(name):
            return called
        key = lever_key(name)
        return self.families.below({slug for known, slug in self._lever_names if key in known} if key else set())

    def _entries(self, kind: str, places: Sequence[int]) -> list[tuple]:
        return self._all(f"SELECT * FROM {kind}_entry WHERE id IN ({_marks(places)})", list(places))

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple]:
        return self._connection.execute(sql, values).fetchall()


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
