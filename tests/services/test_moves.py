"""Who may move from what to what stands in one table: no service sets a state past it."""

import ast
from pathlib import Path

import pytest

from kernels.models import Anchor, Run
from v2kb.core.errors import Conflict
from v2kb.core.moves import move, require_move

ROOT = Path(__file__).resolve().parents[2]
# Files of other things that have states of their own.
OTHER_THINGS = ("import_",)
SERVICES = sorted(
    path
    for app in ("kernels", "evidence")
    for path in (ROOT / app / "services").glob("*.py")
    if not path.name.startswith(OTHER_THINGS)
)


def set_by_hand(source: str) -> list[int]:
    """The lines that assign to an attribute `state`."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        targets = node.targets if isinstance(node, ast.Assign) else []
        for target in targets:
            parts = target.elts if isinstance(target, ast.Tuple) else [target]
            lines += [part.lineno for part in parts if isinstance(part, ast.Attribute) and part.attr == "state"]
    return lines


@pytest.mark.parametrize("path", SERVICES, ids=lambda path: f"{path.parents[1].name}.{path.stem}")
def test_no_service_sets_a_state_by_hand(path):
    assert set_by_hand(path.read_text(encoding="utf-8")) == []


def test_the_search_finds_what_it_looks_for():
    assert set_by_hand("run.state = 1\nrun.state, run.outcome = 1, 2\nstate = 3\n") == [1, 2]


def test_a_move_sets_the_state_and_a_refused_one_does_not():
    run = Run(public_id="run-7", state=Run.State.CLAIMED)
    move(run, Run.State.RUNNING, "run.over")
    assert run.state == "running"
    with pytest.raises(Conflict) as caught:
        move(run, Run.State.CLAIMED, "run.over")
    assert run.state == "running"
    assert caught.value.code == "run.over"
    assert (
        caught.value.message
        == "run-7 is running and can't become claimed; it can become queued or finished or cancelled."
    )
    assert caught.value.facts == {"state": "running", "allowed": ["queued", "finished", "cancelled"]}


def test_an_anchor_goes_stale_once_and_is_pinned_again():
    anchor = Anchor(name="naive", state=Anchor.State.UNVERIFIED)
    with pytest.raises(Conflict):
        require_move(anchor, Anchor.State.STALE, "anchor.not_pinned")
    for state in (Anchor.State.PINNED, Anchor.State.PINNED, Anchor.State.STALE, Anchor.State.PINNED):
        move(anchor, state, "anchor.not_pinned")
    assert anchor.state == "PINNED"
