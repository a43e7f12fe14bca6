"""A folder, a zip or a list of uploaded files to markdown texts, with refusals. No Django, no writing to disk."""

import io
import re
import stat
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from references.importers.markdown import MAX_DOCUMENT_BYTES, DocumentRefused, decode_document
from v2kb.rules.file_refused import FileRefused
from v2kb.rules.sizes import too_much_text

MAX_MEMBERS = 2_000
MAX_TOTAL_BYTES = 32 * 1024 * 1024
MAX_ZIP_BYTES = 16 * 1024 * 1024
MAX_RATIO = 200
MAX_PATH_CHARS = 300
_RATIO_FROM_BYTES = 1024 * 1024
NO_MARKDOWN = "not a markdown file"
NESTED = "; a zip within is not opened"
_MARKDOWN = (".md", ".markdown")
_ODD_SIGNS = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_IGNORED_PARTS = ("__MACOSX", ".git", ".DS_Store")


class ArchiveRefused(FileRefused):
    """A whole folder or zip is refused; `message` names the member."""


@dataclass(frozen=True)
class RefusedFile:
    """A markdown file that can't be read; the others are read all the same."""

    path: str
    code: str
    message: str
    fix: str


@dataclass
class Files:
    """`texts` [(path, text)] in path order; `skipped` [(path, why)] no markdown; `refused` unreadable markdown."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    refused: list[RefusedFile] = field(default_factory=list)

    def add(self, path: str, data: bytes) -> None:
        """Decode one markdown file, or list it as refused."""
        try:
            self.texts.append((path, decode_document(path, data)))
        except DocumentRefused as error:
            self.refuse(path, error)

    def refuse(self, path: str, error: FileRefused) -> None:
        """List a file as refused; a name that is no text is shown with what stands for its bytes."""
        shown, message = (text.encode(errors="backslashreplace").decode() for text in (path, error.message))
        self.refused.append(RefusedFile(shown, error.code, message, error.fix))

    def sort(self) -> None:
        self.texts.sort()
        self.skipped.sort()
        self.refused.sort(key=lambda item: item.path)


def is_zip_name(name: str) -> bool:
    """Whether the file's name says that it is a zip."""
    return name.lower().endswith(".zip")


def read_uploads(uploads: list[tuple[str, bytes]]) -> Files:
    """Read uploaded files: zips are opened, markdown is read, the rest is skipped and listed. Raises ArchiveRefused."""
    files = Files()
    if len(uploads) > MAX_MEMBERS:
        raise ArchiveRefused(
            "archive.too_many_files", f"{len(uploads):,} files were sent; {MAX_MEMBERS:,} may be.", "Send fewer."
        )
    for name, data in uploads:
        if is_zip_name(name):
            inner = read_zip(data, name)
            files.texts += inner.texts
            files.skipped += inner.skipped
            files.refused += inner.refused
        elif not _is_markdown(name):
            files.skipped.append((name, NO_MARKDOWN))
        else:
            files.add(check_member_path(PurePosixPath(name.replace("\\", "/")).name), data)
    if sum(len(text) for _, text in files.texts) > MAX_TOTAL_BYTES:
        raise _too_large("All text", sum(len(text) for _, text in files.texts))
    files.sort()
    return files


def read_zip(data: bytes, name: str = "The zip") -> Files:
    """Read a zip held in memory. Raises ArchiveRefused: not_a_zip, too_large, too_many_files, unsafe_path, symlink,
    encrypted, bomb, damaged. Nothing is unpacked before all names and sizes are found harmless.
    """
    if len(data) > MAX_ZIP_BYTES:
        raise _too_large(name, len(data), MAX_ZIP_BYTES)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise ArchiveRefused("archive.not_a_zip", f"{name} is not a readable zip.", "Pack the folder again.") from error
    with archive:
        members = archive.infolist()
        _check_members(members)
        files = Files()
        left = MAX_TOTAL_BYTES
        for member in members:
            path = member.filename.replace("\\", "/")
            if member.is_dir() or _is_ignored(path):
                continue
            if not _is_markdown(path):
                files.skipped.append((path, NO_MARKDOWN + (NESTED if is_zip_name(path) else "")))
                continue
            content = _read_member(archive, member, left)
            left -= len(content)
            files.add(path, content)
    files.sort()
    return files


