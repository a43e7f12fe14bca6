"""What people use instead: ripgrep over the rows as markdown, and Datasette over a table of them with full text."""

import json
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from tests.bench.synthetic_rows import Synthetic, markdown

ROWS_PER_FILE = 1000
PAGE = 50


class Ripgrep:
    """Case-insensitive, over files of 1,000 rows each, one line a row. Further words narrow the lines of the first,
    through a pipe, as a person would do it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = shutil.which("rg")

    def fill(self, rows: Iterable[Synthetic]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        texts: list[str] = []
        for count, row in enumerate(rows, 1):
            texts.append(markdown(row))
            if count % ROWS_PER_FILE == 0:
                (self.folder / f"rows-{count // ROWS_PER_FILE:03d}.md").write_text("\n".join(texts))
                texts = []
        if texts:
            (self.folder / "rows-rest.md").write_text("\n".join(texts))

    def ms(self, terms: list[str], first_page: bool) -> float:
        """Milliseconds until all lines (or the first 50) with every term were read."""
        command = [self.program, "--ignore-case", "--fixed-strings", "--line-number", "--", terms[0], str(self.folder)]
        began = time.perf_counter()
        running = [subprocess.Popen(command, stdout=subprocess.PIPE)]
        for term in terms[1:]:
            narrower = [self.program, "--ignore-case", "--fixed-strings", "--", term]
            running.append(subprocess.Popen(narrower, stdin=running[-1].stdout, stdout=subprocess.PIPE))
            running[-2].stdout.close()
        out = running[-1].stdout
        if first_page:
            for _ in range(PAGE):
                out.readline()
        else:
            while out.read(1 << 20):
                pass
        took = (time.perf_counter() - began) * 1000
        out.close()
        for process in running:
            process.wait()
        return took


class Datasette:
    """The first page of Datasette's JSON API (50 rows, the count, no facets), asked over local connections."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = shutil.which("datasette") or self._installed()
        self.process: subprocess.Popen | None = None

    def _installed(self) -> str | None:
        """A throw-away installation, or None where no package index can be reached."""
        place = self.folder / "datasette-environment"
        if not (place / "bin" / "datasette").exists():
            made = subprocess.run([sys.executable, "-m", "venv", str(place)], capture_output=True)
            install = [str(place / "bin" / "pip"), "install", "--quiet", "--retries", "0", "datasette"]
            if made.returncode or subprocess.run(install, capture_output=True).returncode:
                return None
        return str(place / "bin" / "datasette")

    @property
    def database(self) -> Path:
        return self.folder / "datasette.sqlite3"

    def fill(self, rows: Iterable[Synthetic]) -> None:
        with sqlite3.connect(self.database) as connection:
            connection.execute(
                "CREATE TABLE rows (code TEXT PRIMARY KEY, verdict TEXT, arch TEXT, title TEXT, body TEXT)"
            )
            connection.executemany(
                "INSERT INTO rows VALUES (?, ?, ?, ?, ?)",
                (
                    (row.code, head["verdict"], " ".join(head["scope"].get("arch") or []), head["title"], markdown(row))
                    for row in rows
                    for head in row.contents[-1:]
                ),
            )
            connection.execute('CREATE VIRTUAL TABLE rows_fts USING fts5(title, body, content="rows")')
            connection.execute("INSERT INTO rows_fts (rowid, title, body) SELECT rowid, title, body FROM rows")
        connection.close()

    def __enter__(self) -> "Datasette":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        command = [self.program, "--host", "127.0.0.1", "--port", str(self.port), "--immutable", str(self.database)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(100):
            try:
                self.ms("warm", {})
            except urllib.error.URLError:
                time.sleep(0.2)
            else:
                return self
        raise RuntimeError("Datasette does not answer.")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()

    def ms(self, words: str, columns: dict[str, str]) -> float:
        """Milliseconds of one page for these words, and these values of columns."""
        asked = {"_size": str(PAGE), "_nosuggest": "1", **columns, **({"_search": words} if words else {})}
        address = f"http://127.0.0.1:{self.port}/datasette/rows.json?{urllib.parse.urlencode(asked)}"
        began = time.perf_counter()
        with urllib.request.urlopen(address) as response:
            page = json.load(response)
        took = (time.perf_counter() - began) * 1000
        assert not words or "rows_fts" in page["query"]["sql"], "Datasette has not seen the full-text table"
        return took
