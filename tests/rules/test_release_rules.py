"""Rules R32 to R35: who releases pages, which, on every path of every role; and the design that amendments leave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rules.barrier_tables import linear_spec
from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import canonical, grouped_gemm_spec
from tests.rules.steps import at_most
from v2kb.rules.amendments import Setting
from v2kb.rules.release_rules import never_fired
from v2kb.rules.spec_rules import role_matrix, spec_report
from v2kb.rules.spec_view import SpecView

LOADER, MMA, CONSUMER, STORER = range(4)
RELEASE = "roles.release"


def with_release(doc=None, **fields):
    return changed(doc or grouped_gemm_spec(), **{f"roles__release__{name}": value for name, value in fields.items()})


def with_role(index, doc=None, **cells):
    return changed(
        doc or grouped_gemm_spec(), **{f"roles__rows__{index}__{name}": value for name, value in cells.items()}
    )


def paths(findings):
    return {f.path for f in findings}


@pytest.mark.parametrize("owners", [["launcher", "storer"], ["codegen", "launcher"], ["codegen", "launcher", "storer"]])
def test_r32_two_owners_would_flip_pages_twice(owners):
    (finding,) = found(with_release(owners=owners), "R32")
    assert (finding.path, finding.severity, finding.facts["owners"]) == (f"{RELEASE}.owners", "E", owners)
    assert "each page would flip twice" in finding.message


def test_r32_one_owner_named_twice_is_one():
    assert found(with_release(owners=["launcher", "launcher"]), "R32") == []


@pytest.mark.parametrize(
    ("owner", "answer", "said"),
    [
        ("launcher", "no", None),
        ("storer", "no", None),
        ("codegen", "yes", None),
        ("launcher", "yes", "released twice"),
        ("storer", "yes", "released twice"),
        ("codegen", "no", "released never"),
    ],
)
def test_r32_the_generated_suffix_is_on_only_where_it_owns(owner, answer, said):
    findings = found(with_release(owners=[owner], auto_consumer_finish=answer), "R32")
    assert [f.path for f in findings] == ([f"{RELEASE}.auto_consumer_finish"] if said else [])
    assert all(said in f.message for f in findings)


def test_r32_says_what_is_missing():
    findings = found(with_release(owners=[]), "R32", "missing_input")
    assert [(f.path, f.also) for f in findings] == [(f"{RELEASE}.owners", ("R33", "R35"))]
    assert paths(found(with_release(auto_consumer_finish=""), "R32", "missing_input")) == {
        f"{RELEASE}.auto_consumer_finish"
    }


def test_r33_a_launcher_of_fewer_than_14_pages_filters():
    (finding,) = found(with_release(only_used_pages="no"), "R33")
    assert (finding.path, finding.severity) == (f"{RELEASE}.only_used_pages", "E")
    assert finding.message.startswith("The task uses 10 of 14 pages, but the launcher releases all")
    assert paths(found(with_release(only_used_pages=""), "R33", "missing_input")) == {finding.path}


def test_r33_linear_uses_14_of_14_and_needs_no_filter():
    assert linear_spec()["roles"]["release"]["only_used_pages"] == "no"
    assert spec_report(linear_spec()).states["R33"] == "passed"
    assert found(changed(linear_spec(), smem__regions__0__slots="5"), "R33")


def test_r33_concerns_the_launcher():
    doc = with_release(owners=["storer"], only_used_pages="")
    assert spec_report(doc).states["R33"] == "not_applicable"


def test_r33_a_plan_that_fails_or_lacks_a_size():
    failing = changed(with_release(only_used_pages="no"), smem__regions__8__size_bytes="300000")
    assert paths(found(failing, "R33", "missing_input")) == {f"{RELEASE}.only_used_pages"}
    sizeless = changed(with_release(only_used_pages="no"), smem__regions__8__size_bytes="")
    assert "smem.regions[8].size_bytes" in paths(found(sizeless, "R33", "missing_input"))
    assert found(changed(sizeless, roles__release__only_used_pages="yes"), "R33", "missing_input") == []


CELLS = [f"{path}{part}" for path in ("", "bounds_fail_", "inactive_") for part in ("pages", "handshake")]


@pytest.mark.parametrize("role", [LOADER, MMA, CONSUMER])
@pytest.mark.parametrize("cell", CELLS)
def test_r34_every_path_of_every_role_has_both_cells(role, cell):
    (finding,) = found(with_role(role, **{cell: ""}), "R34", "missing_input")
    assert finding.path == f"roles.rows[{role}].{cell}"


def test_r34_all_that_a_role_leaves_open_is_one_finding():
    blank = with_role(CONSUMER, pages="", bounds_fail_pages="", inactive_pages="", inactive_handshake="")
    (finding,) = found(blank, "R34", "missing_input")
    assert finding.message == (
        "The consumer role doesn't say what it does with pages on the normal path, out of bounds and when inactive; "
        "barriers when inactive."
    )


def test_r34_an_empty_body_needs_no_cells():
    blank = with_role(STORER, **dict.fromkeys(CELLS, ""))
    assert found(blank, "R34", "missing_input") == []
    assert found(with_role(STORER, blank, empty=False), "R34", "missing_input")


def test_r34_a_role_without_a_row():
    doc = grouped_gemm_spec()
    del doc["roles"]["rows"][STORER]
    (finding,) = found(doc, "R34", "missing_input")
    assert (finding.path, finding.message) == ("roles.rows", "The storer role has no row.")
    doc["roles"]["rows"] = []
    assert paths(found(doc, "R34", "missing_input")) == {"roles.rows"}
    assert paths(found(with_role(STORER, role="mma", empty=False), "R34")) == {"roles.rows[3].role"}


@pytest.mark.parametrize(
    ("role", "cells", "path", "said"),
    [
        (CONSUMER, {"waits_when_inactive": "yes"}, "waits_when_inactive", "nobody arrives there"),
        (LOADER, {"reinit_before_bail": "no"}, "reinit_before_bail", "W_tma, B_sf, mma"),
        (MMA, {"reinit_before_bail": "no"}, "reinit_before_bail", "mainloop, epilogue, consumer_done"),
        (MMA, {"bounds_fail_pages": "none"}, "bounds_fail_pages", "releases nothing out of bounds"),
        (MMA, {"inactive_pages": "None."}, "inactive_pages", "releases nothing when inactive"),
        (MMA, {"pages": "nothing"}, "pages", "releases nothing on the normal path"),
        (MMA, {"empty": True}, "empty", "releases the pages, but its body is empty"),
        (LOADER, {"empty": True}, "empty", "re-initialises W_tma, B_sf, mma, but its body is empty"),
    ],
)
def test_r34_bad_answers(role, cells, path, said):
    findings = found(with_role(role, **cells), "R34")
    assert any(f.path == f"roles.rows[{role}].{path}" and said in f.message for f in findings), findings
    assert all(f.severity == "E" for f in findings)


@pytest.mark.parametrize("cell", ["waits_when_inactive", "reinit_before_bail"])
def test_r34_asks_what_happens_when_inactive(cell):
    assert paths(found(with_role(MMA, **{cell: ""}), "R34", "missing_input")) == {f"roles.rows[1].{cell}"}


def test_r34_a_role_that_re_initialises_nothing_is_not_asked_about_it():
    assert found(with_role(CONSUMER, reinit_before_bail=""), "R34", "missing_input") == []


def test_r34_the_inactive_path_concerns_tasks_that_can_be_inactive():
    doc = with_role(CONSUMER, inactive_pages="", inactive_handshake="", waits_when_inactive="")
    assert found(doc, "R34", "missing_input")
    doc["granularity"][0]["can_be_inactive"] = ""
    assert found(doc, "R34", "missing_input")
    doc["granularity"][0]["can_be_inactive"] = "no"
    assert found(doc, "R34", "missing_input") == []


def test_role_matrix_of_the_grouped_gemm():
    drawn = role_matrix(grouped_gemm_spec())
    assert [path["key"] for path in drawn["paths"]] == ["normal", "bounds_fail", "inactive"]
    assert {line["role"]: [cell["state"] for cell in line["cells"]] for line in drawn["roles"]} == {
        "loader": ["filled"] * 3, "mma": ["filled"] * 3, "consumer": ["filled"] * 3, "storer": ["empty_body"] * 3,
    }  # fmt: skip
    cell = drawn["roles"][MMA]["cells"][2]
    assert (cell["pages"], cell["handshake"], cell["text"]) == (
        "releases all used pages", "none", "re-initialises and returns",
    )  # fmt: skip


def test_role_matrix_shows_what_the_rule_finds():
    doc = with_role(CONSUMER, waits_when_inactive="yes")
    doc = with_role(LOADER, doc, bounds_fail_handshake="")
    del doc["roles"]["rows"][STORER]
    drawn = {line["role"]: line for line in role_matrix(doc)["roles"]}
    assert [cell["state"] for cell in drawn["consumer"]["cells"]] == ["filled", "filled", "finding"]
    assert [cell["state"] for cell in drawn["loader"]["cells"]] == ["filled", "blank", "filled"]
    assert [cell["state"] for cell in drawn["storer"]["cells"]] == ["no_row"] * 3
    assert drawn["storer"]["index"] is None
    assert drawn["loader"]["cells"][1]["asked"] == ["barriers"]
    shown = [message for line in drawn.values() for cell in line["cells"] for message in cell["messages"]]
    reported = [f.message for kind in ("violation", "missing_input") for f in found(doc, "R34", kind)]
    asked = "The loader role doesn't say what it does with barriers out of bounds."
    assert sorted([*shown, asked]) == sorted(reported)
    bodiless = role_matrix(with_role(LOADER, empty=True))["roles"][LOADER]["cells"]
    assert [cell["state"] for cell in bodiless] == ["finding", "empty_body", "empty_body"]
    always = changed(doc, granularity__0__can_be_inactive="no")
    assert role_matrix(always)["roles"][CONSUMER]["cells"][2]["state"] == "not_applicable"


def last_use(total, stage, stages):
    """The storer's formula as C computes it: (total - 1 - stage) / stages + 1, truncated towards zero."""
    quotient = abs(total - 1 - stage) // stages
    return (quotient if total - 1 >= stage else -quotient) + 1


