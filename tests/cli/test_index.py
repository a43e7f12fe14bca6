"""The index of a snapshot in the user's cache: made once, shared by checkouts, never left half."""

import hashlib
import os
import sqlite3
import time
from pathlib import Path

import pytest

from tests.cli.test_gate_reach import row_line
from v2kb.cli import making
from v2kb.cli.exits import CliError
from v2kb.cli.index import VERSION, cache_folder, snapshot_index
from v2kb.rules.snapshot import SnapshotError, sealed

LINES = [
    {"kind": "vocabulary", "aliases": {}, "causes": []},
    {"kind": "lever", "slug": "ring", "name": "Ring", "aliases": [], "parent": "", "merged_into": "", "archived": False,
     "description": ""},
    *(row_line(code, "ring", [], 0) for code in ("D10", "U1", "D2")),
    *({"kind": "document", "slug": slug, "title": slug, "path": "", "head_hash": "f" * 64, "archived": False,
       "revisions": {}} for slug in ("a", "a-b")),
    *({"kind": "section", "document": slug, "anchor": f"s{number}", "order": number, "level": 1, "number": str(number),
       "title": "T", "text": "words", "hash": ""} for slug in ("a-b", "a") for number in (1, 2)),
]  # fmt: skip


def text_of(made_at: str = "2026-11-29T10:00:00+00:00") -> str:
    return "".join(sealed(LINES, made_at=made_at, change=1))


@pytest.fixture
def snapshot(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "what?a #cache%20"))
    path = tmp_path / "snapshot.jsonl"
    path.write_text(text_of(), encoding="utf-8")
    return path


@pytest.fixture
def made(monkeypatch) -> list[Path]:
    """Which indexes were made since."""
    paths, make = [], making.make_index
    monkeypatch.setattr(making, "make_index", lambda text, path: (paths.append(path), make(text, path)))
    return paths


def test_lines_by_key_and_place(snapshot):
    index = snapshot_index(snapshot)
    assert [index.codes[place][0] for place in sorted(index.codes, key=index.code_order.get)] == ["D2", "D10", "U1"]
    assert [row["code"] for row in index.rows_of({"U1", "D2", "D404"})] == ["D2", "U1"]
    assert [line["anchor"] for line in index.sections_of("a")] == ["s1", "s2"]
    assert [(line["document"], line["anchor"]) for line in index.sections([4, 1])] == [("a", "s2"), ("a-b", "s1")]


def test_a_file_with_another_time_or_place_needs_no_other_index(snapshot, made, tmp_path):
    snapshot_index(snapshot)
    os.utime(snapshot, (1, 1))
    assert snapshot_index(snapshot).line("row", "D2")
    other = tmp_path / "other.jsonl"
    other.write_text(text_of("2026-12-01T00:00:00+00:00"), encoding="utf-8")
    for path in (other, snapshot, other):
        assert snapshot_index(path).line("row", "D2")
    assert len(made) == 1


def test_a_file_that_was_changed_is_refused_each_time(snapshot):
    snapshot_index(snapshot)
    snapshot.write_text(text_of().replace("DEAD", "WINS"), encoding="utf-8")
    for _ in range(2):
        with pytest.raises(SnapshotError, match="its hash differs"):
            snapshot_index(snapshot)


def test_what_lies_in_a_cache_that_cannot_be_written_still_answers(snapshot, made, monkeypatch):
    snapshot_index(snapshot)
    connect = sqlite3.connect

    def read_only(path, *more, **named):
        if not named.get("uri"):
            raise sqlite3.OperationalError("attempt to write a readonly database")
        return connect(path, *more, **named)

    monkeypatch.setattr(sqlite3, "connect", read_only)
    os.utime(snapshot, (1, 1))
    assert snapshot_index(snapshot).line("row", "D2")
    assert len(made) == 1


@pytest.mark.parametrize("why", [KeyboardInterrupt, MemoryError])
def test_making_that_is_interrupted_leaves_nothing(snapshot, monkeypatch, why):
    def interrupted(*_):
        raise why

    monkeypatch.setattr(making, "_fill", interrupted)
    with pytest.raises(why):
        snapshot_index(snapshot)
    assert list(cache_folder().iterdir()) == []