def read_folder(root: Path) -> Files:
    """Read a folder, or a single markdown or zip file, from disk.

    Symbolic links are refused and never followed. Raises ArchiveRefused: missing, unreadable, too_many_files, too_large
    and, for a zip, what read_zip raises.
    """
    if root.is_symlink() or not root.exists():
        raise ArchiveRefused(
            "archive.missing", f"{root} is not a folder or file.", "Name a folder, a .zip or an .md file."
        )
    if root.is_file():
        if root.stat().st_size > MAX_TOTAL_BYTES:
            raise _too_large(root.name, root.stat().st_size)
        try:
            return read_uploads([(root.name, root.read_bytes())])
        except OSError as error:
            raise _unreadable(root.name, error) from error
    files, count, total = Files(), 0, 0
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root).as_posix()
        if _is_ignored(relative):
            continue
        if path.is_symlink():
            files.refuse(
                relative,
                ArchiveRefused("archive.symlink", f"{relative} is a symbolic link.", "Put the file itself there."),
            )
            continue
        if path.is_dir():
            continue
        count += 1
        if count > MAX_MEMBERS:
            raise ArchiveRefused(
                "archive.too_many_files", f"The folder has more than {MAX_MEMBERS:,} files.", "Send fewer."
            )
        if not path.is_file() or not _is_markdown(relative):
            shown = relative.encode(errors="backslashreplace").decode()
            files.skipped.append((shown, NO_MARKDOWN + (NESTED if is_zip_name(relative) else "")))
            continue
        size = path.stat().st_size
        total += min(size, MAX_DOCUMENT_BYTES)
        if total > MAX_TOTAL_BYTES:
            raise _too_large("The folder", total)
        try:
            files.add(check_member_path(relative), _read_capped(path))
        except ArchiveRefused as error:
            files.refuse(relative, error)
        except OSError as error:
            files.refuse(relative, _unreadable(relative, error))
    files.sort()
    return files


def check_member_path(path: str) -> str:
    """The path with forward slashes. Raises ArchiveRefused(unsafe_path) for `..`, absolute, drive or odd paths."""
    clean = path.replace("\\", "/")
    parts = PurePosixPath(clean).parts
    if not parts or clean.startswith("/") or ".." in parts or (len(clean) > 1 and clean[1] == ":"):
        why, fix = "leaves the archive", "Pack the folder itself, with relative paths only."
    elif len(clean) > MAX_PATH_CHARS:
        why, fix = f"has more than {MAX_PATH_CHARS} characters", "Shorten the names of files and folders."
    elif _ODD_SIGNS.search(clean):
        why, fix = "holds signs that are not text", "Rename the file."
    else:
        return clean
    raise ArchiveRefused("archive.unsafe_path", f"The path {path[:80]!r} {why}.", fix)


def same_place(one: str, other: str) -> bool:
    """Whether one path is the end of the other: the same file, packed from another folder."""
    short, long = sorted((PurePosixPath(one).parts, PurePosixPath(other).parts), key=len)
    return long[len(long) - len(short) :] == short


def _check_members(members: list[zipfile.ZipInfo]) -> None:
    if len(members) > MAX_MEMBERS:
        raise ArchiveRefused(
            "archive.too_many_files",
            f"The zip has {len(members):,} members; {MAX_MEMBERS:,} are allowed.",
            "Send fewer.",
        )
    total = 0
    for member in members:
        check_member_path(member.filename)
        if stat.S_ISLNK(member.external_attr >> 16):
            raise ArchiveRefused(
                "archive.symlink", f"{member.filename} is a symbolic link.", "Put the file itself into the zip."
            )
        if member.flag_bits & 0x1:
            raise ArchiveRefused("archive.encrypted", f"{member.filename} is encrypted.", "Pack without a password.")
        if member.file_size > _RATIO_FROM_BYTES and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise ArchiveRefused(
                "archive.bomb",
                f"{member.filename} unpacks to more than {MAX_RATIO} times its packed size.",
                "Send the text itself.",
            )
        total += member.file_size
    if total > MAX_TOTAL_BYTES:
        raise _too_large("What the zip holds", total)


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int) -> bytes:
    """Bytes of one member, at most one byte over what a document may have: sizes in the zip's directory may lie."""
    cap = min(left, MAX_DOCUMENT_BYTES) + 1
    try:
        with archive.open(member) as stream:
            content = stream.read(cap)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, NotImplementedError, ValueError) as error:
        raise ArchiveRefused(
            "archive.damaged", f"{member.filename} can't be unpacked.", "Pack the folder again."
        ) from error
    if len(content) > left:
        raise _too_large("What the zip holds", MAX_TOTAL_BYTES + 1)
    return content


def _read_capped(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MAX_DOCUMENT_BYTES + 1)


def _is_markdown(path: str) -> bool:
    return path.lower().endswith(_MARKDOWN)


def _is_ignored(path: str) -> bool:
    return any(part in _IGNORED_PARTS for part in PurePosixPath(path).parts)


def _unreadable(name: str, error: OSError) -> ArchiveRefused:
    return ArchiveRefused("archive.unreadable", f"{name} can't be read: {error.strerror}.", "Mend its permissions.")


def _too_large(what: str, size_bytes: int, limit_bytes: int = MAX_TOTAL_BYTES) -> ArchiveRefused:
    return ArchiveRefused(
        "archive.too_large", too_much_text(what, size_bytes, "it", limit_bytes), "Send it in smaller parts."
    )
