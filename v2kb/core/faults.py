"""What `manage.py verify` says of something stored that does not hold."""

from collections.abc import Callable
from dataclasses import dataclass

from v2kb.rules.canonical import NotCanonical

CHUNK = 200


@dataclass(frozen=True)
class Fault:
    """Something stored that does not hold: what kind, which row, and what is wrong with it."""

    kind: str
    which: str
    message: str

    def __str__(self) -> str:
        return f"{self.kind} {self.which}: {self.message}"


def differs(stored: str, compute: Callable[[], str]) -> str:
    """A sentence when the computed hash is not the stored one, or can't be computed; "" when it is."""
    try:
        computed = compute()
    except (NotCanonical, KeyError, TypeError, ValueError) as error:
        return f"its hash can't be computed ({type(error).__name__}: {error})"
    return "" if computed == stored else f"its content has the hash {computed[:12]}, stored is {stored[:12]}"
