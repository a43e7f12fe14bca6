"""Print how often two identical kernels are called different, by estimator, order of runs, rounds and drift.

Run from the repository root: `python -m tests.bench.bench_aa_calibration [sessions]`. The shares of the
paired estimator in ABBA order should stay near 5%; pooling raw samples and unbalanced orders show what they
would cost.
"""

import random
import sys

import numpy as np
from scipy import stats

from tests.rules.aa_simulation import NOTHING_REGISTERED, REGISTERED, RUN_SD, false_share, order

LAUNCHES = 30
SAMPLE_SD = 0.01
ROUNDS = (3, 5, 8)
DRIFTS = (0.0, 0.01)


def pooled_false_share(count: int, rounds: int, drift: float, seed: int) -> float:
    """Return the share of sessions that a t test over all raw samples, pooled across runs, calls different
    at 5%.
    """
    rng, noise = random.Random(seed), np.random.default_rng(seed)
    wrong = 0
    for _ in range(count):
        samples: dict[str, list[np.ndarray]] = {"anchor": [], "candidate": []}
        sides = order(rounds, rng)
        for slot, side in enumerate(sides):
            offset = drift * slot / (len(sides) - 1) + noise.normal(0.0, RUN_SD)
            samples[side].append(offset + noise.normal(0.0, SAMPLE_SD, LAUNCHES))
        pooled = [np.concatenate(samples[side]) for side in ("anchor", "candidate")]
        wrong += stats.ttest_ind(*pooled, equal_var=False).pvalue < 0.05
    return wrong / count


def main(count: int = 2000) -> None:
    print(f"{count} A/A sessions each; share called different (WIN or REGRESS)")
    print(f"{'rounds':>6} {'drift':>6} {'paired ABBA':>12} {'K 3%, d 1%':>11} {'AAA BBB':>8} {'pooled':>7}")
    for rounds in ROUNDS:
        for drift in DRIFTS:
            shares = (
                false_share(NOTHING_REGISTERED, count, rounds, drift, rounds),
                false_share(REGISTERED, count, rounds, drift, rounds),
                false_share(NOTHING_REGISTERED, count, rounds, drift, rounds, alternate=False),
                pooled_false_share(count, rounds, drift, rounds),
            )
            texts = [f"{100 * share:.1f}%" for share in shares]
            print(f"{rounds:>6} {drift:>6.0%} {texts[0]:>12} {texts[1]:>11} {texts[2]:>8} {texts[3]:>7}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
