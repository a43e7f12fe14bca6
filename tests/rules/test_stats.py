import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from tests.rules.sessions import BASE
from v2kb.rules.stats import (
    NoiseFloor,
    aa_check,
    benjamini_hochberg,
    estimate,
    half_width,
    holm,
    log_ratio,
    median_ns,
    minimum_detectable_effect,
    rounds_to_detect,
    rounds_to_settle,
    t_p_value,
    t_quantile,
)

UNHURRIED = settings(deadline=None)

MEASURED = st.floats(min_value=1e-300, max_value=1e300)
LOG_RATIOS = st.lists(st.floats(min_value=-2, max_value=2), min_size=3, max_size=12)


def ratios(anchor, candidate):
    return [log_ratio(a, c).value for a, c in zip(anchor, candidate, strict=True)]


def percent(log):
    return 100 * math.expm1(log)


@pytest.mark.parametrize(
    ("anchor", "candidate", "mean", "low", "high", "narrow"),
    [
        (BASE, (94.0, 95.2, 93.8), -5.824, -6.203, -5.443, None),
        (BASE, (100.1, 100.9, 99.6), 0.034, -0.252, 0.320, (-0.160, 0.228)),
        (BASE, (103, 104.3, 102.1), 2.960, 2.146, 3.780, None),
        ((100, 101, 99.5, 100.4, 99.9), (98.4, 99.6, 98.1, 98.7, 98.3), -1.538, -1.704, -1.371, None),
        (BASE, (94, 99, 95), -4.182, -9.089, 0.990, None),
        ((5.00e-6, 5.10e-6, 5.05e-6), (4.70e-6, 4.80e-6, 4.74e-6), -6.007, -6.325, -5.688, None),
    ],
)
def test_golden_estimates(anchor, candidate, mean, low, high, narrow):
    found = estimate(ratios(anchor, candidate))
    assert round(percent(found.mean), 3) == mean
    assert round(percent(found.interval().low), 3) == low
    assert round(percent(found.interval().high), 3) == high
    if narrow:
        shown = found.interval(0.90)
        assert (round(percent(shown.low), 3), round(percent(shown.high), 3)) == narrow


@UNHURRIED
@given(LOG_RATIOS)
def test_interval_and_p_value_agree_with_scipy(sample):
    found = estimate(sample)
    if not found.usable or found.sd < 1e-6:
        return
    theirs = scipy_stats.ttest_1samp(sample, 0.0)
    interval = theirs.confidence_interval(0.95)
    assert found.p_value() == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
    assert found.interval().low == pytest.approx(interval.low, rel=1e-6, abs=1e-9)
    assert found.interval().high == pytest.approx(interval.high, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 30, 999])
@pytest.mark.parametrize("probability", [0.9, 0.95, 0.975, 0.9875, 0.995, 0.9975])
def test_t_quantiles_agree_with_scipy(degrees, probability):
    assert t_quantile(probability, degrees) == pytest.approx(scipy_stats.t.ppf(probability, degrees), rel=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 4, 30])
@pytest.mark.parametrize("t", [-40.0, -2.2, 0.0, 0.3, 4.303, 1e6])
def test_p_values_agree_with_scipy(degrees, t):
    assert t_p_value(t, degrees) == pytest.approx(2 * scipy_stats.t.sf(abs(t), degrees), rel=1e-9)


def test_sd_floor_takes_the_largest_source():
    flat = [0.01, 0.01, 0.01]
    assert estimate(flat, NoiseFloor(aa_sd=0.004)).sd == 0.001
    assert estimate(flat, NoiseFloor(aa_sd=0.004)).sd_source == "aa"
    assert estimate(flat, NoiseFloor(aa_sd=0.004, tick_share=0.002)).sd_source == "timer"
    assert estimate([0.0, 0.1, -0.1], NoiseFloor(aa_sd=0.004, tick_share=0.002)).sd_source == "runs"
    widened = estimate(flat, NoiseFloor(tick_share=0.002))
    assert widened.sd_of_runs == 0
    half = scipy_stats.t.ppf(0.975, 2) * 0.002 / math.sqrt(3)
    assert widened.interval().high == pytest.approx(0.01 + half)


