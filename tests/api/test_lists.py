"""Lists: pages, filters, and query counts that do not grow with what is in them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from kernels.models import Kernel, Run, Spec, Worker
from kernels.services.dispatch import worker_hello
from kernels.services.kernels import add_version
from kernels.services.runs import submit_run
from kernels.services.specs import submit_spec
from tests import factories as f
from tests.api.table import ANYONE, TABLE, request_of
from v2kb.api import parameters
from v2kb.core.actor import Actor
from v2kb.wire.messages import WorkerInfo

pytestmark = pytest.mark.django_db
LISTS = ["ops", "specs", "kernels", "anchors", "runs", "workers", "evidence", "levers", "proposals"]


@pytest.fixture
def viewer(make_user, api_of):
    return api_of(make_user(ANYONE, "viewer"))


def more(world) -> None:
    """One more of everything that lists show."""
    row = f.evidence_row(lever="row-split", title="Row split")
    op = f.op("softmax", title="Softmax")
    content = f.spec_content(row)
    content["title"] = "Row split"
    revision = f.saved_revision(content)
    submit_spec(f.designer(), revision=revision)
    kernel = f.kernel_version(op, slug="softmax-naive", source=b"def run(i):\n    return {}\n")
    f.pinned_anchor(op, name="softmax-anchor", version=kernel)
    submit_run(f.designer(), kind="validate", version=kernel)
    worker_hello(Actor.worker("w2"), info=WorkerInfo(name="w2", queue="cpu"))


def count_queries(api, path: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        api.get(path)
    return len(captured)


def test_query_counts_do_not_grow(world, viewer):
    whole = [key for key in TABLE if key.startswith("GET") and not key.endswith(("}/", "/sweep/"))]
    paths = sorted({request_of(key, world)[1] for key in whole if TABLE[key].user == ANYONE})
    paths += ["/specs/?state=in review", "/runs/?state=finished&kind=perf", "/ops/?stopped=false"]
    before = {path: count_queries(viewer, path) for path in paths}
    more(world)
    more_of_one(world)
    after = {path: count_queries(viewer, path) for path in paths}
    assert after == before


def more_of_one(world) -> None:
    """More revisions of the approved spec and more versions of its kernel."""
    spec = Spec.objects.get(pk=world.approved.spec_id)
    f.saved_revision({**world.approved.content, "summary": "Longer."}, spec)
    files = {"kernel.py": b"def run(inputs):\n    return {'y': 1}\n"}
    add_version(f.designer(), kernel=Kernel.objects.get(slug="fused"), files=files, entry="kernel.py:run")


@pytest.mark.parametrize("name", LISTS)
def test_pages(world, viewer, name):
    more(world)
    whole = viewer.get(f"/{name}/?page_size=200")
    assert whole["count"] == len(whole["results"]) > 1
    pages = [viewer.get(f"/{name}/?page_size=1&page={n}") for n in range(1, whole["count"] + 1)]
    assert [page["results"][0] for page in pages] == whole["results"]
    assert (pages[0]["previous"], pages[-1]["next"]) == (None, None)
    assert "page=2" in pages[0]["next"]


FILTERS = [
    ("ops", "q=plain", lambda: ["plain-add"], "slug"),
    ("ops", "q=RMS", lambda: ["rmsnorm-cpu"], "slug"),
    ("ops", "target=sm_100", list, "slug"),
    ("ops", "family=B&envelope=cpu&target=cpu&archived=false", lambda: ["plain-add", "rmsnorm-cpu"], "slug"),
    ("ops", "stopped=true", list, "slug"),
    ("specs", "state=verdict-ready", lambda: ["S1"], "code"),
    ("specs", "state=in review", lambda: ["S5", "S4", "S2"], "code"),
    ("specs", "state=draft", lambda: ["S3"], "code"),
    ("specs", "q=doubt", lambda: ["S5"], "code"),
    ("specs", "q=s2", lambda: ["S2"], "code"),
    ("specs", "op=plain-add", list, "code"),
    ("specs", "created_by=dora&archived=true", list, "code"),
    ("kernels", "op=rmsnorm-cpu&spec=S1&basis=spec", lambda: ["fused"], "slug"),
    ("kernels", "basis=anchor", lambda: ["naive"], "slug"),
    ("kernels", "q=nai", lambda: ["naive"], "slug"),
    ("anchors", "state=PINNED", lambda: ["naive"], "name"),
    ("anchors", "state=UNVERIFIED&op=rmsnorm-cpu", lambda: ["planned"], "name"),
    ("runs", "kind=capture", lambda: _runs(kind="capture"), "id"),
    ("runs", "state=queued&state=running", lambda: _runs(state="queued"), "id"),
    ("runs", "state=finished&outcome=PASS", lambda: _runs(state="finished"), "id"),
    ("runs", "kernel=naive", lambda: _runs(kind="capture"), "id"),
    ("runs", "anchor=naive&kind=perf", lambda: _runs(kind="perf"), "id"),
    ("runs", "queue=gpu.sm_90", list, "id"),
    ("runs", "submitted_by=remy", list, "id"),
    ("runs", "op=rmsnorm-cpu&submitted_by=dora", lambda: _runs(), "id"),
    ("workers", "queue=cpu&alive=true", lambda: ["w1"], "name"),
    ("workers", "alive=false", list, "name"),
]


def _runs(**facts) -> list[str]:
    return list(Run.objects.filter(**facts).order_by("-id").values_list("public_id", flat=True))


def test_filters(subtests, world, viewer):
    for name, query, expected, key in FILTERS:
        with subtests.test(f"{name} {query}"):
            assert [item[key] for item in viewer.get(f"/{name}/?{query}")["results"]] == expected()


WRONG = [
    ("evidence", "m=banana", "m"),
    ("evidence", "verdict=FOO", "verdict"),
    ("evidence", "verdict=DEAD&verdict=FOO", "verdict"),
    ("evidence", "archived=yes", "archived"),
    ("experiments", "since=banana", "since"),
    ("experiments", "until=2026-13-01", "until"),
    ("experiments", "verdict=FOO", "verdict"),
    ("experiments", "current=maybe", "current"),
    ("levers", "archived=2", "archived"),
    ("proposals", "kind=foo", "kind"),
    ("proposals", "state=foo", "state"),
    ("terms", "kind=foo", "kind"),
    ("ops", "stopped=perhaps", "stopped"),
    ("runs", "state=lost", "state"),
    ("tokens", "user=other", "user"),
]


def test_a_filter_that_can_not_be_read_is_refused_with_what_is_allowed(subtests, world, viewer):
    for name, query, field in WRONG:
        with subtests.test(f"{name} {query}"):
            answer = viewer.send("GET", f"/{name}/?{query}")
            assert answer.status_code == 400
            (problem,) = answer.json()["problems"]
            assert (answer.json()["code"], problem["field"]) == ("api.invalid", field)
    kinds = viewer.send("GET", "/proposals/?kind=foo&foo=bar").json()["problems"]
    assert {problem["field"]: problem["code"] for problem in kinds} == {
        "kind": "api.invalid_parameter", "foo": "api.unknown_parameter",
    }  # fmt: skip
    said = {problem["field"]: problem["message"] for problem in kinds}
    assert "merge, new, revert" in said["kind"]
    assert "This address takes kind, page, page_size, row, state." in said["foo"]
    assert viewer.get("/proposals/?kind=&state=") == viewer.get("/proposals/"), "an empty value is none"


def test_every_address_that_is_read_refuses_what_it_does_not_take(subtests, world, viewer):
    """All of them, so that no list added later ignores a filter in silence."""
    for key in TABLE:
        if key.startswith("GET") and TABLE[key].user == ANYONE:
            path = request_of(key, world)[1]
            with subtests.test(key):
                sign = "&" if "?" in path else "?"
                answer = viewer.send("GET", f"{path}{sign}banana=1&banana=2")
                assert (answer.status_code, answer.json()["field"]) == (400, "banana")
    for name in (*LISTS, "experiments", "tokens"):
        for wrong in ("page_size=abc", "page_size=0", "page=abc", "page=-1"):
            with subtests.test(f"{name} {wrong}"):
                assert viewer.send("GET", f"/{name}/?{wrong}").status_code == 400


def test_queues_tell_what_waits(world, viewer):
    queues = {queue["queue"]: queue for queue in viewer.get("/queues/")}
    assert set(queues) == {"cpu", "gpu.sm_90", "gpu.sm_100"}
    assert (queues["cpu"]["waiting"], queues["cpu"]["running"], queues["cpu"]["workers_alive"]) == (1, 0, 1)
    waiting_since = queues["cpu"]["waiting_since"]
    assert waiting_since == viewer.get(f"/runs/{world.queued.public_id}/")["submitted_at"]
    f.claimed(world.queued)
    busy = {queue["queue"]: queue for queue in viewer.get("/queues/")}["cpu"]
    assert (busy["waiting"], busy["running"], busy["waiting_since"]) == (0, 1, None)
    Worker.objects.update(last_seen="2026-01-01T00:00:00Z")
    assert viewer.get("/workers/")["results"][0]["alive"] is False


def test_parameters_are_worked_out_by_one_thread_at_a_time(viewer, monkeypatch):
    """drf-spectacular breaks where two threads use it first: the first requests after a start arrive together."""
    alone, create = [], parameters.SchemaGenerator.create_view

    def watched(*given):
        alone.append(parameters._declaring.locked())
        return create(*given)

    monkeypatch.setattr(parameters, "_declared", {})
    monkeypatch.setattr(parameters.SchemaGenerator, "create_view", watched)
    viewer.get("/me/")
    assert alone == [True]
