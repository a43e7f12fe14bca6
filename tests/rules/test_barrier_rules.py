"""Rules R24 to R31 and R36 to R38: re-initialisation, announced data, rings and waiting."""

import pytest

from tests.rules.barrier_tables import barrier_findings, grouped_gemm_channels, linear_spec
from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules.barriers import role_in
from v2kb.rules.spec_rules import spec_report

W_TMA, B_SF, MMA, MAINLOOP, EPILOGUE, TMEM_READY, CONSUMER_DONE = range(7)


def with_row(row, doc=None, **cells):
    return changed(doc or grouped_gemm_spec(), **{f"sems__rows__{row}__{name}": value for name, value in cells.items()})


def with_answer(name, value, doc=None):
    return changed(doc or grouped_gemm_spec(), **{f"sems__protocol__{name}": value})


def paths(findings):
    return {f.path for f in findings}


def test_roles_have_one_name_over_the_trees():
    for text, role in (("launcher W5", "mma"), ("Compute W0-3", "consumer"), ("four warps", ""), ("Storer", "storer"),
                       ("dispatcher", "controller")):  # fmt: skip
        assert role_in(text) == role


def test_old_names_of_roles_are_understood():
    doc = grouped_gemm_spec()
    for row in doc["sems"]["rows"]:
        for cell in ("producer", "consumer"):
            row[cell] = {"mma": "launcher (W5)", "consumer": "consumer W0-3"}.get(row[cell], row[cell])
    assert barrier_findings(doc) == []


@pytest.mark.parametrize("row", [W_TMA, MMA, MAINLOOP])
@pytest.mark.parametrize("owner", ["none", "controller"])
def test_r24_hardware_arrivals_need_an_owner(row, owner):
    (finding,) = found(with_row(row, reinit_owner=owner), "R24")
    assert (finding.path, finding.severity) == (f"sems.rows[{row}].reinit_owner", "E")
    assert "arrived by hardware" in finding.message


@pytest.mark.parametrize(("row", "owner"), [(W_TMA, "loader"), (W_TMA, "mma"), (MMA, "mma"), (MMA, "loader")])
def test_r24_the_arriver_or_the_first_toucher_may_own(row, owner):
    assert found(with_row(row, reinit_owner=owner), "R24") == []


def test_r24_a_third_role_may_not():
    (finding,) = found(with_row(MMA, reinit_owner="consumer"), "R24")
    assert "neither arrives at it nor waits for it first" in finding.message


def test_r24_wants_a_sentence_on_the_order():
    (finding,) = found(with_row(MMA, reinit_order=""), "R24", "missing_input")
    assert finding.path == "sems.rows[2].reinit_order"
    assert finding.message == "mma doesn't say why its re-initialisation comes before the first arrival."


def test_r24_the_noinc_variant_is_arrived_by_hardware():
    plain = with_row(B_SF, reinit_owner="none")
    assert found(plain, "R24") == []
    noinc = with_row(B_SF, plain, publication="noinc", count="2", arrivers="noinc_and_elected")
    assert paths(found(noinc, "R24")) == {"sems.rows[1].reinit_owner"}


def test_an_op_that_is_launched_alone_has_no_former_task_and_hands_on_no_pages():
    doc = changed(with_row(W_TMA, reinit_owner="none"), ops__0__op="gemm", roles__release__owners=[])
    states = spec_report(doc, ops={"gemm": {"envelope": "standalone"}}).states
    assert {states[f"R{n}"] for n in (24, 25, 26, 27, 32, 33, 34, 35)} == {"not_applicable"}
    assert {states[f"R{n}"] for n in (20, 22, 23, 29, 30, 31)} == {"passed"}
    states = spec_report(doc, ops={"gemm": {"envelope": "fused_megakernel"}}).states
    assert (states["R24"], states["R32"]) == ("failed", "missing_input")


def test_r24_in_the_channel_form():
    doc = changed(linear_spec(), sems__channels__1__reinit_full_by="none")
    assert paths(found(doc, "R24")) == {"sems.channels[1].reinit_full_by"}
    doc = changed(linear_spec(), sems__channels__0__reinit_empty_order="")
    assert paths(found(doc, "R24", "missing_input")) == {"sems.channels[0].reinit_empty_order"}


