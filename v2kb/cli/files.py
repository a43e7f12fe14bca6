"""Files that commands are given: text of at most some megabytes, from a path or from standard input."""

import sys
from pathlib import Path

from v2kb.cli.exits import CliError
from v2kb.rules.spec_markdown.blocks import MAX_BYTES

STANDARD_INPUT = "-"


def read_text(file: str, most: int = MAX_BYTES) -> str:
    """The text of a file, or of standard input for `-`. Raises CliError for what is no text in UTF-8, or too large."""
    if file == STANDARD_INPUT and sys.stdin is None:
        raise CliError("Standard input is closed.", "Give a file.")
    try:
        if file == STANDARD_INPUT:
            data = sys.stdin.buffer.read(most + 1)
        else:
            with Path(file).open("rb") as source:
                data = source.read(most + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CliError(f"{file}: {why}.", "Give a file that can be read, or - for standard input.") from None
    if len(data) > most:
        raise CliError(f"{file}: the file is larger than {most // 2**20} MB.", "Give the part that is meant.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CliError(f"{file}: this is no text in UTF-8 (byte {error.start:,}).", "Save it as UTF-8.") from None
