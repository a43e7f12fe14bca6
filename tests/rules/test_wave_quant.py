"""Trips per warp: the arithmetic behind a claim from more warps."""

import pytest

from v2kb.rules.wave_quant import claims_more_warps, wave_quant


@pytest.mark.parametrize(
    ("items", "tasks", "old", "new", "trips", "outcome"),
    [
        (1024, 136, 4, 7, (2, 2), "tie"),
        (7168, 136, 4, 7, (14, 8), "may_win"),
        (7168, 136, 7, 4, (8, 14), "more_trips"),
        (1, 1, 1, 1, (1, 1), "tie"),
        (952, 136, 7, 8, (1, 1), "tie"),
        (953, 136, 7, 8, (2, 1), "may_win"),
    ],
)
def test_trips(items, tasks, old, new, trips, outcome):
    result = wave_quant(items, tasks, old, new)
    assert ((result.old_trips, result.new_trips), result.outcome) == (trips, outcome)


@pytest.mark.parametrize("values", [(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, -1, 1), (1, 1, 1, 0)])
def test_nothing_can_be_dealt_to_nobody(values):
    with pytest.raises(ValueError, match="positive"):
        wave_quant(*values)


@pytest.mark.parametrize(
    ("lever", "title", "claims"),
    [
        ("7-warp-mac-fold", "", True),
        ("nwarps", "", True),
        ("other", "Run 7w bodies", True),
        ("other", "nwarps = 7", True),
        ("warp-specialised-producer", "W4 loads", False),
        ("tma-de-fuse", "17 warps of wind", False),
    ],
)
def test_which_choices_claim_more_warps(lever, title, claims):
    assert claims_more_warps(lever, title) is claims