@pytest.mark.parametrize("owner", ["controller", "none"])
def test_r25_consumer_done_without_an_owner(owner):
    (finding,) = found(with_row(CONSUMER_DONE, reinit_owner=owner), "R25")
    assert (finding.path, finding.severity) == ("sems.rows[6].reinit_owner", "E")
    assert "and only the controller initialises it" in finding.message
    assert not spec_report(with_row(CONSUMER_DONE, reinit_owner=owner)).passes


def test_r25_a_proof_or_an_early_arrival_needs_no_owner():
    proven = with_row(CONSUMER_DONE, reinit_owner="controller", proof="The waiter drains all 128 before FINISHED.")
    assert found(proven, "R25") == []
    assert found(with_row(TMEM_READY, reinit_owner="controller"), "R25") == []


def test_r25_says_that_the_time_of_arrival_is_missing():
    findings = found(with_row(CONSUMER_DONE, arrives=""), "R25", "missing_input")
    assert [(f.path, f.also) for f in findings] == [("sems.rows[6].arrives", ("R27",))]
    assert found(with_row(W_TMA, arrives=""), "R25", "missing_input") == []


def test_r25_in_the_channel_form():
    doc = changed(grouped_gemm_channels(), sems__one_shots__1__reinit_by="none")
    assert paths(found(doc, "R25")) == {"sems.one_shots[1].reinit_by"}


def test_r26_tmem_ready_has_no_owner():
    (finding,) = found(with_row(TMEM_READY, reinit_owner="mma"), "R26")
    assert (finding.path, finding.severity) == ("sems.rows[5].reinit_owner", "W")
    assert "the re-init would race the waiter" in finding.message
    assert spec_report(with_row(TMEM_READY, reinit_owner="mma")).passes
    assert found(with_row(TMEM_READY, reinit_owner="controller"), "R26") == []
    assert found(with_row(TMEM_READY, reinit_owner="mma", waited_at_start="no"), "R26") == []


def test_r26_asks_only_where_the_answer_matters():
    asked = with_row(TMEM_READY, reinit_owner="mma", waited_at_start="")
    assert paths(found(asked, "R26", "missing_input")) == {"sems.rows[5].waited_at_start"}
    assert found(with_row(TMEM_READY, waited_at_start=""), "R26", "missing_input") == []


def test_r26_in_the_channel_form():
    doc = changed(linear_spec(), sems__one_shots__0__reinit_by="mma", sems__one_shots__0__reinit_order="first")
    assert paths(found(doc, "R26")) == {"sems.one_shots[0].reinit_by"}


def test_r27_order_of_a_tail_barrier():
    (finding,) = found(with_answer("tail_before_publish", "no"), "R27")
    assert finding.path == "sems.protocol.tail_before_publish"
    assert finding.message.startswith("consumer_done is re-initialised after the publish")
    assert paths(found(with_answer("tail_before_publish", ""), "R27", "missing_input")) == {finding.path}
    assert paths(found(with_row(CONSUMER_DONE, reinit_order=""), "R27", "missing_input")) == {
        "sems.rows[6].reinit_order"
    }


def test_r27_without_a_tail_barrier_that_a_role_owns():
    doc = with_row(CONSUMER_DONE, reinit_owner="none", proof="Drained before FINISHED.")
    assert spec_report(with_answer("tail_before_publish", "", doc)).states["R27"] == "not_applicable"


def test_r28_fence():
    (finding,) = found(with_answer("reinit_fenced", "no"), "R28")
    assert (finding.path, finding.severity) == ("sems.protocol.reinit_fenced", "E")
    assert paths(found(with_answer("reinit_fenced", ""), "R28", "missing_input")) == {finding.path}
    unowned = grouped_gemm_spec()
    for row in unowned["sems"]["rows"]:
        row["reinit_owner"] = "none"
    assert spec_report(unowned).states["R28"] == "not_applicable"


@pytest.mark.parametrize(
    ("doc", "edit", "said"),
    [
        (
            linear_spec(),
            {"sems__channels__0__tx_bytes": "1"},
            "each of 6 slots, but W has 6 of 32,768 B.",
        ),
        (
            linear_spec(),
            {"sems__channels__1__tx_bytes": "1"},
            "each of 6 slots, but A has 6 of 4,096 B.",
        ),
        (
            grouped_gemm_spec(),
            {"sems__rows__0__tx_bytes": "128*128*2"},
            "W_tma expects 32,768 B in each of 8 slots, but W has 8 of 16,384 B.",
        ),
    ],
)
def test_r29_bytes_of_the_worked_tables(doc, edit, said):
    assert found(doc, "R29") == []
    (finding,) = found(changed(doc, **edit), "R29")
    assert finding.severity == "E"
    assert finding.message.endswith(said)


