"""Every path through the family questions, and the answers that the tree refuses."""

from itertools import product

import pytest

from v2kb.rules.canonical import canonical_json
from v2kb.rules.decision_tree import FAMILIES, QUESTIONS, AnswerError, decide, next_question, questions

PATHS = [
    ("E", {"own_task": "no"}),
    ("A", {"own_task": "yes", "matrix_product": "yes", "full_tile": "yes"}),
    ("A", {"own_task": "yes", "matrix_product": "yes", "full_tile": "no", "streams_k": "yes", "fused_gemv": "no"}),
    *[
        (family, {**start, **end})
        for start in (
            {"own_task": "yes", "matrix_product": "no"},
            {"own_task": "yes", "matrix_product": "yes", "full_tile": "no", "streams_k": "no"},
            {"own_task": "yes", "matrix_product": "yes", "full_tile": "no", "streams_k": "yes", "fused_gemv": "yes"},
        )
        for family, end in (
            ("D", {"stages_smem": "no"}),
            ("C", {"stages_smem": "yes", "ported_offsets": "yes"}),
            ("B", {"stages_smem": "yes", "ported_offsets": "no"}),
        )
    ],
]


@pytest.mark.parametrize(("family", "answers"), PATHS)
def test_each_path_asks_its_questions_and_no_more(family, answers):
    given = {}
    while (question := next_question(given)) is not None:
        assert decide(given).family == ""
        given[question.id] = answers[question.id]
    assert given == answers
    decision = decide(answers)
    assert (decision.family, decision.unused) == (family, ())
    assert [step[0] for step in decision.path] == list(answers)
    assert decision.reason.count(".") == len(answers)


def test_the_paths_above_are_all_paths():
    ids = [question.id for question in QUESTIONS]
    reached = {decide(dict(zip(ids, row, strict=True))).path for row in product(("yes", "no"), repeat=len(ids))}
    assert reached == {tuple(answers.items()) for _, answers in PATHS}


@pytest.mark.parametrize(
    ("op", "answers", "family"),
    [
        ("W13 grouped GEMM", {"own_task": "yes", "matrix_product": "yes", "full_tile": "no", "streams_k": "yes",
                              "fused_gemv": "no"}, "A"),
        ("RMS norm", {"own_task": "yes", "matrix_product": "no", "stages_smem": "yes", "ported_offsets": "no"}, "B"),
        ("paged attention", {"own_task": "yes", "matrix_product": "no", "stages_smem": "yes",
                             "ported_offsets": "yes"}, "C"),
        ("SiLU and product", {"own_task": "yes", "matrix_product": "no", "stages_smem": "no"}, "D"),
        ("rotary embedding", {"own_task": "no"}, "E"),
    ],
)  # fmt: skip
def test_known_kernels_land_in_their_family(op, answers, family):
    assert decide(answers).family == family


def test_answers_off_the_path_are_named():
    decision = decide({"own_task": "no", "full_tile": "yes"})
    assert (decision.family, decision.unused) == ("E", ("full_tile",))


def test_blank_answers_are_not_given():
    assert decide({"own_task": "yes", "matrix_product": ""}).next_question.id == "matrix_product"


@pytest.mark.parametrize("answers", [{"own_task": "maybe"}, {"colour": "yes"}, {"own_task": True}, {"own_task": []}])
def test_other_answers_are_refused(answers):
    with pytest.raises(AnswerError) as caught:
        decide(answers)
    assert caught.value.question == next(iter(answers))


def test_families_and_questions_are_complete():
    assert sorted(FAMILIES) == list("ABCDE")
    assert all(f.idiom and f.when_to_copy and f.examples for f in FAMILIES.values())
    assert [q["id"] for q in questions()] == [q.id for q in QUESTIONS]
    assert all(q["text"].endswith("?") and q["why"] for q in questions())


def test_a_decision_as_plain_values():
    done = decide(PATHS[0][1]).as_document()
    assert (done["family"], done["name"], done["next_question"]) == ("E", "Helper inside another kernel", None)
    begun = decide({}).as_document()
    assert (begun["family"], begun["next_question"]["id"]) == ("", "own_task")
    canonical_json([done, begun])
