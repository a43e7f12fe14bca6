"""Pages of ops, specs, kernels and runs: each renders, for whom, and refuses with words."""

import re

import pytest
from django.urls import reverse

from kernels.editor.layout import BY_SLUG
from kernels.models import Kernel, Spec, SpecDraft
from kernels.selectors.checks import report_of
from kernels.services.kernels import add_version
from kernels.services.runs import submit_run
from kernels.services.specs import pin_citations, submit_spec
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Section
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.rule_list import ALL_RULES
from v2kb.rules.spec_document import empty_row

pytestmark = pytest.mark.django_db


@pytest.fixture
def loop(client):
    """The loop up to a judged run, and a client signed in as the designer."""
    row = f.evidence_row()
    op = f.op()
    revision = f.approved_revision(row)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    client.force_login(f.designer().user)
    return {"row": row, "op": op, "revision": revision, "spec": revision.spec, "version": version, "run": run}


PAGES = [
    ("home", lambda x: []),
    ("kernels:op_list", lambda x: []),
    ("kernels:op_detail", lambda x: [x["op"].slug]),
    ("kernels:op_edit", lambda x: [x["op"].slug]),
    ("kernels:op_new", lambda x: []),
    ("kernels:op_stop", lambda x: [x["op"].slug]),
    ("kernels:family_questions", lambda x: []),
    ("kernels:spec_list", lambda x: []),
    ("kernels:spec_new", lambda x: []),
    ("kernels:spec_import", lambda x: []),
    ("kernels:spec_detail", lambda x: [x["spec"].code]),
    ("kernels:spec_gate", lambda x: [x["spec"].code, 1]),
    ("kernels:spec_diff", lambda x: [x["spec"].code, 1, 1]),
    *(("kernels:spec_edit", lambda x, s=s: [x["spec"].code, s]) for s in BY_SLUG),
    ("kernels:spec_edit_choice", lambda x: [x["spec"].code, "C1"]),
    ("kernels:spec_finish", lambda x: [x["spec"].code]),
    ("kernels:kernel_list", lambda x: []),
    ("kernels:kernel_new", lambda x: []),
    ("kernels:kernel_detail", lambda x: ["fused"]),
    ("kernels:version_new", lambda x: ["fused"]),
    ("kernels:version_detail", lambda x: ["fused", 1]),
    ("kernels:anchor_list", lambda x: []),
    ("kernels:anchor_new", lambda x: [x["op"].slug]),
    ("kernels:run_list", lambda x: []),
    ("kernels:run_new", lambda x: [x["op"].slug]),
    ("kernels:run_detail", lambda x: [x["run"].public_id]),
    ("kernels:worker_list", lambda x: []),
    ("kernels:rule_list", lambda x: []),
]


@pytest.mark.parametrize(("name", "args"), PAGES, ids=lambda v: v if isinstance(v, str) else "")
def test_every_page_renders_for_a_designer_and_asks_others_to_sign_in(client, loop, name, args):
    url = reverse(name, args=args(loop))
    response = client.get(url)
    assert response.status_code == 200, response.content[:500]
    assert b"<h1" in response.content
    client.logout()
    response = client.get(url)
    assert response.status_code == 302
    assert reverse("login") in response["Location"]


def test_the_page_of_the_rules_says_what_each_asks_and_who_judges_it(client, loop):
    page = client.get(reverse("kernels:rule_list")).content.decode()
    rows = dict(re.findall(r'<tr data-row id="(R[0-9]{2})">(.*?)</tr>', page, re.DOTALL))
    assert set(rows) == set(ALL_RULES)
    assert "smem.regions[]" in rows["R01"]
    assert "Judged by the anti-loop gate as AL5 and AL6." in rows["R62"]
    assert "as AL4." in rows["R63"]
    assert "(AL9)" in rows["R63"]
    spec = client.get(loop["spec"].get_absolute_url()).content.decode()
    for rule in re.findall(r'href="/rules/#(R[0-9]{2})"', spec):
        assert rule in rows


def test_the_run_page_says_the_sentence_and_the_spec_page_the_state(client, loop):
    page = client.get(loop["run"].get_absolute_url()).content.decode()
    assert "5.8% faster" in page
    page = client.get(loop["spec"].get_absolute_url()).content.decode()
    assert "verdict-ready" in page


