"""Imports of logs as jobs: found, mapped, checked, taken over; resumed, cancelled; a second import changes nothing."""

import json
import re

import pytest

from evidence import exports
from evidence.indexing import find_experiments
from evidence.models import EvidenceRow, ExperimentEntry, ImportedLine, ImportJob, ImportLine, ImportMapping, Proposal
from evidence.services import accept_proposal, add_entry, propose_change
from evidence.services import import_work as work
from evidence.services.import_jobs import apply_import, cancel_import, map_import, start_import
from evidence.services.lever_merging import merge_levers
from kernels.selectors.verify import faults
from tests.evidence.logs import INDEX, LOG, LOG_MAPPING, SLASHES, WORDS, apply, bring, check, counts, run, start
from tests.evidence.sample import MAP, changed, load_sample
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal

pytestmark = pytest.mark.django_db


def test_an_index_as_a_table(cleo):
    job = start(cleo, INDEX)
    assert (job.state, job.format, job.encoding, job.total) == ("mapping", "table", "utf-8", 3)
    assert job.mapping["columns"] == {
        "Date": "date", "Env": "env", "Verdict": "verdict", "Why": "why", "Trace": "trace", "Commit": "commit",
    }  # fmt: skip
    check(cleo, job)
    assert (job.state, counts(job), ExperimentEntry.objects.count()) == ("checked", {"new": 3}, 0)
    apply(cleo, job)
    assert (job.state, job.chunks.count(), job.lines.count()) == ("done", 0, 0)
    first, second, third = ExperimentEntry.objects.order_by("pk")
    assert (first.why, first.trace, first.commit) == ("Fences once `a|b`", "outputs/f1/", "ac3d9736")
    assert (second.why, second.commit) == ("Flat | within noise", "")
    assert (third.why, third.trace, third.env) == ("Takes a MAC slot", "", "H200")


def test_imported_lines_are_in_the_search_over_everything(cleo):
    bring(cleo, INDEX)
    made = ExperimentEntry.objects.get(commit="ac3d9736")
    assert [hit["url"] for hit in find_experiments("fences once", 5)] == [made.get_absolute_url()]
    assert list(faults()) == []


def test_a_second_import_changes_nothing_and_a_changed_cell_is_one_correction(cleo):
    bring(cleo, INDEX)
    again = check(cleo, start(cleo, INDEX))
    assert counts(again) == {"unchanged": 3}
    cancel_import(cleo, again.public_id)
    for old, new in (
        ("Flat \\|", "Nearly flat \\|"),
        ("| B200 | WIN", "| B300 | WIN"),
        ("2026-07-02 | H200", "2026-07-03 | H200"),
    ):
        text = INDEX.replace(old, new)
        job = check(cleo, start(cleo, text))
        assert counts(job) == {"changed": 1, "unchanged": 2}, new
        cancel_import(cleo, job.public_id)
    bring(cleo, INDEX.replace("REGRESS", "KILLED"))
    later = ExperimentEntry.objects.get(corrects__isnull=False)
    assert (later.verdict, later.corrects.verdict, ExperimentEntry.objects.count()) == ("KILLED", "REGRESS", 4)
    old = check(cleo, start(cleo, INDEX))
    assert counts(old) == {"unchanged": 3}
    assert "corrected since" in old.lines.get(document__env="H200").note


def test_what_could_be_two_changes_is_none(cleo):
    bring(
        cleo,
        INDEX
        + "| 2026-07-05 | B200 | NULL | One | outputs/x/ | – |\n| 2026-07-05 | B200 | NULL | Two | outputs/x/ | – |\n",
    )
    text = INDEX + "| 2026-07-05 | B200 | NULL | Three | outputs/x/ | – |\n"
    job = check(cleo, start(cleo, text))
    line = job.lines.get(state="unreadable")
    assert "may be a change of experiment" in line.problems[0]["message"]
    with pytest.raises(Refusal) as refused:
        apply_import(cleo, job.public_id)
    assert refused.value.code == "evidence.import_unreadable"


