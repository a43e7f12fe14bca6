"""Rule R12 and the sweep: a symbol at other values, and the rules that break there."""

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec, ring_gemm_spec
from tests.rules.steps import at_most
from v2kb.rules.canonical import canonical_json
from v2kb.rules.claims import TRIED
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_rules import RULES, spec_report
from v2kb.rules.spec_view import SpecView
from v2kb.rules.sweep import sweep

RING = ring_gemm_spec()
NUMBERS = ("ordinal", "slots", "size_bytes", "offset_bytes")


def claiming(low, high, doc=RING, symbol="STAGES"):
    return changed(doc, claims=[{"symbol": symbol, "low": low, "high": high, "text": ""}])


def test_the_worked_table_of_stages():
    """Bytes, pages and semaphores of 3.0.1 for 8 to 12 stages."""
    swept = sweep(RING, "STAGES", 8, 12)
    assert swept["problems"] == []
    assert (swept["symbol"], swept["written"]) == ("STAGES", 8)
    rows = [(row["value"], row["smem_bytes"], row["smem_pages"], row["semaphores"]) for row in swept["rows"]]
    assert rows == [
        (8, 155_664, 10, 30),
        (9, 175_120, 11, 33),
        (10, 194_576, 12, 36),
        (11, 214_032, None, 39),
        (12, 233_488, None, 42),
    ]
    assert [row["regions"] for row in swept["rows"]] == [9, 10, 11, 12, 13]
    assert {row["tasks"] for row in swept["rows"]} == {124}
    assert [bool(row["plan_error"]) for row in swept["rows"]] == [False, False, False, True, True]
    assert swept["rows"][3]["plan_error"].startswith("W10: ")
    broken = [{item["rule"] for item in row["breaks"]} for row in swept["rows"]]
    assert broken == [set(), {"R20"}, {"R20"}, {"R02", "R03", "R20"}, {"R01", "R02", "R03", "R20"}]
    assert {item["rule"]: item["value"] for item in swept["first_breaks"]} == {
        "R20": 9,
        "R02": 11,
        "R03": 11,
        "R01": 12,
    }


def test_r12_names_each_rule_at_the_value_where_it_first_breaks():
    (finding,) = found(claiming("8", "12"), "R12")
    assert (finding.path, finding.severity) == ("claims[0]", "E")
    assert finding.message.startswith(
        "Spec says STAGES may grow to 12; at 9: 33 semaphores; a task has 31 of its own (R20)"
    )
    assert "; at 11: Plan needs 14 pages (14 exist); W10 could not be placed: " in finding.message
    assert "; at 12: SMEM total 233,488 B exceeds 224,256 B by 9,232 (R01)." in finding.message
    assert dict(zip(finding.facts["rules"], finding.facts["values"], strict=True)) == {
        "R20": 9, "R02": 11, "R03": 11, "R01": 12,
    }  # fmt: skip
    assert finding.fix.startswith("Claim up to 8, ")


def test_r12_a_pinned_page_count_breaks_first():
    doc = claiming("8", "11", changed(RING, smem__regions__1__page_count="2"))
    (finding,) = found(doc, "R12")
    assert "page_count 2 is too small for 33,808 B (R08)" in finding.message


def test_r12_a_claim_that_holds():
    assert spec_report(RING).states["R12"] == "passed"
    assert spec_report(grouped_gemm_spec()).states["R12"] == "passed"
    assert spec_report(norm_spec()).states["R12"] == "not_applicable"


def test_r12_rows_that_do_not_follow_the_symbol_break_it():
    """Eight rows of weights written out are still eight when the ring shrinks to six."""
    (finding,) = found(claiming("6", "8", grouped_gemm_spec()), "R12")
    assert finding.message.startswith("Spec says STAGES may be 6 to 8; at 6: ")
    assert "R06" in finding.facts["rules"]


def test_r12_only_what_held_at_the_written_value_counts():
    nine = changed(claiming("9", "10"), symbols__STAGES="9")
    assert found(nine, "R20")
    assert found(nine, "R12") == []


