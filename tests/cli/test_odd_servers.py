"""What answers at the server's address and is no v2kb, or breaks off: each command ends as documented, with a document
for `--json`, and a write stays in the outbox.
"""

import socketserver
import threading

import pytest

from tests.cli.conftest import as_schema
from v2kb.cli.commands import watch


def answer(body: bytes, status: str = "200 OK", length: int | None = None) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length or len(body)}\r\n\r\n"
    return head.encode() + body


OTHER = {
    "html": answer(b"<html>Welcome</html>"),
    "null": answer(b"null"),
    "a number": answer(b"3"),
    "a list": answer(b"[1]"),
    "another object": answer(b'{"status": "ok"}'),
    "deep": answer(b"[" * 100_000),
    "a refusal without its message": answer(b'{"code": "x"}', "403 Forbidden"),
    "a refusal of other types": answer(b'{"code": "x", "message": "no", "facts": [2]}', "409 Conflict"),
    "an unknown token without a message": answer(b'{"code": "x"}', "401 Unauthorized"),
}
GONE = {
    "nothing": b"",
    "half an answer": answer(b'{"state": "qu', length=500),
    "half a refusal of its own": answer(b"<html>", "502 Bad Gateway", length=500),
}
RECORD = ("record", "--verdict", "NULL", "--why", "flat", "--env", "B200")
READS = [("sync",), ("watch", "R1"), ("run", "ours", "--no-wait"), ("login", "--server", "{server}")]


@pytest.fixture
def server(repository, monkeypatch):
    """Start a server that answers everything with these bytes; returns its address."""
    started = []

    class Handler(socketserver.BaseRequestHandler):
        def handle(self):
            asked = b""
            while b"\r\n\r\n" not in asked and (data := self.request.recv(65536)):
                asked += data
            self.request.sendall(self.server.says)

    def start(says: bytes) -> str:
        one = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        one.daemon_threads, one.says = True, says
        threading.Thread(target=one.serve_forever, args=[0.01], daemon=True).start()
        started.append(one)
        address = f"http://127.0.0.1:{one.server_address[1]}"
        monkeypatch.setenv("V2KB_SERVER", address)
        monkeypatch.setenv("V2KB_TOKEN", "abc")
        return address

    monkeypatch.setattr(watch, "OFFLINE_S", -1.0)
    monkeypatch.setattr("sys.stdin", type("Typed", (), {"isatty": lambda _: False, "readline": lambda *_: "abc\n"})())
    yield start
    for one in started:
        one.shutdown()
        one.server_close()


@pytest.mark.parametrize("command", READS, ids=lambda command: command[0])
@pytest.mark.parametrize("what", OTHER)
def test_what_is_no_v2kb_is_named(v2kb, server, what, command):
    address = server(OTHER[what])
    said = v2kb(*(word.format(server=address) for word in command), "--json")
    assert said.code == 3
    assert "Traceback" not in said.err
    assert as_schema("error", said.out)


@pytest.mark.parametrize("command", [("sync",), ("watch", "R1"), READS[-1]], ids=lambda command: command[0])
@pytest.mark.parametrize("what", GONE)
def test_an_answer_that_breaks_off_is_no_answer(v2kb, server, what, command):
    address = server(GONE[what])
    said = v2kb(*(word.format(server=address) for word in command), "--json")
    assert said.code == 5
    assert as_schema("error", said.out)


@pytest.mark.parametrize("what", [*OTHER, *GONE])
def test_a_write_waits_whatever_was_answered(v2kb, server, repository, what):
    server((OTHER | GONE)[what])
    said = v2kb(*RECORD)
    assert (said.code, "Traceback" in said.err) == (5, False)
    assert len(list((repository / ".v2kb" / "outbox").glob("*.json"))) == 1