def test_what_a_kill_left_behind_is_removed_and_what_is_being_written_is_not(snapshot):
    cache_folder().mkdir(parents=True)
    now = time.time()
    for name, age in {"a.1.77.tmp": 7200, "b.1.78.tmp-journal": 7200, "c.1.79.tmp": 5}.items():
        (cache_folder() / name).touch()
        os.utime(cache_folder() / name, (now - age, now - age))
    for age in range(6):
        (cache_folder() / f"{age}.1.sqlite").touch()
        os.utime(cache_folder() / f"{age}.1.sqlite", (now - 100 - age, now - 100 - age))
    path = snapshot_index(snapshot).path
    assert {file.name for file in cache_folder().iterdir()} == {
        "c.1.79.tmp", "0.1.sqlite", "1.1.sqlite", "2.1.sqlite", path.name,
    }  # fmt: skip


def test_an_index_that_is_damaged_is_named(snapshot):
    path = snapshot_index(snapshot).path
    data = bytearray(path.read_bytes())
    data[4 * 4096 :] = bytes(len(data) - 4 * 4096)
    path.write_bytes(data)
    index = snapshot_index(snapshot)
    with pytest.raises(CliError) as caught:
        index.facts()
    assert str(path) in caught.value.fix


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda data: data + b"\xff", "can't be read"),
        (lambda data: data.replace(b"+00:00", b""), "incomplete"),
        (lambda data: data.replace(b"2026-11-29T10", b"yesterday"), "incomplete"),
        (lambda data: data.replace(b'"sha256":"', b'"sha256":"../../'), "incomplete"),
    ],
)
def test_what_is_no_snapshot_is_said(snapshot, damage, says):
    snapshot.write_bytes(damage(text_of().encode()))
    with pytest.raises(SnapshotError, match=says):
        snapshot_index(snapshot)


# --- what an index holds, and its version ---

READ = """\
cp.async cpAsync CP_ASYNC W13_PIPE qkv_a's w13-grouped STAGES 4→12 STAGES 4 -> 12 STAGES=8 M = 16 M>=16 16 <= M
N<64 N≤8 Foo<3, 4>
-9% +9 % 5-8% 12.50% 2.50 TB/s 1.10 2.5ms 14.5µs 256KiB 1.93x 900 GFLOPS 3.5GHz 10-12us 4 to 12 §3.2 1,000
7.0e-3
-DMPK_V2_BREADCRUMB dsv3_ffn_v2.cuh:765-779 tcgen05.ld 128B-swizzle %globaltimer ac3d9736 9e330499925c sm_100
bf16 e4m3 ∅ Δ
four warps 4-warp W0-3 w4 warp 4 lookahead look-ahead pipelining pipelines stages staged loading don't naïve
Größe ﬁnal Ｍ＝１ 共有メモリ e-mail
`code` **bold** [link](http://a.b/c?d=e) {x} "quoted" it's a b.c.d a/b/c __init__ x_ _y 0x1F 1e-3 v1.2.3 I/O R12
AL4 D3 U1@8de68706
"""
HELD = {3: "31877a450f9d2bb1"}
"""The version of the index -> what it holds of READ. Never put another digest beside a version that was given out."""


def test_an_index_that_would_hold_something_else_has_another_version(tmp_path):
    """An index that an older v2kb made would be asked in words that it doesn't hold, and find less."""
    row = row_line("D3", "ring", ["U1"], 1)
    lines = [*LINES, row | {"content": row["content"] | {"mechanism": READ, "title": READ.splitlines()[0]}}]
    lines = [line | {"text": READ} if line["kind"] == "section" else line for line in lines]
    making.make_index("".join(sealed(lines, made_at="2026-11-29T10:00:00+00:00", change=1)), tmp_path / "index")
    connection = sqlite3.connect(tmp_path / "index")
    schema = "SELECT sql FROM sqlite_master WHERE sql NOT NULL AND name NOT GLOB '*_fts_*' ORDER BY name"
    held = [connection.execute(schema).fetchall()]
    for table in ("short", "facts", "hash", "row_entry", "section_entry", "word_fts"):
        held.append(connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall())
    held.append(connection.execute("SELECT id, kind, key FROM line ORDER BY id").fetchall())
    connection.close()
    digest = hashlib.sha256(repr(held).encode()).hexdigest()[:16]
    assert {VERSION: digest} == HELD, "Raise VERSION in v2kb/cli/index.py, and write the new digest beside it here."
