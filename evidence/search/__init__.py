"""Searching rows: a query language, facets with counts, a ranking that says why, on either database."""

from evidence.search.columns import columns
from evidence.search.engine import FACETS, Found, Query, search_rows
from evidence.search.facets import LABELS, Option
from evidence.search.hits import Hit, hits_of

__all__ = ["FACETS", "LABELS", "Found", "Hit", "Option", "Query", "columns", "hits_of", "search_rows"]
