"""Op contracts: what is refused, with which field."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st

from v2kb.rules.canonical import content_hash
from v2kb.rules.op_contract import empty_contract, read_contract, resolve_shape

GOOD = {
    "title": "RMS norm",
    "kind": "reduction",
    "family": "B",
    "axes": {"rows": {"symbol": True}, "hidden": {"value": "7168"}},
    "inputs": [
        {"name": "x", "shape": ["rows", "hidden"], "dtype": "bfloat16"},
        {"name": "w", "shape": ["hidden"], "kind": "weight"},
    ],
    "outputs": [{"name": "y", "shape": ["rows", "hidden"], "dtype": "bfloat16"}],
    "envelope": "cpu",
    "target": "cpu",
    "scope": {"arch": ["cpu"]},
    "reference": "def reference(inputs):\n    return {'y': inputs['x']}\n",
    "workloads": [{"name": "decode", "axes": {"rows": "1"}}],
}


def changed(path, value):
    contract = copy.deepcopy(GOOD)
    target = contract
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return contract


def test_a_good_contract_is_canonical_and_stable():
    contract, problems = read_contract(GOOD)
    assert problems == []
    assert contract["tolerance"] == {"cos_min": "0.999", "rel_max": "0.03"}
    again, problems = read_contract(contract)
    assert problems == []
    assert content_hash(again) == content_hash(contract)
    assert resolve_shape(contract, contract["inputs"][0], contract["workloads"][0]) == [1, 7168]


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        (["title"], "", "title"),
        (["envelope"], "", "envelope"),
        (["envelope"], "standalone", "target"),
        (["target"], "sm_70", "target"),
        (["kind"], "magic", "kind"),
        (["inputs"], [], "inputs"),
        (["inputs", 1, "name"], "x", "inputs[1].name"),
        (["inputs", 0, "shape"], ["batch"], "inputs[0].shape[0]"),
        (["inputs", 0, "dtype"], "float7", "inputs[0].dtype"),
        (["axes", "rows"], {}, "axes.rows"),
        (["axes", "rows"], {"symbol": True, "value": "3"}, "axes.rows"),
        (["workloads", 0, "axes"], {}, "workloads[0].axes"),
        (["workloads", 0, "axes"], {"rows": "1", "hidden": "2"}, "workloads[0].axes"),
        (["workloads", 0, "axes"], {"rows": "999999999"}, "workloads[0].axes"),
        (["workloads", 0, "axes"], {"rows": "-1"}, "workloads[0].axes.rows"),
        (["reference"], "def reference(:", "reference"),
        (["reference"], "def other(inputs): pass", "reference"),
        (["surprise"], 1, "surprise"),
    ],
)
def test_what_is_wrong_is_named_with_its_field(path, value, field):
    _, problems = read_contract(changed(path, value))
    assert field in [problem.field for problem in problems]
    assert all(problem.message for problem in problems)


KEYS = st.sampled_from([*empty_contract(), "other"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=20,
)


@given(JSON)
def test_any_json_is_read_without_an_error_and_gives_a_canonical_document(raw):
    contract, _ = read_contract(raw)
    assert set(contract) == set(empty_contract())
    content_hash(contract)
