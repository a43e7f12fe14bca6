"""The snapshot as an SQLite file in the user's cache, made once for each snapshot: a look-up takes milliseconds.

What only a search needs is imported by the methods that search: most commands look lines up by their keys.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from contextlib import closing, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from v2kb.cli.exits import CliError
from v2kb.rules.lever_family import Families
from v2kb.rules.names import lever_key
from v2kb.rules.snapshot import Head, Line, SnapshotError, check_snapshot, read_head

if TYPE_CHECKING:
    from v2kb.rules.scope import Aliases
    from v2kb.rules.search_expression import Expression

VERSION = 3
"""Part of the file's name: raise it whenever what is stored, or how words are read, changes (a test sees to it)."""
ROW, SECTION = "row", "section"
SLOW_CHARS = 2_000_000
"""Making the index of more than this takes a second: somebody who waits is told."""


def snapshot_index(snapshot: Path) -> Index:
    """The index of a snapshot's file, made where there is none. Raises SnapshotError.

    A file that was never seen, or that changed since, is hashed before its index is used.
    """
    try:
        with snapshot.open(encoding="utf-8") as stream:
            head = read_head(stream.readline())
        path, seen = cache_folder() / f"{head.sha256[:24]}.{VERSION}.sqlite", _state(snapshot)
        held = _held(path, head)
        if held and held.seen(snapshot) == seen:
            return held
        text = snapshot.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SnapshotError(f"There is no snapshot at {snapshot}.", "Run `v2kb sync` to fetch one.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{snapshot} can't be read: {error}.") from error
    read, rest = check_snapshot(text)
    if read.sha256 != head.sha256:  # a sync came between
        return snapshot_index(snapshot)
    if held is None:
        _make(rest, path)
    _note_seen(path, snapshot, seen)
    return held or Index(path, head)


def _make(lines: str, path: Path) -> None:
    from v2kb.cli.making import make_index  # once for each snapshot

    if len(lines) > SLOW_CHARS and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write("Making the index of the snapshot, once …\n")
    try:
        make_index(lines, path)
    except (OSError, sqlite3.Error) as error:
        fix = "Make the folder writable, or name another with XDG_CACHE_HOME."
        raise SnapshotError(f"The index {path} can't be written: {error}.", fix) from None


def cache_folder() -> Path:
    """Where indexes lie: $XDG_CACHE_HOME/v2kb or ~/.cache/v2kb."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "v2kb"


def _state(snapshot: Path) -> str:
    """Size and time of a file: while both stay, it is taken to hold what it held."""
    state = snapshot.stat()
    return f"{state.st_size}.{state.st_mtime_ns}"


def _held(path: Path, head: Head) -> Index | None:
    """The index that lies at a path; None where there is none, or something else."""
    if not path.exists():
        return None
    held = Index(path, head)
    if held.is_one:
        return held
    held.close()
    return None


def _note_seen(path: Path, snapshot: Path, seen: str) -> None:
    """Note that a snapshot's file, as it is, holds what the index was made of; where that can't be written it is hashed
    again the next time.
    """
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT OR REPLACE INTO seen VALUES (?, ?)", [os.fsencode(snapshot.absolute()), seen])


def families_of(levers: Iterable[Line]) -> Families[str]:
    """The levers' families by slug."""
    known = list(levers)
    parents = {lever["slug"]: lever["parent"] for lever in known if lever["parent"]}
    return Families(parents, {lever["slug"]: lever["merged_into"] for lever in known if lever["merged_into"]})