@pytest.mark.parametrize(
    ("total", "wrong"),
    [(2, [2, 3, 4, 5, 6, 7]), (6, [6, 7]), (7, [7]), (1, [1, 2, 3, 4, 5, 6, 7])],
)
def test_the_storer_s_formula_on_eight_stages(total, wrong):
    assert never_fired(total, 8) == (wrong[0], wrong[-1])
    assert [last_use(total, stage, 8) for stage in wrong] == [1] * len(wrong)


@given(st.integers(1, 200), st.integers(1, 20))
def test_the_storer_s_formula_is_wrong_just_where_a_stage_never_fires(total, stages):
    visits = [sum(i % stages == stage for i in range(total)) for stage in range(stages)]
    wrong = [stage for stage in range(stages) if last_use(total, stage, stages) != visits[stage]]
    assert wrong == [stage for stage in range(stages) if not visits[stage]]
    assert (wrong == []) is (total >= stages)
    if wrong:
        assert (wrong[0], wrong[-1]) == never_fired(total, stages)


def exemplar(owners, alternative=""):
    """The grouped GEMM with all counts of active experts, 0 to 8."""
    return changed(with_release(owners=owners, alternative=alternative), granularity__2__active_low="0")


def test_r35_the_storer_forgets_stages_that_never_fire():
    (finding,) = found(exemplar(["storer"]), "R35")
    assert (finding.path, finding.severity) == ("granularity[2].iterations", "E")
    assert finding.message.startswith(
        "W2: 4*active + 2 gives 2 at active = 0 and 6 at active = 1, fewer than the 8 stages. The storer counts"
    )
    assert {key: finding.facts[key] for key in ("stages", "active", "iterations", "never_fired", "alternative")} == {
        "stages": 8, "active": [0, 1], "iterations": [2, 6], "never_fired": [2, 7], "alternative": False,
    }  # fmt: skip
    assert not spec_report(exemplar(["storer"])).passes


