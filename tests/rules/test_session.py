import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from v2kb.rules.session import ConflictingSamples, RunSamples, pair_runs

UNHURRIED = settings(deadline=None)


def run(number, side, samples, position=None, workload="decode"):
    return RunSamples(number, side, workload, tuple(samples), position)


def test_runs_become_pairs_of_medians_in_order():
    runs = [
        run(1, "candidate", [90, 92, 94], 2),
        run(0, "anchor", [100, 104, 102], 0),
        run(1, "anchor", [101, 101, 101], 3),
        run(0, "candidate", [95, 95], 1),
    ]
    first, second = pair_runs(runs)["decode"]
    assert (first.round, first.anchor, first.candidate, first.launches, first.first) == (0, 102, 95, 2, "anchor")
    assert (second.round, second.anchor, second.candidate, second.first) == (1, 101, 92, "candidate")
    assert first.reason == ""


def test_workloads_stay_apart():
    found = pair_runs([run(0, "anchor", [5], workload="b"), run(0, "candidate", [6], workload="a")])
    assert list(found) == ["a", "b"]
    assert found["a"][0].anchor is None


def test_the_order_of_a_round_is_unknown_without_positions():
    assert pair_runs([run(0, "anchor", [5], 0), run(0, "candidate", [5])])["decode"][0].first == ""


def test_a_missing_or_empty_run_says_so():
    pair = pair_runs([run(3, "anchor", [100])])["decode"][0]
    assert (pair.candidate, pair.launches) == (None, None)
    assert pair.reason == "Round 3 has no run of the candidate."
    assert "Round 0, candidate: The run has no samples." in (
        pair_runs([run(0, "anchor", [1]), run(0, "candidate", [])])["decode"][0].reason
    )


def test_an_impossible_time_is_refused():
    pair = pair_runs([run(0, "anchor", [100]), run(0, "candidate", [100, 0])])["decode"][0]
    assert pair.candidate is None
    assert "a time must be above 0" in pair.reason


SIDES = st.sampled_from(["anchor", "candidate"])
RUNS = st.lists(
    st.tuples(st.integers(0, 3), SIDES, st.lists(st.integers(1, 10**9), max_size=4)),
    unique_by=lambda made: made[:2],
    max_size=8,
)


@UNHURRIED
@given(RUNS, st.randoms())
def test_posting_twice_in_any_order_changes_nothing(made, random):
    runs = [run(*fields) for fields in made]
    again = [*runs, *runs]
    random.shuffle(again)
    assert pair_runs(again) == pair_runs(runs)


def test_another_body_for_the_same_run_is_a_conflict():
    with pytest.raises(ConflictingSamples, match="Round 0, anchor, decode"):
        pair_runs([run(0, "anchor", [100]), run(0, "anchor", [101])])


def test_an_unknown_side_is_refused():
    with pytest.raises(ValueError, match="neither"):
        pair_runs([run(0, "baseline", [100])])