def test_r12_a_warning_only_warns():
    (finding,) = found(claiming("5", "8"), "R12")
    assert (finding.severity, finding.facts["rules"], finding.facts["values"]) == ("W", ["R44"], [5])


def test_r12_a_formula_without_a_value_breaks_too():
    doc = claiming("8", "9", changed(RING, smem__regions__1__alignment="8192/STAGES"))
    (finding,) = found(doc, "R12")
    assert 'align (B) "8192/STAGES" has no value' in finding.message


@pytest.mark.parametrize("field", ["symbol", "low", "high"])
def test_r12_blank_cells_are_missing(field):
    doc = claiming("8", "9")
    doc["claims"][0][field] = ""
    assert [f.path for f in found(doc, "R12", "missing_input")] == [f"claims[0].{field}"]


@pytest.mark.parametrize(
    ("symbol", "said"), [("DEPTH", "is not a symbol of this spec"), ("SPARE", "No size, count or ordinal is written")]
)
def test_r12_a_symbol_that_nothing_follows_is_missing_input(symbol, said):
    doc = claiming("8", "9", changed(RING, symbols__SPARE="8", smem__regions__0__contents="SPARE tiles"), symbol)
    (finding,) = found(doc, "R12", "missing_input")
    assert finding.path == "claims[0].symbol"
    assert said in finding.message


def in_numbers(doc, *tables):
    """The document with every formula in these tables written out at the symbols' values."""
    view = SpecView(doc)

    def written(value):
        if isinstance(value, list):
            return [written(item) for item in value]
        if isinstance(value, dict):
            return {name: number(text) if name in NUMBERS else written(text) for name, text in value.items()}
        return value

    def number(text):
        value = view.number("", text)
        return str(value) if isinstance(value, int) else text.replace("STAGES", "8")

    return changed(
        doc,
        **{
            f"{table}__rows" if table == "sems" else "smem__regions": written(
                doc[table]["rows" if table == "sems" else "regions"]
            )
            for table in tables
        },
    )


@pytest.mark.parametrize(
    ("tables", "named"),
    [
        (("smem", "sems"), "W (8 slots), W_tma (8 slots), B_sf (8 slots), mma (8 slots)"),
        (("smem",), "W (8 slots)"),
        (("sems",), "W_tma (8 slots), B_sf (8 slots), mma (8 slots)"),
    ],
)
def test_r12_a_ring_in_numbers_is_missing_input(tables, named):
    """Regions, semaphores or both stay as they are while the stages grow, so that nothing else would break."""
    (finding,) = found(claiming("8", "12", in_numbers(RING, *tables)), "R12", "missing_input")
    assert finding.path == "claims[0].symbol"
    assert finding.message.endswith(f"so that the claim can't be tried: {named}.")


def test_r12_one_count_in_numbers_is_missing_input_and_a_symbol_of_its_own_is_none():
    doc = claiming("8", "8", changed(RING, sems__rows__1__slots="8"))
    (finding,) = found(doc, "R12", "missing_input")
    assert finding.message.endswith(": B_sf (8 slots).")
    assert not found(changed(doc, symbols__OTHER="8", sems__rows__1__slots="OTHER"), "R12", "missing_input")


def test_r12_a_ring_of_another_length_than_its_stages():
    """Eight slots in numbers against four stages: none equals the stages, and none follows them."""
    doc = changed(in_numbers(RING, "smem", "sems"), symbols__STAGES="4")
    (finding,) = found(claiming("4", "12", doc), "R12", "missing_input")
    assert "W (8 slots), W_tma (8 slots)" in finding.message
    eight_rows = changed(in_numbers(grouped_gemm_spec(), "smem"), symbols__STAGES="4", roles__stages="STAGES")
    (finding,) = found(claiming("4", "12", eight_rows), "R12", "missing_input")
    assert finding.message.endswith(": the table of regions.")