def test_r35_the_alternative_owner_is_reported_and_does_not_block():
    doc = exemplar(["launcher"], "storer")
    (finding,) = found(doc, "R35")
    assert (finding.severity, finding.facts["alternative"]) == ("W", True)
    assert "This concerns the storer, the documented alternative owner of page release." in finding.message
    report = spec_report(doc)
    assert report.states["R35"] == "warned"
    assert not [f for f in report.findings if f.rule == "R35" and f.severity == "E"]


def test_r35_passes_from_two_active_experts_or_with_an_explicit_release():
    assert found(with_release(owners=["storer"]), "R35") == []
    released = exemplar(["storer"])
    released["roles"]["release"]["unvisited_stages"] = "yes"
    assert found(released, "R35") == []
    assert spec_report(exemplar(["launcher"])).states["R35"] == "not_applicable"


def test_r35_a_fixed_number_of_iterations():
    doc = changed(with_release(owners=["storer"]), granularity__1__iterations="7")
    (finding,) = found(doc, "R35")
    assert finding.message.startswith("W13 shared has 7 iterations, fewer than the 8 stages.")
    assert finding.facts["never_fired"] == [7, 7]


def test_r35_enormous_numbers_answer_at_once():
    doc = changed(exemplar(["storer"]), roles__stages="2**200", granularity__2__active_high="1000")
    with at_most(500_000):
        findings = found(doc, "R35")
    assert len(findings) == 3
    assert "2 at active = 0 up to 4002 at active = 1000" in findings[2].message


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({"roles__stages": ""}, "roles.stages"),
        ({"roles__stages": "0"}, "roles.stages"),
        ({"granularity__0__iterations": ""}, "granularity[0].iterations"),
        ({"granularity__2__active_high": ""}, "granularity[2].active_high"),
    ],
)
def test_r35_missing_inputs_block_the_owner_and_warn_of_the_alternative(edit, path):
    assert path in paths(found(changed(exemplar(["storer"]), **edit), "R35", "missing_input"))
    alternative = changed(exemplar(["launcher"], "storer"), **edit)
    assert found(alternative, "R35", "missing_input") == []
    assert [f.severity for f in found(alternative, "R35") if f.path == path] == ["W"]


