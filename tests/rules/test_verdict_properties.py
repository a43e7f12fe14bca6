import json
import math
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.sessions import (
    BASE,
    WIN,
    case,
    judged,
    session,
    verdict,
)
from v2kb.rules.canonical import canonical_json
from v2kb.rules.grades import graded
from v2kb.rules.session import RunSamples, pair_runs
from v2kb.rules.units import finite
from v2kb.rules.verdict import show
from v2kb.rules.verdict_table import JUDGEMENTS

UNHURRIED = settings(deadline=None)


TIMES = st.lists(st.tuples(st.floats(50, 150), st.floats(50, 150)), min_size=3, max_size=8)


def split(rounds):
    return [a for a, _ in rounds], [c for _, c in rounds]


@UNHURRIED
@given(TIMES)
def test_swapping_negates_the_estimate_and_mirrors_the_interval(rounds):
    anchor, candidate = split(rounds)
    here, there = verdict(anchor, candidate).primary, verdict(candidate, anchor).primary
    assert there.mean == pytest.approx(-here.mean, abs=1e-15)
    assert there.interval().low == pytest.approx(-here.interval().high, abs=1e-12)
    assert there.interval().high == pytest.approx(-here.interval().low, abs=1e-12)


@UNHURRIED
@given(TIMES)
def test_a_rate_gives_the_verdict_of_its_time(rounds):
    anchor, candidate = split(rounds)
    rate = {"direction": "higher", "unit": "1/us", "metric": "rate"}
    as_time = verdict(anchor, candidate, timer_tick=None)
    as_rate = verdict([1 / a for a in anchor], [1 / c for c in candidate], plan=rate, timer_tick=None, **rate)
    assert (as_rate.judgement, as_rate.against_prediction) == (as_time.judgement, as_time.against_prediction)
    assert as_rate.primary.mean == pytest.approx(as_time.primary.mean, abs=1e-12)


@UNHURRIED
@given(TIMES, st.sampled_from([("ns", 1e3), ("ms", 1e-3), ("s", 1e-6)]))
def test_the_unit_changes_nothing(rounds, scale):
    (unit, factor), (anchor, candidate) = scale, split(rounds)
    plain = verdict(anchor, candidate)
    scaled = verdict(
        [a * factor for a in anchor], [c * factor for c in candidate], unit=unit, timer_tick=0.001 * factor
    )
    assert scaled.judgement == plain.judgement
    assert scaled.primary.mean == pytest.approx(plain.primary.mean, abs=1e-12)
    assert scaled.primary.sd == pytest.approx(plain.primary.sd, rel=1e-6)


@UNHURRIED
@given(TIMES, st.randoms())
def test_shuffling_rounds_changes_nothing(rounds, random):
    anchor, candidate = split(rounds)
    made = case(anchor, candidate)
    mixed = list(made.pairs)
    random.shuffle(mixed)
    plan = {"rounds": str(len(rounds))}
    straight, shuffled = judged(made, plan=plan), judged(replace(made, pairs=tuple(mixed)), plan=plan)
    assert canonical_json(shuffled.as_document()) == canonical_json(straight.as_document())


def test_posting_twice_changes_nothing():
    runs = [
        RunSamples(number, side, "decode", (nanoseconds,) * 30, position)
        for number, pair in enumerate(zip(BASE, WIN, strict=True))
        for position, (side, nanoseconds) in enumerate(
            zip(("anchor", "candidate"), (int(t * 1000) for t in pair), strict=True)
        )
    ]
    once, twice = pair_runs(runs)["decode"], pair_runs(runs * 2)["decode"]
    assert once == twice
    assert len(twice) == 3


ODD = st.one_of(
    st.sampled_from([None, 0, 0.0, -1, math.nan, math.inf, -math.inf, 1e308, 5e-324, 10**400, 100.0, 100, 10_000.0]),
    st.floats(allow_nan=True, allow_infinity=True),
)


def check_presentable(document):
    """A document is canonical, is JSON, and shows neither NaN nor infinity nor a false zero."""
    text = canonical_json(document)
    assert json.loads(text) == document
    assert not re.search(r"nan\b|\binf(inity)?\b", text, re.IGNORECASE)
    assert not re.search(r"\b0\.0+( [num]?s|%|\")", text)


@settings(deadline=None, max_examples=200)
@given(
    st.lists(st.tuples(ODD, ODD), max_size=6),
    st.one_of(st.none(), st.floats()),
    st.one_of(st.none(), st.floats()),
    st.sampled_from(["lower", "higher"]),
)
def test_odd_numbers_never_crash_and_never_show_nan(rounds, tick, aa_sd, direction):
    anchor, candidate = split(rounds)
    found = verdict(anchor, candidate, plan={"direction": direction}, timer_tick=tick, aa_sd=aa_sd, direction=direction)
    assert found.judgement in JUDGEMENTS
    check_presentable(found.as_document())
    check_presentable(show(graded(session(case(anchor, candidate), timer_tick=tick, aa_sd=aa_sd))).as_document())
    if any(finite(value) is None or value <= 0 for value in (*anchor, *candidate)):
        assert found.judgement == "INVALID"


@pytest.mark.parametrize(
    ("candidate", "judgement"),
    [
        ((94.0, math.nan, 93.8), "INVALID"),
        ((94.0, 0, 93.8), "INVALID"),
        ((94.0, -95, 93.8), "INVALID"),
        ((94.0, 1e308, 93.8), "INCONCLUSIVE"),
        ((94.0, 9520.0, 93.8), "INCONCLUSIVE"),
        ((1e308, 1e308, 1e308), "REGRESS"),
        ((1e308, 1e308, 5e-324), "INCONCLUSIVE"),
    ],
)
def test_one_odd_run(candidate, judgement):
    found = verdict(BASE, candidate)
    assert found.judgement == judgement
    check_presentable(found.as_document())


def test_an_anchor_of_zero_has_no_percentage_and_no_verdict():
    document = verdict((0, 0, 0), WIN).as_document()
    assert document["judgement"] == "INVALID"
    assert document["estimate"]["change_percent"] is None
    assert document["anchor_text"] == "n/a"
