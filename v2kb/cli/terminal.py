"""Writing to a terminal, a pipe or a file: colour only where a person looks, one result document for `--json`."""

import io
import json
import os
import shutil
import sys
import textwrap
from typing import Any, TextIO

_STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "faint": "2"}
MAX_WIDTH = 120


class Terminal:
    """Where a command writes. `json` says that the result is wanted as one document, and no prose.

    Used as a context, a terminal with `pages` keeps the result until the end, and shows it through a pager if it is
    longer than the screen; what stands beside it comes after it.
    """

    def __init__(self, out: TextIO, err: TextIO, *, json: bool = False, pages: bool = False) -> None:
        self.out, self.err, self.json = out, err, json
        self.is_terminal = out.isatty()
        self._notes: list[str] = []
        self._shown = out if pages and self.is_terminal and not json else None
        self.colours = self.is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.width = min(MAX_WIDTH, shutil.get_terminal_size((100, 24)).columns if self.is_terminal else MAX_WIDTH)

    def __enter__(self) -> "Terminal":
        if self._shown:
            self.out = io.StringIO()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self._shown:
            return
        kept, self.out, self._shown = self.out.getvalue(), self._shown, None
        if kind is None or issubclass(kind, Exception):
            from v2kb.cli.pager import show  # what it needs is needed by nobody else

            show(kept, self.out, *shutil.get_terminal_size((100, 24)))
        for note in self._notes:
            self.say(note)

    def style(self, text: str, *names: str) -> str:
        """The text in these styles, or as it is where nobody sees them."""
        if not self.colours or not names:
            return text
        return f"\033[{';'.join(_STYLES[name] for name in names)}m{text}\033[0m"

    def line(self, text: str = "") -> None:
        """One line of the result."""
        print(text, file=self.out)

    def say(self, text: str) -> None:
        """A line beside the result: for people, never part of what a pipe reads."""
        if self._shown:
            self._notes.append(text)
        else:
            print(text, file=self.err)

    def document(self, value: Any) -> None:
        """The result as JSON: sorted keys, so that two runs can be compared."""
        print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False), file=self.out)

    def cut(self, text: str, used: int = 0) -> str:
        """The text on one line, cut at a word where the width ends, `used` columns being taken."""
        return textwrap.shorten(" ".join(text.split()), max(20, self.width - used), placeholder=" …")

    def wrapped(self, text: str, indent: str = "  ", first: str = "") -> None:
        """Paragraphs of the result, on a terminal wrapped between words; the first may begin with something else than
        the indent.
        """
        for paragraph in text.splitlines() or [""]:
            head = first or indent
            self.line(self._filled(paragraph, head, indent) if self.is_terminal else f"{head}{paragraph}".rstrip())
            first = ""

    def fact(self, name: str, value: str) -> None:
        """A named value of the result; those of one thing stand below each other."""
        self.wrapped(value, " " * 12, f"  {name:<9} ")

    def _filled(self, text: str, first: str, indent: str) -> str:
        return textwrap.fill(text, self.width, initial_indent=first, subsequent_indent=indent,
                             break_long_words=False, break_on_hyphens=False)  # fmt: skip


def standard(*, json: bool = False, pages: bool = False) -> Terminal:
    """The process's own output. There are pages only where somebody can turn them."""
    turns = pages and sys.stdin is not None and sys.stdin.isatty() and os.environ.get("TERM") != "dumb"
    return Terminal(_open(sys.stdout), _open(sys.stderr), json=json, pages=turns)


def _open(stream: TextIO | None) -> TextIO:
    """A stream that takes every character: UTF-8, but for a terminal that shows something else. A closed one takes all
    and keeps nothing.
    """
    if stream is None:
        return open(os.devnull, "w", encoding="utf-8")
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="replace")
    return stream
