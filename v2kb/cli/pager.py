"""What a command writes to a terminal page by page, where it is longer than the screen."""

import os
import re
import shlex
import signal
import subprocess
from typing import TextIO

ASKED = ("V2KB_PAGER", "PAGER")
LESS = "FRX"
"""What `less` is told where nothing tells it otherwise: end by itself, show colours, leave the text on the screen."""
_STYLE = re.compile(r"\033\[[0-9;]*m")


def show(text: str, out: TextIO, columns: int, lines: int) -> None:
    """Write a text to a terminal of this size, through the user's pager if it does not fit."""
    command = pager() if height(text, columns) >= lines else []
    if not (command and _paged(text, command)):
        out.write(text)
    out.flush()


def height(text: str, columns: int) -> int:
    """How many lines of a terminal a text takes."""
    return sum(1 + max(0, len(_STYLE.sub("", line)) - 1) // max(1, columns) for line in text.splitlines())


def pager() -> list[str]:
    """The pager that the environment names, `less` where it names none, nothing where it wants none."""
    named = next((os.environ[name] for name in ASKED if name in os.environ), "less")
    try:
        command = shlex.split(named)
    except ValueError:
        return []
    return [] if command == ["cat"] else command


def _paged(text: str, command: list[str]) -> bool:
    """Whether the pager could be started. Ctrl-C is for the pager while it runs; it may be left before the end."""
    environment = {"LESS": LESS, **os.environ}
    try:
        running = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, encoding="utf-8")
    except OSError:
        return False
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        running.communicate(text)
    finally:
        signal.signal(signal.SIGINT, before)
    return True
