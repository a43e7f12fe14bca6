"""How many queries each page takes: the same with one and with thirty of everything, and the same as last time.

The counts are in query_counts.json. After a change that is meant to move them, renew the file and look at what moved:

    V2KB_RENEW_QUERY_COUNTS=1 python -m pytest tests/web/test_query_counts.py && git diff tests/web/query_counts.json
"""

import json
import os
import re
from collections import Counter
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

import evidence.urls
import kernels.urls
import references.urls
from tests.web import crowd

pytestmark = pytest.mark.django_db

BASELINE = Path(__file__).with_name("query_counts.json")
RENEW = "V2KB_RENEW_QUERY_COUNTS"
MANY = 30

NOTHING = lambda w: []  # noqa: E731
PAGES = {
    "home": NOTHING,
    "search": NOTHING,
    "kernels:op_list": NOTHING,
    "kernels:op_new": NOTHING,
    "kernels:op_detail": lambda w: [w.op.slug],
    "kernels:op_edit": lambda w: [w.op.slug],
    "kernels:op_stop": lambda w: [w.op.slug],
    "kernels:family_questions": NOTHING,
    "kernels:spec_list": NOTHING,
    "kernels:spec_new": NOTHING,
    "kernels:spec_search": NOTHING,
    "kernels:spec_import": NOTHING,
    "kernels:spec_export": lambda w: [w.spec.code, 1, "md"],
    "kernels:spec_detail": lambda w: [w.review.spec.code],
    "kernels:spec_revision": lambda w: [w.spec.code, 1],
    "kernels:spec_gate": lambda w: [w.review.spec.code, 1],
    "kernels:spec_diff": lambda w: [w.spec.code, 1, 1],
    "kernels:spec_edit_start": lambda w: [w.spec.code],
    "kernels:spec_edit": lambda w: [w.spec.code, "choices"],
    "kernels:spec_edit_choice": lambda w: [w.spec.code, "C1"],
    "kernels:spec_finish": lambda w: [w.spec.code],
    "kernels:spec_sweep": lambda w: [w.spec.code, 1],
    "kernels:spec_draft_sweep": lambda w: [w.spec.code],
    "kernels:rule_list": NOTHING,
    "kernels:calculator_list": NOTHING,
    "kernels:calculator": lambda w: ["smem-planner"],
    "kernels:kernel_list": NOTHING,
    "kernels:kernel_new": NOTHING,
    "kernels:kernel_detail": lambda w: [w.kernel.slug],
    "kernels:version_new": lambda w: [w.kernel.slug],
    "kernels:version_detail": lambda w: [w.kernel.slug, w.kernel.versions.first().number],
    "kernels:anchor_list": NOTHING,
    "kernels:anchor_new": lambda w: [w.op.slug],
    "kernels:run_list": NOTHING,
    "kernels:run_new": lambda w: [w.op.slug],
    "kernels:run_detail": lambda w: [w.run.public_id],
    "kernels:run_live": lambda w: [w.run.public_id],
    "kernels:worker_list": NOTHING,
    "evidence:row_list": NOTHING,
    "evidence:row_new": NOTHING,
    "evidence:row_detail": lambda w: [w.row.code],
    "evidence:row_revision": lambda w: [w.row.code, 1],
    "evidence:row_propose": lambda w: [w.row.code],
    "evidence:row_compare": lambda w: [w.row.code],
    "evidence:row_merge": lambda w: [w.row.code],
    "evidence:row_revert": lambda w: [w.row.code, 1],
    "evidence:over_time": NOTHING,
    "evidence:experiment_list": NOTHING,
    "evidence:experiment_new": NOTHING,
    "evidence:experiment_detail": lambda w: [w.entry.pk],
    "evidence:experiment_correct": lambda w: [w.entry.pk],
    "evidence:import_job_list": NOTHING,
    "evidence:import_job_new": NOTHING,
    "evidence:import_job": lambda w: [w.job.public_id],
    "evidence:import_job_progress": lambda w: [w.job.public_id],
    "evidence:export_list": NOTHING,
    "evidence:proposal_list": NOTHING,
    "evidence:proposal_detail": lambda w: [w.proposal.pk],
    "evidence:proposal_revise": lambda w: [w.proposal.pk],
    "evidence:lever_list": NOTHING,
    "evidence:lever_new": NOTHING,
    "evidence:lever_detail": lambda w: [w.lever.slug],
    "evidence:lever_edit": lambda w: [w.lever.slug],
    "references:document_list": NOTHING,
    "references:document_detail": lambda w: [w.document.slug],
    "references:document_revision": lambda w: [w.document.slug, 1],
    "references:section_detail": lambda w: [w.document.slug, "part-0"],
    "references:section_of_revision": lambda w: [w.document.slug, 1, "part-0"],
    "references:document_import": NOTHING,
    "references:import_preview": lambda w: [w.upload.pk],
    "references:snapshot_list": NOTHING,
    "references:snapshot_detail": lambda w: [w.snapshot.pk],
    "references:guideline_list": NOTHING,
}
QUERY = {"search": "row", "evidence:row_list": "", "kernels:spec_search": "row norm"}
# Addresses that only take a POST, or show a page of the table above again.
NO_PAGE = {
    "kernels:spec_rebase", "kernels:spec_discard", "kernels:spec_gate_store", "kernels:spec_submit",
    "kernels:spec_comment", "kernels:spec_position", "kernels:spec_sign", "kernels:spec_close", "kernels:anchor_stale",
    "kernels:spec_waiver_ask", "kernels:spec_waiver_answer",
    "kernels:run_cancel", "evidence:number_preview", "evidence:proposal_accept", "evidence:proposal_reject",
    "evidence:proposal_withdraw", "evidence:import_job_apply", "evidence:import_job_cancel", "evidence:export",
    "evidence:import_job_retry", "kernels:spec_search_bring",
    "evidence:proposal_recuse", "evidence:proposal_claim", "evidence:proposal_bulk", "evidence:row_bounds",
    "evidence:row_watch", "evidence:watched_seen", "evidence:alias_add", "evidence:alias_remove",
    "evidence:lever_archive", "evidence:lever_restore", "evidence:row_flag", "evidence:flag_confirm",
    "evidence:flag_clear", "evidence:row_archive", "evidence:search_save", "evidence:search_delete",
    "evidence:search_seen", "evidence:row_restore", "evidence:row_supersede", "references:document_archive",
    "references:document_restore", "references:import_discard", "evidence:lever_merge", "evidence:lever_unmerge",
}  # fmt: skip