class Index:
    """One snapshot's file. Places number its rows, and its sections, from 1 in the order of their creation."""

    def __init__(self, path: Path, head: Head) -> None:
        self.head, self.path = head, path
        self._connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)

    @property
    def is_one(self) -> bool:
        """Whether the file is an index at all."""
        try:
            self._connection.execute("SELECT count(*) FROM seen")
        except sqlite3.Error:
            return False
        return True

    def seen(self, snapshot: Path) -> str:
        """State of the snapshot's file when its hash was last found right; empty where it never was."""
        found = self._all("SELECT state FROM seen WHERE snapshot = ?", [os.fsencode(snapshot.absolute())])
        return found[0][0] if found else ""

    def close(self) -> None:
        self._connection.close()

    def match(
        self, kind: str, wanted: Expression, unwanted: Expression | None = None, *, titles: bool = False
    ) -> list[int]:
        """Places that match `wanted` and not `unwanted`, ascending; with `titles` the title alone is asked."""
        from v2kb.rules.search_fts5 import wanted_query

        asked = wanted_query(wanted, unwanted)
        if titles:
            asked = "{title} : (" + wanted_query(wanted, unwanted, columns=False) + ")"
        sql = f"SELECT rowid FROM {kind}_fts WHERE {kind}_fts MATCH ? ORDER BY rowid"
        return [place for (place,) in self._all(sql, [asked])]

    def scores(self, kind: str, wanted: Expression, places: Sequence[int]) -> dict[int, float]:
        """Place -> how well it fits (`search_rank.ranking`)."""
        from v2kb.rules.search_rank import ranking

        fit = ranking(wanted)
        return {place: fit(*words) for place, *words in self._entries(kind, places)}

    def titles(self, kind: str, places: Sequence[int]) -> dict[int, str]:
        """Place -> the words of its title."""
        return {place: title for place, title, _, _ in self._entries(kind, places)}

    def alike(self, word: str) -> list[str]:
        """Known words that this one may be misspelt for, nearest first."""
        from v2kb.rules.search_fts5 import WORD_CANDIDATES, trigram_query
        from v2kb.rules.spelling import may_be_misspelt, nearest_words

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

    def rows_of(self, codes: Iterable[str]) -> list[Line]:
        """The rows with these codes, those that there are."""
        return [row for code in sorted(codes) if (row := self.line(ROW, code)) is not None]

    def rows(self, places: Sequence[int]) -> list[Line]:
        """The rows at these places, in this order."""
        sql = f"SELECT short.id, json FROM (SELECT id, code FROM short WHERE id IN ({_marks(places)})) short"
        sql += " JOIN line ON line.kind = 'row' AND line.key = short.code"
        found = {place: json.loads(text) for place, text in self._all(sql, list(places))}
        return [found[place] for place in places]

    def sections(self, places: Sequence[int]) -> list[Line]:
        """The sections at these places, in this order."""
        ((before,),) = self._all("SELECT min(id) - 1 FROM line WHERE kind = ?", [SECTION])
        sql = f"SELECT id, json FROM line WHERE id IN ({_marks(places)})"
        found = {place - before: json.loads(text) for place, text in self._all(sql, [before + p for p in places])}
        return [found[place] for place in places]

    def sections_of(self, document: str) -> list[Line]:
        """The sections of a document, in their order."""
        sql = "SELECT json FROM line WHERE kind = ? AND key >= ? AND key < ? ORDER BY id"
        keys = [f"{document}#", f"{document}{chr(ord('#') + 1)}"]
        return [json.loads(text) for (text,) in self._all(sql, [SECTION, *keys])]

    def dead_rows(self, levers: Iterable[str]) -> list[Line]:
        """The DEAD rows of these levers (slugs, with those that they were merged into), archived ones too; and those
        whose lever is none that is known.
        """
        wanted = list(levers)
        sql = f"""
            SELECT line.json FROM short JOIN line ON line.kind = 'row' AND line.key = short.code
            WHERE short.verdict = 'DEAD' AND (short.lever IN ({_marks(wanted)})
              OR short.lever NOT IN (SELECT key FROM line WHERE kind = 'lever'))
        """
        return [json.loads(text) for (text,) in self._all(sql, wanted)]

    @cached_property
    def codes(self) -> dict[int, tuple[str, bool]]:
        """Place -> (code, whether the row is archived)."""
        return {place: (code, bool(old)) for place, code, old in self._all("SELECT id, code, archived FROM short")}

    @cached_property
    def code_order(self) -> dict[int, int]:
        """Place -> where the row stands in the order of the codes (`antiloop_facts.code_order`)."""
        return dict(self._all("SELECT id, code_order FROM short"))

    @cached_property
    def verdicts(self) -> dict[int, str]:
        """Place -> the row's verdict."""
        return dict(self._all("SELECT id, verdict FROM short"))

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
        sql = f"SELECT id FROM short WHERE lever IN ({_marks(wanted)})"
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
        try:
            return self._connection.execute(sql, values).fetchall()
        except sqlite3.DatabaseError as error:
            fix = f"Remove {self.path}; the next command makes it anew."
            raise CliError(f"The index of the snapshot is damaged: {error}.", fix) from None


def _marks(values: Sequence[Any]) -> str:
    return ",".join("?" * len(values))
