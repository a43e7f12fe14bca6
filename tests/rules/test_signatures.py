"""Failure signatures in documents: tables and sentences that are read, and which fits best."""

import pytest

from v2kb.rules.signatures import ranked, signatures_of

TEXT = """## 5. Reading a failure

**Signature: iter-0 fine / iter-1 hang ⇒ state that is set anew, NOT a missing event.**
A trigger of `n*(it+1)` would hang both.

| Symptom | First move | Note |
|---|---|---|
| Hang, nothing comes out | `watchdog` build | waits for ever |
| **Garbage** with several ranks | suspect the all-reduce | |

| Item | Symptom |
|---|---|
| no table | of symptoms |
"""


def test_tables_of_symptoms_and_sentences_are_read():
    sentence, hang, garbage = signatures_of(TEXT)
    assert sentence.symptom == "iter-0 fine / iter-1 hang"
    assert sentence.said == {
        "Cause": "state that is set anew, NOT a missing event.", "Note": "A trigger of n*(it+1) would hang both."
    }  # fmt: skip
    assert (hang.symptom, hang.said["First move"]) == ("Hang, nothing comes out", "watchdog build")
    assert (garbage.symptom, garbage.said) == (
        "Garbage with several ranks", {"First move": "suspect the all-reduce"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("query", "place"),
    [("iteration 0 is fine, iteration 1 hangs", 0), ("it hangs and nothing comes", 1), ("garbage on 2 ranks", 2)],
)
def test_the_best_row_stands_first(query, place):
    assert ranked(query, signatures_of(TEXT))[0].place == place


def test_a_fit_says_its_words_and_its_share():
    known = signatures_of(TEXT)
    (whole, *_) = ranked("iter-0 fine / iter-1 hang", known)
    assert (whole.share, whole.words) == (pytest.approx(1.0), ("iter", "0", "fine", "1", "hang"))
    assert ranked("the and of", known) == []
    assert ranked("zebra", known) == []
    assert ranked("hang", []) == []
