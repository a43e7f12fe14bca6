"""How often two identical kernels are called different. The long table is
tests/bench/bench_aa_calibration.py.
"""

import pytest

from tests.rules.aa_simulation import NOTHING_REGISTERED, REGISTERED, false_share

SESSIONS = 2000
MOST_FALSE, LEAST_FALSE = 0.065, 0.02


@pytest.mark.parametrize("rounds", [3, 5, 8])
@pytest.mark.parametrize("drift", [0.0, 0.01])
def test_false_wins_and_regressions(rounds, drift):
    share = false_share(NOTHING_REGISTERED, SESSIONS, rounds, drift, seed=20 + rounds)
    assert LEAST_FALSE <= share <= MOST_FALSE, "the error of 5% is spent, and not more"


@pytest.mark.parametrize("drift", [0.0, 0.01])
def test_a_registered_bar_and_margin_lower_it_further(drift):
    assert false_share(REGISTERED, SESSIONS, 5, drift, seed=25) < 0.01


@pytest.mark.parametrize("rounds", [5, 8])
def test_without_alternation_drift_decides(rounds):
    assert false_share(NOTHING_REGISTERED, 500, rounds, 0.01, seed=20 + rounds, alternate=False) > 0.15