def test_a_cell_of_numbers_that_is_none_is_said_to_be_text(cleo):
    cells = ("27", "2/3", "5 furlongs", "1.2.3 us", "8,125%", "n/a")
    lines = [f'2026-07-01,OOM,Tile {number},x,"{cell}","{cell}"\n' for number, cell in enumerate(cells)]
    job = start(cleo, "date,result,title,notes,speed,time_us\n" + "".join(lines), "runs.csv")
    mapping = {
        "columns": job.mapping["columns"] | {"speed": "number", "time_us": "number"},
        "words": {"oom": {"as": "row", "verdict": "DEAD", "cause_class": "flat"}},
    }
    check(cleo, job, mapping)
    assert counts(job) == {"new": 6}
    said = "is kept as text, not read as a number"
    told = [("'27'", ()), ("'2/3'",) * 2, ("'5 furlongs'",) * 2, ("'1.2.3 us'",) * 2, ("'8,125%' (8.125 or 8125)",) * 2]
    for line, texts in zip(job.lines.order_by("line"), [*told, ((), ())], strict=True):
        for column, text in zip(("speed", "time_us"), texts, strict=True):
            assert (f"column {column}: {text} {said}" in line.note) is bool(text), line.line
            assert text or f"column {column}" not in line.note
    assert [line.line for line in job.lines.order_by("line")] == [2, 3, 4, 5, 6, 7]


def test_more_notes_than_a_line_holds_are_counted(cleo):
    names = [f"time {number}" for number in range(12)]
    job = start(cleo, f"result,title,{','.join(names)}\nOOM,Tile{',5 furlongs' * 12}\n", "runs.csv")
    mapping = {
        "columns": {"result": "verdict", "title": "title"} | dict.fromkeys(names, "number"),
        "words": {"oom": {"as": "row", "verdict": "DEAD", "cause_class": "flat"}},
    }
    note = check(cleo, job, mapping).lines.get().note
    assert len(note) <= 300
    assert "column time 0: '5 furlongs' is kept as text" in note
    assert re.search(r"; and \d+ more$", note)


def test_a_column_that_names_each_line(cleo):
    text = "id,date,env,result,notes\n1,2026-07-01,B200,kept,a\n2,2026-07-01,B200,kept,b\n"
    bring(cleo, text, "runs.csv")
    job = check(
        cleo, start(cleo, text.replace(",b", ",c d e").replace("2,2026-07-01,B200", "2,2026-07-09,H200"), "runs.csv")
    )
    assert counts(job) == {"unchanged": 1, "changed": 1}
    assert counts(check(cleo, start(cleo, text + "2,2026-07-02,B200,kept,z\n", "runs.csv"))) == {
        "unchanged": 2,
        "unreadable": 1,
    }


def test_lines_with_slashes(cleo):
    job = start(cleo, SLASHES)
    assert (job.format, job.total) == ("slashes", 3)
    check(cleo, job)
    assert counts(job) == {"new": 2, "unreadable": 1}
    first, second, third = job.lines.all()
    assert (first.document["why"], first.document["trace"], first.document["commit"]) == (
        "Fences once",
        "outputs/f1/",
        "ac3d9736",
    )
    assert second.document["why"] == "Flat / within noise / outputs/f2/ / bd00aa11 and it goes on"
    assert (third.line, third.problems[0]["message"]) == (
        8,
        "2 parts where date, environment, verdict and why are wanted.",
    )


