"""Terms: curators add words and other names; what rules depend on stays, and nothing that is added disarms a row."""

import json

import pytest
from django.db import DatabaseError, transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.baseline import UNSAID, BaselineRow, compare_rows
from evidence.importers.load import load_map
from evidence.importers.log_lines import read_line
from evidence.importers.log_mapping import read_mapping
from evidence.importers.records import Record
from evidence.models import EvidenceRow, Term, TermAlias
from evidence.search import Query, search_rows
from evidence.search.board import Design, board_of
from evidence.services import accept_proposal, propose_change, propose_row
from evidence.services.terms import (
    add_term,
    add_term_alias,
    archive_term,
    edit_term,
    keep_built_in_terms,
    remove_term_alias,
    restore_term,
)
from evidence.vocabulary import added_causes, cause_choices, known_words, scope_aliases, unit_spellings
from kernels.selectors.gate import evidence_snapshot, gate_preview
from kernels.selectors.searches import check_receipt, newest_change
from kernels.selectors.verify import faults
from kernels.services.searches import record_search
from tests import factories as f
from v2kb.core.activity import activity_of
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.core.guards.errors import refusal_from_database
from v2kb.rules.antiloop_facts import Snapshot
from v2kb.rules.evidence import CAUSE_CLASSES, FULL
from v2kb.rules.numbers import SPELLINGS, UNITS
from v2kb.rules.scope import DISJOINT, relation

pytestmark = pytest.mark.django_db


def term(kind: str, word: str) -> Term:
    return Term.objects.get(kind=kind, word=word)


def against(scope: dict) -> set[str]:
    """Codes of the DEAD rows that count against a choice of fused-row-norm in this scope."""
    snapshot = Snapshot(evidence_snapshot({}))
    return {match.row.code for match in snapshot.dead_matches({"fused-row-norm"}, scope) if match.counts}


def test_the_words_of_the_rules_are_there_with_their_spellings():
    assert set(Term.objects.filter(kind="cause").values_list("word", flat=True)) == set(CAUSE_CLASSES)
    assert set(Term.objects.filter(kind="unit").values_list("word", flat=True)) == set(UNITS)
    assert not Term.objects.filter(built_in=False).exists()
    assert {alias.word for alias in term("arch", "sm_90").aliases.all()} == {"h100", "h200", "gh200"}
    assert term("cause", "ruled_out_by_survey").note == "A DEAD row of this cause blocks weakly."
    before = list(Term.objects.values()), list(TermAlias.objects.values())
    keep_built_in_terms()
    assert (list(Term.objects.values()), list(TermAlias.objects.values())) == before


def test_a_cause_class_that_is_added_can_be_picked_and_blocks_in_full():
    added = add_term(f.curator(), kind="cause", word="Register pressure", aliases=["spills"])
    assert added.word == "register_pressure"
    assert cause_choices()[-1] == ("register_pressure", "register pressure")
    row = f.evidence_row(f.DEAD, cause_class="spills")
    assert (row.head.cause_class, row.head.blocking) == ("register_pressure", FULL)
    assert against({}) == {row.code}
    assert len(search_rows(Query("cause:register")).ids) == 1
    archive_term(f.curator(), added.pk, reason="too broad")
    assert "register_pressure" not in dict(cause_choices())
    reworded = {**row.head.content, "mechanism": "It spills."}
    proposer = f.actor("prue", "curator", "designer")
    made = propose_change(proposer, row, base_hash=row.head.content_hash, content=reworded, reason="words")
    assert accept_proposal(f.curator(), made.pk).row.head.cause_class == "register_pressure"


def test_an_unknown_cause_class_is_refused_as_before():
    with pytest.raises(Refusal) as caught:
        propose_row(f.curator(), content={**f.DEAD, "cause_class": "bad_luck"}, reason="try it")
    assert caught.value.field == "cause_class"


@pytest.mark.parametrize(("kind", "known", "other"), [("arch", "sm_90", "hopper"), ("dtype", "bf16", "brain16")])
def test_a_name_makes_scopes_one_and_the_gate_sees_it(kind, known, other):
    row = f.evidence_row(f.DEAD, scope={kind: [known]})
    assert against({kind: [other]}) == set()
    add_term_alias(f.curator(), term(kind, known).pk, other.upper())
    assert scope_aliases() == {kind: {other: known}}
    assert against({kind: [other]}) == {row.code}
    assert against({kind: ["sm_100" if kind == "arch" else "fp8"]}) == set()
    assert len(search_rows(Query(f"{kind}:{other}")).ids) == 1
    board = board_of(Design(levers=("fused-row-norm",), scope={kind: [other]}))
    assert board.rows[0].standing.blocks
    assert board.rows[0].standing.relation == "equal"


