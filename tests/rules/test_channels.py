"""The two forms of a semaphore table: each from the other, and nothing lost on the way."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.barrier_tables import barrier_findings, grouped_gemm_channels, linear_spec
from tests.rules.spec_checks import changed
from tests.rules.spec_examples import canonical, grouped_gemm_spec
from v2kb.rules.channels import (
    changed_by_channels,
    changed_by_rows,
    channels_of_rows,
    edges_of_channels,
    in_ordinal_order,
    rows_of_channels,
)
from v2kb.rules.expressions import SymbolTable
from v2kb.rules.spec_rules import semaphore_map
from v2kb.rules.spec_words import ARRIVAL_KINDS, ARRIVERS, ARRIVES, DATA_PATHS, PUBLICATIONS, REINIT_OWNERS


def by_name(rows):
    return sorted(rows, key=lambda row: row["name"])


@pytest.mark.parametrize("doc", [linear_spec(), grouped_gemm_channels()])
def test_worked_tables_pass_every_rule_of_barriers_in_both_forms(doc):
    assert barrier_findings(doc) == []
    rows = rows_of_channels(doc["sems"])
    assert barrier_findings(changed(doc, sems__form="rows", sems__rows=rows)) == []


def test_the_grouped_gemm_s_rows_become_its_channels():
    channels, one_shots, left = channels_of_rows(
        changed(grouped_gemm_spec(), sems__rows__5__releases="")["sems"]["rows"]
    )
    assert left == []
    assert [(c["name"], c["depth"], c["full_base"], c["empty_base"], c["shares_empty_with"]) for c in channels] == [
        ("W_tma", "STAGES", "0", "2*STAGES", ""),
        ("B_sf", "STAGES", "STAGES", "", "W_tma"),
        ("mainloop", "ACC", "3*STAGES", "3*STAGES + ACC", ""),
    ]
    assert [(c["empty_name"], c["tx_bytes"], c["publication"]) for c in channels] == [
        ("mma", "16384", ""), ("", "", "fence_then_arrive"), ("epilogue", "", ""),
    ]  # fmt: skip
    assert [shot["name"] for shot in one_shots] == ["tmem_ready", "consumer_done"]


def test_the_linear_table_has_24_barriers_in_six_rows():
    doc = linear_spec()
    assert [row["name"] for row in rows_of_channels(doc["sems"])] == [
        "W", "mma", "A", "acc", "acc_empty", "tmem_ready", "consumer_done",
    ]  # fmt: skip
    drawn = semaphore_map(doc)
    assert (drawn["used"], [slot["state"] for slot in drawn["slots"]]) == (24, ["used"] * 24 + ["free"] * 7)


@pytest.mark.parametrize("doc", [grouped_gemm_spec(), grouped_gemm_channels(), linear_spec()])
def test_rows_to_channels_to_rows_is_the_identity(doc):
    rows = doc["sems"]["rows"] or rows_of_channels(doc["sems"])
    channels, one_shots, left = channels_of_rows(rows)
    assert left == []
    assert by_name(rows_of_channels({"channels": channels, "one_shots": one_shots})) == by_name(rows)


def test_cells_of_a_derived_row_are_those_of_its_channel():
    full, empty, shared, *_, done = edges_of_channels(grouped_gemm_channels()["sems"])
    assert (full.path, full.cells["ordinal"], empty.cells["ordinal"]) == ("sems.channels[0]", "full_base", "empty_base")
    assert (shared.path, shared.row["pair"], shared.cells["pair"]) == ("sems.channels[1]", "mma", "shares_empty_with")
    assert (done.path, done.cells["count"]) == ("sems.one_shots[1]", "arrivals")


@pytest.mark.parametrize(
    "edit",
    [
        {"sems__rows__0__waited_at_start": "yes"},
        {"sems__rows__0__releases": "a page"},
        {"sems__rows__4__storage": "BSF"},
        {"sems__rows__4__tx_bytes": "16"},
        {"sems__rows__4__slots": "2"},
        {"sems__rows__4__producer": "storer"},
        {"sems__rows__3__pair": ""},
        {"sems__rows__4__pair": ""},
        {"sems__rows__3__pair": "nobody"},
        {"sems__rows__4__data": "tmem"},
        {"sems__rows__4__name": "mma"},
        {"sems__rows__5__slots": "2"},
        {"sems__rows__5__name": ""},
    ],
)
def test_a_row_that_a_channel_cannot_say_is_left_and_named(edit):
    doc = changed(grouped_gemm_spec(), **edit)
    channels, one_shots, left = channels_of_rows(doc["sems"]["rows"])
    assert left
    kept = rows_of_channels({"channels": channels, "one_shots": one_shots})
    named = {row["name"] for row in kept}
    assert named | set(left) >= {row["name"] for row in doc["sems"]["rows"] if row["name"]}
    assert all(row in doc["sems"]["rows"] for row in kept)


def word(*choices):
    return st.sampled_from(["", *choices])


NAMES = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True), min_size=1, max_size=8, unique=True)
TEXTS = st.sampled_from(["", "2*STAGES", "7", "before the first arrival"])
PLAIN = dict.fromkeys(("full_base", "full_arrivals", "storage", "tx_bytes", "reinit_full_order", "full_proof"), TEXTS)
EMPTY = dict.fromkeys(("empty_base", "empty_arrivals", "reinit_empty_order", "empty_proof", "releases"), TEXTS)
SHARED_CELLS = {
    "depth": st.sampled_from(["STAGES", "2"]),
    "producer": st.just("loader"),
    "consumer": st.just("mma"),
    "full_arrivers": word(*ARRIVERS),
    "full_arrives": word(*ARRIVES),
    "data": word(*(path for path in DATA_PATHS if path != "none")),
    "publication": word(*PUBLICATIONS),
    "reinit_full_by": word(*REINIT_OWNERS),
    "producer_kind": word(*ARRIVAL_KINDS),
}
OWN_CELLS = {
    **EMPTY,
    "empty_arrivers": word(*ARRIVERS),
    "empty_arrives": word(*ARRIVES),
    "reinit_empty_by": word(*REINIT_OWNERS),
    "consumer_kind": word("warp", "mma"),
    "empty_meaning": TEXTS,
}


@st.composite
def channel_tables(draw):
    """Channels of which some share an earlier one's empty edge, and one-shots, all under their own names."""
    names = draw(NAMES)
    channels, one_shots = [], []
    for name in names:
        kind = draw(st.sampled_from(["ring", "ring", "sharing", "once"]))
        owners = [channel for channel in channels if "shares_empty_with" not in channel]
        if kind == "once":
            shot = {"name": name, "ordinal": draw(TEXTS), "arrivals": draw(TEXTS), "proof": draw(TEXTS)}
            one_shots.append({**shot, "kind": draw(word(*ARRIVAL_KINDS)), "waited_at_start": draw(word("yes", "no"))})
            continue
        channel = {"name": name, **draw(st.fixed_dictionaries({**PLAIN, **SHARED_CELLS}))}
        if kind == "sharing" and owners:
            owner = draw(st.sampled_from(owners))
            channel |= {"shares_empty_with": owner["name"], "depth": owner["depth"]}
        else:
            channel |= draw(st.fixed_dictionaries(OWN_CELLS))
        channels.append(channel)
    return canonical({"sems": {"form": "channels", "channels": channels, "one_shots": one_shots}})["sems"]


