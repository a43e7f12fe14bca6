"""The editor's switch between rows and channels: what was typed is the same afterwards."""

import copy

import pytest
from django.urls import reverse

from kernels.editor.convert import to_channels, to_rows
from kernels.editor.layout.barriers import CHANNELS, ONE_SHOTS, SEMS
from kernels.models import SpecDraft
from tests import factories as f
from tests.rules.barrier_tables import linear_spec
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.spec_fields import CHANNEL, ONE_SHOT, SEM
from v2kb.rules.spec_rules import check_spec


def by_name(rows):
    return sorted(rows, key=lambda row: row["name"])


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


@pytest.mark.django_db
def test_the_buttons_turn_a_draft_s_rows_into_channels_and_back(client, forms_world):
    url = reverse("kernels:spec_edit", args=[forms_world["spec"].code, "sems"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    written = grouped_gemm_spec()["sems"]
    SpecDraft.objects.filter(pk=draft.pk).update(content={**draft.content, "sems": written})
    typed = {"version": draft.version, "sems.num_op_sems": "30"}
    page = client.post(url, {**typed, "action": "convert:channels"}, follow=True).content.decode()
    for name in ("full_arrivers", "empty_phase", "tx_bytes", "reinit_empty_order"):
        assert f'name="sems.channels[0].{name}"' in page
    assert 'name="sems.one_shots[1].arrives"' in page
    draft.refresh_from_db()
    assert [channel["name"] for channel in draft.content["sems"]["channels"]] == ["W_tma", "B_sf", "mainloop"]
    client.post(url, {**typed, "version": draft.version, "action": "convert:rows"}, follow=True)
    draft.refresh_from_db()
    assert by_name(draft.content["sems"]["rows"]) == by_name(written["rows"])