def test_a_log_where_a_person_says_what_the_words_mean(cleo):
    job = start(cleo, LOG.replace("\n", "\r\n").encode("cp1252", "replace"), "log.csv")
    assert (job.format, job.encoding, job.profile["delimiter"]) == ("csv", "cp1252", ";")
    assert job.profile["words"]["Result"] == {"Kept": 2, "Reverted (below gate)": 1, "OOM": 1, "Kept, then OOM": 1}
    check(cleo, job, LOG_MAPPING)
    assert counts(job) == {"new": 3, "unreadable": 2}
    merged, dated = job.lines.filter(state="unreadable")
    assert (merged.problems[0]["line"], merged.problems[0]["column"]) == (5, "Result")
    assert "'04/07/2026' can't be read as one date" in dated.problems[0]["message"]
    apply(cleo, job, skip_unreadable=True)
    assert list(ExperimentEntry.objects.order_by("pk").values_list("verdict", "why")) == [
        ("WIN", "Fold MACs; ?7..?9%; integer trips – good"), ("NULL", "Deeper stages; ?6%; flat"),
    ]  # fmt: skip
    row = EvidenceRow.objects.select_related("head").get()
    content = row.head.content
    assert (row.code, row.head.verdict, row.head.cause_class) == ("D1", "DEAD", "ruled_out_by_construction")
    assert (content["title"], content["mechanism"], content["measured_on"]) == (
        "Huge tile",
        "does not fit",
        "2026-07-03",
    )
    assert ImportLine.objects.filter(job=job, state="unreadable").count() == 2


def test_rows_of_a_log_by_their_natural_key(cleo, make_actor):
    mapping = {
        "columns": LOG_MAPPING["columns"],
        "words": {"Kept": {"as": "row", "verdict": "WIN"}, "OOM": WORDS["OOM"]},
    }
    text = (
        "Time,Change,Result,Speed,Notes\n2026-07-01,Fold MACs,Kept,-9%,integer trips\n2026-07-03,Huge tile,OOM,n/a,no\n"
    )
    bring(cleo, text, "log.csv", mapping)
    assert counts(check(cleo, start(cleo, text, "log.csv"), mapping)) == {"unchanged": 2}
    assert counts(check(cleo, start(cleo, text, "renamed.csv"), mapping)) == {"unchanged": 2}
    row = EvidenceRow.objects.get(code="W1")
    edited = changed(row.head.content, mechanism="edited by hand")
    proposal = propose_change(cleo, row, base_hash=row.head.content_hash, content=edited, reason="better")
    accept_proposal(make_actor("carl", "curator"), proposal.pk)
    job = check(cleo, start(cleo, text.replace("-9%", "-8%"), "log.csv"), mapping)
    said = [change["label"] for change in job.lines.get(state="changed").document["diff"]]
    assert (counts(job), said) == ({"unchanged": 1, "changed": 1}, ["numbers", "note on the measurement"])
    apply(cleo, job)
    assert Proposal.objects.get(state="open").content["mechanism"] == "edited by hand"


def test_markdown_jsonl_and_odd_bytes(cleo):
    lines = [
        {"date": "2026-07-01", "env": "B200", "result": "kept", "notes": "a"},
        {"date": "2026-07-02", "result": "kept", "env": "B", "notes": ["x", 1.50]},
    ]
    text = (
        "\ufeff"
        + "\r\n".join(json.dumps(line) for line in lines)
        + '\r\n{"date": \r\n{"date": "2026-07-01", "date": "x"}\r\n[1]\r\n'
    )
    job = start(cleo, text.encode("utf-8"), "log.jsonl")
    assert (job.format, job.encoding, job.total) == ("jsonl", "utf-8-sig", 5)
    check(cleo, job)
    assert counts(job) == {"new": 2, "unreadable": 3}
    assert job.lines.get(number=2).document["why"] == '["x", "1.5"]'
    assert [line.problems[0]["line"] for line in job.lines.filter(state="unreadable")] == [3, 4, 5]
    for data, said in (
        (b"\x00\x01", "NUL"),
        (b"just words\n", "No table"),
        (b"[1, 2]", "JSON list"),
        (b"\xff\xfea", "UTF-16"),
    ):
        job = start(cleo, data, "x.txt")
        assert job.state == "failed"
        assert said in job.message


def test_an_evidence_map(cleo):
    job = start(
        cleo, MAP + "\n| # | Win | Number | Mechanism | Source |\n|---|---|---|---|---|\n| W9 | x |\n", "probe-map.md"
    )
    assert (job.format, job.state, counts(job)) == ("map", "checked", {"new": 6, "unreadable": 1})
    assert not EvidenceRow.objects.exists()
    apply(cleo, job, skip_unreadable=True)
    assert (job.state, EvidenceRow.objects.count()) == ("done", 6)
    again = start(cleo, MAP.replace("+67%", "+76%"), "probe-map.md")
    assert counts(again) == {"unchanged": 5, "changed": 1}


