"""Rows of the spec editor: every button, rows inside rows, names of their own, and the two forms of the semaphores."""

import copy

import pytest
from django.http import QueryDict
from django.urls import reverse

from kernels.editor import convert
from kernels.editor.forms import read_section, replace_at
from kernels.editor.layout import BY_SLUG, SECTIONS, every_table
from kernels.editor.layout.record import QUALITY_BAR
from kernels.editor.places import field_url, form_path, label_of, section_of_path
from kernels.editor.screen import Page
from kernels.models import SpecDraft
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec, ring_gemm_spec
from v2kb.rules.spec_document import empty_row, empty_spec, normalise
from v2kb.rules.spec_fields import DOCUMENT, ROW_FIELDS

CHOICE_PAGE = ("choices", "choices.prediction", "choices.prediction.bands")


def act(document, section: str, action: str, **typed: str):
    """The draft after `action` on the page of `section`, whose form was left as it was but for what was typed."""
    form = QueryDict(Page(section).form_of(document), mutable=True)
    for name, value in typed.items():
        form[name] = value
    return read_section(BY_SLUG[section], form, document, action)


def names(document) -> list[str]:
    return [region["name"] for region in document["smem"]["regions"]]


@pytest.mark.parametrize("section", [s.slug for s in SECTIONS if s.slug != "choices"])
@pytest.mark.parametrize("build", [grouped_gemm_spec, ring_gemm_spec])
def test_a_section_that_is_saved_unchanged_changes_nothing(section, build):
    document = build()
    if section == "audit":
        document["self_audit"] = [{"item": "x", "answer": "yes", "where": ""}]
    assert normalise(act(document, section, "save")) == (document, [])


def test_every_field_of_the_document_has_a_place_in_the_editor():
    inputs = {i.name for section in SECTIONS for i in section.inputs}
    tables = {}
    for section in SECTIONS:
        for path, table in every_table(section.tables):
            tables.setdefault(path, set()).update(
                {i.name for i in table.all_inputs} | {inner.path for inner in table.tables}
            )
    for path, fields in ROW_FIELDS.items():
        if path not in CHOICE_PAGE:
            assert tables[path] == set(fields), path
    blank = empty_spec()

    def leaves(value, path):
        if isinstance(value, dict) and value:
            for name, inner in value.items():
                yield from leaves(inner, f"{path}.{name}" if path else name)
        else:
            yield path

    named = {path for path, table in every_table(tuple(t for s in SECTIONS for t in s.tables)) if table.named}
    assert set(leaves(blank, "")) - inputs - set(tables) - named - {"choices", "sems.form"} == set()
    assert set(DOCUMENT) == {part.partition(".")[0] for section in SECTIONS for part in section.covers}


@pytest.mark.parametrize(
    ("action", "after"),
    [
        ("up:smem.regions:1", ["W1", "W0", "W2"]),
        ("up:smem.regions:0", ["W0", "W1", "W2"]),
        ("down:smem.regions:0", ["W1", "W0", "W2"]),
        ("move:smem.regions:0:2", ["W1", "W2", "W0"]),
        ("move:smem.regions:2:0", ["W2", "W0", "W1"]),
        ("move:smem.regions:2:9", ["W0", "W1", "W2"]),
        ("remove:smem.regions:1", ["W0", "W2"]),
        ("copy:smem.regions:1", ["W0", "W1", "W3", "W2"]),
        ("add:smem.regions", ["W0", "W1", "W2", ""]),
        ("down:elsewhere:0", ["W0", "W1", "W2"]),
    ],
)
def test_buttons_of_rows(action, after):
    document = grouped_gemm_spec()
    del document["smem"]["regions"][3:]
    assert names(act(document, "smem", action)) == after


def test_rows_inside_a_row_have_the_same_buttons():
    document = grouped_gemm_spec()
    place = "smem.regions[8].slices"
    slices = lambda d: [part["name"] for part in d["smem"]["regions"][8]["slices"]]  # noqa: E731
    assert slices(document) == ["B", "SFA", "SFB", "taddr"]
    assert slices(act(document, "smem", f"move:{place}:3:0")) == ["taddr", "B", "SFA", "SFB"]
    assert slices(act(document, "smem", f"remove:{place}:1")) == ["B", "SFB", "taddr"]
    added = act(document, "smem", f"add:{place}")
    assert slices(added) == ["B", "SFA", "SFB", "taddr", ""]
    assert added["smem"]["regions"][8]["slices"][4] == empty_row("smem.regions.slices")
    copied = act(document, "smem", "copy:smem.regions:8")["smem"]["regions"]
    assert copied[9]["slices"] == copied[8]["slices"]


def test_ordinals_are_numbered_anew_over_slots():
    document = ring_gemm_spec()
    document["smem"]["regions"].reverse()
    rows = act(document, "smem", "renumber:smem.regions")["smem"]["regions"]
    assert [(row["name"], row["ordinal"]) for row in rows] == [("BSF", "0"), ("W", "1")]
    sems = act(grouped_gemm_spec(), "sems", "renumber:sems.rows")["sems"]["rows"]
    assert [row["ordinal"] for row in sems] == [row["ordinal"] for row in grouped_gemm_spec()["sems"]["rows"]]


