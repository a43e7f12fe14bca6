"""The card of a choice on the page of a spec: everything that its prediction commits to."""

import re
from html import unescape

import pytest

from tests import factories as f

pytestmark = pytest.mark.django_db
BANDS = [
    {"what": "W13 body", "low": "12", "high": "20", "unit": "us"},
    {"what": "W2 body", "low": "6", "high": "12", "unit": "us"},
]


def card(client, **prediction) -> str:
    """What the card of C1 says, on one line."""
    row = f.evidence_row()
    f.op()
    content = f.spec_content(row)
    content["choices"][0]["prediction"] |= prediction
    revision = f.saved_revision(content)
    client.force_login(f.designer().user)
    page = client.get(revision.spec.get_absolute_url()).content.decode()
    found = re.search(r'<article class="panel choice"[^>]* id="C1".*?</article>', page, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", found[0])).split())


def test_the_card_shows_every_band_both_thresholds_and_what_is_measured(client):
    said = card(
        client, bands=BANDS, kill_event="a hang after the ladder", park_metric="layer_wall_us", park_percent="5",
        gain_high_percent="9", deadline="2030-01-31", looks="2",
    )  # fmt: skip
    for words in (
        "falls by 5% to 9% against naive",
        "W13 body 12 to 20 us",
        "W2 body 6 to 12 us",
        "below 3% of gain, or on this event: a hang after the ladder; 1% counts as nothing",
        "layer_wall_us, parked when it grows by more than 5%",
        "3 rounds, 2 looks, TIER",
        "on small; at most 3 runs; until 2030-01-31",
    ):
        assert words in said, words


def test_amounts_stand_with_their_unit(client):
    said = card(client, gain_percent="", gain_absolute="2", kill_percent="", kill_absolute="0.5")
    assert "falls by 2 us against naive" in said
    assert "below 0.5 us of gain" in said


def test_what_is_missing_is_said(client):
    bare = card(client, kill_percent="", gain_percent="", park_metric="wall_us", park_percent="")
    assert "by an amount that is not stated" in bare
    assert "no threshold" in bare
    assert "wall_us, parked without a threshold" in bare
