"""The text of an uploaded file, line by line: encodings, byte-order marks, line ends. Pure, and of bounded memory."""

import codecs
import io
from collections.abc import Iterable, Iterator

MAX_LINE_CHARS = 1_000_000
BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
LABELS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with a byte-order mark",
    "utf-16": "UTF-16",
    "utf-32": "UTF-32",
    "cp1252": "Windows-1252 (Latin-1)",
    "latin-1": "Latin-1",
}


class NoText(Exception):
    """The file holds no text. `message` and `fix` are for people."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


def encoding_of(chunks: Iterable[bytes]) -> str:
    """The encoding of a file: by its byte-order mark, UTF-8 where it holds throughout, else Windows-1252 or Latin-1.

    Raises NoText for a file with NUL or with an encoding that its own mark contradicts.
    """
    first = True
    named = ""
    readers = {name: codecs.getincrementaldecoder(name)() for name in ("utf-8", "cp1252")}
    for chunk in chunks:
        if first:
            named = next((name for mark, name in BOMS if chunk.startswith(mark)), "")
            readers = {named: codecs.getincrementaldecoder(named)()} if named else readers
            first = False
        if b"\0" in chunk and not named.startswith(("utf-16", "utf-32")):
            raise _no_text()
        _feed(readers, chunk, final=False)
    _feed(readers, b"", final=True)
    if named and named not in readers:
        raise NoText(f"The file says that it is {LABELS[named]} and is not.", "Save it as UTF-8 and send it again.")
    return next(iter(readers), "latin-1")


def _feed(readers: dict[str, codecs.IncrementalDecoder], chunk: bytes, *, final: bool) -> None:
    """Give a chunk to every reader; one that can't read it is dropped. Raises NoText for NUL."""
    for name in list(readers):
        try:
            text = readers[name].decode(chunk, final)
        except UnicodeDecodeError:
            del readers[name]
            continue
        if "\0" in text:
            raise _no_text()


def _no_text() -> NoText:
    return NoText("The file holds NUL bytes, so it is no text.", "Export it as text: markdown, CSV or JSON lines.")


def lines_of(chunks: Iterable[bytes], encoding: str) -> Iterator[str]:
    """Lines without their ends; CRLF, LF and CR all end one. Raises NoText for one of more than MAX_LINE_CHARS."""
    stream = io.TextIOWrapper(io.BufferedReader(_Chunks(chunks), 1 << 16), encoding, newline=None)
    for number, line in enumerate(stream, start=1):
        if len(line) > MAX_LINE_CHARS:
            raise NoText(f"Line {number:,} has more than {MAX_LINE_CHARS:,} characters.", "Split it.")
        yield line[:-1] if line.endswith("\n") else line


class _Chunks(io.RawIOBase):
    """Chunks of bytes as one stream."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(bytes(chunk))
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