def test_work_goes_on_where_it_stopped(cleo, monkeypatch):
    monkeypatch.setattr(work, "BATCH", 2)
    monkeypatch.setattr("evidence.services.import_apply.BATCH", 2)
    rows = "".join(f"| 2026-07-01 | B200 | NULL | line {n} | – | – |\n" for n in range(7))
    job = start(cleo, INDEX.split("| 2026")[0] + rows)
    map_import(cleo, job.public_id, mapping=job.mapping)
    calls = []

    def stop():
        calls.append(1)
        return len(calls) > 2

    work.work_on(job.pk, stop=stop)
    job.refresh_from_db()
    assert (job.state, job.cursor, job.lines.count(), job.leased_until) == ("checking", 4, 4, None)
    run()
    job.refresh_from_db()
    assert (job.state, counts(job)) == ("checked", {"new": 7})
    apply_import(cleo, job.public_id)
    calls.clear()
    work.work_on(job.pk, stop=stop)
    assert ExperimentEntry.objects.count() == 4
    run()
    job.refresh_from_db()
    assert (job.state, [entry.why for entry in ExperimentEntry.objects.order_by("pk")]) == (
        "done", [f"line {n}" for n in range(7)],
    )  # fmt: skip


def test_one_process_works_on_a_job_and_a_cancelled_one_stops(cleo):
    job = start(cleo, INDEX)
    map_import(cleo, job.public_id, mapping=job.mapping)
    ImportJob.objects.filter(pk=job.pk).update(leased_until="2999-01-01T00:00Z")
    assert (work.due_jobs(), work.work_on(job.pk)) == ([], False)
    ImportJob.objects.filter(pk=job.pk).update(leased_until=None)
    cancel_import(cleo, job.public_id)
    job.refresh_from_db()
    assert (job.state, job.chunks.count(), job.lines.count()) == ("cancelled", 0, 0)
    assert not work.import_batch(cleo, job.pk, phase="checking", work=lambda job: 5)
    for call in (lambda: cancel_import(cleo, job.public_id), lambda: apply_import(cleo, job.public_id)):
        with pytest.raises(Conflict) as refused:
            call()
        assert refused.value.code == "evidence.import_state"


def test_what_is_refused(cleo, make_actor, monkeypatch):
    with pytest.raises(Forbidden):
        start_import(make_actor("dora", "designer"), name="x", chunks=[b"x"])
    with pytest.raises(Refusal) as refused:
        start_import(cleo, name="x", chunks=[b""])
    assert refused.value.code == "evidence.import.empty"
    monkeypatch.setattr("evidence.services.import_jobs.MAX_FILE_BYTES", 3)
    with pytest.raises(Refusal) as refused:
        start_import(cleo, name="x", chunks=[b"1234"])
    assert refused.value.code == "evidence.import.too_large"
    monkeypatch.undo()
    job = start(cleo, LOG, "log.csv")
    for mapping, said in (
        ({}, "verdict"),
        ({**LOG_MAPPING, "columns": {**LOG_MAPPING["columns"], "Notes": "date"}}, "one column only"),
        ({**LOG_MAPPING, "columns": {**LOG_MAPPING["columns"], "Other": "date"}}, "no column Other"),
        ({**LOG_MAPPING, "words": {"Kept": {"as": "entry", "verdict": "DEAD"}}}, "no meaning"),
        ({**LOG_MAPPING, "words": {"Kept": {"as": "row", "verdict": "WIN", "cause_class": "flat"}}}, "only a DEAD row"),
    ):
        with pytest.raises(Refusal) as refused:
            map_import(cleo, job.public_id, mapping=mapping)
        assert refused.value.code == "evidence.mapping"
        assert said in " ".join(problem["message"] for problem in refused.value.problems)
    with pytest.raises(Missing):
        cancel_import(cleo, "00000000-0000-0000-0000-000000000000")


