"""R46 to R53: what the runtime must know of a task, and when a spec needs to say it."""

import re

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from v2kb.rules.spec_rules import spec_report
from v2kb.rules.wiring_rules import rebuild_class

RULES = [f"R{number}" for number in range(46, 54)]


def wired(task=0, **cells):
    return changed(grouped_gemm_spec(), **{f"wiring__tasks__{task}__{name}": value for name, value in cells.items()})


def seen(doc, rule):
    return [(f.severity, f.path) for f in found(doc, rule)]


# --- when the table is asked for ---


@pytest.mark.parametrize(
    ("family", "envelope", "asked"),
    [
        ("A", None, True), ("C", None, True), ("B", None, False), ("D", None, False), ("E", None, False),
        ("A", "fused_megakernel", True), ("B", "fused_megakernel", True), ("C", "fused_megakernel", True),
        ("D", "fused_megakernel", False), ("E", "fused_megakernel", False),
        ("A", "standalone", False), ("B", "cpu", False),
    ],
)  # fmt: skip
def test_who_needs_a_wiring_table(family, envelope, asked):
    doc = changed(grouped_gemm_spec(), wiring={}, engine__family=family)
    ops = None
    if envelope:
        doc, ops = changed(doc, ops=[{"op": "w13", "contract": "c"}]), {"w13": {"envelope": envelope}}
    states = spec_report(doc, ops=ops).states
    assert {states[rule] for rule in RULES} == {"missing_input" if asked else "not_applicable"}
    assert [f.path for f in found(doc, "R46", "missing_input", ops=ops)] == (["wiring.tasks"] if asked else [])


@pytest.mark.parametrize(
    ("cell", "rule", "words"),
    [
        ("id", "R46", "id"),
        ("register_split", "R50", "register split"),
        ("wrapper_inputs", "R50", "wrapper new_input calls"),
        ("descriptor_rank", "R52", "descriptor rank"),
    ],
)
def test_a_missing_number_names_the_task_and_the_field_and_says_what_to_write(cell, rule, words):
    (finding,) = found(wired(task=1, **{cell: ""}), rule, "missing_input")
    assert finding.message == f"W2: {words} is not given."
    assert finding.fix.startswith(("Write ", "Count "))
    assert finding.fix != "Write a number or a formula."
    (finding,) = found(wired(task=1, **{cell: "2,1"}), rule, "missing_input")
    assert finding.message.startswith(f'wiring tasks, row 2: {words} "2,1" has no value: ')


def test_a_missing_answer_says_what_can_be_chosen():
    fixes = {"tree": "Name it, such as mpk or upstream: ids differ per tree.", "tma": "Answer yes or no.",
             "indexed_by": "Choose task_offset or nothing."}  # fmt: skip
    for cell, fix in fixes.items():
        (finding,) = [f for f in spec_report(wired(**{cell: ""})).findings if f.kind == "missing_input"]
        assert (finding.path, finding.fix) == (f"wiring.tasks[0].{cell}", fix)


def test_a_norm_without_a_contract_needs_none():
    assert {spec_report(norm_spec()).states[rule] for rule in RULES} == {"not_applicable"}


def test_a_table_is_judged_wherever_it_is_given():
    table = grouped_gemm_spec()["wiring"]
    doc = changed(norm_spec(), wiring={**table, "tasks": [{**table["tasks"][0], "inputs": "15"}]})
    assert seen(doc, "R50")


# --- R46 ---


def test_r46_two_types_with_one_id():
    (finding,) = found(wired(1, id="358"), "R46")
    assert (finding.severity, finding.path) == ("E", "wiring.tasks[1].id")
    assert finding.message == "W2 has the id 358, which TASK_W13_PIPE has in mpk."
    assert seen(wired(1, id="358", tree="upstream"), "R46") == []


@pytest.mark.parametrize(
    ("cells", "severities"),
    [
        ({"id": "348"}, ["E"]),
        ({"id": "348", "enum": "TASK_DSV3_FFN_MEGA_V2"}, []),
        ({"id": "244"}, []),
        ({"id": "244", "tree": "upstream"}, ["E"]),
        ({"id": "356", "enum": "TASK_DSV3_FFN_W13_PIPE_V2"}, ["W"]),
        ({"id": "356"}, ["E", "W"]),
        ({"literal_elsewhere": "yes"}, ["W"]),
    ],
)
def test_r46_tasks_and_placeholders_of_the_tree(cells, severities):
    assert [f.severity for f in found(wired(**cells), "R46")] == severities


def test_r46_the_published_collision():
    (finding,) = found(wired(id="356", enum="TASK_DSV3_FFN_W13_PIPE_V2"), "R46")
    assert finding.message == "W13 has the id 356, the same number as the placeholder MULTIGPU_TASK_END."


