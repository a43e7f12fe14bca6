"""Amendments name rows by their place: they follow a row that is moved, and lose one that is removed."""

import pytest
from django.http import QueryDict

from kernels.editor import convert
from kernels.editor.fresh import without_fresh_rows
from kernels.editor.screen import Page
from tests.web.test_spec_page_design import full_spec
from v2kb.rules.spec_document import empty_row
from v2kb.rules.spec_rules import check_spec
from v2kb.rules.spec_view import SpecView

SLICES = "smem.regions[8].slices"


def amending(*paths: str):
    document = full_spec()
    fields = [{"field": path, "value": "16"} for path in paths]
    document["amendments"] = [{**empty_row("amendments"), "id": "A3", "fields": fields}]
    return document


def after(document, section: str, action: str, choice: str = "") -> list[str]:
    """What the amendments set after a button was pressed."""
    page = Page(section, choice)
    read = page.read(QueryDict(page.form_of(document)), document, action)
    return [entry["field"] for amendment in read["amendments"] for entry in amendment["fields"]]


@pytest.mark.parametrize(
    ("action", "places"),
    [
        ("up:smem.regions:1", ["1", "0", "2"]),
        ("up:smem.regions:0", ["0", "1", "2"]),
        ("down:smem.regions:0", ["1", "0", "2"]),
        ("move:smem.regions:0:2", ["2", "0", "1"]),
        ("move:smem.regions:2:0", ["1", "2", "0"]),
        ("move:smem.regions:2:99", ["0", "1", "2"]),
        ("copy:smem.regions:0", ["0", "2", "3"]),
        ("remove:smem.regions:1", ["0", None, "1"]),
        ("remove:smem.regions:99", ["0", "1", "2"]),
        ("add:smem.regions", ["0", "1", "2"]),
        ("renumber:smem.regions", ["0", "1", "2"]),
        ("up:sems.rows:1", ["0", "1", "2"]),
    ],
)
def test_amendments_follow_the_rows_that_a_button_moves(action, places):
    document = amending(*(f"smem.regions[{number}].size_bytes" for number in range(3)))
    expected = ["" if place is None else f"smem.regions[{place}].size_bytes" for place in places]
    assert after(document, "smem", action) == expected


def test_amendments_follow_rows_inside_rows_and_choices():
    document = amending(f"{SLICES}[0].size_bytes", "choices[0].title", "smem.regions[7].name")
    assert after(document, "smem", f"move:{SLICES}:0:3")[0] == f"{SLICES}[3].size_bytes"
    assert after(document, "smem", "up:smem.regions:8") == [
        "smem.regions[7].slices[0].size_bytes", "choices[0].title", "smem.regions[8].name",
    ]  # fmt: skip
    document["choices"] = [{**empty_row("choices"), "id": f"C{number}"} for number in (1, 2)]
    assert after(document, "choices", "down:choices:0")[1] == "choices[1].title"
    assert after(document, "choices", "remove:choices:0")[1] == ""


def test_a_removed_row_s_amendment_is_reported_and_does_not_set_the_next_row():
    document = amending("smem.regions[0].size_bytes")
    page = Page("smem")
    read = page.read(QueryDict(page.form_of(document)), document, "remove:smem.regions:0")
    assert SpecView(read).amended == {}
    (said,) = [f for f in check_spec(read) if f.path.startswith("amendments")]
    assert (said.path, said.fix) == ("amendments[0].fields[0].field", "Name a field of the spec.")


def test_a_fresh_row_before_an_amended_one_is_counted():
    document = amending("smem.regions[1].size_bytes")
    document["smem"]["regions"].insert(0, empty_row("smem.regions"))
    filled = without_fresh_rows(document)
    assert filled.left_out == 0
    assert filled.document["smem"]["regions"] == document["smem"]["regions"]
    document["amendments"] = []
    assert without_fresh_rows(document).left_out == 1


def test_a_conversion_says_which_amendments_lose_their_field():
    document = amending("sems.rows[2].reinit_owner", "smem.regions[0].size_bytes")
    said = "An amendment sets re-init owner, row 3, which the other form does not have."
    assert convert.changes(document, convert.CHANNELS) == [said]
    document = amending("sems.channels[0].depth")
    document["sems"]["form"] = "channels"
    said = "An amendment sets depth, channel 1, which the other form does not have."
    assert convert.changes(document, convert.ROWS) == [said]


def test_odd_amendments_are_left_as_they_are():
    for odd in (5, [5], [{"fields": 5}], [{"fields": [5, {"field": 5}]}]):
        document = {**full_spec(), "amendments": odd}
        page = Page("smem")
        form = QueryDict(page.form_of(document))
        assert page.read(form, document, "up:smem.regions:1")["amendments"] == odd
