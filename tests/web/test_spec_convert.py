"""The editor's switch between rows and channels: what was typed is the same afterwards."""

import copy

from kernels.editor.convert import to_channels, to_rows
from kernels.editor.layout.barriers import CHANNELS, ONE_SHOTS, SEMS
from tests.rules.barrier_tables import linear_spec
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.spec_fields import CHANNEL, ONE_SHOT, SEM
from v2kb.rules.spec_rules import check_spec


def by_name(rows):
    return sorted(rows, key=lambda row: row["name"])


def test_every_column_of_either_form_can_be_typed():
    for table, fields in ((SEMS, SEM), (CHANNELS, CHANNEL), (ONE_SHOTS, ONE_SHOT)):
        assert {field.name for field in table.all_inputs} == set(fields)


def test_rows_become_channels_and_come_back():
    written = grouped_gemm_spec()
    document = copy.deepcopy(written)
    assert to_channels(document) == []
    assert (document["sems"]["form"], document["sems"]["rows"]) == ("channels", [])
    assert [f for f in check_spec(document) if f.path.startswith("sems")] == []
    to_rows(document)
    assert (document["sems"]["form"], document["sems"]["channels"], document["sems"]["one_shots"]) == ("rows", [], [])
    assert by_name(document["sems"]["rows"]) == by_name(written["sems"]["rows"])


def test_what_was_typed_into_a_channel_is_in_its_rows():
    document = linear_spec()
    document["sems"]["channels"][2]["empty_proof"] = "The last drain comes before FINISHED."
    to_rows(document)
    (row,) = [row for row in document["sems"]["rows"] if row["name"] == "acc_empty"]
    assert row["proof"] == "The last drain comes before FINISHED."


def test_a_row_that_fits_neither_leaves_the_draft_as_it_was():
    document = grouped_gemm_spec()
    document["sems"]["rows"][3]["pair"] = ""
    before = copy.deepcopy(document)
    assert to_channels(document) == ["mainloop", "epilogue"]
    assert document == before


def test_an_empty_table_only_changes_its_form():
    document = copy.deepcopy(grouped_gemm_spec())
    document["sems"]["rows"] = []
    assert to_channels(document) == []
    assert document["sems"]["form"] == "channels"
    to_rows(document)
    assert (document["sems"]["form"], document["sems"]["rows"]) == ("rows", [])