def test_r29_points_at_the_cell_and_says_what_is_missing():
    (finding,) = found(changed(linear_spec(), sems__channels__1__tx_bytes="1"), "R29")
    assert finding.path == "sems.channels[1].tx_bytes"
    for cell in ("tx_bytes", "storage"):
        assert paths(found(with_row(W_TMA, **{cell: ""}), "R29", "missing_input")) == {f"sems.rows[0].{cell}"}
    assert paths(found(with_row(W_TMA, storage="V"), "R29")) == {"sems.rows[0].storage"}
    sizeless = changed(grouped_gemm_spec(), smem__regions__3__size_bytes="")
    assert "smem.regions[3].size_bytes" in paths(found(sizeless, "R29", "missing_input"))


def test_r29_a_missing_region_of_the_ring():
    doc = grouped_gemm_spec()
    del doc["smem"]["regions"][7]
    (finding,) = found(doc, "R29")
    assert finding.message.endswith("in each of 8 slots, but W has 7 of 16,384 B.")


def test_r29_storage_may_be_slots_slices_or_several():
    assert found(ring_gemm_spec(), "R29") == []
    assert found(with_row(W_TMA, tx_bytes="2048", storage="B"), "R29") == []
    assert found(with_row(W_TMA, tx_bytes="2048", storage="BSF.B"), "R29") == []
    assert found(with_row(W_TMA, tx_bytes="16384 + 2048", storage="W + B"), "R29") == []
    assert found(with_row(W_TMA, tx_bytes="16384", storage="W + B"), "R29")


def test_r29_uneven_parts_are_not_averaged_away():
    doc = changed(grouped_gemm_spec(), smem__regions__0__size_bytes="16000", smem__regions__1__size_bytes="16768")
    assert paths(found(doc, "R29")) == {"sems.rows[0].tx_bytes"}


def test_r29_bytes_without_a_tma_never_arrive():
    (finding,) = found(with_row(B_SF, tx_bytes="2048"), "R29")
    assert "no TMA arrives at it" in finding.message


@pytest.mark.parametrize(
    ("publication", "count", "fires"),
    [("fence_then_arrive", "1", False), ("fence_then_arrive", "2", True), ("noinc", "2", False), ("noinc", "1", True)],
)
def test_r30_one_way_to_publish_cp_async_data(publication, count, fires):
    findings = found(with_row(B_SF, publication=publication, count=count), "R30")
    assert [(f.path, f.severity) for f in findings] == ([("sems.rows[1].count", "E")] if fires else [])


def test_r30_asks_for_the_path_and_the_publication():
    assert paths(found(with_row(B_SF, publication=""), "R30", "missing_input")) == {"sems.rows[1].publication"}
    assert paths(found(with_row(B_SF, data=""), "R30", "missing_input")) == {"sems.rows[1].data"}
    doc = changed(grouped_gemm_channels(), sems__channels__1__publication="")
    assert paths(found(doc, "R30", "missing_input")) == {"sems.channels[1].publication"}
    assert spec_report(with_row(B_SF, data="stores")).states["R30"] == "not_applicable"
    assert spec_report(linear_spec()).states["R30"] == "not_applicable"


@pytest.mark.parametrize(
    ("row", "cells", "path", "said"),
    [
        (MAINLOOP, {"pair": ""}, "sems.rows[3].pair", "but mainloop names nothing"),
        (B_SF, {"pair": ""}, "sems.rows[1].pair", "no other direction"),
        (B_SF, {"pair": "gone"}, "sems.rows[1].pair", "which is no other row"),
        (B_SF, {"pair": "B_sf"}, "sems.rows[1].pair", "which is no other row"),
        (EPILOGUE, {"pair": "mma"}, "sems.rows[4].pair", "epilogue names mma"),
        (EPILOGUE, {"slots": "1"}, "sems.rows[4].slots", "mainloop has 2 slots, but epilogue 1"),
        (EPILOGUE, {"consumer": "loader"}, "sems.rows[3].pair", "that is not the way back"),
        (W_TMA, {"first_phase": "1"}, "sems.rows[0].first_phase", "reads a slot that nobody has filled"),
        (MMA, {"first_phase": "0"}, "sems.rows[2].first_phase", "waits for ever"),
        (CONSUMER_DONE, {"first_phase": "1"}, "sems.rows[6].first_phase", "passes at once"),
    ],
)
def test_r31_rings_and_phases(row, cells, path, said):
    findings = found(with_row(row, **cells), "R31")
    assert any(f.path == path and said in f.message and f.severity == "E" for f in findings), findings