@pytest.mark.parametrize("useless", [0.0, -1.0, math.nan, math.inf, None])
def test_a_useless_floor_is_no_floor(useless):
    found = estimate([0.01] * 3, NoiseFloor(aa_sd=useless, tick_share=useless))
    assert found.interval() is None
    assert "no timer tick or A/A spread" in found.reason


def test_rounding_noise_is_no_spread():
    exact = [log_ratio(a, a * 0.94).value for a in BASE]
    assert len(set(exact)) > 1
    assert estimate(exact).interval() is None


@pytest.mark.parametrize(
    ("sample", "mean", "words"),
    [
        ([], None, "no paired runs"),
        ([0.1], 0.1, "no spread"),
        ([0.1, math.nan, 0.2], None, "not a finite number"),
        ([0.1, math.inf, 0.2], None, "not a finite number"),
        ([1.7e308, 1.7e308, 1.7e308], None, "larger than any two floats"),
    ],
)
def test_what_has_no_interval_says_why(sample, mean, words):
    found = estimate(sample)
    assert found.mean == (None if mean is None else pytest.approx(mean))
    assert found.interval() is None
    assert found.p_value() is None
    assert words in found.reason


def test_two_pairs_have_a_wide_interval():
    found = estimate([-0.05, -0.06])
    assert found.usable
    assert found.interval().high > 0


def test_one_run_a_hundred_times_slower_widens_and_never_decides():
    found = estimate(ratios(BASE, (94.0, 95.2, 9380.0)))
    assert found.interval().low < 0 < found.interval().high


@pytest.mark.parametrize(
    ("anchor", "candidate", "words"),
    [
        (None, 1, "anchor's median is missing"),
        (1, None, "candidate's median is missing"),
        (0, 1, "anchor's median is 0"),
        (1, 0, "candidate's median is 0"),
        (1, -1, "candidate's median is -1"),
        (1, math.nan, "not a finite number"),
        (math.inf, 1, "not a finite number"),
        (10**400, 1, "not a number that a float can hold"),
        ("five", 1, "not a number that a float can hold"),
    ],
)
def test_log_ratio_refuses_with_a_reason(anchor, candidate, words):
    reading = log_ratio(anchor, candidate)
    assert reading.value is None
    assert words in reading.reason


@UNHURRIED
@given(MEASURED, MEASURED)
def test_log_ratio_is_finite_and_changes_sign_when_swapped(a, b):
    assert math.isfinite(log_ratio(a, b).value)
    assert log_ratio(a, b).value == -log_ratio(b, a).value


@UNHURRIED
@given(LOG_RATIOS, st.randoms())
def test_shuffling_changes_nothing(sample, random):
    shuffled = list(sample)
    random.shuffle(shuffled)
    first, second = estimate(sample), estimate(shuffled)
    assert first.mean == second.mean
    assert first.sd_of_runs == pytest.approx(second.sd_of_runs, rel=1e-12)


@UNHURRIED
@given(LOG_RATIOS, st.floats(min_value=1e-6, max_value=0.1))
def test_swapping_mirrors_the_interval(sample, tick_share):
    noise = NoiseFloor(tick_share=tick_share)
    here, there = estimate(sample, noise), estimate([-d for d in sample], noise)
    assert there.mean == -here.mean
    assert there.interval().low == pytest.approx(-here.interval().high, abs=1e-15)
    assert there.interval().high == pytest.approx(-here.interval().low, abs=1e-15)


@UNHURRIED
@given(st.lists(st.integers(min_value=1, max_value=10**15), min_size=1, max_size=50))
def test_median_is_exact(samples):
    ordered = sorted(samples)
    middle = len(ordered) // 2
    true = Fraction(ordered[middle] if len(ordered) % 2 else ordered[middle - 1] + ordered[middle])
    true = true if len(ordered) % 2 else true / 2
    assert Fraction(median_ns(samples).value) == true


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        ([], "no samples"),
        ([100, 0, 100], "Sample 1 is 0 ns"),
        ([100, -1, 100], "Sample 1 is -1 ns"),
        ([100, 1.5], "Sample 1 is not an integer"),
        ([100, True], "Sample 1 is not an integer"),
        ([100, None], "Sample 1 is not an integer"),
        ([10**400], "too large"),
    ],
)
def test_median_refuses_with_a_reason(samples, words):
    assert median_ns(samples).value is None
    assert words in median_ns(samples).reason


