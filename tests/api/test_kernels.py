"""Kernels, anchors, ops and runs through REST: files in JSON and forms, keys, logs, samples."""

import csv
import hashlib
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kernels.models import KernelVersion, Run, RunAttempt
from kernels.selectors.samples import samples_csv
from kernels.services.dispatch import append_log
from tests import factories as f
from v2kb.core.actor import Actor
from v2kb.wire.messages import LogChunk

pytestmark = pytest.mark.django_db
SOURCE = "from lib.tiles import run\n"
TILES = "def run(inputs):\n    return {'y': inputs['x']}  # µ\n"


@pytest.fixture
def dora(db, api_of):
    f.op()
    api = api_of(f.designer().user)
    api.post("/kernels/", {"slug": "tiled", "title": "Tiled", "op": "rmsnorm-cpu", "basis": "exploratory"})
    return api


def upload(api, path: str, data: dict):
    return api.client.post(f"/api/v1{path}", data, headers=api.headers)


def test_files_come_back_as_they_were_sent(dora):
    files = {"kernel.py": SOURCE, "lib/tiles.py": TILES}
    made = dora.post("/kernels/tiled/versions/", {"files": files, "note": "first"})
    assert [file["path"] for file in made["files"]] == ["kernel.py", "lib/tiles.py"]
    assert made["files"][1]["sha256"] == hashlib.sha256(TILES.encode()).hexdigest()
    response = dora.send("GET", "/kernels/tiled/versions/1/files/lib/tiles.py/")
    assert response.content.decode() == TILES
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert dora.get("/kernels/tiled/")["newest_version"] == 1
    again = dora.post("/kernels/tiled/versions/", {"files": files}, status=409)
    assert (again["code"], again["facts"]["version"]) == ("kernel.same_files", 1)


def test_the_same_version_as_a_form(dora):
    parts = [SimpleUploadedFile("kernel.py", SOURCE.encode()), SimpleUploadedFile("tiles.py", TILES.encode())]
    response = upload(dora, "/kernels/tiled/versions/", {"files": parts, "paths": ["kernel.py", "lib/tiles.py"]})
    assert response.status_code == 201, response.content
    same = dora.post("/kernels/tiled/versions/", {"files": {"kernel.py": SOURCE, "lib/tiles.py": TILES}}, status=409)
    assert same["facts"]["digest"] == response.json()["digest"]


@pytest.mark.parametrize(
    ("data", "status", "field"),
    [
        ({"paths": ["kernel.py"]}, 400, "files"),
        ({"files": [("kernel.py", b"x"), ("kernel.py", b"y")]}, 400, "paths"),
        ({"files": [("kernel.py", b"x")], "paths": ["a.py", "b.py"]}, 400, "paths"),
        ({"files": [("kernel.py", b"\xff\xfe")]}, 422, "files"),
        ({"files": [("kernel.py", b"x")], "paths": ["../kernel.py"]}, 422, "files"),
        ({"files": [("other.py", b"x")]}, 422, "entry"),
        ({"files": [("kernel.py", b"x")], "digest": "0"}, 400, "digest"),
        ({"files": [("kernel.py", b"x")], "language": "cobol"}, 400, "language"),
    ],
)
def test_bad_forms(dora, data, status, field):
    parts = [SimpleUploadedFile(name, content) for name, content in data.get("files", [])]
    response = upload(dora, "/kernels/tiled/versions/", {**data, **({"files": parts} if parts else {})})
    assert (response.status_code, response.json()["field"]) == (status, field), response.content
    assert not KernelVersion.objects.exists()


@pytest.mark.parametrize(
    ("files", "status"),
    [
        ({}, 400),
        ({"kernel.py": 5}, 400),
        (["kernel.py"], 400),
        ({f"f{n}.py": "" for n in range(65)}, 400),
        ({"/etc/passwd": "x", "kernel.py": "x"}, 422),
        ({"kernel.py": "x", "lib\\x.py": "x"}, 422),
        ({"kernel.py": "x" * (2 * 1024 * 1024 + 1)}, 422),
        ({"kernel.py": "x", "KERNEL.py": "x"}, 422),
    ],
)
def test_bad_files(dora, files, status):
    assert dora.post("/kernels/tiled/versions/", {"files": files}, status=status)["field"] == "files"


def test_an_idempotency_key_gives_one_run(dora, api_of):
    dora.post("/kernels/tiled/versions/", {"files": {"kernel.py": TILES}})
    order = {"kind": "validate", "kernel": "tiled", "version": 1}
    first = dora.post("/runs/", order, **{"Idempotency-Key": "k1"})
    assert dora.post("/runs/", order, **{"Idempotency-Key": "k1"})["id"] == first["id"]
    assert RunAttempt.objects.count() == Run.objects.count() == 1
    dora.post("/kernels/tiled/versions/", {"files": {"kernel.py": TILES + "\n"}})
    reused = dora.post("/runs/", {**order, "version": 2}, status=409, **{"Idempotency-Key": "k1"})
    assert reused["code"] == "api.key_reused"
    val = api_of(f.actor("val", "validator").user)
    assert val.post("/runs/", order, **{"Idempotency-Key": "k1"})["id"] != first["id"]
    assert dora.post("/runs/", order)["id"] != dora.post("/runs/", order)["id"]
    assert dora.post("/runs/", order, status=400, **{"Idempotency-Key": "k" * 81})["field"] == "idempotency_key"


