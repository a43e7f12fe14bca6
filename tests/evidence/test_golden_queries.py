"""The golden queries over the starter data: what an engineer types finds what matters, on either database."""

import tomllib
from pathlib import Path

import pytest
from django.db import connection, transaction

from evidence.search import Query, hits_of, search_rows
from kernels.starter import load_starter
from v2kb.core.registry import SEARCHES

GOLDEN = tomllib.loads(Path(__file__).with_name("golden_queries.toml").read_text(encoding="utf-8"))
ASKED = [{"table": table, **asked} for table, queries in GOLDEN.items() for asked in queries]
FIRST_LOOK = 3
LIMIT = 20

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def starter(django_db_setup, django_db_blocker):
    """A database with the starter data, for all tests of this file."""
    with django_db_blocker.unblock(), transaction.atomic():
        load_starter()
        yield
        transaction.set_rollback(True)


def answer(asked: dict) -> list[str]:
    """The hits of a golden query, best first, as the golden file names them."""
    if asked["table"] == "row":
        found = search_rows(Query(text=asked["q"]))
        return [hit.code for hit in hits_of(found, found.ids.tolist())]
    name = "sections" if asked["table"] == "section" else asked["kind"]
    return [_named(name, hit) for hit in SEARCHES.get(name)(asked["q"], LIMIT)]


def _named(kind: str, hit: dict) -> str:
    if kind == "sections":
        slug, number = hit["url"].split("/")[3], hit["title"].partition("§")[2].partition(" ")[0]
        return f"{slug} {number}".strip()
    if kind == "families":
        return hit["title"].split()[1]
    return hit["url"].rstrip("/").split("/")[-1]


def firsts(asked: dict) -> list[str]:
    first = asked.get("first", [])
    return [first] if isinstance(first, str) else first


def wrong(asked: dict, found: list[str]) -> str:
    """What is not as expected; "" when all is well."""
    if firsts(asked) and (not found or found[0] not in firsts(asked)):
        return f"first is {found[:1]}, not one of {firsts(asked)}"
    if missing := set(asked.get("near", [])) - set(found[:FIRST_LOOK]):
        return f"{missing} not among {found[:FIRST_LOOK]}"
    if "exactly" in asked and set(found) != set(asked["exactly"]):
        return f"found {found}"
    if here := set(asked.get("absent", [])) & set(found):
        return f"{here} found"
    return ""


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: f"{asked.get('kind', asked['table'])}: {asked['q']}")
def test_what_matters_is_found_at_the_first_look(starter, asked):
    if "miss" in asked:
        pytest.skip(asked["miss"])
    found = answer(asked)
    assert wrong(asked, found) == "", found[:5]


def test_recall(starter, capsys):
    """Prints how often one of the expected first hits is first, and how often among the first three."""
    lines = []
    for table in (*GOLDEN, "all"):
        asked = [query for query in ASKED if firsts(query) and table in (query["table"], "all")]
        looks = [answer(query)[:FIRST_LOOK] for query in asked]
        at_1 = sum(look[:1] != [] and look[0] in firsts(query) for query, look in zip(asked, looks, strict=True))
        at_3 = sum(not set(look).isdisjoint(firsts(query)) for query, look in zip(asked, looks, strict=True))
        lines.append(
            f"{table}: {len(asked)} queries, recall@1 {at_1 / len(asked):.3f}, recall@3 {at_3 / len(asked):.3f}"
        )
    with capsys.disabled():
        print(f"\ngolden queries on {connection.vendor}: " + "; ".join(lines))
    assert len(ASKED) >= 90
    assert {query["table"] for query in ASKED} == {"row", "section", "thing"}
