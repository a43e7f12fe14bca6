"""The ops of a spec in their layer graph: neighbours from contracts, layers, tasks of each instance."""

import pytest

from v2kb.rules.layer_graph import layer_graph
from v2kb.rules.spec_view import SpecView

CHAIN = {
    "rms": {"title": "RMS norm", "producers": ["residual"], "consumers": ["W13"]},
    "w13": {"title": "W13", "producers": ["RMS norm"], "consumers": ["w2"]},
    "w2": {"title": "W2", "producers": ["w13", "topk weights"], "consumers": ["all-reduce"]},
}


def graph(instances, contracts=CHAIN, only=""):
    ops = [{"name": "", "op": slug} for slug in contracts]
    rows = [{"task": name, "op": op, "num_tasks": count} for name, op, count in instances]
    return layer_graph(SpecView({"ops": ops, "granularity": rows, "symbols": {"N": "1024"}}), contracts, only)


def layers(picture):
    return {node["name"]: node["layer"] for node in picture["nodes"]}


def arrows(picture):
    names = [node["name"] for node in picture["nodes"]]
    return {(names[first], names[second]) for first, second in picture["edges"]}


def test_a_chain_stands_in_order_and_an_edge_that_both_contracts_name_is_one():
    found = graph([])
    assert layers(found) == {
        "residual": 0, "RMS norm": 1, "W13": 2, "topk weights": 2, "W2": 3, "all-reduce": 4
    }  # fmt: skip
    assert arrows(found) == {
        ("residual", "RMS norm"), ("RMS norm", "W13"), ("W13", "W2"), ("topk weights", "W2"), ("W2", "all-reduce")
    }  # fmt: skip
    assert len(found["edges"]) == 5


@pytest.mark.parametrize(
    ("instances", "tasks", "total", "loose"),
    [
        ([("a", "w13", "8*(N/128)"), ("b", "w13", "4"), ("c", "w2", "56")], {"W13": 68, "W2": 56}, 124, []),
        ([("a", "W13", "64")], {"W13": 64}, 64, []),
        ([("a", "w13", "64"), ("b", "w13", "K")], {"W13": None}, None, []),
        ([("a", "w13", "64"), ("b", "elsewhere", "4")], {"W13": 64}, 68, ["b"]),
        ([("a", "", "64")], {}, 64, ["a"]),
        ([], {}, None, []),
    ],
)
def test_tasks_of_each_op(instances, tasks, total, loose):
    found = graph(instances)
    assert {n["name"]: n["tasks"] for n in found["nodes"] if n.get("instances")} == tasks
    assert found["tasks"] == total
    assert [item["task"] for item in found["loose"]] == loose


def test_the_instances_of_a_spec_of_one_op_need_not_name_it():
    found = graph([("a", "", "56"), ("b", "other", "4")], {"rms": CHAIN["rms"]})
    assert [item["task"] for item in found["nodes"][0]["instances"]] == ["a"]
    assert [item["task"] for item in found["loose"]] == ["b"]


def test_one_op_alone_shows_the_others_as_neighbours():
    found = graph([("a", "w13", "64"), ("b", "w2", "56")], only="w13")
    assert [(n["name"], n["kind"]) for n in found["nodes"]] == [
        ("W13", "op"), ("RMS norm", "producer"), ("w2", "consumer")
    ]  # fmt: skip
    assert (found["tasks"], found["loose"], found["layers"]) == (64, [], 3)


def test_a_circle_of_ops_ends():
    contracts = {
        "a": {"title": "A", "producers": ["B"], "consumers": ["B"]},
        "b": {"title": "B", "producers": ["A"], "consumers": ["A", "B"]},
    }
    found = graph([], contracts)
    assert arrows(found) == {("A", "B"), ("B", "A")}
    assert 0 <= min(layers(found).values()) <= max(layers(found).values()) < 2


@pytest.mark.parametrize("document", [{}, {"ops": [{"op": "rms"}]}, {"granularity": [{"task": "a"}]}])
def test_a_document_without_contracts_is_drawn(document):
    found = layer_graph(SpecView(document))
    assert found["edges"] == []
    assert found["layers"] == len(document.get("ops", []))