def test_orders_that_make_no_sense(dora):
    dora.post("/kernels/tiled/versions/", {"files": {"kernel.py": TILES}})
    order = {"kind": "validate", "kernel": "tiled", "version": 1}
    for change, status, code in [
        ({"kind": "perf"}, 422, "run.anchor_missing"),
        ({"kernel": "none"}, 404, "kernel.none"),
        ({"version": 9}, 404, "kernel.no_version"),
        ({"queue": "gpu.sm_1"}, 422, "run.unknown_queue"),
        ({"workloads": ["huge"]}, 422, "run.unknown_workload"),
        ({"anchor": "none"}, 400, "api.invalid"),
        ({"rounds": 0}, 400, "api.invalid"),
        ({"seed_secret": "mine"}, 400, "api.invalid"),
    ]:
        assert dora.post("/runs/", {**order, **change}, status=status)["code"] == code, change
    assert not Run.objects.exists()


def test_the_log_in_pages_and_cancelling(dora, api_of):
    dora.post("/kernels/tiled/versions/", {"files": {"kernel.py": TILES}})
    run_id = dora.post("/runs/", {"kind": "validate", "kernel": "tiled", "version": 1})["id"]
    attempt, fence = f.claimed(Run.objects.get(public_id=run_id))
    for seq in range(3):
        append_log(Actor.worker("w1"), attempt=attempt, chunk=LogChunk(fence=fence, seq=seq, text=f"line {seq}\n"))
    page = dora.get(f"/runs/{run_id}/log/?page_size=2")
    assert (page["count"], [chunk["text"] for chunk in page["results"]]) == (3, ["line 0\n", "line 1\n"])
    stranger = api_of(f.actor("val", "validator").user)
    assert stranger.post(f"/runs/{run_id}/cancel/", status=403)["code"] == "core.role"
    asked = dora.post(f"/runs/{run_id}/cancel/", status=200)
    assert (asked["state"], bool(asked["cancel_requested_at"])) == ("claimed", True)
    assert api_of(f.actor("olga", "operator").user).post(f"/runs/{run_id}/cancel/", status=200)["id"] == run_id


def test_samples_as_a_table_that_no_spreadsheet_runs():
    timed = {
        "workload": "=HYPERLINK(1)",
        "round": 0,
        "side": "candidate",
        "position": 0,
        "samples_ns": [7, 8],
        "clock_mhz": [1500],
        "method": "process_clock",
    }
    rows = list(csv.reader(io.StringIO(samples_csv({"rounds": [{**timed, "position": 1}, timed]}))))
    assert rows[0][-3:] == ["time_ns", "clock_mhz", "method"]
    assert rows[1] == ["'=HYPERLINK(1)", "0", "candidate", "0", "0", "7", "1500", "process_clock"]
    assert [row[3:7] for row in rows[2:]] == [["0", "1", "8", ""], ["1", "0", "7", "1500"], ["1", "1", "8", ""]]


def test_csv_is_asked_for_by_name_and_errors_stay_json(world, api_of):
    api = api_of(f.designer().user)
    path = f"/runs/{world.perf.public_id}/samples/"
    for accept in ("text/csv", "*/*", "application/json"):
        response = api.send("GET", path, Accept=accept)
        assert (response.status_code, response["Content-Type"]) == (200, "text/csv; charset=utf-8")
    refused = api.send("GET", f"/runs/{world.queued.public_id}/samples/", Accept="text/csv")
    assert (refused.status_code, refused["Content-Type"]) == (404, "application/json")
    assert refused.json()["code"] == "run.no_result"


def test_a_contract_on_an_older_base_is_refused(dora):
    op = dora.get("/ops/rmsnorm-cpu/")
    changed = {**op["contract"]["content"], "title": "RMS norm, renamed"}
    body = {"base_hash": op["contract_hash"], "content": changed, "reason": "name"}
    assert dora.post("/ops/rmsnorm-cpu/contracts/", body)["number"] == 2
    assert dora.post("/ops/rmsnorm-cpu/contracts/", body, status=409)["code"] == "op.stale_base"
    assert [contract["number"] for contract in dora.get("/ops/rmsnorm-cpu/contracts/")["results"]] == [2, 1]


def test_stopping_an_op(dora):
    f.evidence_row(f.DEAD)
    refused = dora.post("/ops/rmsnorm-cpu/stops/", {"reason": "Dead.", "codes": ["D9"]}, status=422)
    assert refused["code"] == "op.unknown_rows"
    stop = dora.post("/ops/rmsnorm-cpu/stops/", {"reason": "Dead.", "codes": ["D1"], "lever": "fused-row-norm"})
    assert stop["rows"][0]["code"] == "D1"
    assert dora.get("/ops/rmsnorm-cpu/")["stage"] == "stopped"
    assert [op["slug"] for op in dora.get("/ops/?stopped=true")["results"]] == ["rmsnorm-cpu"]


def test_an_anchor_goes_stale_only_when_it_was_pinned(world, api_of):
    api = api_of(f.designer().user)
    assert api.post("/anchors/planned/stale/", {"reason": "Moved."}, status=409)["code"] == "anchor.not_pinned"
    assert api.post("/anchors/naive/stale/", {"reason": "New driver."}, status=200)["state"] == "STALE"
    taken = {"name": "naive", "op": "rmsnorm-cpu", "method": "harness"}
    assert api.post("/anchors/", taken, status=409)["code"] == "anchor.name_taken"
