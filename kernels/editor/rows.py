"""Buttons that change rows: add, remove, copy, up, down, move (by dragging), renumber. "remove:smem.regions:2"."""

import re
from dataclasses import dataclass
from typing import Any

from v2kb.core.values import plain_copy, whole_number
from v2kb.rules.ordinals import running_ordinals

MAX_ROWS = 128
NAMES = ("name", "id", "task")


@dataclass(frozen=True)
class Action:
    """A pressed button: what to do, to the rows at which path, and with which of them. -1 stands for none."""

    verb: str
    path: str = ""
    index: int = -1
    to: int = -1

    @classmethod
    def read(cls, text: str) -> "Action":
        """ "move:smem.regions:3:0" -> Action("move", "smem.regions", 3, 0)."""
        verb, path, index, to, *_ = [*text.split(":"), "", "", ""]
        return cls(verb, path, whole_number(index, default=-1), whole_number(to, default=-1))

    @property
    def target(self) -> int:
        """The row in whose place the moved row comes; -1 where none is moved."""
        return {"up": self.index - 1, "down": self.index + 1, "move": self.to}.get(self.verb, -1)

    @property
    def row(self) -> str:
        """Path of the row that the person goes on with, or of the table where no row is meant."""
        if self.verb in ("add", "remove", "renumber", "pin") or self.index < 0:
            return self.path
        return f"{self.path}[{max(0, self.index + {'up': -1, 'down': 1, 'copy': 1}.get(self.verb, 0))}]"


def new_places(action: Action, count: int) -> dict[int, int | None]:
    """Where each of `count` rows stands after the action; None for one that it removes."""
    order = list(range(count))
    if 0 <= action.index < count:
        if action.verb == "remove":
            del order[action.index]
        elif action.verb == "copy" and count < MAX_ROWS:
            order.insert(action.index + 1, count)
        elif 0 <= (to := action.target) < count:
            order.insert(to, order.pop(action.index))
    return {row: order.index(row) if row in order else None for row in range(count)}


def apply(rows: list[dict[str, Any]], path: str, action: Action, blank: dict[str, Any]) -> None:
    """Change `rows`, which stand at `path`, as the action says. An action for other rows changes nothing."""
    if action.path != path:
        return
    if action.verb == "add" and len(rows) < MAX_ROWS:
        rows.append(plain_copy(blank))
    if action.verb == "renumber":
        for row, ordinal in zip(rows, running_ordinals([row.get("slots") or "1" for row in rows]), strict=True):
            row["ordinal"] = ordinal
    if not 0 <= action.index < len(rows):
        return
    if action.verb == "remove":
        del rows[action.index]
    elif action.verb == "copy" and len(rows) < MAX_ROWS:
        rows.insert(action.index + 1, _copied(rows, action.index))
    elif 0 <= action.target < len(rows):
        rows.insert(action.target, rows.pop(action.index))


def _copied(rows: list[dict[str, Any]], index: int) -> dict[str, Any]:
    """A copy of a row with a name of its own: W7 -> W8, or the next number that is free."""
    twin = plain_copy(rows[index])
    for name in NAMES:
        if twin.get(name):
            stem, digits = re.fullmatch(r"(.*?)([0-9]{0,6})", str(twin[name])).groups()
            taken = {row.get(name) for row in rows}
            number = int(digits or 1) + 1
            while f"{stem}{number}" in taken:
                number += 1
            twin[name] = f"{stem}{number}"
    return twin
