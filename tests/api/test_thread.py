"""The whole loop through REST alone, with the tokens of four users, and the worker's side through its own door."""

import json

import pytest

from kernels.models import RunAttempt
from kernels.services.dispatch import key_hash
from tests import factories as f
from tests.api.conftest import ROOT, Api
from v2kb.core.activity import broken_links
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

USERS = {
    "dora": ("designer", "implementer", "validator"),
    "remy": ("reviewer_correctness",),
    "cora": ("curator",),
    "carl": ("curator",),
}


@pytest.fixture
def team(make_user):
    """Four users, each with a token that was made with name and password."""
    clients = {}
    for name, roles in USERS.items():
        make_user(name, *roles)
        made = Api().post("/tokens/", {"username": name, "password": f"pass-{name}-phrase"})
        clients[name] = Api(made["token"])
    return clients


class Worker:
    """Does with a run what the worker does, over HTTP. Tests know the key; the broker's message is not read."""

    def __init__(self, run_id: str) -> None:
        self.run_id, self.key = run_id, f"key-of-{run_id}-0123456789"
        RunAttempt.objects.filter(run__public_id=run_id).update(key_hash=key_hash(self.key))
        self.http = Api()

    def call(self, what: str, body: dict, status: int = 200):
        response = self.http.client.post(
            f"/worker/v1/runs/{self.run_id}/{what}",
            json.dumps(body),
            content_type="application/json",
            headers={"Authorization": f"Run {self.key}"},
        )
        assert response.status_code == status, response.content
        return response.json()

    def file(self, sha256: str) -> bytes:
        url = f"/worker/v1/runs/{self.run_id}/files/{sha256}"
        return self.http.client.get(url, headers={"Authorization": f"Run {self.key}"}).content

    def work(self, anchor: list[int], candidate: list[int]) -> None:
        """Claim, fetch the files, ping, log and post a result with these run medians (ns)."""
        claim = self.call("claim", {"worker": f.WORKER.model_dump()})
        fence = claim["fence"]
        files = claim["job"]["candidate"]["files"]
        assert b"def run" in self.file(files[0]["sha256"])
        assert self.call("ping", {"fence": fence, "done": 1, "total": 3, "phase": "round 1"}) == {
            "schema_version": 1,
            "cancel": False,
        }
        self.call("log", {"fence": fence, "seq": 0, "text": "compiled\n"})
        body = {"fence": fence, "result": f.result(None, anchor, candidate)}
        self.call("result", body)
        self.call("result", body)


