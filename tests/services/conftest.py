"""Rows and curators that tests of several services share."""

import pytest

from tests import factories as f


@pytest.fixture
def row(db):
    """An UNTESTED row."""
    return f.evidence_row()


@pytest.fixture
def dead(db):
    """A DEAD row that blocks."""
    return f.evidence_row(f.DEAD)


@pytest.fixture
def cleo(make_actor):
    """A curator."""
    return make_actor("cleo", "curator")


@pytest.fixture
def carl(make_actor):
    """A second curator."""
    return make_actor("carl", "curator")
