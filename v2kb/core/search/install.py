"""The full-text structures, made after each migrate: Django does not know virtual tables or generated vectors."""

from collections.abc import Iterator

from django.db import DatabaseError, connections, transaction

from v2kb.rules.search_fts5 import TOKENIZER

ENTRY, WORD = "core_searchentry", "core_searchword"
ENTRY_TABLES = ("core_search_fts", "core_search_title_fts")
FTS_TABLES = (*ENTRY_TABLES, "core_search_word_fts")

_CONTENT = f"content='{ENTRY}', content_rowid='id', {TOKENIZER}"
SQLITE = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS core_search_fts USING fts5(title, body, whole, {_CONTENT})",
    # Titles once more: asked for its titles alone, the index above reads the places of a word in all texts.
    f"CREATE VIRTUAL TABLE IF NOT EXISTS core_search_title_fts USING fts5(title, {_CONTENT})",
    "CREATE VIRTUAL TABLE IF NOT EXISTS core_search_word_fts USING fts5(word, tokenize='trigram')",
)
_FORGET = """
    INSERT INTO core_search_fts (core_search_fts, rowid, title, body, whole)
      VALUES ('delete', OLD.id, OLD.title, OLD.body, OLD.whole);
    INSERT INTO core_search_title_fts (core_search_title_fts, rowid, title) VALUES ('delete', OLD.id, OLD.title);
"""
_STORE = """
    INSERT INTO core_search_fts (rowid, title, body, whole) VALUES (NEW.id, NEW.title, NEW.body, NEW.whole);
    INSERT INTO core_search_title_fts (rowid, title) VALUES (NEW.id, NEW.title);
"""
SQLITE_TRIGGERS = {
    "core_search_put": f"AFTER INSERT ON {ENTRY} BEGIN {_STORE} END",
    "core_search_drop": f"AFTER DELETE ON {ENTRY} BEGIN {_FORGET} END",
    "core_search_move": f"AFTER UPDATE ON {ENTRY} BEGIN {_FORGET} {_STORE} END",
    "core_search_word_put": (
        f"AFTER INSERT ON {WORD} BEGIN"
        " INSERT INTO core_search_word_fts (rowid, word) VALUES (NEW.id, '__' || NEW.word || '_'); END"
    ),
    "core_search_word_drop": (
        f"AFTER DELETE ON {WORD} BEGIN DELETE FROM core_search_word_fts WHERE rowid = OLD.id; END"
    ),
}


def _words(column: str, mark: str, weight: str, gap: int = 0) -> str:
    words = f"unnest({column}) WITH ORDINALITY AS found(word, place)"
    lexeme = f"quote_literal('{mark}' || word) || ':' || least(place + {gap}, 16383) || '{weight}'"
    return f"coalesce((SELECT string_agg({lexeme}, ' ') FROM {words}), '')::tsvector"


def _pairs(column: str, mark: str) -> str:
    pairs = f"unnest({column}, {column}[2:]) AS pair(one, two) WHERE two IS NOT NULL"
    return f"coalesce((SELECT array_to_tsvector(array_agg('{mark}' || one || '.' || two)) FROM {pairs}), '')"


