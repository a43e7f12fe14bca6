"""How fast rows are found among 100,000: `python -m tests.bench.bench_search [rows] [--keep FOLDER] [--meaning]`.

Fills SQLite, and PostgreSQL where V2KB_TEST_DATABASE_URL answers, with the same made-up rows of three revisions each.
Asks eleven kinds of query: the first page of the search with its facets, and the list page (board and table) through
Django's test client, in a process that does nothing else, whose memory is printed. ripgrep and Datasette are asked for
the same, over the same rows. Prints one table and judges nothing.

With `--keep`, what was filled stays in FOLDER (and in the PostgreSQL database v2kb_bench) for the next time. With
`--meaning` every row has a vector too, made up as the words are, and the encoder's answer is one; no rival is asked.
"""

import argparse
import json
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import psycopg

from tests.bench.rivals import Datasette, Ripgrep
from tests.bench.synthetic_rows import LEVERS, Rows, Synthetic, queries
from tests.bench.timing import Timing, timing

ROWS = 100_000
BATCH = 500
PAGE = 50
MODEL, WIDTH = "made up for the bench", 384
SERVER = os.environ.get("V2KB_TEST_DATABASE_URL", "postgres://root@127.0.0.1:5432/postgres")
POSTGRES_DATABASE = "v2kb_bench"


# --- in the process of one database ---


def fill(size: int) -> None:
    """Migrate the database of the settings and insert the rows, past the services and their guards."""
    from django.core.management import call_command
    from django.db import connection, transaction

    from evidence.models import EvidenceRow, Lever
    from evidence.services.facts import refresh_facts
    from tests.conftest import lift_guards
    from v2kb.core.guards.install import install_guards

    call_command("migrate", verbosity=0)
    call_command("collectstatic", verbosity=0, interactive=False)
    levers = Lever.objects.bulk_create(Lever(slug=f"lever-{place}", name=name) for place, name in enumerate(LEVERS))
    by_slug = {lever.slug: lever for lever in levers}
    lift_guards()
    for batch in _batches(Rows(size)):
        with transaction.atomic():
            refresh_facts(_insert(batch, by_slug))
    install_guards()
    assert EvidenceRow.objects.count() == size
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE" if connection.vendor == "sqlite" else "VACUUM ANALYZE")


def _batches(rows: Rows) -> Iterator[list[Synthetic]]:
    batch: list[Synthetic] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _insert(batch: list[Synthetic], levers: dict[str, Any]) -> list[int]:
    from evidence.models import EvidenceRevision, EvidenceRow
    from v2kb.rules.canonical import content_hash
    from v2kb.rules.evidence import blocking_kind

    rows = EvidenceRow.objects.bulk_create(EvidenceRow(code=made.code) for made in batch)
    revisions: list[EvidenceRevision] = [None] * len(rows)
    for number in range(1, len(batch[0].contents) + 1):
        contents = [made.contents[number - 1] for made in batch]
        revisions = EvidenceRevision.objects.bulk_create(
            EvidenceRevision(
                row=row,
                number=number,
                base=base,
                content=content,
                content_hash=content_hash(content),
                lever=levers[content["lever"]],
                title=content["title"],
                verdict=content["verdict"],
                cause_class=content["cause_class"],
                blocking=blocking_kind(content),
                measured_on=date.fromisoformat(content["measured_on"]),
                reason="made up for the bench",
            )
            for row, base, content in zip(rows, revisions, contents, strict=True)
        )
    for row, revision in zip(rows, revisions, strict=True):
        row.head = revision
    EvidenceRow.objects.bulk_update(rows, ["head"])
    return [row.pk for row in rows]


def fill_vectors(_: None) -> None:
    """A vector for each row that has none."""
    import numpy as np

    from evidence.models import RowFacts, RowVector

    waiting = RowFacts.objects.exclude(row_id__in=RowVector.objects.values("row_id"))
    changes = list(waiting.order_by("row_id").values_list("row_id", "change"))
    vectors = unit_vectors(len(changes)).astype("<f2")
    RowVector.objects.bulk_create(
        (
            RowVector(row_id=row_id, change=change, model=MODEL, text_hash="", vector=np.array(vector).tobytes())
            for (row_id, change), vector in zip(changes, vectors, strict=True)
        ),
        batch_size=BATCH,
    )