def test_r12_follows_symbols_of_symbols():
    doc = changed(RING, symbols={**RING["symbols"], "RING": "4", "STAGES": "2*RING"})
    (finding,) = found(claiming("4", "6", doc, "RING"), "R12")
    assert finding.message.startswith(
        "Spec says RING may grow to 6; at 5: 36 semaphores; a task has 31 of its own (R20)"
    )


def test_r12_reversed_and_endless_ranges():
    assert found(claiming("9", "8"), "R12")[0].path == "claims[0].high"
    with at_most(2_000_000):
        (finding,) = found(claiming("1", "10**60"), "R12")
    assert "too much to try" in finding.message
    two = changed(claiming("8", "47"), claims=[{"symbol": "STAGES", "low": "8", "high": "47"}] * 2)
    assert [f.path for f in found(two, "R12") if "too much to try" in f.message] == ["claims[1]"]


def heavy_spec():
    """A document as large as its limits allow, every number a long formula."""
    text = "+".join(["0"] * 195) + "+STAGES"
    row = {**RING["smem"]["regions"][1], "size_bytes": text, "alignment": text, "page_count": text, "slots": "1"}
    regions = [{**row, "name": f"r{i}", "ordinal": text} for i in range(64)]
    return changed(claiming("8", "20"), smem__regions=regions)


def test_a_heavy_document_is_not_tried_many_times():
    doc = heavy_spec()
    assert "is too much to try" in found(doc, "R12")[0].message
    (problem,) = sweep(doc, "STAGES", 1, 200)["problems"]
    assert (problem["field"], "can be swept" in problem["message"]) == ("high", True)


def test_every_tried_rule_exists():
    assert set(TRIED) <= set(RULES)
    assert "R12" not in TRIED


@pytest.mark.parametrize(
    ("symbol", "low", "high", "field"),
    [
        ("NONE", "1", "2", "symbol"),
        ("PAGE", "1", "2", "symbol"),
        ("STAGES", "", "2", "low"),
        ("STAGES", "1", "x", "high"),
        ("STAGES", "5", "4", "high"),
        ("STAGES", "1", "257", "high"),
        ("STAGES", "1", "10**70", "high"),
        ("\x00" * 500, "1", "2", "symbol"),
    ],
)
def test_a_sweep_says_why_it_cannot_run(symbol, low, high, field):
    swept = sweep(RING, symbol, low, high)
    assert [problem["field"] for problem in swept["problems"]] == [field]
    assert swept["rows"] == swept["first_breaks"] == []


def test_a_sweep_takes_formulas_and_raw_documents():
    assert [row["value"] for row in sweep(RING, "STAGES", "STAGES - 1", "STAGES + ACC")["rows"]] == [7, 8, 9, 10]
    assert sweep("not a document", "STAGES", 1, 2)["problems"][0]["field"] == "symbol"
    assert sweep(empty_spec(), "STAGES", 1, 2)["written"] is None
    canonical_json(sweep(RING, "STAGES", 1, 20))


def test_a_sweep_of_an_axis_of_the_op():
    doc = changed(norm_spec(), ops=[{"op": "norm", "contract": "c"}], symbols={})
    contract = {"axes": {"HIDDEN": {"value": "1024"}}}
    swept = sweep(doc, "HIDDEN", 7_168, 7_169, {"norm": contract})
    assert [(row["smem_bytes"], row["smem_pages"]) for row in swept["rows"]] == [(44_032, 3), (47_104, 3)]
    assert swept["written"] == 1_024


def test_a_value_is_as_if_it_were_written():
    for row in sweep(RING, "STAGES", 1, 14)["rows"]:
        report = spec_report(changed(RING, claims=[], symbols__STAGES=str(row["value"])))
        assert {name: row[name] for name in report.totals} == report.totals
        failed = {rule for rule in TRIED if report.states[rule] in ("failed", "warned", "missing_input")}
        assert failed == {item["rule"] for item in row["breaks"]}


def test_a_sweep_of_200_values_is_little_enough_work():
    with at_most(5_000_000):
        assert len(sweep(RING, "STAGES", 1, 200)["rows"]) == 200
