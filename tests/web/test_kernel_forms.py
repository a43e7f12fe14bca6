"""Bad input in every form of ops and specs, in addresses and in bodies: words and the typed text, never a fault.

Nothing half-written stays either: whatever is refused leaves all rows of kernels as they were.
"""

import html

import pytest

from kernels.editor.layout import BY_SLUG
from kernels.models import Op, OpStop, Run, Spec, SpecDraft, SpecRevision
from kernels.op_forms import initial_of
from tests import factories as f
from tests.web.bad_input import HUGE_INT, LONG, NUL, SCRIPT, everything, refused, url

pytestmark = pytest.mark.django_db


# --- ops ---


BAD_CONTRACTS = [
    ("title", "", ""),
    ("title", "x" * 201, ""),
    ("title", NUL, ""),
    ("slug", "", ""),
    ("slug", "no spaces", "no spaces"),
    ("slug", SCRIPT, ""),
    ("slug", "x" * 81, "x" * 81),
    ("kind", "poem", ""),
    ("envelope", "", ""),
    ("target", "sm_1", ""),
    ("grid", "1234567", "1234567"),
    ("grid", "many", "many"),
    ("axes", "", ""),
    ("axes", "rows = = 4", "rows = = 4"),
    ("axes", "rows = 1/0", "rows = 1/0"),
    ("axes", SCRIPT, SCRIPT),
    ("inputs", "x rows, cols", "x rows, cols"),
    ("inputs", "x [nowhere] float32", "x [nowhere] float32"),
    ("outputs", "", ""),
    ("workloads", "no colon", "no colon"),
    ("workloads", "small: rows=four", "small: rows=four"),
    ("workloads", "small: rows=4 @ nothing", "small: rows=4 @ nothing"),
    ("reference", "def reference(:", "def reference(:"),
    ("reference", NUL, ""),
    ("cos_min", "nearly one", "nearly one"),
    ("rel_max", "7", "7"),
    ("m", "several", "several"),
    ("dtype", LONG, ""),
]


@pytest.mark.parametrize("name", ["op_new", "op_edit"])
def test_contracts(client, forms_world, name):
    good = {**initial_of(forms_world["op"].head.content), "slug": "another", "title": "Another title"}
    address = url(name) if name == "op_new" else url(name, forms_world["op"].slug)
    for field, value, keeps in BAD_CONTRACTS:
        if name == "op_new" or field != "slug":
            shown = refused(client, address, {**good, field: value}, keeps=keeps)
            assert "Another title" in shown or field == "title"
            assert "error" in shown


def test_a_contract_with_scripts_in_its_words_is_shown_as_text(client, forms_world):
    good = {**initial_of(forms_world["op"].head.content), "title": SCRIPT, "levers": SCRIPT, "producers": SCRIPT}
    assert client.post(url("op_edit", "rmsnorm-cpu"), good).status_code == 302
    for page in (url("op_detail", "rmsnorm-cpu"), url("op_list"), url("op_edit", "rmsnorm-cpu"), url("run_list")):
        shown = client.get(page).content.decode()
        assert "<script>alert(1)" not in shown
        assert "<img src=x" not in shown


def test_a_contract_on_a_stale_base_is_kept_on_the_page(client, forms_world):
    data = {**initial_of(forms_world["op"].head.content), "base": "0" * 64, "title": "Typed for a long time"}
    page = refused(client, url("op_edit", forms_world["op"].slug), data, keeps="Typed for a long time")
    assert "newer contract" in page


BAD_STOPS = [
    ({}, ""),
    ({"codes": "U1", "reason": " "}, "U1"),
    ({"codes": "", "reason": "enough of this"}, "enough of this"),
    ({"codes": "D99, U1", "reason": "enough of this"}, "enough of this"),
    ({"codes": SCRIPT, "reason": SCRIPT}, SCRIPT),
    ({"codes": "U1", "reason": NUL}, ""),
    ({"codes": NUL, "reason": "enough of this"}, "enough of this"),
    ({"codes": "U1", "reason": "x" * 4001}, ""),
    ({"codes": "U1", "reason": "enough of this", "lever": "x" * 81}, "enough of this"),
    ({"codes": "," * 5000, "reason": "enough of this"}, "enough of this"),
]


def test_stopping(client, forms_world):
    for data, keeps in BAD_STOPS:
        refused(client, url("op_stop", "rmsnorm-cpu"), data, keeps=keeps)
        assert not OpStop.objects.exists()


# --- specs ---


BAD_SPECS = [
    ({}, ""),
    ({"title": "", "ops": "rmsnorm-cpu"}, ""),
    ({"title": "My title"}, "My title"),
    ({"title": "My title", "ops": "nowhere"}, "My title"),
    ({"title": "My title", "ops": NUL}, "My title"),
    ({"title": "My title", "ops": SCRIPT}, "My title"),
    ({"title": "x" * 201, "ops": "rmsnorm-cpu"}, ""),
    ({"title": NUL, "ops": "rmsnorm-cpu"}, ""),
    ({"title": "   ", "ops": "rmsnorm-cpu"}, ""),
]


