"""Kernels and their content-addressed versions: which files are taken, and on which basis."""

import hashlib

import pytest

from kernels.models import FileBlob, Kernel, KernelVersion, VersionFile
from kernels.services.kernels import add_version, create_kernel
from kernels.services.specs import submit_spec
from tests import factories as f
from v2kb.core.errors import Conflict, Forbidden, Refusal
from v2kb.rules.canonical import content_hash
from v2kb.wire.bundle import MAX_BUNDLE_FILES, MAX_FILE_BYTES

pytestmark = pytest.mark.django_db
GOOD = b"def run(inputs):\n    return inputs\n"


@pytest.fixture
def op():
    return f.op()


@pytest.fixture
def kernel(op):
    return create_kernel(f.designer(), slug="mine", title="Mine", op=op, basis="exploratory")


def refusal(kernel, files, entry="kernel.py:run", **more) -> Refusal:
    with pytest.raises(Refusal) as caught:
        add_version(f.designer(), kernel=kernel, files=files, entry=entry, **more)
    assert not KernelVersion.objects.exists()
    assert not FileBlob.objects.exists()
    return caught.value


def test_a_version_is_its_files_by_content(kernel):
    files = {"kernel.py": GOOD, "lib/tiles.py": b"TILE = 128\n"}
    version = add_version(f.designer(), kernel=kernel, files=files, entry="kernel.py:run")
    digests = {path: hashlib.sha256(content).hexdigest() for path, content in files.items()}
    assert version.digest == content_hash({"language": "python", "entry": "kernel.py:run", "files": digests})
    stored = {file.path: bytes(file.blob.content) for file in version.files.select_related("blob")}
    assert stored == files


@pytest.mark.parametrize(
    "path",
    ["../kernel.py", "a/../kernel.py", "/kernel.py", "C:kernel.py", "a\\b.py", "", "./kernel.py", "a//b.py", "a/",
     ".hidden", "a b.py", "k\x00.py", "é.py", "x" * 161, "-rf"],
)  # fmt: skip
def test_paths_that_leave_the_folder_or_are_odd(kernel, path):
    error = refusal(kernel, {"kernel.py": GOOD, path: b"x = 1\n"})
    assert (error.code, error.field, error.status) == ("kernel.bad_files", "files", 422)


def test_files_that_are_no_text_too_large_or_missing(kernel):
    assert refusal(kernel, {}).field == "files"
    error = refusal(kernel, {"kernel.py": GOOD + b"\xff\xfe"})
    assert "not UTF-8 text (byte 35)" in error.message
    assert "larger" in refusal(kernel, {"kernel.py": b"#" * (MAX_FILE_BYTES + 1)}).message
    many = {f"m{n}.py": b"\n" for n in range(MAX_BUNDLE_FILES)}
    assert refusal(kernel, {"kernel.py": GOOD, **many}).field == "files"


def test_paths_that_collide(kernel):
    assert "same path" in refusal(kernel, {"kernel.py": GOOD, "Kernel.py": b"x\n"}).message
    assert "both a file and a folder" in refusal(kernel, {"kernel.py": GOOD, "a": b"x\n", "a/b.py": b"x\n"}).message


@pytest.mark.parametrize(
    "entry",
    ["", "kernel.py", "kernel.py:", ":run", "other.py:run", "kernel.py:run()", "kernel.py:1", "k.py:r\x00", "x" * 300],
)
def test_an_entry_that_names_nothing(kernel, entry):
    assert refusal(kernel, {"kernel.py": GOOD}, entry).field == "entry"


def test_an_unknown_language(kernel):
    assert refusal(kernel, {"kernel.py": GOOD}, language="cobol").field == "language"


def test_the_same_files_are_the_same_version(kernel, op):
    add_version(f.designer(), kernel=kernel, files={"kernel.py": GOOD}, entry="kernel.py:run")
    with pytest.raises(Conflict) as caught:
        add_version(f.designer(), kernel=kernel, files={"kernel.py": GOOD}, entry="kernel.py:run", note="again")
    assert (caught.value.code, caught.value.facts["version"]) == ("kernel.same_files", 1)
    other = create_kernel(f.designer(), slug="other", title="Other", op=op, basis="adopted")
    add_version(f.designer(), kernel=other, files={"kernel.py": GOOD}, entry="kernel.py:run")
    assert (KernelVersion.objects.count(), VersionFile.objects.count(), FileBlob.objects.count()) == (2, 2, 1)


def test_versions_count_up(kernel):
    for number in (1, 2, 3):
        files = {"kernel.py": GOOD + b"#" * number}
        assert add_version(f.designer(), kernel=kernel, files=files, entry="kernel.py:run").number == number


# --- the basis ---


def test_a_kernel_on_a_spec_needs_one_that_is_approved_and_covers_the_op(op):
    row = f.evidence_row()
    other_op = f.op("other-op", title="Other")
    revision = f.saved_revision(f.spec_content(row))
    spec = revision.spec

    def make(**more):
        return create_kernel(f.designer(), **{"slug": "fused", "title": "F", "op": op, "basis": "spec", **more})

    for fields, code in [
        ({}, "kernel.needs_spec"),
        ({"spec": spec}, "kernel.spec_not_approved"),
        ({"spec": spec, "op": other_op}, "kernel.spec_other_op"),
        ({"spec": spec, "basis": "exploratory"}, "kernel.spec_not_wanted"),
        ({"basis": "magic"}, "kernel.unknown_basis"),
        ({"basis": "adopted", "slug": "a b"}, "core.bad_value"),
        ({"basis": "adopted", "title": ""}, "core.bad_value"),
        ({"basis": "adopted", "title": "x" * 201}, "core.bad_value"),
    ]:
        with pytest.raises(Refusal) as caught:
            make(**fields)
        assert caught.value.code == code
    submit_spec(f.designer(), revision=revision)
    with pytest.raises(Refusal) as caught:
        make(spec=spec)
    assert caught.value.facts == {"state": "in review"}
    f.take_position(f.reviewer(), revision=revision, aspect="correctness", position="approve")
    assert make(spec=spec).spec == spec
    with pytest.raises(Conflict) as caught:
        make(spec=spec)
    assert (caught.value.code, caught.value.field) == ("kernel.slug_taken", "slug")
    assert Kernel.objects.count() == 1


@pytest.mark.parametrize("roles", [(), ("viewer",), ("validator", "curator", "administrator")])
def test_only_implementers_and_designers_write_kernels(kernel, op, roles, make_actor):
    who = make_actor("ann", *roles)
    with pytest.raises(Forbidden):
        create_kernel(who, slug="x", title="X", op=op, basis="adopted")
    with pytest.raises(Forbidden):
        add_version(who, kernel=kernel, files={"kernel.py": GOOD}, entry="kernel.py:run")
    add_version(make_actor("imp", "implementer"), kernel=kernel, files={"kernel.py": GOOD}, entry="kernel.py:run")