def test_the_gate_of_a_spec_keeps_the_names_that_it_saw():
    f.op()
    row = f.evidence_row(scope={"envelope": ["cpu"], "arch": ["cpu"]})
    revision = f.approved_revision(row)
    dead = f.evidence_row(f.DEAD, scope={"arch": ["host"]})
    assert gate_preview(revision.spec, revision.content).passed
    record = record_search(f.designer(), spec=revision.spec, design=_design(), decisions={})
    made = add_term(f.curator(), kind="arch", word="cpu")
    add_term_alias(f.curator(), made.pk, "host")
    blocked = gate_preview(revision.spec, revision.content).blocking_lines
    assert any(dead.code in line.message for line in blocked)
    assert {one.code for one in check_receipt(record, newest_change()).new} == {dead.code}
    assert list(faults()) == []


def _design() -> Design:
    return Design(levers=("fused-row-norm",), scope={"arch": ["cpu"]})


def test_a_name_is_not_taken_away_from_under_a_blocking_row():
    row = f.evidence_row(f.DEAD, scope={"arch": ["hopper"]})
    arch = term("arch", "sm_90")
    add_term_alias(f.curator(), arch.pk, "hopper")
    with pytest.raises(Conflict) as caught, transaction.atomic():
        remove_term_alias(f.curator(), arch.pk, "hopper")
    assert (caught.value.code, caught.value.facts) == ("evidence.term_disarms", {"rows": [row.code]})
    assert against({"arch": ["sm_90"]}) == {row.code}
    other = term("arch", "sm_80")
    add_term_alias(f.curator(), other.pk, "ampere")
    remove_term_alias(f.curator(), other.pk, "ampere")
    assert scope_aliases() == {"arch": {"hopper": "sm_90"}}
    assert [line.verb for line in activity_of(other)] == ["evidence.remove_term_alias", "evidence.add_term_alias"]


def test_added_terms_are_noted_archived_and_restored():
    added = add_term(f.curator(), kind="arch", word="SM 120a", note=" RTX ", aliases=["rtx5090"])
    assert (added.word, added.note, str(added)) == ("sm_120", "RTX", "architecture sm_120")
    edit_term(f.curator(), added.pk, note="RTX 50")
    with pytest.raises(Refusal) as caught, transaction.atomic():
        edit_term(f.curator(), added.pk, note="RTX 50")
    assert caught.value.code == "evidence.no_change"
    assert "sm_120" in known_words()["arch"]
    archive_term(f.curator(), added.pk, reason="a typo")
    assert "sm_120" not in known_words()["arch"]
    for call, code in (
        (lambda: archive_term(f.curator(), added.pk, reason="again"), "evidence.term_archived"),
        (lambda: restore_term(f.curator(), added.pk) and restore_term(f.curator(), added.pk), "evidence.not_archived"),
    ):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == code
    assert "sm_120" in known_words()["arch"]


@pytest.mark.parametrize(
    ("kind", "word", "code"),
    [
        ("unit", "furlong", "evidence.term_closed"),
        ("lever", "x", "evidence.term_kind"),
        ("arch", "", "evidence.term_word"),
        ("arch", "any", "evidence.term_word"),
        ("arch", "sm 100 / sm 90", "evidence.term_word"),
        ("cause", "x" * 61, "evidence.term_word"),
        ("arch", "SM100a", "evidence.term_taken"),
        ("arch", "B200", "evidence.term_taken"),
        ("dtype", "half", "evidence.term_taken"),
        ("cause", "Flat", "evidence.term_taken"),
    ],
)
def test_refused_words(kind, word, code):
    with pytest.raises(Refusal) as caught:
        add_term(f.curator(), kind=kind, word=word)
    assert caught.value.code == code
    assert not Term.objects.filter(built_in=False).exists()


def test_what_is_built_in_keeps_its_meaning():
    flat, arch = term("cause", "flat"), term("arch", "sm_90")
    for call in (
        lambda: edit_term(f.curator(), flat.pk, note="does not block"),
        lambda: archive_term(f.curator(), flat.pk, reason="gone"),
        lambda: remove_term_alias(f.curator(), arch.pk, "h100"),
    ):
        with pytest.raises(Refusal) as caught, transaction.atomic():
            call()
        assert caught.value.code == "evidence.term_built_in"
    for changed in ({"word": "round"}, {"kind": "arch"}, {"built_in": False}):
        with pytest.raises(DatabaseError) as refused, transaction.atomic():
            Term.objects.filter(pk=flat.pk).update(**changed)
        assert refusal_from_database(refused.value).code == "database.term_word"
    with pytest.raises(Forbidden):
        add_term(f.designer(), kind="arch", word="sm_120")


def number_of(text: str, **changes):
    """A proposed row with a number, as a person would send it."""
    numbers = [{"text": text, "readable": True, "value": "6", "unit": "us", "role": "bound"} | changes]
    return propose_row(f.curator(), content={**f.DEAD, "numbers": numbers}, reason="measured").content["numbers"]


