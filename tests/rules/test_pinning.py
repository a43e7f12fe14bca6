"""Which op the rows of a document are of when a spec is begun over some ops."""

import pytest

from v2kb.rules.pinning import covering

W13, W2, NORM = "w13-grouped-gemm-b200", "w2-gemm-b200", "rmsnorm-b200"


@pytest.mark.parametrize(
    ("names", "ticked", "expected"),
    [
        (["W13 routed", "W13 shared", "W2 (+shared dn)"], [W13], [W13, W13, ""]),
        (["W13 routed", "W2 (+shared dn)"], [W13, W2], [W13, W2]),
        (["w2", "Other"], [W13, W2], [W2, "", W13]),
        (["anything"], [NORM], [NORM]),
        (["anything"], [W13, W2], ["", W13, W2]),
        (["B200 part", "W13"], [W13, W2], ["", W13, W2]),
        (["Up", "Down"], [NORM], ["", "", NORM]),
        ([], [NORM], [NORM]),
    ],
)
def test_a_row_is_of_the_op_that_its_name_begins_with(names, ticked, expected):
    pins = {slug: f"hash of {slug}" for slug in ticked}
    rows = covering([{"name": name, "op": "", "contract": ""} for name in names], pins)
    assert [row["op"] for row in rows] == expected
    assert [row["contract"] for row in rows] == [pins.get(op, "") for op in expected]


def test_the_last_row_without_an_op_is_not_of_an_op_that_others_are_of():
    """An export of a spec with a part that still waits for its op comes back with that part waiting."""
    rows = [{"name": "W13 routed", "op": W13}, {"name": "W2 (+shared dn)", "op": ""}]
    assert [row["op"] for row in covering(rows, {W13: "new"})] == [W13, ""]
    assert [row["op"] for row in covering([{"name": "a", "op": "gone"}, *rows[1:]], {W13: "new"})] == ["gone", W13]


def test_a_row_that_names_its_op_keeps_it():
    rows = covering([{"name": "W2", "op": W13, "contract": "old"}, {"name": "x", "op": "gone"}], {W13: "new"})
    assert rows == [{"name": "W2", "op": W13, "contract": "new"}, {"name": "x", "op": "gone"}]