def test_r31_the_first_phase_is_asked_of_rings():
    doc = with_row(MMA, with_row(EPILOGUE, first_phase=""), first_phase="")
    (finding,) = found(doc, "R31", "missing_input")
    assert finding.path == "sems.rows[2].first_phase"
    assert finding.message == "It isn't said which phase is waited first: mma, epilogue."
    assert found(with_row(TMEM_READY, first_phase=""), "R31", "missing_input") == []


def test_r31_two_edges_that_announce_nothing_differ_by_phase():
    doc = with_row(MAINLOOP, data="none")
    assert found(doc, "R31") == []
    assert paths(found(with_row(EPILOGUE, doc, first_phase="0"), "R31")) == {
        "sems.rows[3].first_phase", "sems.rows[4].first_phase",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({"shares_empty_with": "V"}, "sems.channels[1].shares_empty_with"),
        ({"depth": "7"}, "sems.channels[0].depth"),
        ({"consumer": "consumer"}, "sems.channels[1].shares_empty_with"),
        ({"full_phase": "1"}, "sems.channels[1].full_phase"),
    ],
)
def test_r31_in_the_channel_form(edit, path):
    doc = changed(linear_spec(), **{f"sems__channels__1__{name}": value for name, value in edit.items()})
    assert path in paths(found(doc, "R31"))


def test_r36_parity():
    assert found(with_answer("parity_wait", "one_owner"), "R36") == []
    (finding,) = found(with_answer("parity_wait", "neither"), "R36")
    assert (finding.path, finding.severity) == ("sems.protocol.parity_wait", "E")
    assert paths(found(with_answer("parity_wait", ""), "R36", "missing_input")) == {finding.path}


def test_r37_exit_values():
    (finding,) = found(with_answer("exit_snapshot", "no"), "R37")
    assert (finding.path, finding.severity) == ("sems.protocol.exit_snapshot", "W")
    assert paths(found(with_answer("exit_snapshot", ""), "R37", "missing_input")) == {finding.path}


def test_r37_fixed_loops_read_no_value():
    asked = with_answer("exit_snapshot", "")
    fixed = changed(asked, granularity__2__iterations="34")
    assert spec_report(fixed).states["R37"] == "not_applicable"
    assert found(with_answer("exit_snapshot", "no", fixed), "R37")
    unknown = changed(fixed, granularity__0__iterations="")
    assert found(unknown, "R37", "missing_input")


def consumer_only(**protocol):
    row = {**grouped_gemm_spec()["sems"]["rows"][TMEM_READY], "ordinal": "0"}
    return canonical({**norm_spec(), "sems": {"rows": [row], "num_op_sems": "1", "protocol": protocol}})


def test_r38_a_consumer_only_handshake_uses_salted_tags():
    (finding,) = found(consumer_only(handshake="mbarrier"), "R38")
    assert (finding.path, finding.severity) == ("sems.protocol.handshake", "W")
    assert paths(found(consumer_only(), "R38", "missing_input")) == {"sems.protocol.handshake"}
    assert paths(found(consumer_only(handshake="tag_flags"), "R38", "missing_input")) == {"sems.protocol.tags"}
    (finding,) = found(consumer_only(handshake="tag_flags", tags="plain"), "R38")
    assert (finding.path, finding.severity) == ("sems.protocol.tags", "W")
    assert spec_report(consumer_only(handshake="tag_flags", tags="salted_64")).states["R38"] == "passed"


def test_r38_concerns_no_pipeline_and_no_single_role():
    assert spec_report(grouped_gemm_spec()).states["R38"] == "not_applicable"
    alone = changed(consumer_only(handshake="mbarrier"), sems__rows__0__producer="consumer")
    assert spec_report(alone).states["R38"] == "not_applicable"


def test_r38_judges_tags_without_any_barrier():
    doc = canonical({**norm_spec(), "sems": {"protocol": {"handshake": "tag_flags", "tags": "plain"}}})
    assert paths(found(doc, "R38")) == {"sems.protocol.tags"}