def test_another_spelling_of_a_unit_is_understood_and_never_kept():
    f.evidence_row()
    with pytest.raises(Refusal) as caught:
        number_of("6 usec", unit="usec")
    assert caught.value.field == "numbers[0].unit"
    unit = term("unit", "us")
    for spelling in ("µsec", "microsec", "US"):
        add_term_alias(f.curator(), unit.pk, spelling)
    add_term_alias(f.curator(), term("unit", "MB/s").pk, "MB/sec")
    added = {"usec": "us", "microsec": "us", "US": "us", "MB/sec": "MB/s"}
    assert unit_spellings() == added | SPELLINGS
    assert scope_aliases() == {}
    assert number_of("6 usec", unit="usec") == number_of("6 usec")
    remove_term_alias(f.curator(), unit.pk, "usec")
    assert "usec" not in unit_spellings()
    assert [line.verb for line in activity_of(unit)][:2] == ["evidence.remove_term_alias", "evidence.add_term_alias"]
    assert list(faults()) == []


def test_a_log_and_a_map_are_read_with_the_spellings_of_an_installation():
    header, words = ["what", "result_usec", "bound"], {"dead": {"as": "row", "verdict": "DEAD", "cause_class": ""}}
    columns = {"what": "title", "result_usec": "number", "bound": "bound", "verdict": "verdict"}
    cells = ["Tile 128", "6.24", "≤5 MB/sec", "dead"]
    mapping = {"columns": columns, "words": words}
    spellings = SPELLINGS | {"usec": "us", "MB/sec": "MB/s"}
    read = read_line(Record(1, cells), [*header, "verdict"], mapping, {}, spellings)
    numbers = [(number["unit"], number["value"]) for number in read.document["content"]["numbers"]]
    assert numbers == [("us", "6.24"), ("MB/s", "5")]
    add_term_alias(f.curator(), term("unit", "us").pk, "usec")
    line = "| W1 | Tile | 6 usec vs v1 | m | 2026-07-03 |"
    text = f"# M\n\n## Wins\n\n| # | Win | Number | Mechanism | Source |\n|---|---|---|---|---|\n{line}\n"
    for _ in range(2):
        plan = load_map(f.curator(), name="map.md", data=text.encode())
    row = EvidenceRow.objects.get(code="W1")
    (number,) = row.head.content["numbers"]
    assert (number["text"], number["unit"], number["value"]) == ("6 usec", "us", "6")
    assert plan.counts["unchanged"] == 1


@pytest.mark.parametrize(
    ("unit", "spelling", "code"),
    [
        ("us", "us", "evidence.term_taken"),
        ("us", "µs", "evidence.term_taken"),
        ("s", "MS", "evidence.term_taken"),
        ("GB", "Kb", "evidence.term_taken"),
        ("KB", "kB", "evidence.term_taken"),
        ("x", "Percent", "evidence.term_taken"),
        ("ms", "usec", "evidence.term_taken"),
        ("ms", "USEC", "evidence.term_taken"),
        ("us", "u", "evidence.term_word"),
        ("us", "10us", "evidence.term_word"),
        ("us", "to", "evidence.term_word"),
        ("us", "CTAs", "evidence.term_word"),
        ("us", "", "evidence.term_word"),
    ],
)
def test_refused_spellings_of_a_unit(unit, spelling, code):
    add_term_alias(f.curator(), term("unit", "us").pk, "usec")
    with pytest.raises(Refusal) as caught:
        add_term_alias(f.curator(), term("unit", unit).pk, spelling)
    assert (caught.value.code, caught.value.field) == (code, "alias")
    assert caught.value.fix
    assert unit_spellings() == {"usec": "us"} | SPELLINGS


WORDS = ["fp8", "fp8_e4m3", "fp8_x", "bf16", "half_float", "x"]
SETS = st.lists(st.sampled_from(WORDS), max_size=3)


@settings(deadline=None)
@given(SETS, SETS, st.dictionaries(st.sampled_from(WORDS), st.sampled_from(WORDS), max_size=4))
def test_no_names_make_scopes_disjoint(one, two, names):
    a, b = {"dtype": one}, {"dtype": two}
    if relation(a, b) != DISJOINT:
        assert relation(a, b, {"dtype": names}) != DISJOINT


def test_exported_rows_of_an_added_cause_class_come_back_unchanged():
    add_term(f.curator(), kind="cause", word="register pressure")
    row = f.evidence_row(f.DEAD, cause_class="register_pressure")
    header = ["verdict", "code", "document", "hash"]
    cells = ["DEAD", row.code, json.dumps(row.head.content), row.head.content_hash]
    mapping = {
        "columns": {name: name for name in header},
        "words": {"dead": {"as": "row", "verdict": "DEAD", "cause_class": ""}},
    }
    read = read_line(Record(1, cells), header, mapping, added_causes())
    assert (read.problems, read.document["content"]) == ([], row.head.content)
    assert read_line(Record(1, cells), header, mapping).problems
    found = compare_rows([BaselineRow(row.code, 1, read.document["content"], said=frozenset(UNSAID))])
    assert found[0].state == "unchanged"
    assert read_mapping({"columns": {}, "words": {"x": _dead("register_pressure")}}, header, added_causes())[0]["words"]
    assert not read_mapping({"columns": {}, "words": {"x": _dead("bad_luck")}}, header, added_causes())[0]["words"]


def _dead(cause: str) -> dict[str, str]:
    return {"as": "row", "verdict": "DEAD", "cause_class": cause}