def test_the_two_views_of_the_semaphores_keep_each_others_columns():
    document = grouped_gemm_spec()
    ledger = act(document, "ledger", "save", **{"sems.rows[0].tx_bytes": "32768", "sems.protocol.handshake": ""})
    sems = act(ledger, "sems", "save", **{"sems.rows[0].count": "2"})
    expected = copy.deepcopy(document)
    expected["sems"]["rows"][0] |= {"tx_bytes": "32768", "count": "2"}
    expected["sems"]["protocol"]["handshake"] = ""
    assert normalise(sems) == (expected, [])


def test_names_that_clash_or_are_empty_lose_no_value():
    document = {**empty_spec(), "symbols": {"A": "1"}}
    typed = {"symbols.total": "4", "symbols[0].name": "A", "symbols[0].value": "1", "symbols[1].name": "A"}
    typed |= {"symbols[1].value": "2", "symbols[2].value": "3"}
    read = act(document, "overview", "save", **typed)
    assert sorted(read["symbols"].values()) == ["1", "2", "3"]
    assert read["symbols"]["A"] == "1"


def test_semaphores_become_channels_and_rows_again_with_all_their_columns():
    document = grouped_gemm_spec()
    before = copy.deepcopy(document["sems"]["rows"])
    assert convert.to_channels(document) == []
    assert document["sems"]["form"] == "channels"
    assert [channel["name"] for channel in document["sems"]["channels"]] == ["W_tma", "B_sf", "mainloop"]
    assert len(document["sems"]["one_shots"]) == 2
    document["sems"]["channels"][0]["depth"] = "STAGES"
    document["sems"]["channels"][2]["full_arrivals"] = "7"
    convert.to_rows(document)
    before[3]["count"] = "7"
    assert document["sems"]["rows"] == before
    assert document["sems"]["form"] == "rows"


def test_rows_that_fit_no_channel_are_named_and_nothing_is_changed():
    document = grouped_gemm_spec()
    document["sems"]["rows"][0]["pair"] = ""
    before = copy.deepcopy(document)
    assert "W_tma" in convert.to_channels(document)
    assert document == before


def test_channels_without_rows_before_them_become_rows():
    document = empty_spec()
    document["sems"]["form"] = "channels"
    document["sems"]["channels"] = [empty_row("sems.channels") | {"name": "W", "depth": "8", "full_base": "0",
                                    "empty_base": "8", "producer": "loader", "consumer": "mma"}]  # fmt: skip
    convert.to_rows(document)
    full, empty = document["sems"]["rows"]
    assert (full["ordinal"], empty["ordinal"]) == ("0", "8")
    assert (full["pair"], empty["pair"]) == (empty["name"], full["name"])


@pytest.mark.parametrize(
    ("path", "section", "label"),
    [
        ("smem.regions[2].size_bytes", "smem", "size (B), region 3"),
        ("smem.regions[8].slices[0].offset_bytes", "smem", "offset (B), slice 1, region 9"),
        ("sems.protocol.tags", "ledger", "Tags of flags"),
        ("sems.rows[1].count", "sems", "arrivals, row 2"),
        ("scale_packs[0]", "gates", "scale pack 1"),
        ("measurement.grid", "anchors", "Grid"),
        ("self_audit[3].answer", "audit", "answer, item 4"),
        ("engine.routing.route", "overview", "Who builds it"),
        ("nowhere", "overview", "nowhere"),
    ],
)
def test_where_a_path_is_edited_and_what_it_is_called(path, section, label):
    assert section_of_path(path) == section
    assert label_of(path) == label


def test_a_symbol_is_found_by_its_name():
    document = grouped_gemm_spec()
    assert form_path("symbols.ACC", document) == "symbols[1].value"
    assert form_path("symbols.GONE", document) == "symbols.GONE"
    assert field_url("S1", "symbols.ACC", document).endswith("/overview/#f-symbols-1-value")


def test_a_place_in_the_document_is_replaced_or_taken_away_where_it_is():
    document = {"a": [{"b": 1}, {"b": 2}]}
    assert replace_at(document, "a[1].b", 3)
    assert replace_at(document, "a[0]", None)
    assert document == {"a": [{"b": 3}]}
    assert not any(replace_at(document, path, 1) for path in ("a[7].b", "a.b", "x", "", "a[0].c.d", "a[9]"))
    assert document == {"a": [{"b": 3}]}


@pytest.mark.django_db
def test_the_self_audit_begins_with_the_quality_bar(client, forms_world):
    page = client.get(reverse("kernels:spec_edit", args=["S1", "audit"])).content.decode()
    assert len(QUALITY_BAR) == 8
    for item in QUALITY_BAR:
        assert item in page
    assert SpecDraft.objects.get(user=f.designer().user).content["self_audit"] == []


@pytest.mark.django_db
def test_the_switch_of_forms_says_which_rows_stand_in_its_way(client, forms_world):
    draft = SpecDraft.objects.get(user=f.designer().user)
    draft.content = {**grouped_gemm_spec(), "title": "T"}
    draft.content["sems"]["rows"][0]["pair"] = ""
    draft.save()
    address = reverse("kernels:spec_edit", args=["S1", "sems"])
    answer = client.post(address, {"version": draft.version, "action": "convert:channels"}, follow=True)
    assert "nothing was changed: W_tma" in answer.content.decode()
    draft.refresh_from_db()
    draft.content["sems"]["rows"][0]["pair"] = "mma"
    draft.save()
    answer = client.post(address, {"version": draft.version, "action": "convert:channels"}, follow=True)
    assert "sems.channels[0].name" in answer.content.decode()
    assert "sems.rows[0].name" not in answer.content.decode()
