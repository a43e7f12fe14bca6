"""Folders, zips and uploads: what is read, skipped and refused."""

import struct

import pytest

from references.importers import archive
from references.importers.archive import ArchiveRefused, read_folder, read_uploads, read_zip
from tests.zips import zipped


def code_of(call, *arguments):
    with pytest.raises(ArchiveRefused) as refused:
        call(*arguments)
    assert refused.value.message
    assert refused.value.fix
    return refused.value.code


def test_a_zip_gives_markdown_in_order_and_lists_the_rest():
    files = read_zip(
        zipped(
            ("b/two.md", "# Two"), ("a/one.MD", "# One"), ("a/pic.png", b"\x89PNG"), ("__MACOSX/a/._one.md", b"\x00")
        )
    )
    assert files.texts == [("a/one.MD", "# One"), ("b/two.md", "# Two")]
    assert files.skipped == [("a/pic.png", "not a markdown file")]
    assert files.refused == []


def test_a_file_that_is_not_utf8_or_empty_is_named_and_the_others_are_read():
    files = read_zip(zipped(("good.md", "# Good"), ("bad.md", b"\xff\xfe"), ("void.md", b"")))
    assert files.texts == [("good.md", "# Good")]
    assert [(item.path, item.code) for item in files.refused] == [
        ("bad.md", "document.not_utf8"),
        ("void.md", "document.empty"),
    ]


@pytest.mark.parametrize(
    "name", ["../evil.md", "a/../../evil.md", "/etc/evil.md", "C:/evil.md", "..\\evil.md", "a/\x07.md"]
)
def test_paths_that_leave_the_archive_are_refused(name):
    assert code_of(read_zip, zipped((name, "# x"))) == "archive.unsafe_path"


def test_a_symlink_in_a_zip_is_refused():
    assert code_of(read_zip, zipped(("link.md", "/etc/passwd"), external_attr=0o120777 << 16)) == "archive.symlink"


def test_an_encrypted_member_is_refused():
    data = bytearray(zipped(("x.md", "# x")))
    at = data.rindex(b"PK\x01\x02")
    flags = struct.unpack_from("<H", data, at + 8)[0]
    struct.pack_into("<H", data, at + 8, flags | 1)
    assert code_of(read_zip, bytes(data)) == "archive.encrypted"


def test_a_bomb_is_refused_before_it_is_unpacked():
    assert code_of(read_zip, zipped(("big.md", b"0" * (8 * 1024 * 1024)))) == "archive.bomb"


def test_a_zip_whose_directory_lies_about_sizes_is_not_unpacked_past_the_limit(monkeypatch):
    data = bytearray(zipped(("big.md", b"0 1 2\n" * 400_000)))
    at = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 1000)
    assert code_of(read_zip, bytes(data)) in ("archive.damaged", "archive.too_large")


def test_too_many_members_and_too_much_text_are_refused(monkeypatch):
    data = zipped(*[(f"{number}.md", "# x") for number in range(5)])
    monkeypatch.setattr(archive, "MAX_MEMBERS", 4)
    assert code_of(read_zip, data) == "archive.too_many_files"
    monkeypatch.setattr(archive, "MAX_MEMBERS", 10)
    monkeypatch.setattr(archive, "MAX_TOTAL_BYTES", 10)
    assert code_of(read_zip, data) == "archive.too_large"


@pytest.mark.parametrize("data", [b"", b"no zip", zipped(("a.md", "# x"))[:-30]])
def test_what_is_no_zip_is_refused(data):
    assert code_of(read_zip, data) == "archive.not_a_zip"


def test_a_damaged_member_is_refused():
    data = bytearray(zipped(("a.md", "# heading with some text " * 50)))
    data[60:70] = b"\xff" * 10
    assert code_of(read_zip, bytes(data)) == "archive.damaged"


def test_uploads_may_mix_zips_and_files_and_only_the_name_of_a_path_counts():
    files = read_uploads(
        [("C:\\docs\\one.md", b"# One"), ("more.zip", zipped(("two.md", "# Two"))), ("x.txt", b"x"), ("y.md", b"\xff")]
    )
    assert files.texts == [("one.md", "# One"), ("two.md", "# Two")]
    assert files.skipped == [("x.txt", "not a markdown file")]
    assert [item.path for item in files.refused] == ["y.md"]


def test_a_folder_is_read_without_following_links(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "one.md").write_text("# One")
    (tmp_path / "docs" / "bad.md").write_bytes(b"\xff")
    (tmp_path / "docs" / "x.txt").write_text("x")
    outside = tmp_path / "outside.md"
    outside.write_text("# Secret")
    (tmp_path / "docs" / "link.md").symlink_to(outside)
    (tmp_path / "docs" / "up").symlink_to(tmp_path)
    files = read_folder(tmp_path / "docs")
    assert files.texts == [("one.md", "# One")]
    assert files.skipped == [("x.txt", "not a markdown file")]
    assert [(item.path, item.code) for item in files.refused] == [
        ("bad.md", "document.not_utf8"),
        ("link.md", "archive.symlink"),
        ("up", "archive.symlink"),
    ]


def test_a_single_file_and_a_zip_on_disk_are_read(tmp_path):
    (tmp_path / "one.md").write_text("# One")
    (tmp_path / "all.zip").write_bytes(zipped(("two.md", "# Two")))
    assert read_folder(tmp_path / "one.md").texts == [("one.md", "# One")]
    assert read_folder(tmp_path / "all.zip").texts == [("two.md", "# Two")]


def test_a_path_that_is_not_there_is_refused(tmp_path):
    assert code_of(read_folder, tmp_path / "nowhere") == "archive.missing"


def test_a_file_over_the_limit_in_a_folder_is_refused_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MAX_DOCUMENT_BYTES", 10)
    monkeypatch.setattr("references.importers.markdown.MAX_DOCUMENT_BYTES", 10)
    (tmp_path / "big.md").write_text("# a long heading")
    (tmp_path / "one.md").write_text("# One")
    files = read_folder(tmp_path)
    assert [text[0] for text in files.texts] == ["one.md"]
    assert files.refused[0].code == "document.too_large"


def test_names_that_are_no_text_and_files_that_can_not_be_read_are_listed(tmp_path, monkeypatch):
    (tmp_path / "good.md").write_text("# Good")
    odd = tmp_path / "odd\udcff.md"
    odd.write_text("# Odd")
    (tmp_path / "odd\udcfe.txt").write_text("x")
    deep = tmp_path / ("d" * 200) / ("e" * 120)
    deep.mkdir(parents=True)
    (deep / "x.md").write_text("# Deep")
    (tmp_path / "locked.md").write_text("# Locked")
    read = archive._read_capped

    def guarded(path):
        if path.name == "locked.md":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(archive, "_read_capped", guarded)
    files = read_folder(tmp_path)
    assert files.texts == [("good.md", "# Good")]
    assert [item.code for item in files.refused] == ["archive.unsafe_path", "archive.unreadable", "archive.unsafe_path"]
    assert "Permission denied" in files.refused[1].message
    for text in (*(item.path + item.message for item in files.refused), *(path for path, _ in files.skipped)):
        text.encode()


def test_a_zip_within_a_zip_is_not_opened_and_listed():
    files = read_zip(zipped(("inner.zip", zipped(("two.md", "# Two"))), ("one.md", "# One")))
    assert files.texts == [("one.md", "# One")]
    assert files.skipped == [("inner.zip", "not a markdown file; a zip within is not opened")]
