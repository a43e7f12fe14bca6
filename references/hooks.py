"""What this app tells higher ones: an upstream snapshot came in."""

from collections.abc import Callable

from references.models import UpstreamSnapshot
from v2kb.core.registry import Registry

# name -> (snapshot) -> None, within the transaction that imports it
SNAPSHOT_IMPORTED: Registry[Callable[[UpstreamSnapshot], None]] = Registry()


def tell_snapshot(snapshot: UpstreamSnapshot) -> None:
    """Tell every higher app of a new snapshot."""
    for _, hear in SNAPSHOT_IMPORTED.items():
        hear(snapshot)
