"""The same words find the same things on SQLite and PostgreSQL: a fixed table, and generated documents and queries
compared with a model of the index in plain Python. Both run on the database of the suite.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rules.index_model import holds
from v2kb.core.search import Document, Kind, drop, find, index, put
from v2kb.rules.search_expression import any_of, expression_of
from v2kb.rules.search_query import QueryError, parse_query
from v2kb.rules.search_words import document_words

pytestmark = pytest.mark.django_db

DOCUMENTS = {
    1: ("D3 Load-side levers", "bound by cp.async issue; STAGES 4→12 is flat (≤6%) on qkv_a"),
    2: ("W1 nwarps=7 MAC fold", "−7..−9% vs v1 (commit f624d75a), slowCTA"),
    3: ("W13/W2 grouped GEMM", "tcgen05 at M=1, swapAB; section §1.1 of the source"),
    4: ("Coarse grid barrier", "REGRESS by +11-17%; 6.24µs = 2.50 TB/s"),
    8: ("Look-ahead", "STAGES≥4, SPLIT_K > 1"),
    9: ("Lookahead", "of 4.60 TB/s, STAGES=4"),
    10: ("Ring", "looks one look ahead at 4.6TB/s"),
    5: ("Split-K", "at M=16 the cpasync loop has 17 warps; stages of the ring"),
    6: ("Größe der Kachel", "é ß Ω; the barrier of the grid, cp issues async"),
    7: ("CROSS_TASK_PAGES", "-DMPK_V2_BREADCRUMB, numWarps, 224,256 B"),
}
FINDS = {
    "cp.async": {1, 5}, "cpasync": {1, 5}, "cp async": {1, 5, 6}, "CP_ASYNC": {1, 5}, '"cp async"': {1},
    "stages 4->12": {1}, "stages 4 to 12": {1}, "4→12": {1}, "stage": {1, 5, 8, 9}, "qkv-a": {1}, "qkvA": {1},
    "qkva": {1},
    "7w": {2}, "7 warps": {2}, "17-warp": {5}, "num_warps": {7},
    "-9%": {2}, "−7%": {2}, "9%": {2}, "+9%": set(), "+17%": {4}, "-17%": set(), "6%": {1},
    "f624d75": {2}, "F624D75A": {2}, "f624d75b": set(), "slow_cta": {2}, "slow cta": {2},
    "W2": {3}, "w13": {3}, "W13/W2": {3}, "m = 1": {3}, "M=16": {5}, "tcgen-05": {3}, "swap_ab": {3}, "§1.1": {3},
    "grid barrier": {4, 6}, '"grid barrier"': {4}, "barrier -regress": {6}, '-"grid barrier" barrier': {6},
    "look-ahead": {8, 9, 10}, "lookahead": {8, 9, 10}, "look ahead": {8, 9, 10}, "lookaheads": {8, 9, 10},
    "STAGES>=4": {8}, "4 ≤ stages": {8}, "stages=4": {1, 9}, "split_k>1": {8}, '"stages >= 4"': {8}, "≥ 4": {8},
    "4.6 TB/s": {9, 10}, "4.60TB/s": {9, 10}, "4.6": {9, 10}, "4.60": {9}, '"4.600 TB/s"': {9, 10},
    "6.24us": {4}, "6.24 µs": {4}, "2.50TB/s": {4}, "split_k": {5, 8}, "splitk": {5, 8}, "loop ring": {5},
    "grösse": {6}, "kachel": {6}, "Ω": {6}, "ss": {6}, "cross task": {7}, "mpk_v2_breadcrumb": {7}, "224,256": {7},
    "zebra": set(), "barrier zebra": set(),
}  # fmt: skip


def ids_of(query: str) -> set[int]:
    parsed = parse_query(query)
    return set(index().match(Kind.SECTION, expression_of(parsed.wanted), any_of(parsed.unwanted)).tolist())


@pytest.fixture
def documents():
    put(Document(Kind.SECTION, number, title, text) for number, (title, text) in DOCUMENTS.items())
    put([Document(Kind.FAMILY, 1, "cp.async grid barrier of another kind", "")])


@pytest.mark.parametrize("query", FINDS)
def test_what_a_query_finds(documents, query):
    assert ids_of(query) == FINDS[query]


def test_every_hit_is_in_the_ranked_answer_and_titles_come_first(documents):
    for query, expected in FINDS.items():
        found = [hit.object_id for hit in find(Kind.SECTION, query, 50) if not hit.is_guess]
        assert (len(found), set(found)) == (len(expected), expected), query
    assert find(Kind.SECTION, "grid barrier", 5)[0].object_id == 4


def test_what_was_dropped_or_replaced_is_not_found(documents):
    drop(Kind.SECTION, [1])
    put([Document(Kind.SECTION, 5, "Split-K", "nothing else")])
    assert ids_of("cp.async") == set()
    assert ids_of("splitk") == {5, 8}


# --- generated documents and queries ----------------------------------------------------------------------------------

PARTS = ["cp", "async", "qkv", "a", "W13", "W2", "M", "1", "16", "7", "warp", "warps", "nwarps", "stages", "stage", "4",
         "12", "split", "K", "slowCTA", "tcgen05", "f624d75a", "f624d75", "9%", "-9%", "+9%", "µs", "Größe",
         "ring", "look", "ahead", "lookahead", "2.50", "2.5", "TB/s"]  # fmt: skip
GLUE = [" ", ".", "_", "-", "/", "=", " = ", "→", ", ", "\n", " to ", ".. ", ">=", " ≤ ", "<"]
TEXT = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(GLUE)), max_size=7).map(
    lambda pairs: "".join(part + glue for part, glue in pairs)
)


@given(texts=st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5), queries=st.lists(TEXT, min_size=1, max_size=4))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_both_databases_find_what_the_model_finds(db, texts, queries):
    numbered = dict(enumerate(texts, 1))
    drop(Kind.RUN, range(1, 6))
    put(Document(Kind.RUN, number, title, text) for number, (title, text) in numbered.items())
    fields = {}
    for number, (title, text) in numbered.items():
        (first, first_wholes), (second, second_wholes) = document_words(title), document_words(text)
        fields[number] = (first.split(), second.split(), f"{first_wholes} {second_wholes}".split())
    for query in queries:
        try:
            parsed = parse_query(query)
        except QueryError:
            continue
        wanted, unwanted = expression_of(parsed.wanted), any_of(parsed.unwanted)
        if wanted is None:
            continue
        expected = {
            number
            for number, entry in fields.items()
            if holds(wanted, entry) and not (unwanted and holds(unwanted, entry))
        }
        assert set(index().match(Kind.RUN, wanted, unwanted).tolist()) == expected, (query, texts)
