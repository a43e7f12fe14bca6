"""The full-text index, on whichever database the tests run: what matches, in the title or anywhere, and what ranks."""

import numpy as np
import pytest
from django.db import connection

from v2kb.core.models import SearchWord
from v2kb.core.search import Document, Kind, index, put
from v2kb.core.search.install import rebuild_full_text
from v2kb.rules.search_expression import All, Either, Phrase, Whole

pytestmark = pytest.mark.django_db

TEXTS = {
    1: ("cp.async in the ring", "stages of kernels wait"),
    2: ("another row", "cp async, then a ring of stages; ring of slots, of stages was nothing said"),
    3: ("the ring of", "stages was full before the barrier 9% f624d75a"),
    4: ("plain", "a ring of stages was full"),
}


@pytest.fixture(autouse=True)
def filled():
    put(Document(Kind.ROW, pk, title, text) for pk, (title, text) in TEXTS.items())
    put([Document(Kind.SPEC, 1, "cp.async of a spec", "ring")])


@pytest.mark.parametrize(
    ("wanted", "anywhere", "in_title"),
    [
        (Phrase(("ring",)), [1, 2, 3, 4], [1, 3]),
        (Phrase(("kern",), prefix=True), [1], []),
        (Phrase(("kern",)), [], []),
        (Phrase(("cp", "async")), [1, 2], [1]),
        (Phrase(("cp", "as"), prefix=True), [1, 2], [1]),
        (Phrase(("c", "async")), [], []),
        (Whole("cpasync"), [1], []),
        (Whole("cpas", prefix=True), [1], []),
        (Whole("ring"), [], [1, 3]),
        (Phrase(("ring", "of", "stages")), [2, 4], []),
        (Phrase(("ring", "of", "stages", "was")), [4], []),
        (Phrase(("ring", "of", "stages", "wa"), prefix=True), [4], []),
        (Phrase(("the", "ring", "of")), [3], [3]),
        (All((Phrase(("ring",)), Phrase(("cp", "async")))), [1, 2], [1]),
        (Either((Phrase(("plain",)), Phrase(("another",)))), [2, 4], [2, 4]),
    ],
)
def test_what_matches(wanted, anywhere, in_title):
    assert index().match(Kind.ROW, wanted).tolist() == anywhere
    assert index().match(Kind.ROW, wanted, titles=True).tolist() == in_title


def test_unwanted_words_and_other_kinds_stay_out():
    ring, cp = Phrase(("ring",)), Phrase(("cp", "async"))
    assert index().match(Kind.ROW, ring, cp).tolist() == [3, 4]
    assert index().match(Kind.SPEC, ring).tolist() == [1]
    assert index().match(Kind.KERNEL, ring).tolist() == []


def test_scores_stand_in_the_order_of_the_ids():
    ring = Phrase(("ring",))
    scores = index().scores(Kind.ROW, ring, np.array([1, 2, 4]))
    assert scores.shape == (3,)
    assert scores[0] > scores[2] > 0, "a word of the title counts more"
    assert index().scores(Kind.ROW, Phrase(("barrier",)), np.array([1, 3])).tolist()[0] == 0
    assert index().scores(Kind.ROW, ring, np.array([], np.int64)).shape == (0,)


def test_an_entry_is_replaced_with_all_its_words():
    put([Document(Kind.ROW, 1, "new", "text")])
    assert index().match(Kind.ROW, Phrase(("cp", "async"))).tolist() == [2]
    assert index().match(Kind.ROW, Phrase(("new", "text"))).tolist() == []
    assert index().match(Kind.ROW, Phrase(("new",)), titles=True).tolist() == [1]


def test_an_index_made_anew_holds_the_same():
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            for table in ("core_search_fts", "core_search_title_fts"):
                cursor.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
        assert index().match(Kind.ROW, Phrase(("ring",))).tolist() == []
    rebuild_full_text()
    assert index().match(Kind.ROW, Phrase(("ring",))).tolist() == [1, 2, 3, 4]
    assert index().match(Kind.ROW, Phrase(("ring",)), titles=True).tolist() == [1, 3]
    put([Document(Kind.ROW, 1, "changed", "later")])
    assert index().match(Kind.ROW, Phrase(("ring",)), titles=True).tolist() == [3]


def test_misspelt_words_are_compared_with_words_only():
    assert index().alike("barreir") == ["barrier"]
    assert index().alike("kernals") == ["kernels"]
    assert index().alike("f624d75b") == []
    assert not SearchWord.objects.filter(word__regex="[0-9]").exists()
