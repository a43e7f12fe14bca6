"""What messages call a field, and what they tell a person to enter there."""

import pytest

from tests.rules.barrier_tables import grouped_gemm_channels
from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.field_words import A_NUMBER, field_words, spoken, to_enter
from v2kb.rules.spec_words import ARRIVERS
from v2kb.rules.wiring_rules import MAX_INPUTS, MAX_OUTPUTS


def test_a_path_is_called_by_the_words_of_its_form():
    assert field_words("sems.rows[3].ordinal") == "from ordinal"
    assert field_words("smem.regions[3].ordinal") == "ordinal"
    assert field_words("roles.release.owners") == "owners"
    assert spoken("smem.regions[8].slices[0].offset_bytes") == "smem regions, row 9 slices, row 1: offset (B)"
    assert spoken("engine.routing.wedge_rounds") == "engine routing: rounds of the same wedge"
    assert spoken("title") == "title"


def test_what_to_enter_agrees_with_the_rules():
    assert to_enter("wiring.tasks[0].inputs").endswith(f"at most {MAX_INPUTS}.")
    assert to_enter("wiring.tasks[0].outputs").endswith(f"at most {MAX_OUTPUTS}.")
    assert all(word in to_enter("arrivers") for word in ARRIVERS)
    assert to_enter("engine.m") == A_NUMBER
    assert to_enter("wiring.tasks[0].tma", "Answer yes or no.") == "Answer yes or no."


@pytest.mark.parametrize(
    ("change", "rule", "fix"),
    [
        ({"sems__rows__0__producer": ""}, "R23", "Name the role that arrives, such as loader."),
        ({"sems__rows__0__kind": ""}, "R23", "Choose warp, tma or mma."),
        ({"smem__regions__0__size_bytes": ""}, "R01", "Write its bytes, as a number or a formula such as 128*128."),
        ({"granularity__0__listed": ""}, "R40", "Write the number of tasks that the plan states; "),
    ],
)
def test_a_blank_says_what_to_enter(change, rule, fix):
    doc = changed(grouped_gemm_spec(), **change)
    (missing,) = found(doc, rule, "missing_input")
    assert missing.fix.startswith(fix)


def test_an_edge_of_a_channel_is_asked_as_the_row_that_it_is():
    doc = grouped_gemm_channels()
    doc["sems"]["channels"][0] |= {"consumer": "", "consumer_kind": ""}
    said = {(f.path, f.message, f.fix) for f in found(doc, "R23", "missing_input")}
    cell = "sems.channels[0].consumer"
    assert (cell, "W_tma doesn't say who waits.", "Name the role that waits, such as mma.") in said
    assert (cell, "mma doesn't say who arrives.", "Name the role that arrives, such as loader.") in said
    kind = "mma doesn't say how it is arrived (warp, tma or mma)."
    assert (f"{cell}_kind", kind, "Choose warp, tma or mma.") in said
