"""Pages of imports of logs: the wizard, what changes beside what was, downloads, characters that are no text."""

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from evidence import history
from evidence.models import EvidenceRow, ExperimentEntry, ImportJob, Proposal
from tests.evidence.logs import INDEX, LOG, apply, bring, check, counts, run, start
from tests.evidence.sample import load_sample
from v2kb.rules.evidence_change import diff

pytestmark = pytest.mark.django_db


def cells(html: str, line: int) -> list[str]:
    """What the page shows of the cells that a line changes, as field, now, by the file."""
    table = html.split(f'aria-label="What line {line} changes"')[1].split("</table>")[0]
    return re.findall(r"<(?:th scope=\"row\"|del|ins|span class=\"muted\")[^>]*>([^<]*)<", table)


def test_a_changed_line_shows_old_beside_new(cleo, cara):
    bring(cleo, INDEX)
    text = INDEX.replace("| B200 | WIN", "| B300 | WIN").replace("| – | – |", "| outputs/f3/ | – |")
    page = cara.get(check(cleo, start(cleo, text)).get_absolute_url()).text
    assert cells(page, 5) == ["environment", "B200", "B300"]
    assert cells(page, 7) == ["trace directory", "empty", "outputs/f3/"]
    assert "What line 6 changes" not in page


def test_a_changed_cell_of_a_row_proposes_what_was_shown(cleo, cara):
    start_ = "The mechanism in full: " + "words and more words. " * 20
    mapping = {"columns": {"day": "date", "what": "title", "result": "verdict", "speed": "number", "how": "why"}}
    mapping |= {"words": {"kept": {"as": "row", "verdict": "WIN"}}}
    text = f"day,what,result,speed,how\n2026-07-01,Fold MACs,kept,-9%,{start_}It trips 4 times.\n"
    bring(cleo, text, "log.csv", mapping)
    job = check(cleo, start(cleo, text.replace("-9%", "-8%").replace("4 times", "6 times"), "log.csv"), mapping)
    page = cara.get(job.get_absolute_url()).text
    shown = cells(page, 2)
    assert shown[:3] == ["numbers", "−9%, verdict", "−8%, verdict"]
    at = shown.index("mechanism")
    assert shown[at + 1].startswith("…")
    assert (shown[at + 1][-8:], shown[at + 2][-8:]) == ("4 times.", "6 times.")
    assert f"<summary><ins>{shown[at + 2]}</ins></summary><div>{start_}It trips 6 times.</div>" in page
    apply(cleo, job)
    proposal = Proposal.objects.select_related("base").get(state="open")
    made = {change.label for change in diff(proposal.base.content, proposal.content)}
    assert made == {change["label"] for change in job.lines.get(state="changed").document["diff"]}
    assert made <= set(shown)
    assert cells(cara.get(job.get_absolute_url()).text, 2) == shown
    for number, said in ((6, "says this already"), (7, "is open; decide that first")):
        again = text.replace("-9%", "-8%").replace("4 times", f"{number} times")
        line = check(cleo, start(cleo, again, "log.csv"), mapping).lines.get()
        assert f"nothing is proposed: your {proposal} {said}" in line.note
        assert said in cara.get(line.job.get_absolute_url()).text


def test_the_wizard(cara, make_user):
    assert "Nothing was imported" in cara.get("/evidence/imports/").text
    upload = {"file": SimpleUploadedFile("log.csv", LOG.encode())}
    answer = cara.post("/evidence/imports/new/", upload)
    job = ImportJob.objects.get()
    assert answer["Location"] == job.get_absolute_url()
    assert 'hx-get="/evidence/imports/' in cara.get(job.get_absolute_url()).text
    progress = f"{job.get_absolute_url()}progress/"
    assert cara.get(progress).status_code == 200
    run()
    assert cara.get(progress).status_code == 286
    shown = cara.get(job.get_absolute_url()).text
    assert "Reverted (below gate)" not in shown.split("What each verdict means")[0].split("<tbody>")[0]
    columns = {"column_0": "date", "column_1": "title", "column_2": "verdict", "column_3": "number", "column_4": "why"}
    answer = cara.post(job.get_absolute_url(), columns | {"step": "words"})
    assert answer.status_code == 302
    shown = cara.get(job.get_absolute_url()).text
    assert "Reverted (below gate)" in shown
    words = {
        "word_0": "entry:WIN:",
        "word_1": "entry:NULL:",
        "word_2": "row:DEAD:ruled_out_by_construction",
        "word_3": "skip::",
    }
    answer = cara.post(job.get_absolute_url(), {**columns, **words, "column_4": "", "step": "check"})
    assert (answer.status_code, "need a column" in answer.text) == (422, True)
    answer = cara.post(job.get_absolute_url(), {**columns, **words, "step": "check", "save_as": "mine"})
    assert answer.status_code == 302
    run()
    shown = cara.get(job.get_absolute_url()).text
    assert "can&#x27;t be read as one date" in shown
    assert cara.get(f"{job.get_absolute_url()}?lines=unreadable").text.count('data-label="Becomes"') == 1
    assert cara.post(f"{job.get_absolute_url()}apply/").status_code == 422
    assert cara.post(f"{job.get_absolute_url()}apply/", {"skip_unreadable": "on"}).status_code == 302
    run()
    assert "What the import did" in cara.get(job.get_absolute_url()).text
    assert (ExperimentEntry.objects.count(), EvidenceRow.objects.count()) == (2, 1)
    assert cara.post(f"{job.get_absolute_url()}cancel/").status_code == 409
    assert cara.get("/evidence/imports/00000000-0000-0000-0000-000000000000/").status_code == 404
    dora = Client()
    dora.force_login(make_user("dora", "designer"))
    for path in ("", "new/", f"{job.public_id}/", f"{job.public_id}/progress/"):
        assert dora.get(f"/evidence/imports/{path}").status_code == 403
    for path in ("apply/", "cancel/"):
        assert dora.post(f"{job.get_absolute_url()}{path}").status_code == 403


def test_export_pages(cara, system, cleo):
    load_sample(system)
    bring(cleo, INDEX)
    shown = cara.get("/evidence/exports/").text
    assert "map.md?document=probe-map" in shown
    for name in (
        "map.md",
        "map.md?document=probe-map",
        "rows.csv",
        "rows.jsonl",
        "history.md",
        "history.csv",
        "history.jsonl",
    ):
        answer = cara.get(f"/evidence/exports/{name}")
        assert answer.status_code == 200
        assert b"".join(answer.streaming_content)
    assert cara.get("/evidence/exports/map.md?document=nothing").status_code == 404
    assert cara.get("/evidence/exports/nothing.md").status_code == 404
    assert history.list_entries().count() == 3


@pytest.mark.parametrize("odd", ["a \\ud800 b", "\\u0000"])
def test_characters_that_are_no_text_are_unreadable_and_no_page_fails(cara, cleo, odd):
    line = {"date": "2026-07-03", "env": "B200", "verdict": "win", "why": "fits"}
    text = "\n".join(json.dumps(one).replace("ODD", odd) for one in (line, line | {"why": "ODD"}, line | {"ODD": "x"}))
    job = start(cleo, text, "odd.jsonl")
    pages = [job.get_absolute_url(), f"/api/v1/import-jobs/{job.public_id}/"]
    assert [cara.get(page).status_code for page in pages] == [200, 200]
    job = check(cleo, job)
    assert counts(job) == {"new": 1, "unreadable": 2}
    assert "characters that are not text" in job.lines.get(line=2).problems[0]["message"]
    assert [cara.get(page).status_code for page in [*pages, f"{pages[1]}lines/"]] == [200, 200, 200]