def test_beginning_a_spec(client, forms_world):
    for data, keeps in BAD_SPECS:
        refused(client, url("spec_new"), data, keeps=keeps)
        assert Spec.objects.count() == 1


SECTIONS = tuple(BY_SLUG)
TYPED = {
    "overview": {"title": SCRIPT, "summary": SCRIPT, "engine.family": "Z", "symbols.total": "1",
                 "symbols[0].name": SCRIPT, "symbols[0].value": "1/0"},
    "smem": {"smem.queue": SCRIPT, "smem.regions.total": "1", "smem.regions[0].size_bytes": "2**9**9**9",
             "smem.regions[0].name": SCRIPT, "smem.regions[0].owner": "nobody"},
    "sems": {"sems.num_op_sems": "-1", "sems.rows.total": "1", "sems.rows[0].slots": "STAGES+",
             "sems.rows[0].kind": "x"},
    "roles": {"roles.stages": SCRIPT, "roles.rows.total": "1", "roles.rows[0].duty": SCRIPT},
    "granularity": {"granularity.total": "1", "granularity[0].task": SCRIPT, "granularity[0].num_tasks": "1/0"},
    "choices": {},
    "anchors": {"anchors.total": "1", "anchors[0].name": SCRIPT, "measurement.timer": SCRIPT},
    "questions": {"open_questions.total": "1", "open_questions[0].text": NUL, "open_questions[0].id": SCRIPT},
    "tmem": {"tmem.objects.total": "1", "tmem.objects[0].columns": "1/0", "tmem.objects[0].writer": SCRIPT},
    "ledger": {"sems.rows.total": "1", "sems.rows[0].arrives": SCRIPT, "sems.protocol.tags": "x"},
    "gates": {"gates.total": "1", "gates[0].rung": SCRIPT, "scale_packs.total": HUGE_INT},
    "wiring": {"wiring.tasks.total": "1", "wiring.tasks[0].parameters": SCRIPT, "wiring.placeholders.total": "1",
               "wiring.placeholders[0].name": SCRIPT, "wiring.placeholders[0].value": "1/0"},
    "reviews": {"reviews.rows.total": "1", "reviews.rows[0].date": SCRIPT, "reviews.missing_engine": NUL},
    "amendments": {"amendments.total": "1", "amendments[0].fields.total": "1",
                   "amendments[0].fields[0].field": SCRIPT, "amendments[0].fields[0].value": NUL},
    "audit": {"self_audit.total": "1", "self_audit[0].answer": SCRIPT},
    "notes": {"notes.preamble": SCRIPT, "notes.audit": NUL},
}  # fmt: skip


@pytest.mark.parametrize("section", SECTIONS)
def test_a_draft_takes_anything_shows_it_again_and_says_what_is_wrong(client, forms_world, section):
    """The editor stores what was typed, right or wrong; only a revision is checked."""
    address = url("spec_edit", "S1", section)
    draft = SpecDraft.objects.get(user=f.designer().user)
    answer = client.post(address, {"version": draft.version, **TYPED[section]})
    assert answer.status_code == 302
    page = client.get(address).content.decode()
    assert "<script>alert(1)" not in page
    assert "<img src=x" not in page
    typed = [value for value in TYPED[section].values() if value == SCRIPT]
    assert html.unescape(page).count(SCRIPT) >= len(typed) or section == "choices"
    assert SpecRevision.objects.count() == 1