def unit_vectors(count: int) -> Any:
    """Made-up vectors as the encoder's are: float32, shape (count, WIDTH)."""
    import numpy as np

    made = np.random.default_rng(count).standard_normal((count, WIDTH), np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def measure_meaning(asked: dict[str, list[str]]) -> dict[str, Any]:
    """As `measure`, with an encoder that answers at once."""
    from evidence.search import meaning

    meaning.encode = lambda texts: (MODEL, unit_vectors(len(texts)))
    return measure(asked)


def measure(asked: dict[str, list[str]]) -> dict[str, Any]:
    """Kind -> timings of search, board and table, CPU time of a search, hits; and the memory of this process."""
    import psutil
    from django.contrib.auth.models import Group
    from django.db import transaction
    from django.test import Client
    from django.urls import reverse

    from evidence.models import EvidenceRow
    from evidence.search import Query, hits_of, search_rows
    from evidence.services.facts import refresh_facts
    from v2kb import wsgi  # noqa: F401 - started as the web process is
    from v2kb.core.models import User

    user, _ = User.objects.get_or_create(username="bench")
    user.groups.set(Group.objects.filter(name="viewer"))
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    address = reverse("evidence:row_list")
    hits: list[int] = []

    def search(text: str) -> None:
        found = search_rows(Query(text=text))
        hits.append(len(found))
        hits_of(found, found.ids[:PAGE].tolist())

    def page(view: str) -> Callable[[str], None]:
        def get(text: str) -> None:
            response = client.get(address, {"q": text, "view": view})
            assert response.status_code == 200, response.content[:500]

        return get

    process = psutil.Process()
    processes = [process, *_database_processes()]
    kinds: dict[str, Any] = {}
    start_ms = _ms(search, "warm up")
    page("table")("warm up")
    for kind, texts in asked.items():
        hits.clear()
        cpu = _cpu_s(processes)
        kinds[kind] = {"search": timing([_ms(search, text) for text in texts])}
        kinds[kind]["cpu"] = (_cpu_s(processes) - cpu) * 1000 / len(texts)
        kinds[kind]["hits"] = round(statistics.median(hits))
        for view in ("board", "table"):
            kinds[kind][view] = timing([_ms(page(view), text) for text in texts])
    with transaction.atomic():
        refresh_facts([EvidenceRow.objects.values_list("pk", flat=True).first()])
    changed_ms = _ms(search, "warm up")
    memory_mb = process.memory_info().rss / 1e6
    return {"kinds": kinds, "memory_mb": memory_mb, "first_ms": start_ms, "changed_ms": changed_ms}


def _database_processes() -> list[Any]:
    """The process of the server that serves this connection, where it runs on this machine."""
    import psutil
    from django.db import connection

    if connection.vendor == "sqlite" or connection.settings_dict["HOST"] not in ("127.0.0.1", "localhost", ""):
        return []
    connection.ensure_connection()
    return [psutil.Process(connection.connection.info.backend_pid)]


def _cpu_s(processes: list[Any]) -> float:
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def _ms(call: Callable[[str], None], text: str) -> float:
    began = time.perf_counter()
    call(text)
    return (time.perf_counter() - began) * 1000


# --- around it ---


def in_process(part: str, given: Any, folder: Path, database: str) -> Any:
    """Run one of `PARTS` in a process with settings of its own; returns what it returns."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "v2kb.settings",
        "V2KB_DATA_DIR": str(folder / "data"),
        "V2KB_DATABASE_URL": database,
        "V2KB_LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-m", "tests.bench.bench_search", "--part", part]
    done = subprocess.run(
        command, env=environment, input=json.dumps(given), stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def postgres(keep: bool) -> str | None:
    """The address of an empty (or kept) database, or None when no server answers."""
    try:
        connection = psycopg.connect(SERVER, connect_timeout=5, autocommit=True)
    except psycopg.OperationalError as error:
        print(f"PostgreSQL does not answer at {SERVER} and is left out: {error}. Set V2KB_TEST_DATABASE_URL.")
        return None
    with connection:
        held = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [POSTGRES_DATABASE]).fetchone()
        if held and not keep:
            connection.execute(f"DROP DATABASE {POSTGRES_DATABASE}")
        if not (held and keep):
            connection.execute(f"CREATE DATABASE {POSTGRES_DATABASE}")
    return urlparse(SERVER)._replace(path=f"/{POSTGRES_DATABASE}").geturl()


def drop_postgres() -> None:
    with psycopg.connect(SERVER, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {POSTGRES_DATABASE}")


def databases(size: int, folder: Path, asked: dict[str, list[str]], meaning: bool) -> dict[str, dict[str, Any]]:
    """Name -> what `measure` found, and how long filling took."""
    found = {}
    for name in ("SQLite", "PostgreSQL"):
        marker = folder / f"{name}-{size}"
        address = f"sqlite:///{folder / 'rows.sqlite3'}" if name == "SQLite" else postgres(marker.exists())
        if address is None:
            continue
        began = time.perf_counter()
        if not marker.exists():
            in_process("fill", size, folder, address)
            marker.touch()
            print(f"{name}: {size} rows of three revisions filled in {time.perf_counter() - began:.0f} s", flush=True)
        if meaning:
            in_process("fill_vectors", None, folder, address)
        found[name] = in_process("measure_meaning" if meaning else "measure", asked, folder, address)
    return found


def rivals(size: int, folder: Path, asked: dict[str, list[str]]) -> dict[str, dict[str, Timing] | None]:
    """Name -> kind -> timing; None for what is not installed."""
    found: dict[str, dict[str, Timing] | None] = {"rg all": None, "rg 50": None, "Datasette": None}
    ripgrep, datasette = Ripgrep(folder / "markdown"), Datasette(folder)
    if ripgrep.program:
        if not ripgrep.folder.exists():
            ripgrep.fill(Rows(size))
        for name in ("rg all", "rg 50"):
            found[name] = {
                kind: timing([ripgrep.ms(_terms(text), name == "rg 50") for text in texts])
                for kind, texts in asked.items()
                if kind != "no words"
            }
    if datasette.program:
        if not datasette.database.exists():
            datasette.fill(Rows(size))
        with datasette:
            found["Datasette"] = {
                kind: timing([datasette.ms(*_plain(text)) for text in texts]) for kind, texts in asked.items()
            }
    return found


def _terms(text: str) -> list[str]:
    """What a person would give to ripgrep: of a sentence its three long words, of a field its value."""
    words = [word.partition(":")[2] if word.startswith(("verdict:", "arch:")) else word for word in shlex.split(text)]
    return words if len(words) < 5 else [words[4], words[6], words[-1]]


def _plain(text: str) -> tuple[str, dict[str, str]]:
    """The words, and the fields as values of columns."""
    fields = dict(word.split(":", 1) for word in text.split() if word.startswith(("verdict:", "arch:")))
    words = " ".join(word for word in text.split() if not word.startswith(("verdict:", "arch:")))
    return words, {name: value.upper() if name == "verdict" else value for name, value in fields.items()}


def show(size: int, asked: dict[str, list[str]], ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    """The table: p50 / p95 in milliseconds."""
    titles = ["query", "hits"]
    for name in ours:
        titles += [f"{name} search", "cpu", "board", "table"]
    titles += list(theirs)
    lines = []
    for kind in asked:
        line = [kind, str(next(iter(ours.values()))["kinds"][kind]["hits"])]
        for found in ours.values():
            one = found["kinds"][kind]
            line += [_pair(one["search"]), f"{one['cpu']:.0f}", _pair(one["board"]), _pair(one["table"])]
        line += [
            "not installed" if timings is None else _pair(timings[kind]) if kind in timings else "-"
            for timings in theirs.values()
        ]
        lines.append(line)
    widths = [max(len(line[place]) for line in (titles, *lines)) for place in range(len(titles))]
    print(f"{size} rows, {len(asked['sentence'])} queries of each kind, p50 / p95 in ms; load {os.getloadavg()[0]:.1f}")
    for line in (titles, ["-" * width for width in widths], *lines):
        print("| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |")
    for name, found in ours.items():
        first, changed = found["first_ms"], found["changed_ms"]
        print(f"{name}: {found['memory_mb']:.0f} MB of memory in the serving process, its first search {first:.0f} ms,")
        print(f"  the first search after a row has changed {changed:.0f} ms")


def _pair(found: Timing) -> str:
    return f"{found[0]:.0f} / {found[1]:.0f}"


def main(size: int = ROWS, keep: Path | None = None, meaning: bool = False) -> None:
    folder = keep or Path(tempfile.mkdtemp(prefix="v2kb-bench-"))
    folder.mkdir(parents=True, exist_ok=True)
    ours: dict[str, Any] = {}
    try:
        asked = asked_of(size)
        ours = databases(size, folder, asked, meaning)
        show(size, asked, ours, {} if meaning else rivals(size, folder, asked))
    finally:
        if keep is None:
            shutil.rmtree(folder)
            if "PostgreSQL" in ours:
                drop_postgres()


def asked_of(size: int) -> dict[str, list[str]]:
    """The queries over the rows of this size: the rows are made once to know their hashes and names."""
    rows = Rows(size)
    for _ in rows:
        pass
    return queries(rows)


PARTS = {function.__name__: function for function in (fill, fill_vectors, measure, measure_meaning)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="?", default=ROWS)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--meaning", action="store_true")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is None:
        main(options.rows, options.keep, options.meaning)
    else:
        import django

        django.setup()
        print(json.dumps(PARTS[options.part](json.load(sys.stdin))))
