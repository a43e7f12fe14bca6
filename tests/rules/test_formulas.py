"""Renaming a symbol: all formulas that use it, whole words only, and nothing else."""

import copy

from hypothesis import given
from hypothesis import strategies as st

from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.formulas import Rename, rename_symbol, renamed_symbols
from v2kb.rules.spec_rules import check_spec
from v2kb.rules.spec_view import SpecView

KNOWN = ("PAGE", "PAGES")


def renamed(new="RING"):
    """The grouped GEMM after somebody renamed STAGES in its table of symbols, and what it was before."""
    before = grouped_gemm_spec()
    document = copy.deepcopy(before)
    document["symbols"] = {new if name == "STAGES" else name: text for name, text in before["symbols"].items()}
    return document, before


def test_a_renamed_symbol_is_known_by_its_formula_and_by_what_is_left_of_it():
    document, before = renamed()
    (offer,) = renamed_symbols(document, before["symbols"], KNOWN)
    assert (offer.old, offer.new) == ("STAGES", "RING")
    assert offer.fields == sum("STAGES" in text for text in texts(document))
    document["symbols"]["UNUSED"] = "77"
    assert renamed_symbols(document, before["symbols"], KNOWN) == [offer]
    assert {found.new for found in renamed_symbols(document, {}, KNOWN)} >= {"RING", "UNUSED"}


def texts(value):
    """Every text of a document that holds no sentence."""
    if isinstance(value, dict | list):
        return [text for item in (value.values() if isinstance(value, dict) else value) for text in texts(item)]
    return [value] if isinstance(value, str) and (value == "STAGES" or any(sign in value for sign in "*+/")) else []


def test_all_uses_are_renamed_and_the_rules_say_what_they_said():
    document, before = renamed()
    assert [f.message for f in check_spec(document)] != [f.message for f in check_spec(before)]
    whole = rename_symbol(document, "STAGES", "RING")
    assert renamed_symbols(whole, before["symbols"], KNOWN) == []
    assert rename_symbol(whole, "RING", "STAGES") == {**before, "symbols": whole["symbols"]}
    said = [f.message.replace("RING", "STAGES") for f in check_spec(whole)]
    assert sorted(said) == sorted(f.message for f in check_spec(before))


def test_words_prose_names_and_local_names_stay():
    document = grouped_gemm_spec()
    document["symbols"] |= {"STAGES_2": "STAGES + MY_STAGES", "s": "4"}
    document["summary"] = "STAGES stages"
    document["smem"]["regions"][0] |= {"name": "STAGES", "release_step": "s + STAGES", "alignment": "min(STAGES, 8)"}
    document["claims"] = [{"symbol": "STAGES", "low": "1", "high": "2*STAGES", "text": "STAGES may grow"}]
    fields = [{"field": "sems.num_op_sems", "value": "STAGES"}, {"field": "engine.idiom", "value": "STAGES"}]
    fields.append({"field": "symbols.STAGES", "value": "4"})
    document["amendments"] = [{"id": "A1", "text": "STAGES", "fields": fields}]
    found = rename_symbol(rename_symbol(document, "STAGES", "RING"), "s", "slot")
    assert found["symbols"]["STAGES_2"] == "RING + MY_STAGES"
    assert (found["summary"], found["smem"]["regions"][0]["name"]) == ("STAGES stages", "STAGES")
    assert found["smem"]["regions"][0]["release_step"] == "s + RING"
    assert found["smem"]["regions"][0]["alignment"] == "min(RING, 8)"
    assert found["claims"] == [{"symbol": "RING", "low": "1", "high": "2*RING", "text": "STAGES may grow"}]
    assert [entry["value"] for entry in found["amendments"][0]["fields"]] == ["RING", "STAGES", "4"]
    assert found["amendments"][0]["fields"][2]["field"] == "symbols.RING"
    assert document["symbols"]["STAGES_2"] == "STAGES + MY_STAGES"


def test_axes_of_a_contract_and_the_planner_s_constants_are_no_old_names():
    document, before = renamed()
    document["smem"]["regions"][0]["size_bytes"] = "PAGE*HIDDEN_AXIS"
    olds = {rename.old for rename in renamed_symbols(document, before["symbols"], (*KNOWN, "HIDDEN_AXIS"))}
    assert olds == {"STAGES"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("A*B"),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["symbols", "claims", "symbol", "slots", "fields", "field", "value"]), inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["smem", "symbols", "amendments"]), JSON))
def test_any_draft_is_renamed_without_an_error(draft):
    rename_symbol(draft, "A", "B")
    view = SpecView(draft)
    assert all(isinstance(found, Rename) for found in renamed_symbols(view.written, {}, KNOWN))
