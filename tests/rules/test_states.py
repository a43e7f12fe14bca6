import pytest

from v2kb.rules.states import (
    SPEC_STATES,
    TABLES,
    SpecFacts,
    move_refused,
    requeue_refused,
    spec_state,
)

ALLOWED = {
    ("proposal", "draft", "open"),
    ("proposal", "draft", "withdrawn"),
    ("proposal", "open", "accepted"),
    ("proposal", "open", "rejected"),
    ("proposal", "open", "withdrawn"),
    ("proposal", "open", "superseded"),
    ("run", "queued", "claimed"),
    ("run", "queued", "cancelled"),
    ("run", "claimed", "running"),
    ("run", "claimed", "queued"),
    ("run", "claimed", "finished"),
    ("run", "claimed", "cancelled"),
    ("run", "running", "queued"),
    ("run", "running", "finished"),
    ("run", "running", "cancelled"),
    ("anchor", "UNVERIFIED", "PINNED"),
    ("anchor", "PINNED", "PINNED"),
    ("anchor", "PINNED", "STALE"),
    ("anchor", "STALE", "PINNED"),
}
EVERY_MOVE = [(thing, a, b) for thing, table in TABLES.items() for a in table for b in table]


@pytest.mark.parametrize(("thing", "current", "wanted"), EVERY_MOVE)
def test_every_move_of_every_table(thing, current, wanted):
    refused = move_refused(thing, current, wanted)
    if (thing, current, wanted) in ALLOWED:
        assert refused is None
        return
    assert refused is not None
    assert current in refused.message
    assert wanted in refused.message
    assert all(state in refused.message for state in refused.allowed)


def test_refusals_say_what_is_possible():
    assert move_refused("proposal", "draft", "accepted").message == (
        "This proposal is draft and can't become accepted; it can become open or withdrawn."
    )
    assert "is final" in move_refused("run", "finished", "running").message
    assert move_refused("run", "finished", "queued", "run-7").message.startswith("run-7 is finished")
    assert "no state 'flying'" in move_refused("run", "queued", "flying").message
    assert "no state 'flying'" in move_refused("run", "flying", "queued").message
    with pytest.raises(KeyError):
        move_refused("spec", "draft", "in review")


@pytest.mark.parametrize(
    ("attempt", "outcome", "again"),
    [(1, "", True), (1, "INFRA", True), (2, "", False), (2, "INFRA", False), (1, "WEDGE", False), (1, "PASS", False)],
)
def test_a_run_is_attempted_twice_at_most(attempt, outcome, again):
    assert (requeue_refused(attempt, outcome) == "") is again


READY = SpecFacts(
    head_revision="r2",
    submitted_revision="r2",
    approved_revision="r2",
    anchor_states=("PINNED", "PINNED"),
    registrations=2,
    sealed=2,
)


def ready(**changes):
    return spec_state(SpecFacts(**(vars(READY) | changes)))


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({}, "verdict-ready", "every anchor pinned"),
        ({"anchor_states": ("PINNED", "STALE")}, "approved to build", "1 of 2 anchors not pinned"),
        ({"anchor_states": ("UNVERIFIED",)}, "approved to build", "1 anchor not pinned"),
        ({"anchor_states": ()}, "approved to build", "no anchor"),
        ({"sealed": 1}, "approved to build", "1 of 2 predictions not sealed"),
        ({"sealed": 0}, "approved to build", "2 predictions not sealed"),
        ({"registrations": 0, "sealed": 0}, "approved to build", "no prediction"),
        ({"moved_pins": ("D3", "W1")}, "stale", "D3, W1"),
        ({"approved_revision": ""}, "in review", "waits for review"),
        ({"approved_revision": "r1"}, "in review", "after its approval"),
        ({"approved_revision": "r1", "submitted_revision": "r1"}, "draft", "after its approval"),
        ({"approved_revision": "", "submitted_revision": ""}, "draft", "Not submitted"),
        ({"approved_revision": "", "submitted_revision": "", "head_revision": ""}, "draft", "Nothing was submitted"),
        ({"stopped_reason": "D3 blocks it."}, "stopped", "D3 blocks it."),
        ({"archived": True, "stopped_reason": "x"}, "archived", "archived"),
    ],
)
def test_spec_state_follows_from_facts(changes, name, words):
    state = ready(**changes)
    assert state.name == name
    assert words in state.reason
    assert name in SPEC_STATES


def test_an_unapproved_spec_is_not_stale_when_evidence_moves():
    assert ready(approved_revision="", moved_pins=("D3",)).name == "in review"