def test_r46_a_placeholder_is_told_before_the_tree_is_named():
    assert [f.severity for f in found(wired(id="356", tree=""), "R46")] == ["W"]


def test_r46_placeholders_of_the_spec_win():
    doc = wired(id="356", enum="TASK_DSV3_FFN_W13_PIPE_V2")
    moved = changed(doc, wiring__placeholders={"MULTIGPU_TASK_END": "400", "OTHER_END": "359"})
    assert [(f.path, f.facts["placeholder"]) for f in found(moved, "R46")] == [("wiring.tasks[1].id", "OTHER_END")]


@pytest.mark.parametrize(
    ("cells", "free"),
    [
        ({"id": ""}, 360),
        ({"id": "348"}, 360),
        ({"id": "356", "enum": "TASK_DSV3_FFN_W13_PIPE_V2"}, 360),
        ({"id": "", "tree": "upstream"}, 246),
        ({"id": "244", "tree": "upstream", "tma": "no"}, 256),
        ({"id": "", "tree": "upstream", "tma": ""}, 256),
        ({"id": "", "tree": "elsewhere"}, None),
        ({"id": "", "tree": ""}, None),
    ],
)
def test_r46_names_an_id_that_the_rules_let_stand(cells, free):
    """W2 of the example has 359 in mpk. What stands in the hint is entered as it is, and nothing is said of it."""
    doc = wired(**cells)
    said = [f.fix for f in spec_report(doc).findings if f.rule == "R46" and f.path == "wiring.tasks[0].id"]
    named = [int(number) for fix in said for number in re.findall(r"such as (\d+)", fix)]
    assert said
    assert set(named) == ({free} if free else set())
    if free:
        mended = changed(doc, wiring__tasks__0__id=str(free))
        told = [f for f in spec_report(mended).findings if f.rule in ("R46", "R47", "R48")]
        assert [f for f in told if f.path == "wiring.tasks[0].id"] == []


def test_r46_names_no_id_of_a_placeholder():
    doc = changed(wired(id="", tree="mpk"), wiring__placeholders={"OTHER_END": "360"})
    (missing,) = found(doc, "R46", "missing_input")
    assert missing.fix == (
        "Write its number in the runtime's enum of its tree, such as 361, the next one that is not known to be taken "
        "in mpk."
    )


@pytest.mark.parametrize("cell", ["enum", "id", "tree", "literal_elsewhere"])
def test_r46_missing(cell):
    assert [f.path for f in found(wired(**{cell: ""}), "R46", "missing_input")] == [f"wiring.tasks[0].{cell}"]


# --- R47, R48 ---


@pytest.mark.parametrize(
    ("number", "tma", "entries", "fires"),
    [
        ("232", "yes", "no", False),
        ("255", "yes", "no", False),
        ("231", "yes", "no", True),
        ("256", "yes", "no", True),
        ("356", "yes", "no", True),
        ("356", "yes", "yes", False),
        ("242", "no", "", True),
        ("232", "no", "no", True),
        ("231", "no", "", False),
        ("256", "no", "", False),
        ("358", "no", "", False),
    ],
)
def test_r47_descriptors(number, tma, entries, fires):
    findings = seen(wired(id=number, tma=tma, descriptor_entries=entries), "R47")
    assert findings == ([("E", "wiring.tasks[0].id")] if fires else [])


def test_r47_asks_for_entries_only_outside_the_range():
    assert [f.path for f in found(wired(descriptor_entries=""), "R47", "missing_input")] == [
        "wiring.tasks[0].descriptor_entries"
    ]
    assert found(wired(id="240", descriptor_entries=""), "R47", "missing_input") == []
    assert [f.path for f in found(wired(tma=""), "R47", "missing_input")] == ["wiring.tasks[0].tma"]


@pytest.mark.parametrize(
    ("number", "severity"),
    [
        ("150", None), ("151", "W"), ("197", "W"), ("198", None), ("299", None), ("300", "I"), ("326", "I"),
        ("356", "I"), ("357", None),
    ],
)  # fmt: skip
def test_r48_other_ranges(number, severity):
    assert seen(wired(id=number), "R48") == ([(severity, "wiring.tasks[0].id")] if severity else [])


def test_r48_the_end_of_the_multi_gpu_range_is_the_trees():
    doc = changed(wired(id="358"), wiring__placeholders={"MULTIGPU_TASK_END": "358"})
    assert seen(doc, "R48") == [("I", "wiring.tasks[0].id")]


# --- R49 to R52 ---


@pytest.mark.parametrize(
    ("cells", "path"),
    [
        ({"in_offset_list": "no"}, "in_offset_list"),
        ({"indexed_by": "nothing", "in_offset_list": ""}, "indexed_by"),
        ({"indexed_by": "nothing", "type": "other"}, None),
    ],
)
def test_r49_the_offset_list(cells, path):
    assert seen(wired(**cells), "R49") == ([("E", f"wiring.tasks[0].{path}")] if path else [])