def amended_exemplar():
    """Section 4 says two owners; an appendix makes the launcher the only one and keeps the storer as alternative."""
    written = exemplar(["launcher", "storer"])
    fields = [
        {"field": "roles.release.owners", "value": "launcher"},
        {"field": "roles.release.alternative", "value": "storer"},
        {"field": "roles.release.only_used_pages", "value": "yes"},
    ]
    written["roles"]["release"]["only_used_pages"] = ""
    return canonical({**written, "amendments": [{"id": "Q3", "resolves": ["Q3"], "fields": fields}]})


def test_an_appendix_amends_the_owner_of_page_release():
    doc = amended_exemplar()
    before = spec_report({**doc, "amendments": []})
    assert (before.states["R32"], before.states["R35"]) == ("failed", "failed")
    assert before.states["R33"] == "missing_input"
    after = spec_report(doc)
    assert (after.states["R32"], after.states["R33"], after.states["R35"]) == ("passed", "passed", "warned")
    (finding,) = found(doc, "R35")
    assert (finding.severity, finding.facts["alternative"], finding.facts["iterations"]) == ("W", True, [2, 6])
    view = SpecView(doc)
    assert view.amended["roles.release.owners"] == Setting("Q3", "launcher", "amendments[0].fields[0]")
    assert view.written["roles"]["release"]["owners"] == ["launcher", "storer"]
    assert view.doc["roles"]["release"]["owners"] == ["launcher"]
