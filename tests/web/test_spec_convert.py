"""The editor's switch between rows and channels: what was typed is the same afterwards."""

import copy

import pytest
from django.urls import reverse

from kernels.editor.convert import changes, to_channels, to_rows
from kernels.editor.layout.barriers import CHANNELS, ONE_SHOTS, SEMS
from kernels.models import SpecDraft
from tests import factories as f
from tests.rules.barrier_tables import linear_spec
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.spec_fields.barriers import CHANNEL, ONE_SHOT, SEM
from v2kb.rules.spec_rules import check_spec


def test_every_column_of_either_form_can_be_typed():
    for table, fields in ((SEMS, SEM), (CHANNELS, CHANNEL), (ONE_SHOTS, ONE_SHOT)):
        assert {typed.name for typed in table.all_inputs} == set(fields)


def test_rows_become_channels_and_come_back():
    written = grouped_gemm_spec()
    document = copy.deepcopy(written)
    assert to_channels(document) == []
    assert (document["sems"]["form"], document["sems"]["rows"]) == ("channels", [])
    assert [found for found in check_spec(document) if found.path.startswith("sems")] == []
    to_rows(document)
    assert (document["sems"]["form"], document["sems"]["channels"], document["sems"]["one_shots"]) == ("rows", [], [])
    assert document["sems"]["rows"] == written["sems"]["rows"]


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


@pytest.mark.django_db
def test_the_buttons_turn_a_draft_s_rows_into_channels_and_back(client, forms_world):
    url = reverse("kernels:spec_edit", args=[forms_world["spec"].code, "sems"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    whole = grouped_gemm_spec()
    written = whole["sems"]
    SpecDraft.objects.filter(pk=draft.pk).update(
        content={**draft.content, "sems": written, "symbols": whole["symbols"]}
    )
    typed = {"version": draft.version, "sems.num_op_sems": "30"}
    page = client.post(url, {**typed, "action": "convert:channels"}, follow=True).content.decode()
    for name in ("full_arrivers", "empty_phase", "tx_bytes", "reinit_empty_order"):
        assert f'name="sems.channels[0].{name}"' in page
    assert 'name="sems.one_shots[1].arrives"' in page
    draft.refresh_from_db()
    assert [channel["name"] for channel in draft.content["sems"]["channels"]] == ["W_tma", "B_sf", "mainloop"]
    client.post(url, {**typed, "version": draft.version, "action": "convert:rows"}, follow=True)
    draft.refresh_from_db()
    assert draft.content["sems"]["rows"] == written["rows"]


@pytest.mark.django_db
def test_what_a_conversion_changes_is_said_before_it_changes_anything(client, forms_world):
    url = reverse("kernels:spec_edit", args=[forms_world["spec"].code, "sems"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    whole = grouped_gemm_spec()
    document = {**draft.content, "sems": whole["sems"], "symbols": whole["symbols"]}
    rows = document["sems"]["rows"]
    rows[0], rows[1] = rows[1], rows[0]
    for row in rows[:2]:
        row["first_phase"] = ""
    SpecDraft.objects.filter(pk=draft.pk).update(content=document)
    answer = client.post(url, {"version": draft.version, "action": "convert:channels"})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "first phase becomes 0: B_sf, W_tma." in page
    assert "As rows again they would stand as W_tma, B_sf, mma," in page
    assert 'value="convert:channels:1"' in page
    draft.refresh_from_db()
    assert draft.content["sems"]["rows"] == rows
    client.post(url, {"version": draft.version, "action": "convert:channels:1"})
    draft.refresh_from_db()
    assert draft.content["sems"]["form"] == "channels"
    assert len(draft.content["sems"]["channels"]) == 3


def test_cells_of_channels_that_no_row_holds_are_said():
    document = grouped_gemm_spec()
    to_channels(document)
    assert changes(document, "rows") == []
    document["sems"]["channels"][1]["empty_proof"] = "Drained."
    assert changes(document, "rows") == ["proof, empty Drained. is lost: B_sf."]
