"""The levers' families as the database holds them."""

from evidence.models import Lever
from v2kb.rules.lever_family import Families


def lever_families() -> Families[int]:
    """All levers by id, in one query."""
    places = Lever.objects.order_by().values_list("pk", "parent_id", "merged_into_id")
    parents = {pk: parent for pk, parent, _ in places if parent is not None}
    return Families(parents, {pk: into for pk, _, into in places if into is not None})