def test_the_loop_through_rest_alone(team):
    dora, remy, cora, carl = (team[name] for name in USERS)

    # Evidence: a lever, a row proposed by one and accepted by another.
    cora.post("/levers/", {"name": "Fused row norm", "slug": "fused-row-norm"})
    proposed = dora.post("/proposals/", {"content": f.EVIDENCE, "reason": "first look"})
    dora.post(f"/proposals/{proposed['id']}/accept/", {"conflict": "none"}, status=403)
    row = cora.post(f"/proposals/{proposed['id']}/accept/", {"conflict": "none"}, status=200)["row"]
    assert dora.get(f"/evidence/{row}/")["verdict"] == "UNTESTED"

    # An op, and a spec whose first revision the gate does not pass.
    op = dora.post("/ops/", {"slug": "rmsnorm-cpu", "content": f.CONTRACT})
    assert [card["code"] for lane in dora.get("/ops/rmsnorm-cpu/evidence/") for card in lane["cards"]] == [row]
    code = dora.post("/specs/", {"title": "Fused RMS norm", "ops": ["rmsnorm-cpu"]})["code"]
    content = spec_content(row, op["contract_hash"])
    bare = json.loads(json.dumps(content))
    bare["choices"][0]["citations"] = []
    first = dora.post(f"/specs/{code}/revisions/", {"base_hash": "", "content": bare, "reason": "first"})
    gate = dora.get(f"/specs/{code}/revisions/1/gate/")
    assert (gate["passed"], [line["rule"] for line in gate["lines"] if line["status"] == "UNSATISFIED"]) == (
        False,
        ["AL1"],
    )
    dora.post(f"/specs/{code}/gate/", {"content": content}, status=200)
    assert dora.post(f"/specs/{code}/gate/", {"content": content}, status=200)["passed"]

    # Review: handed in, commented, revised, approved by a second user.
    dora.post(f"/specs/{code}/revisions/1/submit/")
    asked = remy.post(f"/specs/{code}/revisions/1/comments/", {"place": "C1", "text": "What does this rest on?"})
    remy.post(
        f"/specs/{code}/revisions/1/positions/",
        {"aspect": "correctness", "position": "discuss", "note": "No citation."},
    )
    dora.post(f"/specs/{code}/revisions/1/comments/", {"place": "C1", "text": "Cited now.", "parent": asked["id"]})
    second = dora.post(
        f"/specs/{code}/revisions/", {"base_hash": first["content_hash"], "content": content, "reason": "cited"}
    )
    changes = dora.get(f"/specs/{code}/diff/?old=1&new=2")
    assert [change["section"] for change in changes] == ["choices"]
    dora.post(f"/specs/{code}/revisions/2/submit/")
    dora.post(f"/specs/{code}/revisions/2/positions/", {"aspect": "correctness", "position": "approve"}, status=403)
    remy.post(f"/specs/{code}/revisions/2/positions/", {"aspect": "correctness", "position": "approve"})
    review = dora.get(f"/specs/{code}/revisions/2/review/")
    assert (review["approval"]["approver"], review["missing"]) == ("remy", [])
    assert review["approval"]["revision_hash"] == second["content_hash"]
    assert review["predictions"][0]["content"]["anchor"] == "naive"
    assert dora.get(f"/specs/{code}/")["state"] == "approved to build"
    assert dora.get("/specs/?state=approved to build")["count"] == 1
    assert dora.get("/specs/?state=draft")["count"] == 0

    # Anchor: a kernel to compare with, captured by a worker.
    files = {"kernel.py": f.SOURCE.decode()}
    dora.post("/kernels/", {"slug": "naive", "title": "Naive", "op": "rmsnorm-cpu", "basis": "anchor"})
    dora.post("/kernels/naive/versions/", {"files": files})
    dora.post("/anchors/", {"name": "naive", "op": "rmsnorm-cpu", "method": "this harness, process clock"})
    capture = dora.post("/runs/", {"kind": "capture", "kernel": "naive", "version": 1, "anchor": "naive", "rounds": 3})
    Worker(capture["id"]).work([], [100_000, 101_000, 99_500])
    anchor = dora.get("/anchors/naive/")
    assert (anchor["state"], anchor["values"]["small"]["median_ns"]) == ("PINNED", "100000")
    assert dora.get(f"/specs/{code}/")["state"] == "verdict-ready"

    # The kernel of the spec: validated, then timed against the anchor and judged.
    dora.post("/kernels/", {"slug": "fused", "title": "Fused", "op": "rmsnorm-cpu", "basis": "spec", "spec": code})
    version = dora.post("/kernels/fused/versions/", {"files": {"kernel.py": "def run(i):\n    return i\n"}})
    assert version["spec_revision"] == 2
    validate = dora.post("/runs/", {"kind": "validate", "kernel": "fused", "version": 1})
    Worker(validate["id"]).work([], [])
    order = {"kind": "perf", "kernel": "fused", "version": 1, "anchor": "naive", "rounds": 3}
    perf = dora.post("/runs/", order, **{"Idempotency-Key": "perf-1"})
    assert dora.post("/runs/", order, **{"Idempotency-Key": "perf-1"})["id"] == perf["id"]
    assert (perf["registration"]["spec"], perf["registration"]["choice_id"]) == (code, "C1")
    Worker(perf["id"]).work([100_000, 101_000, 99_500], [94_000, 95_200, 93_800])
    done = dora.get(f"/runs/{perf['id']}/")
    assert (done["state"], done["outcome"], done["attempt_rows"][0]["worker"]) == ("finished", "PASS", "w1")
    judgement = dora.get(f"/runs/{perf['id']}/judgements/")["results"][0]
    assert (judgement["judgement"], judgement["grade"], judgement["disposition"]) == ("WIN", "decides", "ship")
    assert dora.get(f"/runs/{perf['id']}/log/")["results"][0]["text"] == "compiled\n"
    samples = dora.get(f"/runs/{perf['id']}/samples/").decode().splitlines()
    assert len(samples) == 1 + 3 * 2 * 30
    assert samples[1].startswith("small,0,anchor,0,0,100000,,process_clock")
    rungs = {rung["rung"]: rung["status"] for rung in dora.get("/kernels/fused/versions/1/")["ladder"]}
    assert rungs["perf"] == "PASS"

    # The receipt proposed a verdict; a curator accepts, and the spec that pinned the old revision is stale.
    verdict = dora.get(f"/proposals/?row={row}&state=open")["results"][0]
    assert (verdict["content"]["verdict"], verdict["origin"]) == ("WIN", "run")
    assert verdict["receipts"][0]["run_id"] == perf["id"]
    dora.post(f"/proposals/{verdict['id']}/accept/", {"conflict": "none"}, status=403)
    carl.post(f"/proposals/{verdict['id']}/accept/", {"conflict": "none"}, status=200)
    assert dora.get(f"/evidence/{row}/")["verdict"] == "WIN"
    spec = dora.get(f"/specs/{code}/")
    assert spec["state"] == "stale"
    assert spec["moved_pins"][0]["code"] == row
    assert broken_links() == []
    by_people = Activity.objects.filter(user__isnull=False, channel="api")
    assert set(by_people.values_list("user__username", flat=True)) == set(USERS)


def spec_content(row: str, contract: str) -> dict:
    """A spec document with one choice that adopts the row's lever, as a program would write it: only what it fills."""
    return {
        "title": "Fused RMS norm",
        "ops": [{"op": "rmsnorm-cpu", "contract": contract}],
        "engine": {"family": "D", "idiom": "one pass", "why": "The row fits the cache."},
        "granularity": [{"task": "row", "mode": "per_tile", "num_tasks": "4", "listed": "4"}],
        "choices": [
            {
                "id": "C1",
                "title": "Fuse the norm",
                "lever": "fused-row-norm",
                "polarity": "adopts",
                "rationale": "One pass reads the row once.",
                "scope": {"envelope": ["cpu"], "arch": ["cpu"]},
                "citations": [{"kind": "evidence", "code": row, "revision": "HEAD", "stance": "supports"}],
                "prediction": {**f.PREDICTION, "row": row, "anchor": "naive"},
            }
        ],
        "anchors": [{"name": "naive", "metric": "time_us", "method": "this harness, process clock"}],
    }


def test_nothing_of_a_run_tells_its_secrets(team, world):
    """The seed of the inputs and the run key would let a candidate know its inputs, or a stranger post results."""
    secret = world.perf.job["seed_secret"]
    for path in ("", "result/", "judgements/", "log/"):
        text = json.dumps(team["dora"].get(f"/runs/{world.perf.public_id}/{path}"))
        assert secret not in text
        assert "key_hash" not in text
    assert secret not in team["dora"].client.get(f"{ROOT}/runs/").content.decode()