def test_r49_counts_the_tasks_of_the_type():
    (finding,) = found(wired(indexed_by="nothing"), "R49")
    assert finding.facts == {"tasks": 68}
    one = changed(wired(1, indexed_by="nothing"), granularity__2__num_tasks="1", granularity__2__listed="1")
    assert seen(one, "R49") == []


@pytest.mark.parametrize("cell", ["indexed_by", "in_offset_list"])
def test_r49_missing(cell):
    assert [f.path for f in found(wired(**{cell: ""}), "R49", "missing_input")] == [f"wiring.tasks[0].{cell}"]


@pytest.mark.parametrize(
    ("cells", "paths"),
    [
        ({"graph_tuple": "(5,1)"}, []),
        ({"graph_tuple": "4, 1"}, ["graph_tuple"]),
        ({"graph_tuple": "5, 2"}, ["graph_tuple"]),
        ({"register_split": "4"}, ["register_split"]),
        ({"wrapper_inputs": "5"}, ["wrapper_inputs"]),
        ({"inputs": "14", "register_split": "14", "graph_tuple": "14, 1", "wrapper_inputs": "15"}, []),
        ({"inputs": "15", "register_split": "15", "graph_tuple": "15, 1", "wrapper_inputs": "16"}, ["inputs"]),
        ({"outputs": "3", "graph_tuple": "5, 3", "wrapper_inputs": "8"}, []),
        ({"outputs": "4", "graph_tuple": "5, 4", "wrapper_inputs": "9"}, ["outputs"]),
        ({"inputs": "6"}, ["register_split", "graph_tuple", "wrapper_inputs"]),
    ],
)
def test_r50_arity(cells, paths):
    found_paths = {f.path for f in found(wired(**cells), "R50")}
    assert found_paths == {f"wiring.tasks[0].{path}" for path in paths}


@pytest.mark.parametrize(
    ("cell", "value"),
    [("inputs", ""), ("outputs", "x"), ("register_split", ""), ("wrapper_inputs", ""), ("graph_tuple", ""),
     ("graph_tuple", "5"), ("graph_tuple", "five, one")],
)  # fmt: skip
def test_r50_missing(cell, value):
    assert [f.path for f in found(wired(**{cell: value}), "R50", "missing_input")] == [f"wiring.tasks[0].{cell}"]


def test_r51_parameters_of_the_variant():
    (finding,) = found(wired(variant_parameters=["experts"]), "R51")
    assert (finding.path, finding.facts) == ("wiring.tasks[0].variant_parameters", {"absent": ["always_active"]})
    none = wired(parameters=[], variant_parameters=[])
    assert spec_report(none).states["R51"] == "not_applicable"


@pytest.mark.parametrize(("rank", "dimensions", "fires"), [("5", "3", True), ("2", "3", True), ("5", "5", False)])
def test_r52_rank(rank, dimensions, fires):
    doc = wired(descriptor_rank=rank, instruction_dimensions=dimensions)
    assert seen(doc, "R52") == ([("E", "wiring.tasks[0].instruction_dimensions")] if fires else [])
    plain = changed(wired(id="358", tma="no", descriptor_rank=rank, instruction_dimensions=dimensions))
    assert seen(plain, "R52") == []


def test_r52_missing():
    doc = wired(descriptor_rank="", instruction_dimensions="")
    assert {f.path.rpartition(".")[2] for f in found(doc, "R52", "missing_input")} == {
        "descriptor_rank", "instruction_dimensions",
    }  # fmt: skip
    no_tma = changed(wired(tma="no"), wiring__tasks__1__tma="no")
    assert spec_report(no_tma).states["R52"] == "not_applicable"


# --- R53 ---


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("tasks/blackwell_v2/rmsnorm_v2.cuh", "A"),
        ("tasks/blackwell_v2/rmsnorm_v2_spec.h", "B"),
        ("src/kernel/task_register.cc", "B"),
        ("src/kernel/graph.cc", "B"),
        ("src/kernel/runtime.cc", "B"),
        ("include/mirage/persistent_kernel/runtime_header.h", "B"),
        ("python/mirage/mpk/persistent_kernel.py", ""),
    ],
)
def test_r53_classes(path, kind):
    assert rebuild_class(path) == kind
    findings = found(changed(grouped_gemm_spec(), wiring__files=[{"path": path, "what": ""}]), "R53")
    assert [(f.severity, f.facts["library"]) for f in findings] == ([("I", [path])] if kind == "B" else [])


def test_r53_missing_files():
    doc = changed(grouped_gemm_spec(), wiring__files=[])
    assert [f.path for f in found(doc, "R53", "missing_input")] == ["wiring.files"]
