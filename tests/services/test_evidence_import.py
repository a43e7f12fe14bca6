"""Importing a map: unknown codes as they stand, known ones as proposals, a second import changes nothing."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from evidence.exports import export_map
from evidence.importers.load import load_map, plan_map, try_map
from evidence.models import CodeSeries, EvidenceRevision, EvidenceRow, Lever, Proposal
from evidence.selectors import resolve_lever
from evidence.services import BaselineRow, accept_proposal, archive_row, import_baseline, propose_row
from references.models import Document, Guideline
from tests.evidence.sample import MAP, changed, load_sample, typing_bytes
from tests.starter_data import STARTER
from v2kb.core.errors import Forbidden, Refusal
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db


def head(code: str) -> EvidenceRevision:
    return EvidenceRow.objects.select_related("head__lever").get(code=code).head


def plan(text: str = MAP, *, typed: bool = True):
    return plan_map(name="probe-map.md", data=text.encode(), typing=typing_bytes() if typed else None)


def test_only_a_curator_or_the_system_imports(make_actor, system):
    for role in ("viewer", "designer", "validator", "administrator"):
        with pytest.raises(Forbidden) as refused:
            load_sample(make_actor(f"u-{role}", role))
        assert refused.value.code == "core.role"
        with pytest.raises(Forbidden):
            import_baseline(make_actor(f"v-{role}", role), rows=[], source="x")
    assert not EvidenceRow.objects.exists()
    assert len(load_sample(system).report.added) == 6


def test_a_dry_run_writes_nothing(cleo):
    before = Activity.objects.count()
    found = plan()
    assert found.counts == {"new": 6, "changed": 0, "unchanged": 0, "unreadable": 0}
    assert found.verdict_counts == {"DEAD": 3, "WIN": 2, "UNTESTED": 1}
    missing = {row.row.code: [problem.field for problem in row.missing] for row in found.rows}
    assert missing["D10"] == ["cause_class", "scope", "not_checked"]
    assert (missing["D1"], missing["W2"]) == ([], ["numbers"])
    assert {row.row.code: row.new_lever for row in found.rows if row.new_lever}.keys() == {"D10", "W1", "W2", "U1"}
    assert [line.state for line in found.guidelines] == ["new"] * 5
    assert (EvidenceRow.objects.count(), Lever.objects.count(), Activity.objects.count()) == (0, 0, before)


def test_front_matter_of_a_map_is_no_row_and_said_where_it_can_not_be_read(cleo):
    fine = plan("---\nname: probe\n---\n" + MAP)
    assert (fine.counts["new"], fine.map.notes) == (6, [])
    broken = load_sample(cleo, "---\nname: [probe\n---\n" + MAP)
    assert broken.map.notes[0].startswith("line 2: the front matter is not YAML")
    assert len(broken.report.added) == 6


def test_a_dry_run_says_what_would_refuse_and_keeps_nothing(cleo):
    taken = json.dumps({"levers": [{"slug": "new", "name": "Fine"}]}).encode()
    for typing, code in ((typing_bytes(), None), (taken, "evidence.lever_slug")):
        found, refusal = try_map(cleo, name="probe-map.md", data=MAP.encode(), typing=typing)
        assert found.counts["new"] == 6
        assert (refusal.code if refusal else None) == code
        assert found.report is None
    assert (refusal.field, "lever new, slug" in refusal.message) == ("typing", True)
    assert (EvidenceRow.objects.count(), Lever.objects.count(), Activity.objects.count()) == (0, 0, 0)
    assert (Document.objects.count(), Guideline.objects.count(), CodeSeries.objects.count()) == (0, 0, 0)


def test_rows_come_in_as_they_stand(cleo):
    report = load_sample(cleo).report
    assert report.added == ["D1", "D2", "D10", "W1", "W2", "U1"]
    assert (head("D1").lever.slug, head("D1").blocking, head("D1").author) == ("warp-spec", "full", cleo.user)
    assert (head("D2").blocking, head("D2").cause_class) == ("weak", "ruled_out_by_survey")
    assert (head("D10").cause_class, head("D10").blocking) == ("", "full")
    assert head("W1").blocking == ""
    assert resolve_lever("loader warp") == head("D1").lever
    assert Lever.objects.get(slug="split-k").parent.slug == "splits"
    document = Document.objects.get(slug="probe-map")
    counts = {kind: document.guidelines.filter(kind=kind).count() for kind in Guideline.Kind.values}
    assert counts == {"measurement_rule": 2, "contract_step": 2, "known_gap": 1}
    sections = set(document.head.sections.values_list("anchor", flat=True))
    assert head("W1").content["sources"][0]["document"] == "probe-map"
    assert head("W1").content["sources"][0]["anchor"] in sections


def test_new_codes_go_on_after_the_imported_ones(cleo, make_actor):
    load_sample(cleo)
    content = changed(head("D1").content, title="Found later")
    proposal = propose_row(make_actor("ines", "designer"), content=content, reason="found")
    assert accept_proposal(cleo, proposal.pk).row.code == "D11"
    assert CodeSeries.objects.get(prefix="D").last == 11


def test_a_second_import_changes_and_records_nothing(cleo):
    load_sample(cleo)
    before = Activity.objects.count()
    again = load_sample(cleo)
    assert again.report.unchanged == ["D1", "D2", "D10", "W1", "W2", "U1"]
    assert (Activity.objects.count(), Proposal.objects.count()) == (before, 0)
    assert not again.has_changes


def test_other_content_becomes_a_proposal_and_overwrites_nothing(cleo, make_actor):
    load_sample(cleo)
    text = MAP.replace("+67%", "+76%").replace("| D10 |", "| D9 |")
    found = plan(text)
    assert {row.row.code: row.state for row in found.rows} == {
        "D1": "changed", "D2": "unchanged", "D9": "new", "W1": "unchanged", "W2": "unchanged", "U1": "unchanged",
    }  # fmt: skip
    changes = {change.field for change in next(row for row in found.rows if row.row.code == "D1").changes}
    assert changes == {"numbers", "measured_note"}
    report = load_sample(cleo, text).report
    assert (report.added, report.proposed) == (["D9"], ["D1"])
    assert head("D1").number == 1
    proposal = Proposal.objects.get()
    assert (proposal.row.code, proposal.author, proposal.base) == ("D1", cleo.user, head("D1"))
    accept_proposal(make_actor("carl", "curator"), proposal.pk)
    assert "+76%" in [number["text"] for number in head("D1").content["numbers"]]


def test_a_changed_row_is_not_proposed_twice_nor_over_ones_own_proposal(cleo):
    load_sample(cleo)
    load_sample(cleo, MAP.replace("+67%", "+76%"))
    kept = load_sample(cleo, MAP.replace("+67%", "+76%")).report.kept
    assert kept == [("D1", f"your proposal {Proposal.objects.get().pk} says this already")]
    kept = load_sample(cleo, MAP.replace("+67%", "+77%")).report.kept
    assert "is open; decide that first" in kept[0][1]
    assert Proposal.objects.count() == 1


def test_an_old_map_does_not_turn_a_row_back(cleo, make_actor):
    load_sample(cleo)
    load_sample(cleo, MAP.replace("+67%", "+76%"))
    accept_proposal(make_actor("carl", "curator"), Proposal.objects.get().pk)
    found = plan()
    line = next(row for row in found.rows if row.row.code == "D1")
    assert (line.state, line.note) == ("unchanged", "an earlier revision says this; the row is at 2 now")


def test_the_export_of_a_row_that_moved_on_is_no_old_map(cleo, make_actor):
    load_sample(cleo)
    load_sample(cleo, MAP.replace("+67%", "+76%"))
    accept_proposal(make_actor("carl", "curator"), Proposal.objects.get().pk)
    line = next(row for row in plan(export_map(), typed=False).rows if row.row.code == "D1")
    assert (line.state, line.note) == ("unchanged", "")


def test_without_a_typing_file_the_head_keeps_what_no_column_says(cleo):
    load_sample(cleo)
    line = next(row for row in plan(typed=False).rows if row.row.code == "D1")
    assert line.content["cause_class"] == "regressed_in_scope"
    assert line.content["lever"] == "warp-spec"
    assert (line.state, line.content["title"]) == ("unchanged", "Loader warp")


def test_the_system_proposes_nothing(cleo, system):
    load_sample(cleo)
    report = load_sample(system, MAP.replace("+67%", "+76%")).report
    assert report.kept == [("D1", "only a person can propose")]


def test_an_archived_row_stays_archived(cleo):
    load_sample(cleo)
    archive_row(cleo, "U1", reason="a twin")
    report = load_sample(cleo, MAP.replace("Never tried", "Not tried")).report
    assert report.kept == [("U1", "the row is archived")]


def test_unreadable_lines_refuse_the_whole_unless_left_out(cleo):
    text = MAP.replace("ALL FLAT (≤6%)", "Promising (≤6%)").replace("| W2 |", "| W1 |")
    with pytest.raises(Refusal) as refused:
        load_sample(cleo, text)
    assert refused.value.code == "evidence.import_unreadable"
    codes = [problem["code"] for problem in refused.value.problems]
    assert codes == ["evidence.import.verdict", "evidence.import.duplicate_code", "evidence.import.duplicate_code"]
    assert (
        refused.value.problems[0]["message"].startswith("Line 11, column verdict + number")
        or "line 11" in refused.value.message
    )
    assert not EvidenceRow.objects.exists()
    assert not Document.objects.exists()
    report = load_sample(cleo, text, skip_unreadable=True).report
    assert report.added == ["D1", "D2", "U1"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"# Map\n\n| caf\xe9 |", "evidence.import.not_utf8"),
        (b"", "document.empty"),
        (b"# x\x00y", "document.binary"),
        (b"x" * (1024 * 1024 + 1), "evidence.import.too_large"),
    ],
)
def test_files_that_are_no_text(cleo, data, code):
    with pytest.raises(Refusal) as refused:
        load_map(cleo, name="map.md", data=data)
    assert (refused.value.code, refused.value.field) == (code, "file")
    assert refused.value.fix
    if code.endswith("utf8"):
        assert refused.value.facts == {"line": 3, "column": 6}


def test_content_that_no_row_can_hold_names_its_line(cleo):
    typing = typing_bytes().replace(b'"1"', b'"many"')
    with pytest.raises(Refusal) as refused:
        load_map(cleo, name="map.md", data=MAP.encode(), typing=typing)
    problem = refused.value.problems[0]
    assert (problem["code"], "Line 9, column scope.m" in problem["message"]) == ("evidence.field", True)


def test_the_service_itself_refuses_twins_and_bad_codes(cleo):
    content = {"lever": "a-lever", "title": "A", "verdict": "UNTESTED", "bound": "x"}
    for rows, code in (
        ([BaselineRow("U1", 1, content), BaselineRow("U1", 2, content)], "evidence.duplicate_code"),
        ([BaselineRow("nonsense", 1, content, "A lever")], "evidence.code"),
        ([BaselineRow("S10", 1, content, "A lever")], "evidence.code"),
        ([BaselineRow("U1", 1, {**content, "verdict": "?"}, "A lever")], "evidence.import_rows"),
    ):
        with pytest.raises(Refusal) as refused:
            import_baseline(cleo, rows=rows, source="test")
        assert refused.value.code == code
    assert not EvidenceRow.objects.exists()


# --- command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def map_file(tmp_path):
    path = tmp_path / "probe-map.md"
    path.write_text(MAP)
    return path


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("import_evidence", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_the_command_shows_and_imports(map_file, tmp_path):
    typing = tmp_path / "levers.json"
    typing.write_bytes(typing_bytes())
    shown = run(map_file, "--dry-run")
    assert "Would be: 6 new, 0 changed, 0 unchanged, 0 unreadable" in shown
    assert "not read as numbers: 3×" in shown
    assert not EvidenceRow.objects.exists()
    assert "Done: 6 rows added" in run(map_file, "--typing", typing)
    assert "6 unchanged" in run(map_file, "--typing", typing)


def test_the_command_refuses_in_words(map_file, make_user):
    make_user("vita", "viewer")
    broken = map_file.with_name("broken.md")
    broken.write_text(MAP.replace("| D2 |", "| D1 |"))
    for arguments, said in (
        ([map_file, "--as", "nobody"], "There is no user nobody"),
        ([map_file, "--as", "vita"], "core.role"),
        ([map_file.with_name("none.md")], "can't be read"),
        ([broken], "stands in line 10 too"),
    ):
        with pytest.raises(CommandError) as refused:
            run(*arguments)
        assert said in str(refused.value)


# --- real maps ----------------------------------------------------------------------------------------------------


def test_the_starter_maps(system):
    typing = (STARTER / "levers.json").read_bytes()
    for name in ("decode-evidence-map.md", "cpu-probe-map.md"):
        found = load_map(system, name=name, data=(STARTER / "documents" / name).read_bytes(), typing=typing)
        assert found.problems == []
    assert EvidenceRow.objects.count() == 20
    assert [row.code for row in EvidenceRow.objects.all() if row.head.lever.slug == "warp-spec-producer"] == ["D1"]
    assert head("D11").blocking == "weak"


def test_the_corpus_map(corpus, cleo):
    data = (corpus / "references" / "m1-decode-evidence.md").read_bytes()
    found = load_map(cleo, name="m1-decode-evidence.md", data=data)
    assert len(found.report.added) == 19
    assert head("D3").blocking == "full"
    assert Guideline.objects.filter(kind="measurement_rule").count() == 7
    again = load_map(cleo, name="m1-decode-evidence.md", data=data)
    assert (len(again.report.unchanged), again.has_changes) == (19, False)
