"""Bad input in every form of reviews, kernels, runs and anchors: words and the typed text, never a fault."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from kernels.models import Comment, Kernel, KernelVersion
from tests import factories as f
from tests.web.bad_input import HUGE_INT, NUL, SCRIPT, refused, url

pytestmark = pytest.mark.django_db


# --- reviews ---


BAD_COMMENTS = [
    ({}, ""),
    ({"place": "C1", "text": ""}, ""),
    ({"place": "C1", "text": "   "}, ""),
    ({"place": "", "text": "my long question"}, "my long question"),
    ({"place": "C77", "text": "my long question"}, "my long question"),
    ({"place": SCRIPT, "text": SCRIPT}, SCRIPT),
    ({"place": "C1", "text": "x" * 20_001}, ""),
    ({"place": "C1", "text": NUL}, ""),
    ({"place": "C1", "text": "my long question", "parent": "99"}, "my long question"),
    ({"place": "C1", "text": "my long question", "parent": HUGE_INT}, "my long question"),
    ({"place": "C1", "text": "my long question", "parent": "9" * 25}, "my long question"),
    ({"place": "C1", "text": "my long question", "parent": "x"}, "my long question"),
    ({"place": "C1", "text": "my long question", "quote": "x" * 2001}, "my long question"),
]


def test_comments(client, forms_world):
    for data, keeps in BAD_COMMENTS:
        refused(client, url("spec_comment", "S1", 1), data, keeps=keeps)


def test_markdown_with_scripts_in_a_comment_shows_as_text(client, forms_world):
    text = f"{SCRIPT}\n\n[link](javascript:alert(1)) ![x](javascript:alert(2))\n\n<iframe src=//x></iframe>"
    client.post(url("spec_comment", "S1", 1), {"place": "C1", "text": text})
    assert Comment.objects.get().text == text
    page = client.get(url("spec_detail", "S1")).content.decode()
    for bad in ("<script>alert", "<img src=x", "<iframe", 'href="javascript', 'src="javascript'):
        assert bad not in page


BAD_POSITIONS = [
    ({}, ""),
    ({"aspect": "beauty", "position": "approve", "note": "my note"}, "my note"),
    ({"aspect": "correctness", "position": "love", "note": "my note"}, "my note"),
    ({"aspect": "correctness", "position": "discuss", "note": ""}, ""),
    ({"aspect": "correctness", "position": "discuss", "note": "x" * 4001}, ""),
    ({"aspect": "correctness", "position": "discuss", "note": NUL}, ""),
    ({"aspect": SCRIPT, "position": SCRIPT, "note": SCRIPT}, SCRIPT),
]


def test_positions(client, forms_world):
    for data, keeps in BAD_POSITIONS:
        client.force_login(f.reviewer().user)
        refused(client, url("spec_position", "S1", 1), data, keeps=keeps)


BAD_SIGNATURES = [
    ({}, 422, ""),
    ({"choice_id": "C1", "reason": ""}, 422, ""),
    ({"choice_id": "C9", "reason": "my reason"}, 404, ""),
    ({"choice_id": "x" * 30, "reason": "my reason"}, 422, ""),
    ({"choice_id": "C1", "reason": NUL}, 422, ""),
    ({"choice_id": SCRIPT, "reason": SCRIPT}, 422, ""),
]


def test_signatures(client, forms_world):
    for data, status, keeps in BAD_SIGNATURES:
        client.force_login(f.curator().user)
        refused(client, url("spec_sign", "S1", 1), data, keeps=keeps, status=(status,))


BAD_WAIVERS = [
    ({}, ""),
    ({"rule": "R40", "path": "nowhere", "reason": "my reason"}, ""),
    ({"rule": NUL, "path": SCRIPT, "reason": SCRIPT}, ""),
    ({"rule": "R" * 200, "path": "p" * 2000, "reason": "my reason"}, ""),
]


def test_waivers(client, forms_world):
    for data, keeps in BAD_WAIVERS:
        client.force_login(f.designer().user)
        refused(client, url("spec_waiver_ask", "S1"), data, keeps=keeps)


# --- kernels ---


BAD_KERNELS = [
    ({}, ""),
    ({"slug": "a b", "title": "My kernel"}, "My kernel"),
    ({"slug": SCRIPT, "title": SCRIPT}, SCRIPT),
    ({"slug": "x" * 81}, "x" * 81),
    ({"title": "x" * 201}, ""),
    ({"slug": NUL, "title": NUL}, ""),
    ({"slug": "mine", "title": "My kernel"}, "My kernel"),
    ({"op": "nowhere", "title": "My kernel"}, "My kernel"),
    ({"op": NUL, "title": "My kernel"}, "My kernel"),
    ({"basis": "magic", "title": "My kernel"}, "My kernel"),
    ({"basis": "spec", "title": "My kernel"}, "My kernel"),
    ({"basis": "spec", "spec": "S1", "title": "My kernel"}, "My kernel"),
    ({"basis": "spec", "spec": "S99", "title": "My kernel"}, "My kernel"),
    ({"basis": "adopted", "spec": "S1", "title": "My kernel"}, "My kernel"),
]


def test_kernels(client, forms_world):
    for data, keeps in BAD_KERNELS:
        good = {"slug": "another", "title": "New", "op": "rmsnorm-cpu", "basis": "exploratory"}
        refused(client, url("kernel_new"), {**good, **data} if data else {}, keeps=keeps)
        assert Kernel.objects.count() == 2


SOURCE = "def run(inputs):\n    return dict(inputs)\n"


BAD_SOURCES = [
    ({}, ""),
    ({"entry": "", "source": SOURCE}, SOURCE),
    ({"entry": "kernel.py", "source": SOURCE}, SOURCE),
    ({"entry": "../kernel.py:run", "source": SOURCE}, SOURCE),
    ({"entry": "/etc/passwd:run", "source": SOURCE}, SOURCE),
    ({"entry": SCRIPT, "source": SCRIPT}, SCRIPT),
    ({"entry": "kernel.py:run" + "x" * 300, "source": SOURCE}, SOURCE),
    ({"entry": "kernel.py:run", "source": ""}, ""),
    ({"entry": "kernel.py:run", "source": " \n "}, ""),
    ({"entry": "kernel.py:run", "source": NUL}, ""),
    ({"entry": "kernel.py:run", "source": "#" * (512 * 1024 + 1)}, ""),
    ({"entry": "kernel.py:run", "source": SOURCE, "note": "x" * 4001}, SOURCE),
    ({"entry": "kernel.py:run", "source": f.SOURCE.decode()}, f.SOURCE.decode()),
]


def test_versions_from_pasted_source(client, forms_world):
    for data, keeps in BAD_SOURCES:
        refused(client, url("version_new", "mine"), data, keeps=keeps)


BAD_UPLOADS = [
    ("kernel.py", b"\xff\xfe not text"),
    ("kernel.py", b""),
    ("other.py", b"x = 1\n"),
    ("a b.py", b"x = 1\n"),
    ("<script>.py", b"x = 1\n"),
    ("kernel.py", b"#" * (2 * 1024 * 1024 + 1)),
]


def test_versions_from_uploads(client, forms_world):
    for name, content in BAD_UPLOADS:
        data = {"entry": "kernel.py:run", "note": "my note", "files": [SimpleUploadedFile(name, content)]}
        refused(client, url("version_new", "mine"), data, keeps="my note", status=(422, 400))
        assert KernelVersion.objects.count() == 2


def test_a_text_where_files_belong_and_two_files_of_one_name(client, forms_world):
    refused(client, url("version_new", "mine"), {"entry": "kernel.py:run", "files": "kernel.py"})
    twice = [SimpleUploadedFile("kernel.py", b"x = 1\n"), SimpleUploadedFile("kernel.py", b"x = 2\n")]
    page = refused(client, url("version_new", "mine"), {"entry": "kernel.py:run", "files": twice})
    assert "kernel.py is there twice" in page
    both = {"entry": "kernel.py:run", "source": SOURCE, "files": [SimpleUploadedFile("kernel.py", b"x = 1\n")]}
    refused(client, url("version_new", "mine"), both, keeps=SOURCE)


# --- runs and anchors ---


BAD_RUNS = [
    {"kind": "song"},
    {"version": "99"},
    {"version": HUGE_INT},
    {"version": "x"},
    {"version": NUL},
    {"version": ""},
    {"kind": "perf"},
    {"kind": "perf", "anchor": "nowhere"},
    {"kind": "perf", "anchor": NUL},
    {"kind": "capture"},
    {"anchor": "naive"},
    {"workloads": ["nowhere"]},
    {"workloads": [SCRIPT]},
    {"rounds": ""},
    {"rounds": "x"},
    {"rounds": "1.5"},
    {"kind": "capture", "anchor": "naive", "rounds": "2"},
    {"kind": "capture", "anchor": "naive", "rounds": HUGE_INT},
    {"kind": "capture", "anchor": "naive", "rounds": "-3"},
    {"kind": "capture", "anchor": "naive", "launches": "9" * 30},
    {"launches": "many"},
    {"queue": "gpu.sm_1"},
    {"idempotency_key": "x" * 81},
    {"idempotency_key": NUL},
]


def test_runs(client, forms_world):
    for data in BAD_RUNS:
        good = {"kind": "validate", "version": forms_world["version"].pk, "rounds": "5", "launches": "30"}
        refused(client, url("run_new", "rmsnorm-cpu"), {**good, **data})


BAD_ANCHORS = [
    ({}, ""),
    ({"name": "a b", "method": "my method"}, "my method"),
    ({"name": "naive", "method": "my method"}, "my method"),
    ({"name": "x" * 81, "method": "my method"}, "my method"),
    ({"name": "new", "method": ""}, ""),
    ({"name": "new", "method": "x" * 301}, ""),
    ({"name": SCRIPT, "method": SCRIPT}, SCRIPT),
    ({"name": NUL, "method": NUL}, ""),
]


def test_anchors(client, forms_world):
    for data, keeps in BAD_ANCHORS:
        refused(client, url("anchor_new", "rmsnorm-cpu"), data, keeps=keeps)


NO_REASONS = ["", "  ", NUL]


def test_marking_an_anchor_stale_wants_a_reason(client, forms_world):
    for reason in NO_REASONS:
        page = refused(client, url("anchor_stale", "naive"), {"reason": reason})
        assert "reason" in page.lower() or "what moved" in page or "characters" in page
