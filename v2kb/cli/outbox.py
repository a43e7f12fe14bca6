"""Writes on their way: one file each in `.v2kb/outbox/`, from before the first byte is sent until the server answers.

A write has an idempotency key, so that one whose answer was lost is sent again without being done twice.
"""

import json
import os
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from v2kb.cli.atomic import PRIVATE, remove, write_whole
from v2kb.cli.checkout import Checkout
from v2kb.cli.exits import CliError
from v2kb.cli.logins import Login

FOLDER, FORMAT = "outbox", 1
WAITING, REFUSED, CONFLICT = "waiting", "refused", "conflict"


@dataclass(frozen=True, slots=True)
class Write:
    """A write: `kind` is the command that made it (`v2kb.cli.writes`), `body` what that sends, `what` a line for us.

    `user` and `engine` are those of the sign-in it was made under. `state` is waiting, refused or conflict; `answer` is
    the server's refusal.
    """

    kind: str
    what: str
    body: dict[str, Any]
    server: str
    user: str
    engine: str
    key: str
    at: str
    state: str = WAITING
    answer: dict[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def id(self) -> str:
        """How people name it: the first characters of its key."""
        return self.key[:8]

    @property
    def file(self) -> str:
        """Its file's name; they sort in the order of their making."""
        return f"{self.at.replace(':', '').replace('-', '').replace('.', '')}-{self.id}.json"


def new_write(kind: str, what: str, body: dict[str, Any], login: Login) -> Write:
    """A write that was never sent."""
    at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return Write(kind, what, body, login.server, login.user, login.engine, uuid.uuid4().hex, at)


class Outbox:
    """The writes of a checkout that wait, or that the server did not take."""

    def __init__(self, checkout: Checkout) -> None:
        self.folder = checkout.folder / FOLDER

    def __iter__(self) -> Iterator[Write]:
        """In the order of their making. Raises CliError for a folder or a file that can't be read."""
        try:
            names = sorted(name for name in os.listdir(self.folder) if name.endswith(".json") and name[0] != ".")
        except FileNotFoundError:
            return
        except OSError as error:
            raise CliError(f"{self.folder} can't be read: {error.strerror}.", "Make it a folder of your own.") from None
        for name in names:
            yield _read(self.folder / name)

    def put(self, write: Write) -> None:
        """Keep a write on the disk, in place of what was kept of it. Raises CliError."""
        try:
            self.folder.mkdir(mode=0o700, exist_ok=True)
            text = json.dumps(asdict(write), indent=1, sort_keys=True, ensure_ascii=False)
            write_whole(self.folder / write.file, text + "\n", PRIVATE)
        except (OSError, UnicodeEncodeError) as error:
            raise CliError(f"{self.folder} can't be written: {error}.", "Make .v2kb writable.") from None

    def mark(self, write: Write, state: str, answer: dict[str, Any]) -> Write:
        """Keep what the server said of a write."""
        marked = replace(write, state=state, answer=answer)
        self.put(marked)
        return marked

    def drop(self, write: Write) -> None:
        """Forget a write: it was done, or nobody wants it."""
        remove(self.folder / write.file)

    def find(self, start: str) -> Write:
        """The write whose key begins so. Raises CliError."""
        found = [write for write in self if start and write.key.startswith(start)]
        if len(found) != 1:
            many = "Several writes begin" if found else "No write begins"
            raise CliError(f"{many} with {start!r}.", "`v2kb outbox` lists them.")
        return found[0]


def _read(path: Path) -> Write:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if raw["format"] != FORMAT:
            raise ValueError(f"its format is {raw['format']}")
        return Write(**raw)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CliError(
            f"{path} can't be read: {error}.", "Mend it, or move it away; nothing else of the outbox is touched."
        ) from None