_LEXEMES = (
    _words("title", "", "A"),
    _words("body", "", "D", gap=1),
    _words("whole", "=", "B"),
    _pairs("title", "+"),
    _pairs("body", "+"),
    f"strip({_words('title', '^', 'A')})",
    _pairs("title", "^+"),
)
POSTGRES = (
    "CREATE EXTENSION IF NOT EXISTS pg_trgm",
    # One function that calls none of ours: a restored dump makes the column again, without a search path.
    f"""
    CREATE OR REPLACE FUNCTION v2kb_lexemes(title text[], body text[], whole text[]) RETURNS tsvector
    LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT {" || ".join(_LEXEMES)} $$
    """,
    # Vectors go out of line, uncompressed: the bitmap of GIN is read from few pages, ranking unpacks nothing.
    f"ALTER TABLE {ENTRY} SET (toast_tuple_target = 128)",
    f"""
    ALTER TABLE {ENTRY} ADD COLUMN IF NOT EXISTS lexemes tsvector GENERATED ALWAYS AS (
      v2kb_lexemes(string_to_array(title, ' '), string_to_array(body, ' '), string_to_array(whole, ' '))
    ) STORED
    """,
    f"ALTER TABLE {ENTRY} ALTER COLUMN lexemes SET STORAGE EXTERNAL",
    f"CREATE INDEX IF NOT EXISTS core_search_lexemes ON {ENTRY} USING gin (lexemes)",
    # The planner takes vectors for cheap to read, and would read all of them for a word of many entries.
    f"""
    CREATE OR REPLACE FUNCTION v2kb_search(asked tsquery, first bigint, last bigint) RETURNS bytea
    LANGUAGE sql STABLE SET enable_seqscan = off SET jit = off AS $$
      SELECT string_agg(int8send(id), '') FROM {ENTRY} WHERE lexemes @@ asked AND id + 0 BETWEEN first AND last
    $$
    """,
    f"CREATE INDEX IF NOT EXISTS core_search_word_trigrams ON {WORD} USING gin (word gin_trgm_ops)",
)


def install_search(using: str = "default", **_: object) -> None:
    """Make what is missing and mend what a table rebuild dropped. Runs after each migrate; the entries stay."""
    connection = connections[using]
    if ENTRY not in connection.introspection.table_names():
        return
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            _install_sqlite(cursor)
        else:
            for statement in POSTGRES:
                cursor.execute(statement)


def _install_sqlite(cursor) -> None:
    for statement in SQLITE:
        cursor.execute(statement)
    missing = _missing_triggers(cursor)
    for name, sql in missing.items():
        cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
        cursor.execute(sql)
    if missing:
        _rebuild_sqlite(cursor)


def _missing_triggers(cursor) -> dict[str, str]:
    """Name -> SQL of the triggers that SQLite lacks or holds with other text."""
    cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'")
    present = dict(cursor.fetchall())
    wanted = {name: f"CREATE TRIGGER {name} {body}" for name, body in SQLITE_TRIGGERS.items()}
    return {name: sql for name, sql in wanted.items() if present.get(name) != sql}


def full_text_faults(using: str = "default") -> Iterator[tuple[str, str]]:
    """(name, what is wrong) of every full-text structure that is not what its entries or words make.

    On PostgreSQL the vectors are generated columns, which nobody can write.
    """
    connection = connections[using]
    if connection.vendor != "sqlite":
        return
    with connection.cursor() as cursor:
        for name in _missing_triggers(cursor):
            yield name, "the trigger is missing or another one; run manage.py migrate first"
        for table in FTS_TABLES:
            try:
                with transaction.atomic(using):  # rank 1: the index is compared with what it is made of, too
                    cursor.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
            except DatabaseError as error:
                yield table, f"it differs from its entries ({error})"
        marked = f"SELECT id, '__' || word || '_' FROM {WORD}"
        held = "SELECT rowid, word FROM core_search_word_fts"
        for one, other, wrong in ((marked, held, "are missing"), (held, marked, "differ or should not be there")):
            cursor.execute(f"SELECT COUNT(*) FROM ({one} EXCEPT {other})")
            if count := cursor.fetchone()[0]:
                yield "core_search_word_fts", f"{count} words {wrong}"


def rebuild_full_text(using: str = "default") -> None:
    """Make the full-text structures anew from the entries and words."""
    connection = connections[using]
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            _rebuild_sqlite(cursor)
        else:
            cursor.execute(f"REINDEX TABLE {ENTRY}")
            cursor.execute(f"REINDEX TABLE {WORD}")


def _rebuild_sqlite(cursor) -> None:
    for table in ENTRY_TABLES:
        cursor.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")
    cursor.execute("DELETE FROM core_search_word_fts")
    cursor.execute(f"INSERT INTO core_search_word_fts (rowid, word) SELECT id, '__' || word || '_' FROM {WORD}")
