"""Rows that every installation needs: one group per role, the cache table."""

from django.apps import apps
from django.core.management import call_command
from django.db import connections

from v2kb.core.roles import ROLES

CACHE_TABLE = "core_cache"


def create_roles(using: str = "default", **_: object) -> None:
    """Make a group for each role. Runs after each migrate; existing groups stay."""
    group = apps.get_model("auth", "Group")
    for name in ROLES:
        group.objects.using(using).get_or_create(name=name)
    if CACHE_TABLE not in connections[using].introspection.table_names():
        call_command("createcachetable", database=using, verbosity=0)
