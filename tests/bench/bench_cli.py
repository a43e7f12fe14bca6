"""How long a command takes from a cold start: `python -m tests.bench.bench_cli [rows] [--spec FILE] [--times N]`.

Writes the snapshot of a repository with made-up rows, and asks each command in a process of its own, as a person at a
prompt does. Prints p50 of wall time and of cpu time (which tells more where others work on the machine), beside a bare
interpreter, its standard library, and ripgrep over the same rows as markdown. Judges nothing.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.bench.rivals import Ripgrep
from tests.bench.synthetic_rows import LEVERS, Rows
from tests.starter_data import ROOT, STARTER
from v2kb.rules.canonical import content_hash
from v2kb.rules.rule_list import rule_documents
from v2kb.rules.snapshot import Line, sealed
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.writing import write_markdown

ROWS, TIMES = 10_000, 15
STANDARD_LIBRARY = "import argparse, dataclasses, decimal, fractions, hashlib, json, pathlib, re, sqlite3, textwrap"


def lines(rows: Rows) -> Iterator[Line]:
    """The lines of a snapshot with these rows, as a server would make them."""
    yield {"kind": "vocabulary", "aliases": {}, "causes": []}
    for rule in rule_documents():
        yield {"kind": "rule", "id": rule["id"], "version": str(rule["version"])}
    for place, name in enumerate(LEVERS):
        yield {"kind": "lever", "slug": f"lever-{place}", "name": name, "aliases": [name], "parent": "",
               "merged_into": "", "archived": False, "description": ""}  # fmt: skip
    for row in rows:
        *older, head = row.contents
        yield {
            "kind": "row", "code": row.code, "revision": len(row.contents), "head_hash": content_hash(head),
            "content": head, "older": {content_hash(content): content["verdict"] for content in older},
            "archived": False, "flags": 0, "confirmed": 0, "proposals": 0, "superseded_by": [], "cells": [],
        }  # fmt: skip


def timed(command: list[str], folder: Path, environment: dict[str, str], times: int) -> tuple[float, float]:
    """p50 of wall and of cpu time in ms; the first call, which compiles modules, is left out."""
    walls, cpus = [], []
    for _ in range(times + 1):
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        walls.append((time.perf_counter() - began) * 1000)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append((after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000)
        if "Traceback" in done.stderr:
            sys.exit(done.stderr)
    return statistics.median(walls[1:]), statistics.median(cpus[1:])


def starter_spec() -> str:
    """A spec as large as those that people write."""
    raw = json.loads((STARTER / "specs" / "w13-pipeline.json").read_text(encoding="utf-8"))
    return write_markdown(normalise(raw)[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("rows", nargs="?", type=int, default=ROWS)
    parser.add_argument("--spec", type=Path, help="a spec in markdown (the starter spec of the grouped GEMM)")
    parser.add_argument("--times", type=int, default=TIMES)
    read = parser.parse_args(None if sys.argv[0].endswith("bench_cli.py") else [])
    spec = read.spec.read_text(encoding="utf-8") if read.spec else starter_spec()
    with tempfile.TemporaryDirectory(prefix="v2kb-bench-") as name:
        folder, rows = Path(name), Rows(read.rows)
        (folder / ".v2kb").mkdir()
        made = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
        snapshot = folder / ".v2kb" / "snapshot.jsonl"
        snapshot.write_text("".join(sealed(lines(rows), made_at=made, change=1)), encoding="utf-8")
        (folder / "spec.md").write_text(spec, encoding="utf-8")
        measure(folder, rows, read.times)
    return 0


def measure(folder: Path, rows: Rows, times: int) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
                    "XDG_CACHE_HOME": str(folder / "cache")}  # fmt: skip
    command = [sys.executable, "-m", "v2kb.cli"]
    size = (folder / ".v2kb" / "snapshot.jsonl").stat().st_size / 2**20
    spec = (folder / "spec.md").read_text(encoding="utf-8")
    print(f"{rows.size:,} rows, snapshot of {size:.0f} MB; a spec of {len(spec):,} characters, "
          f"{spec.count(chr(10)):,} lines; p50 of {times}")  # fmt: skip
    began = time.perf_counter()
    subprocess.run([*command, "show", "D3"], cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=True)
    first = time.perf_counter() - began
    rare = rows.rare[rows.size // 2]
    asked = {
        "python -c ''": [sys.executable, "-c", ""],
        "its standard library": [sys.executable, "-c", STANDARD_LIBRARY],
        "v2kb --help": [*command, "--help"],
        "v2kb rule R12": [*command, "rule", "R12"],
        "v2kb show D3": [*command, "show", "D3"],
        "v2kb prior IDENTIFIER": [*command, "prior", rare, "--no-receipt"],
        "v2kb prior WORDS": [*command, "prior", "ring stages", "--no-receipt"],
        "v2kb prior --lever": [*command, "prior", "--lever", LEVERS[3], "--no-receipt"],
        "v2kb check spec.md": [*command, "check", "spec.md"],
        "v2kb plan spec.md": [*command, "plan", "spec.md"],
        "v2kb gate spec.md": [*command, "gate", "spec.md"],
    }
    print(f"{'':24} {'wall':>8} {'cpu':>8}")
    for what, words in asked.items():
        wall, cpu = timed(words, folder, environment, times)
        print(f"{what:24} {wall:5.0f} ms {cpu:5.0f} ms", flush=True)
    rivals = Ripgrep(folder / "markdown")
    if rivals.program:
        rivals.fill(rows)
        for what, terms in (("rg IDENTIFIER", [rare]), ("rg WORDS", ["ring", "stages"])):
            wall = statistics.median(rivals.ms(terms, first_page=False) for _ in range(times))
            print(f"{what:24} {wall:5.0f} ms")
    print(f"making the index of the snapshot, which a sync does: {first:.1f} s")


if __name__ == "__main__":
    main()
