"""Writing to a terminal, a pipe or a file: colour only where a person looks, one result document for `--json`."""

import json
import os
import shutil
import sys
import textwrap
from typing import Any, TextIO

_STYLES = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "bold": "1", "faint": "2"}
MAX_WIDTH = 120


class Terminal:
    """Where a command writes. `json` says that the result is wanted as one document, and no prose."""

    def __init__(self, out: TextIO, err: TextIO, *, json: bool = False) -> None:
        self.out, self.err, self.json = out, err, json
        self.is_terminal = out.isatty()
        self.colours = self.is_terminal and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
        self.width = min(MAX_WIDTH, shutil.get_terminal_size((100, 24)).columns if self.is_terminal else MAX_WIDTH)

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
        print(text, file=self.err)

    def document(self, value: Any) -> None:
        """The result as JSON: sorted keys, so that two runs can be compared."""
        print(json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False), file=self.out)

    def cut(self, text: str, used: int = 0) -> str:
        """The text on one line, cut at a word where the width ends, `used` columns being taken."""
        return textwrap.shorten(" ".join(text.split()), max(20, self.width - used), placeholder=" …")

    def wrapped(self, text: str, indent: str = "  ") -> None:
        """Paragraphs of the result, wrapped to the width."""
        for paragraph in text.splitlines() or [""]:
            self.line(textwrap.fill(paragraph, self.width, initial_indent=indent, subsequent_indent=indent))


def standard(*, json: bool = False) -> Terminal:
    """The process's own output."""
    return Terminal(sys.stdout, sys.stderr, json=json)
