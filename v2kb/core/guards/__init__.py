"""What the database itself refuses, declared as data and installed after every migrate.

A SQLite table rebuild silently drops triggers, so guards are not part of migrations: `post_migrate` installs them
and a system check compares what is declared with what the database holds.
"""

from v2kb.core.guards.registry import GUARDS, Guard, Immutable, Kept, TriggerGuard, head_moves_forward, register

__all__ = ["GUARDS", "Guard", "Immutable", "Kept", "TriggerGuard", "head_moves_forward", "register"]
