"""Levers whose names come near to what was typed."""

from rapidfuzz import fuzz, process

from evidence.models import Lever, LeverAlias
from v2kb.rules.names import fold

ENOUGH = 70.0
"""Of 100: below it, names have little more in common than letters."""


def near_levers(text: str, limit: int = 5) -> list[Lever]:
    """Levers in use whose name or alias comes near to `text`, nearest first; two queries."""
    wanted = " ".join(fold(text).lower().split())
    if not wanted:
        return []
    aliases = LeverAlias.objects.filter(lever__archived_at__isnull=True).values_list("lever_id", "name")
    names = [(lever_id, fold(name).lower()) for lever_id, name in aliases]
    found = process.extract(
        wanted, [name for _, name in names], scorer=fuzz.WRatio, limit=limit * 4, score_cutoff=ENOUGH
    )
    ids = list(dict.fromkeys(names[place][0] for _, _, place in found))[:limit]
    levers = Lever.objects.in_bulk(ids)
    return [levers[pk] for pk in ids]