@pytest.mark.parametrize("section", SECTIONS)
def test_odd_numbers_of_rows_and_versions(client, forms_world, section):
    for number in ("", "x", "-1", "1.5", HUGE_INT, "\u00b2", "\u0663", "1e9"):
        address = url("spec_edit", "S1", section)
        totals = {
            f"{path}.total": number for path in ("symbols", "smem.regions", "sems.rows", "roles.rows", "granularity")
        }
        answer = client.post(address, {"version": number, "title": "T", "anchors.total": number, **totals})
        assert answer.status_code in (302, 409)
        for action in (
            f"remove:smem.regions:{number}",
            f"up:sems.rows:{number}",
            "add:nowhere",
            "remove",
            ":::",
            SCRIPT,
        ):
            draft = SpecDraft.objects.get(user=f.designer().user)
            answer = client.post(address, {"version": draft.version, "action": action})
            assert answer.status_code in (200, 302)


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"title": SCRIPT, "rationale": SCRIPT, "lever": SCRIPT, "polarity": "loves", "new_mechanism": NUL},
        {"citations.total": "3", "citations[0].target": "D99", "citations[1].target": SCRIPT,
         "citations[2].target": "a#b#c"},
        {"citations.total": HUGE_INT, "acknowledged.total": "\u00b2", "prediction.gain_percent": "lots"},
        {"scope.m": "1...", "scope.grid": NUL, "wave_quant.items": "many", "prediction.deadline": "tomorrow"},
        {"title": LONG, "rationale": LONG},
    ],
)  # fmt: skip
def test_a_choice_takes_anything_too(client, forms_world, data):
    address = url("spec_edit_choice", "S1", "C1")
    draft = SpecDraft.objects.get(user=f.designer().user)
    assert client.post(address, {"version": draft.version, **data}).status_code == 302
    page = client.get(address)
    assert page.status_code == 200
    assert b"<script>alert(1)" not in page.content
    finish = url("spec_finish", "S1")
    draft = SpecDraft.objects.get(user=f.designer().user)
    answer = client.post(finish, {"version": draft.version, "action": "submit"})
    assert answer.status_code in (422, 302)
    if answer.status_code == 422:
        assert SpecDraft.objects.get(user=f.designer().user).content == draft.content


def test_a_draft_that_is_too_large_stays_on_the_page(client, forms_world):
    address = url("spec_edit", "S1", "overview")
    draft = SpecDraft.objects.get(user=f.designer().user)
    text = "word " * 300_000
    answer = client.post(address, {"version": draft.version, "title": "T", "summary": text})
    assert answer.status_code == 422
    assert text[:2000] in answer.content.decode()
    assert SpecDraft.objects.get(user=f.designer().user).content == draft.content


def test_unknown_sections_choices_and_specs_are_404(client, forms_world):
    for address in (
        url("spec_edit", "S1", "nothing"),
        url("spec_edit_choice", "S1", "C99"),
        url("spec_edit", "S99", "overview"),
        url("spec_detail", "S99"),
        url("spec_revision", "S1", 99),
        url("spec_revision", "S1", 10**30),
        url("spec_diff", "S1", 1, 99),
        url("op_detail", "nowhere"),
        url("kernel_detail", "nowhere"),
        url("version_detail", "mine", 10**30),
        url("run_detail", "Rnone"),
        url("anchor_stale", "nowhere"),
    ):
        assert client.get(address).status_code == 404, address
        assert client.post(address, {"version": "1"}).status_code == 404, address


ODD_VERSIONS = ["", "x", "0", "-1", HUGE_INT, "\u00b2"]


def test_finishing_with_an_odd_version_is_a_conflict_and_the_draft_stays(client, forms_world):
    for version in ODD_VERSIONS:
        before = everything()
        answer = client.post(url("spec_finish", "S1"), {"version": version, "reason": SCRIPT})
        assert answer.status_code == 409
        assert b"<script>alert(1)" not in answer.content
        assert everything() == before


# --- addresses and bodies ---


ODD_QUERIES = (
    "q=%00", "q=%FF%FE", "q=" + "x" * 5000, "page=x", "page=-1", "page=99999999999999999999", "page=%C2%B2", "op=%00",
    "op=nowhere", "state=nowhere", "kind=song", "mine=1&mine=2", "q=%22%27%3B--", "q=%25_%5C",
)  # fmt: skip


@pytest.mark.parametrize("name", ["op_list", "spec_list", "kernel_list", "run_list", "anchor_list", "worker_list"])
def test_odd_queries_of_lists(client, forms_world, name):
    for query in ODD_QUERIES:
        assert client.get(f"{url(name)}?{query}").status_code == (400 if "%00" in query else 200), query


ADDRESSES_WITH_NUL = ["/ops/%00/", "/specs/S%00/", "/runs/%00/", "/kernels/a%00/", "/evidence/rows/%00/"]


def test_a_nul_in_an_address(client, forms_world):
    for path in ADDRESSES_WITH_NUL:
        assert client.get(path).status_code in (400, 404)


@pytest.mark.parametrize("body", [b"", b"\xff\xfe\x00", b"title=%FF%FE&ops=%00", b"{" * 1000, b"--x\r\nbroken"])
def test_bodies_that_are_no_form(client, forms_world, body):
    before = everything()
    addresses = [
        url("spec_new"),
        url("op_new"),
        url("kernel_new"),
        url("spec_comment", "S1", 1),
        url("run_new", "rmsnorm-cpu"),
    ]
    for kind in (
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json",
        "text/xml",
    ):
        for address in addresses:
            assert client.post(address, body, content_type=kind).status_code in (200, 400, 422)
    assert everything() == before


def test_too_many_fields_are_a_400(client, forms_world):
    data = {f"f{n}": "" for n in range(5001)}
    assert client.post(url("spec_new"), data).status_code == 400
    assert (Op.objects.count(), Run.objects.count()) == (1, 2)