@settings(max_examples=200, deadline=None)
@given(channel_tables())
def test_channels_to_rows_to_channels_is_the_identity(sems):
    assert channels_of_rows(rows_of_channels(sems)) == (sems["channels"], sems["one_shots"], [])


@st.composite
def row_tables(draw):
    """Rows as channels would give them, in any order under any ordinals, with blanks among their answers."""
    rows = draw(st.permutations(rows_of_channels(draw(channel_tables()))))
    for number, row in enumerate(rows):
        row["ordinal"] = draw(st.sampled_from([str(number), str(number), f"{number}*STAGES", str(90 - number), ""]))
        for blank in draw(st.sets(st.sampled_from(["first_phase", "arrives", "meaning", "data", "count", "proof"]))):
            row[blank] = ""
    return rows


@settings(max_examples=200, deadline=None)
@given(row_tables())
def test_rows_to_channels_to_rows_gives_back_all_but_what_was_said(rows):
    symbols = SymbolTable({"STAGES": "3"})
    channels, one_shots, left = channels_of_rows(rows)
    if left:
        return
    back = in_ordinal_order(rows_of_channels({"channels": channels, "one_shots": one_shots}), symbols)
    said = changed_by_channels(rows, symbols)
    by_name = {row["name"]: row for row in back}
    for change in said:
        if change.field == "order":
            assert [row["name"] for row in back] == change.after.split(", ")
            back = [by_name[name] for name in change.before.split(", ")]
        else:
            assert by_name[change.name][change.field] == change.after != change.before
            by_name[change.name][change.field] = change.before
    assert back == rows


def test_rows_in_the_order_of_their_ordinals_come_back_as_they_were():
    doc = grouped_gemm_spec()
    rows, symbols = doc["sems"]["rows"], SymbolTable(doc["symbols"])
    assert changed_by_channels(rows, symbols) == []
    moved = [rows[1], rows[0], *rows[2:]]
    (said,) = changed_by_channels(moved, symbols)
    assert (said.field, said.before[:11], said.after[:11]) == ("order", "B_sf, W_tma", "W_tma, B_sf")


def test_cells_that_no_row_holds_are_named():
    sems = grouped_gemm_channels()["sems"]
    assert changed_by_rows(sems["channels"]) == []
    sems["channels"][1]["empty_proof"] = "The last drain."
    assert [(c.name, c.field, c.before) for c in changed_by_rows(sems["channels"])] == [
        ("B_sf", "empty_proof", "The last drain.")
    ]