def test_a_mapping_is_kept_and_suggested_for_such_columns(cleo):
    check(cleo, start(cleo, LOG, "log.csv"), LOG_MAPPING, save_as="team log")
    assert ImportMapping.objects.get().name == "team log"
    job = start(cleo, LOG.replace("Notes", "notes"), "other.csv")
    assert (job.profile["suggested"], job.mapping["columns"]["Time"]) == ("team log", "date")
    assert job.mapping["words"]["oom"]["cause_class"] == "ruled_out_by_construction"


@pytest.mark.parametrize("name", ["history.md", "history.csv", "history.jsonl"])
def test_the_history_comes_back_as_it_went(cleo, system, name):
    load_sample(system)
    bring(cleo, INDEX)
    add_entry(
        cleo,
        entry={
            "on": "2026-07-09",
            "env": "=1+1",
            "verdict": "PARKED",
            "why": "-1 'x' \"y\", | z",
            "lever": "split-k",
            "links": ["row:D1", "row:W1"],
        },
    )
    bring(cleo, INDEX.replace("REGRESS", "KILLED"))
    text = "".join(exports.export(name))
    job = check(cleo, start(cleo, text, f"export-{name}"))
    assert counts(job) == {"unchanged": 5}, list(job.lines.values("state", "problems"))


@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl"])
def test_rows_come_back_as_they_went(cleo, system, make_actor, name):
    load_sample(system)
    row = EvidenceRow.objects.get(code="D1")
    edited = changed(row.head.content, mechanism="=cmd\nsecond | line", title="-x")
    proposal = propose_change(cleo, row, base_hash=row.head.content_hash, content=edited, reason="r")
    accept_proposal(make_actor("carl", "curator"), proposal.pk)
    text = "".join(exports.export(name))
    assert not [line for line in text.splitlines() if '"=cmd' in line and name == "rows.csv"]
    job = check(cleo, start(cleo, text, name))
    assert counts(job) == {"unchanged": 6}, list(job.lines.values("state", "problems", "document__diff"))
    if name == "rows.csv":
        job = check(cleo, start(cleo, text.replace("Fences once", "Fences twice"), name))
        assert job.lines.get(state="changed").target == "W2"


def test_a_fresh_site_takes_exported_rows(cleo, system):
    load_sample(system)
    text = "".join(exports.export("rows.jsonl"))
    hashes = set(EvidenceRow.objects.values_list("code", "head__content_hash"))
    broken = text.replace("Fences once", "Fences twice")
    job = check(cleo, start(cleo, broken, "broken.jsonl"))
    assert job.lines.get(state="unreadable").problems[0]["message"] == "The content is not the one that was exported."
    assert len(hashes) == 6


def test_a_merged_lever_makes_no_change_of_old_lines(cleo, system):
    load_sample(system)
    lines = [
        f"{line} {cell} |"
        for line, cell in zip(INDEX.splitlines()[2:], ("Lever", "---", "split-k", "", ""), strict=True)
    ]
    text = "\n".join(lines) + "\n"
    bring(cleo, text)
    assert ExperimentEntry.objects.get(lever__isnull=False).lever.slug == "split-k"
    rows = "".join(exports.export("rows.jsonl"))
    merge_levers(cleo, "split-k", into="splits", reason="one technique")
    assert counts(check(cleo, start(cleo, text))) == {"unchanged": 3}
    assert counts(check(cleo, start(cleo, rows, "rows.jsonl"))) == {"unchanged": 6}


def test_verify_finds_a_line_that_no_service_wrote(cleo):
    bring(cleo, INDEX)
    assert list(faults()) == []
    ExperimentEntry.objects.create(on="2026-07-01", env="B200", verdict="WIN", why="forged", content_hash="0" * 64)
    assert [fault.kind for fault in faults()] == ["experiment", "search entry"]


ROWS = """| Date | Change | Result | Notes |
|---|---|---|---|
| 2026-07-03 | Huge tile | OOM | does not fit |
| 2026-07-04 | Huger tile | OOM | does not fit either |
"""
ROWS_MAPPING = {"columns": {"Date": "date", "Change": "title", "Result": "verdict", "Notes": "why"}, "words": WORDS}


