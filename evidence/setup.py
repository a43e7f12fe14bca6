"""Rows that every installation needs: the terms that the rules know."""

from django.db import connections

from evidence.models import TermAlias
from evidence.services.terms import keep_built_in_terms


def create_terms(using: str = "default", **_: object) -> None:
    """Keep the built-in terms as the program has them. Runs after each migrate, once their tables are there."""
    if using == "default" and TermAlias._meta.db_table in connections[using].introspection.table_names():
        keep_built_in_terms()