def test_the_editor_keeps_what_was_typed_and_refuses_a_second_tab(client, loop):
    url = reverse("kernels:spec_edit", args=[loop["spec"].code, "overview"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    data = {
        "version": draft.version,
        "title": "Another title",
        "symbols.total": "1",
        "symbols[0].name": "STAGES",
        "symbols[0].value": "8",
        "summary": "",
        "engine.family": "D",
        "engine.idiom": "",
        "engine.why": "",
    }
    assert client.post(url, data).status_code == 302
    draft.refresh_from_db()
    assert (draft.content["title"], draft.content["symbols"]) == ("Another title", {"STAGES": "8"})
    stale = client.post(url, {**data, "title": "From the other tab"})
    assert stale.status_code == 409
    assert b"From the other tab" in stale.content
    draft.refresh_from_db()
    assert draft.content["title"] == "Another title"


def test_a_viewer_reads_but_gets_no_draft(client, loop, make_user):
    client.force_login(make_user("vera", "viewer"))
    assert client.get(loop["spec"].get_absolute_url()).status_code == 200
    response = client.get(reverse("kernels:spec_edit", args=[loop["spec"].code, "overview"]))
    assert response.status_code == 403
    assert b"role" in response.content


def test_a_choice_is_written_in_the_editor_and_checked(client, loop):
    code = loop["spec"].code
    client.get(reverse("kernels:spec_edit", args=[code, "choices"]))
    draft = SpecDraft.objects.get(user=f.designer().user)
    url = reverse("kernels:spec_edit", args=[code, "choices"])
    response = client.post(url, {"version": draft.version, "action": "add:choices"})
    assert response["Location"] == reverse("kernels:spec_edit_choice", args=[code, "C2"])
    draft.refresh_from_db()
    data = {
        "version": draft.version,
        "title": "Keep the barrier",
        "lever": "fused-row-norm",
        "polarity": "avoids",
        "citations.total": "2",
        "citations[0].target": "U1",
        "citations[0].stance": "context",
        "citations[1].target": "mpk:a/b.cuh@abc123:10-20",
        "citations[1].stance": "supports",
        "scope.m": "1..16",
        "scope.dtype": "fp8, bf16",
    }
    assert client.post(response["Location"], data).status_code == 302
    draft.refresh_from_db()
    choice = draft.content["choices"][1]
    assert choice["scope"] == {"m": "1..16", "dtype": ["fp8", "bf16"]}
    assert choice["citations"][1]["lines"] == "10-20"
    page = client.get(response["Location"]).content.decode()
    assert "mpk:a/b.cuh@abc123:10-20" in page


def test_approval_through_the_page_needs_another_user(client, loop):
    revision = f.saved_revision(
        {**loop["revision"].content, "summary": "changed"}, spec=Spec.objects.get(code=loop["spec"].code)
    )
    submit_spec(f.designer(), revision=revision)
    url = reverse("kernels:spec_position", args=[loop["spec"].code, revision.number])
    refused = client.post(url, {"aspect": "correctness", "position": "approve", "note": ""})
    assert refused.status_code == 403
    client.force_login(f.reviewer().user)
    assert client.post(url, {"aspect": "correctness", "position": "approve", "note": ""}).status_code == 302
    revision.refresh_from_db()
    assert revision.approval.approver == f.reviewer().user


@pytest.mark.parametrize(
    "copied", ["house#smem@{pin}", "[[doc:house#smem@{pin}]]", "house#smem@{pin:.12}", "house#smem"]
)
def test_an_acknowledged_change_and_a_copied_section_citation_are_pinned(client, loop, system, copied):
    document = import_documents(system, files=Files(texts=[("house.md", "# House\n\n## SMEM\n\nPages.\n")]))
    assert document.applied
    section = Section.objects.get(anchor="smem")
    code = loop["spec"].code
    url = reverse("kernels:spec_edit_choice", args=[code, "C1"])
    client.get(url)
    draft = SpecDraft.objects.get(user=f.designer().user)
    pinned = section.revision.content_hash
    data = {
        "version": draft.version,
        "title": "t",
        "lever": "fused-row-norm",
        "polarity": "avoids",
        "citations.total": "1",
        "citations[0].target": copied.format(pin=pinned),
        "citations[0].stance": "supports",
        "acknowledged.total": "1",
        "acknowledged[0].code": "U1",
        "acknowledged[0].reason": "wording only",
    }
    client.post(url, data)
    draft.refresh_from_db()
    choice = pin_citations(draft.content)["choices"][0]
    assert choice["citations"][0] == {
        "kind": "section",
        "document": "house",
        "anchor": "smem",
        "revision": pinned,
        "stance": "supports",
    }
    assert choice["acknowledged"][0]["revision"] == loop["row"].head.content_hash


def test_a_queue_names_other_specs(loop):
    content = grouped_gemm_spec()
    other = f.saved_revision({**content, "title": "other"})
    queued = {**content, "smem": {**content["smem"], "queue": [other.spec.code, "this"]}}
    assert not [found for found in report_of(queued).findings if found.rule == "R04" and found.kind == "missing_input"]
    unknown = {**content, "smem": {**content["smem"], "queue": ["S999", "this"]}}
    assert [found for found in report_of(unknown).findings if found.rule == "R04" and found.kind == "missing_input"]


def test_the_rules_know_a_dead_row_by_the_verdict_of_its_head(loop):
    dead = f.evidence_row(f.DEAD)
    document = grouped_gemm_spec()
    citation = {"kind": "evidence", "code": dead.code, "revision": "", "stance": "contradicts"}
    document["choices"] = [{**empty_row("choices"), "id": "C1", "polarity": "adopts", "citations": [citation]}]
    (said,) = [found for found in report_of(document).findings if found.rule == "R75"]
    assert said.facts["expected"] == "none"
    alive = {**citation, "code": loop["row"].code}
    document["choices"][0]["citations"] = [alive]
    assert not [found for found in report_of(document).findings if found.rule == "R75"]


def test_the_lanes_of_an_op_keep_the_sign_of_a_change(client):
    numbers = [
        number | {"role": "verdict", "compared_with": "v1"} for number in parse_numbers("+11-17%; +0.058..+0.342ms")
    ]
    row = f.evidence_row(f.DEAD, numbers=numbers)
    client.force_login(f.designer().user)
    page = client.get(f.op().get_absolute_url()).content.decode()
    assert row.code in page
    assert "+11..+17%, +0.058..+0.342 ms" in page


def test_names_in_lists_lead_to_what_they_name(client, loop):
    op, kernel, spec = loop["op"].get_absolute_url(), loop["version"].kernel.get_absolute_url(), loop["spec"]
    anchor = reverse("kernels:anchor_list") + "#anchor-naive"
    version = reverse("kernels:version_detail", args=["fused", 1])
    for url, links in (
        (reverse("kernels:op_list"), [(op, "RMS norm on the CPU")]),
        (reverse("kernels:kernel_list"), [(kernel, "fused"), (anchor, "naive")]),
        (op, [(spec.get_absolute_url(), spec.title), (anchor, "naive"), (kernel, "fused")]),
        (reverse("kernels:run_list"), [(version, "fused v1")]),
        (loop["run"].get_absolute_url(), [(version, "fused v1"), (anchor, "naive")]),
        (anchor, [(reverse("kernels:version_detail", args=["naive", 1]), "naive v1")]),
    ):
        page = client.get(url).content.decode()
        for target, name in links:
            assert re.search(rf'<a [^>]*href="{re.escape(target)}"[^>]*>{re.escape(name)}</a>', page), (url, name)


def test_lists_have_lines_for_the_keys_and_versions_have_neighbours(client, loop):
    for name, arguments in (("op_detail", ["rmsnorm-cpu"]), ("kernel_detail", ["fused"]), ("anchor_list", [])):
        page = client.get(reverse(f"kernels:{name}", args=arguments)).content.decode().partition('id="keys-dialog"')[0]
        lists = page.count("data-rows")
        assert page.count("data-row>") + page.count("data-row ") >= lists > 0
    kernel = loop["version"].kernel
    for number in (2, 3):
        add_version(f.designer(), kernel=kernel, files={"kernel.py": b"x = %d\n" % number}, entry="kernel.py:run")
    page = client.get(reverse("kernels:version_detail", args=["fused", 2])).content.decode()
    for key, number in (("[", 1), ("]", 3)):
        target = reverse("kernels:version_detail", args=["fused", number])
        assert re.search(rf'data-key="{re.escape(key)}" href="{target}"', page)
    assert 'data-key="["' not in client.get(reverse("kernels:version_detail", args=["fused", 1])).content.decode()


def test_one_of_a_thing_is_said_in_the_singular(client, loop):
    for url in (
        loop["op"].get_absolute_url(),
        loop["run"].get_absolute_url(),
        loop["version"].kernel.get_absolute_url(),
    ):
        text = re.sub(r"<[^>]+>", "", client.get(url).content.decode())
        assert not re.search(r"(?<![0-9.,])1 (rows|runs|rounds|lines|workloads|versions|gates|regions)\b", text), url


def test_the_gate_page_keeps_an_answer_once(client, forms_world, make_user):
    code = forms_world["spec"].code
    client.force_login(make_user("vera", "viewer"))
    store = reverse("kernels:spec_gate_store", args=[code, 1])
    said = [client.post(store, follow=True).content.decode() for _ in range(3)]
    assert forms_world["revision"].gate_results.count() == 1
    assert ["its newest stored result says" in page for page in said] == [False, True, True]


def test_the_list_of_specs_finds_a_state_on_later_pages_and_links_titles(client, forms_world):
    spec = forms_world["spec"]
    Spec.objects.bulk_create(
        Spec(code=f"S{number}", title=f"Draft {number}", created_by=spec.created_by) for number in range(100, 160)
    )
    page = client.get(reverse("kernels:spec_list"), {"state": "in review"}).content.decode()
    assert re.search(rf'<a href="{spec.get_absolute_url()}">{spec.title}</a>', page)
    assert "Draft 1" not in page
    drafts = client.get(reverse("kernels:spec_list"), {"state": "draft", "page": "2"}).content.decode()
    assert "51–60 of 60" in drafts


def test_home_links_the_titles_of_new_evidence(client, forms_world):
    row = forms_world["row"]
    assert f'<a href="{row.get_absolute_url()}">{row.head.title}</a>' in client.get(reverse("home")).content.decode()