def test_two_imports_of_the_same_rows_make_no_twins(cleo):
    """Whatever their files are called, and though both were looked at before either was taken over."""
    one, other = (check(cleo, start(cleo, ROWS, name), ROWS_MAPPING) for name in ("one.md", "other.md"))
    assert counts(one) == counts(other) == {"new": 2}
    apply(cleo, one)
    apply(cleo, other)
    assert EvidenceRow.objects.count() == 2
    assert [line.target for line in other.lines.filter(kind="row")] == []
    third = bring(cleo, ROWS, "third.md", ROWS_MAPPING)
    assert (counts(third), EvidenceRow.objects.count()) == ({"unchanged": 2}, 2)
    assert ImportedLine.objects.filter(log="third.md").count() == 2


def test_a_changed_cell_in_a_file_of_another_name_is_a_change_and_no_twin(cleo):
    first = bring(cleo, ROWS, "one.md", ROWS_MAPPING)
    assert counts(first) == {"new": 2}
    job = check(cleo, start(cleo, ROWS.replace("fit either", "fit at all"), "other.md"), ROWS_MAPPING)
    assert counts(job) == {"unchanged": 1, "changed": 1}
    line = job.lines.get(state="changed")
    assert (line.target, line.note) == ("D2", "looks like D2, imported from one.md: same title")
    apply(cleo, job)
    assert EvidenceRow.objects.count() == 2
    assert Proposal.objects.get(state="open").content["mechanism"] == "does not fit at all"


def test_lines_of_another_file_that_are_not_surely_a_stored_row(cleo):
    """Undated ones are new with a warning; one that may be either of two rows is not guessed; ids say nothing."""
    undated = ROWS.replace("2026-07-03", "").replace("2026-07-04", "")
    bring(cleo, undated, "one.md", ROWS_MAPPING)
    changed_file = undated.replace("does not fit", "is too large")
    job = check(cleo, start(cleo, changed_file, "other.md"), ROWS_MAPPING)
    assert counts(job) == {"new": 2}
    assert "looks like D1, imported from one.md: same title" in job.lines.get(line=3).note
    apply(cleo, job)
    third = check(cleo, start(cleo, undated.replace("does not fit", "spills"), "third.md"), ROWS_MAPPING)
    assert counts(third) == {"unreadable": 2}
    assert "It may be a change of D1, D3, or a new row" in third.lines.get(line=3).problems[0]["message"]
    with_ids = ROWS.replace("| Date", "| Id | Date").replace("|---|", "|---|---|", 1).replace("| 2026", "| 7 | 2026", 1)
    with_ids = with_ids.replace("| 2026-07-04", "| 8 | 2026-07-04").replace("Hug", "Tall hug")
    by_id = {**ROWS_MAPPING, "columns": {**ROWS_MAPPING["columns"], "Id": "key"}}
    bring(cleo, with_ids, "four.md", by_id)
    other = check(cleo, start(cleo, with_ids.replace("tile", "trip"), "five.md"), by_id)
    assert counts(other) == {"new": 2}


def test_nul_in_utf_16_and_a_line_without_end_are_no_log(cleo):
    for data, said in (
        (INDEX.replace("Flat", "\0").encode("utf-16"), "NUL"),
        (INDEX + "| " + "x" * 1_000_001, "Line 8"),
    ):
        job = start(cleo, data, "odd.md")
        assert (job.state, said in job.message) == ("failed", True)


def test_an_import_that_can_not_go_on_holds_up_no_other(cleo, make_actor, monkeypatch):
    mine = check(cleo, start(cleo, INDEX, "mine.md"))
    apply_import(cleo, mine.public_id)
    cleo.user.groups.clear()
    other = start(make_actor("carl", "curator"), INDEX, "other.md")
    mine.refresh_from_db()
    assert (mine.state, "role curator" in mine.message) == ("failed", True)
    assert other.state == "mapping"
    monkeypatch.setattr(work, "encoding_of", lambda chunks: {}["a fault"])
    broken = start(make_actor("cara2", "curator"), INDEX, "broken.md")
    assert (broken.state, work.due_jobs()) == ("failed", [])
    assert "fault of the program" in broken.message
