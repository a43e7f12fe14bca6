"""The repository that a command runs in: its `.v2kb` folder with configuration and snapshot."""

import os
import tomllib
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from v2kb.cli.exits import CLEAR, TOO_OLD, CliError
from v2kb.cli.index import Index, snapshot_index
from v2kb.cli.terminal import Terminal
from v2kb.rules.snapshot import SnapshotError

FOLDER, CONFIG, SNAPSHOT, RECEIPTS = ".v2kb", "config.toml", "snapshot.jsonl", "receipts"
STALE_DAYS, CLOCKS_APART = 14, 1.0
INIT = "Run `v2kb init --server ADDRESS` in the repository, then `v2kb sync`."


class NoCheckout(CliError):
    """There is no `.v2kb` folder here or above."""

    def __init__(self, here: Path) -> None:
        super().__init__(f"There is no {FOLDER} folder in {here} or above it.", INIT)
        self.here = here


@dataclass(frozen=True)
class Checkout:
    """`root` holds `.v2kb`; a snapshot older than `stale_days` days makes commands end with 4. `env` is the machine and
    its state that experiments are recorded with.
    """

    root: Path
    server: str = ""
    stale_days: int = STALE_DAYS
    env: str = ""

    @property
    def folder(self) -> Path:
        return self.root / FOLDER

    @property
    def snapshot(self) -> Path:
        return self.folder / SNAPSHOT

    def index(self) -> Index:
        """The snapshot, ready to be read. Raises CliError."""
        try:
            return snapshot_index(self.snapshot)
        except SnapshotError as error:
            raise CliError(error.message, error.fix) from None


def find_checkout(start: Path | None = None) -> Checkout:
    """The checkout around a folder (the current one): V2KB_DIR, or the nearest folder above with `.v2kb` in it.

    Raises NoCheckout where there is none, CliError for a configuration that can't be read.
    """
    named = os.environ.get("V2KB_DIR")
    here = Path(named) if named else (start or Path.cwd())
    here = here.parent if named and here.name == FOLDER else here
    for folder in (here, *here.resolve().parents):
        if (folder / FOLDER).is_dir():
            return _read(folder)
        if named:
            break
    raise NoCheckout(here)


def _read(root: Path) -> Checkout:
    path = root / FOLDER / CONFIG
    try:
        raw: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise CliError(f"{path} can't be read: {error}.", "Mend it, or run `v2kb init` again.") from None
    days = raw.get("stale_after_days", STALE_DAYS)
    if not isinstance(days, int) or isinstance(days, bool) or days < 1:
        raise CliError(f"{path}: stale_after_days is {days!r}.", "Give a whole number of days, 1 or more.")
    texts = {name: raw.get(name, "") for name in ("server", "env")}
    if wrong := next((name for name, value in texts.items() if not isinstance(value, str)), ""):
        raise CliError(f"{path}: {wrong} is {texts[wrong]!r}.", "Write it as text, in quotes.")
    return Checkout(root, os.environ.get("V2KB_SERVER") or texts["server"], days, texts["env"])


def is_old(checkout: Checkout, index: Index) -> bool:
    """Whether the snapshot is too old, or how old can't be known: a clock was wrong by more than a day."""
    return not -CLOCKS_APART <= age(index) <= checkout.stale_days


def age(index: Index, now: datetime | None = None) -> float:
    """Age of a snapshot in days."""
    made = datetime.fromisoformat(index.head.made_at)
    return ((now or datetime.now(UTC)) - made).total_seconds() / 86400


def age_note(checkout: Checkout, index: Index) -> str:
    """How old the snapshot is, and what to do where that is too old."""
    fix = "; `v2kb sync` renews it" if is_old(checkout, index) else ""
    return f"note: The snapshot is {said_age(age(index))}{fix}."


def read_ended(checkout: Checkout, index: Index, terminal: Terminal) -> int:
    """Say how old the snapshot is; the code of a read that found what it looked for."""
    terminal.say(age_note(checkout, index))
    return TOO_OLD if is_old(checkout, index) else CLEAR


def said_age(days: float) -> str:
    """An age in words: `3 hours old`."""
    if days < -CLOCKS_APART:
        return f"dated {round(-days)} days after this machine's clock"
    hours = round(days * 24)
    if hours < 1:
        return "less than an hour old"
    if hours < 48:
        return f"{hours} hour{'s' if hours > 1 else ''} old"
    return f"{round(days)} days old"