def test_every_page_has_its_count():
    apps = {"kernels": kernels.urls, "evidence": evidence.urls, "references": references.urls}
    names = {f"{app}:{pattern.name}" for app, urls in apps.items() for pattern in urls.urlpatterns}
    assert names - set(PAGES) - NO_PAGE == set(), "add the page to PAGES, or say in NO_PAGE that it is none"
    assert set(PAGES) - names == {"home", "search"}
    assert set(json.loads(BASELINE.read_text())) == set(PAGES)


def repeated(queries) -> str:
    """The query that a page sends most often, for the message."""
    shapes = Counter(re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries)
    sql, times = shapes.most_common(1)[0]
    return f"{times} times {sql[:80]} ... {sql[-160:]}"


def counts(client, w, most: dict[str, str]) -> dict[str, int]:
    """Queries of each page, without savepoints. Each is fetched twice: what a process caches is no query of a page."""
    found, failed = {}, {}
    for name, arguments in PAGES.items():
        url = reverse(name, args=arguments(w))
        data = {"q": QUERY[name]} if name in QUERY else {}
        for _ in range(2):
            with CaptureQueriesContext(connection) as captured:
                response = client.get(url, data)
            if response.status_code not in (200, 286):
                failed[name] = response.status_code
        most[name] = repeated(captured.captured_queries)
        found[name] = sum("SAVEPOINT" not in query["sql"] for query in captured.captured_queries)
    assert failed == {}
    return found


def moved(old: dict[str, int], new: dict[str, int]) -> dict[str, str]:
    return {name: f"{old.get(name)} -> {count}" for name, count in new.items() if old.get(name) != count}


def test_pages_take_as_many_queries_with_thirty_of_everything_as_with_one(client):
    w = crowd.begin()
    client.force_login(crowd.onlooker().user)
    one = counts(client, w, {})
    crowd.references(MANY)
    for number in range(1, MANY):
        crowd.grow(w, number)
    most: dict[str, str] = {}
    many = counts(client, w, most)
    # A search with few hits also tries guesses, so a page may take fewer with many.
    grown = {name: change for name, change in moved(one, many).items() if many[name] > one[name]}
    said = "\n".join(f"{name}: {change}, {most[name]}" for name, change in grown.items())
    assert grown == {}, f"these pages take more queries for more objects:\n{said}"
    if connection.vendor != "sqlite":
        return  # its search asks otherwise: the baseline is SQLite's
    if os.environ.get(RENEW):
        BASELINE.write_text(json.dumps(one, indent=1, sort_keys=True) + "\n")
    assert moved(json.loads(BASELINE.read_text()), one) == {}, f"counts moved; if that is meant, renew with {RENEW}=1"