def test_median_of_two_modes_and_of_an_outlier_is_a_sample_or_between_two():
    assert median_ns([100, 100, 100, 9000, 9000]).value == 100
    assert median_ns([100] * 29 + [10_000]).value == 100


@pytest.mark.parametrize("n", [3, 4, 5, 8, 20])
@pytest.mark.parametrize("level", [0.95, 0.975])
def test_detectable_effect_has_eighty_percent_power(n, level):
    effect = minimum_detectable_effect(0.01, n, level)
    shift = effect / (0.01 / math.sqrt(n))
    critical = scipy_stats.t.ppf((1 + level) / 2, n - 1)
    power = scipy_stats.nct.sf(critical, n - 1, shift) + scipy_stats.nct.cdf(-critical, n - 1, shift)
    assert power == pytest.approx(0.80, abs=1e-4)


def test_detectable_effect_at_two_pairs_is_finite_although_scipy_gives_none():
    assert 0.1 < minimum_detectable_effect(0.01, 2) < 0.2


@pytest.mark.parametrize(("sd", "n"), [(0.01, 1), (0.0, 5), (math.nan, 5), (None, 5), (-1.0, 5)])
def test_no_detectable_effect_without_spread(sd, n):
    assert minimum_detectable_effect(sd, n) is None


def test_detectable_effect_shrinks_with_rounds_and_grows_with_noise():
    assert minimum_detectable_effect(0.01, 8) < minimum_detectable_effect(0.01, 5)
    assert minimum_detectable_effect(0.02, 5) == pytest.approx(2 * minimum_detectable_effect(0.01, 5))


@UNHURRIED
@given(st.floats(min_value=0.001, max_value=0.05), st.floats(min_value=0.002, max_value=0.1))
def test_rounds_to_detect_is_the_fewest(sd, effect):
    rounds = rounds_to_detect(sd, effect)
    if rounds is None:
        assert minimum_detectable_effect(sd, 10_000) > effect
        return
    assert minimum_detectable_effect(sd, rounds) <= effect
    assert rounds == 3 or minimum_detectable_effect(sd, rounds - 1) > effect


def test_golden_rounds_to_settle():
    found = estimate(ratios(BASE, (94, 99, 95)))
    assert rounds_to_settle(found.mean, found.sd, math.log(0.97)) == 14


@UNHURRIED
@given(st.floats(min_value=-0.2, max_value=0.2), st.floats(min_value=0.002, max_value=0.05))
def test_rounds_to_settle_is_the_fewest_that_leave_the_bar(mean, sd):
    bar = math.log(0.97)
    rounds = rounds_to_settle(mean, sd, bar)
    if rounds is None:
        assert half_width(sd, 10_000, 0.95) >= abs(mean - bar)
        return
    assert half_width(sd, rounds, 0.95) < abs(mean - bar)
    assert rounds == 3 or half_width(sd, rounds - 1, 0.95) >= abs(mean - bar)


def test_no_number_of_rounds_settles_a_mean_on_the_bar():
    bar = math.log(0.97)
    assert rounds_to_settle(bar, 0.01, bar) is None
    assert rounds_to_settle(0.1, 0.0, bar) is None


@UNHURRIED
@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=20))
def test_benjamini_hochberg_agrees_with_scipy(p_values):
    theirs = scipy_stats.false_discovery_control(p_values, method="bh")
    assert benjamini_hochberg(p_values) == pytest.approx(list(theirs), abs=1e-12)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert holm([]) == []


@UNHURRIED
@given(st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=20))
def test_holm_is_between_the_raw_value_and_bonferroni(p_values):
    for raw, adjusted in zip(p_values, holm(p_values), strict=True):
        assert raw <= adjusted <= min(1.0, len(p_values) * raw)


def test_aa_check():
    assert aa_check([0.001, -0.002, 0.0005], 0.01).passed
    assert aa_check([0.001, 0.0011, 0.00105], 0.01).passed, "a steady 0.1% is inside the margin"
    failing = aa_check([0.05, 0.051, 0.0505], 0.01)
    assert not failing.passed
    assert "something beside the kernel" in failing.reason
    assert not aa_check([0.001, -0.001], 0.01).passed
    assert not aa_check([0.0, 0.0, 0.0], 0.01).passed, "without a tick there is no spread to trust"
    assert aa_check([0.0, 0.0, 0.0], 0.01, tick_share=0.001).passed
