"""Taking a thing off the lists and putting it back. Nothing is deleted; who may, and what stands in the way, is said by
the service of each thing.
"""

from django.db import models
from django.utils import timezone

from v2kb.core.errors import Conflict

FIX = "Nothing is left to do."


def archive(thing: models.Model, name: str, code: str) -> None:
    """Archive a locked thing. Raises Conflict `code` when it is archived already."""
    if thing.archived_at:
        raise Conflict(code, f"{name} is archived already.", fix=FIX)
    thing.archived_at = timezone.now()
    thing.save(update_fields=["archived_at"])


def restore(thing: models.Model, name: str, code: str) -> None:
    """Put a locked thing back. Raises Conflict `code` when it is not archived."""
    if not thing.archived_at:
        raise Conflict(code, f"{name} is not archived.", fix=FIX)
    thing.archived_at = None
    thing.save(update_fields=["archived_at"])
