"""A repository that is set up against a running server, and a way between them that can be shut."""

import io
import json
import socket
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from evidence.models import EvidenceRow
from v2kb.cli.main import main

ENGINE = "kernel-bot 2"


@dataclass(frozen=True)
class Said:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str


class Gate:
    """A way to the server that can be shut, or that loses answers: what it forwards is real."""

    def __init__(self, to: int) -> None:
        self.to, self.loses_answers, self.listener = to, False, None
        self.port = 0
        self.open()

    def open(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._serve, args=[self.listener], daemon=True).start()

    def shut(self) -> None:
        if self.listener.fileno() < 0:
            return
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._forward, args=[client], daemon=True).start()

    def _forward(self, client: socket.socket) -> None:
        with client, socket.create_connection(("127.0.0.1", self.to)) as server:
            back = threading.Thread(target=self._pump, args=[server, client, True], daemon=True)
            back.start()
            self._pump(client, server, False)
            back.join(30)

    def _pump(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        while data := source.recv(65536):
            if is_answer and self.loses_answers:
                sink.shutdown(socket.SHUT_RDWR)
                return
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)


@dataclass
class Site:
    """A repository that is set up against a running server, and the command in it."""

    folder: Path
    gate: Gate
    token: str
    capsys: pytest.CaptureFixture
    monkeypatch: pytest.MonkeyPatch
    row: EvidenceRow | None = None

    @property
    def server(self) -> str:
        return f"http://127.0.0.1:{self.gate.port}"

    @property
    def outbox(self) -> list[dict]:
        return [json.loads(path.read_text()) for path in sorted((self.folder / ".v2kb" / "outbox").glob("*.json"))]

    def __call__(self, *arguments: str, stdin: str = "") -> Said:
        self.capsys.readouterr()
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        code = main(arguments)
        return Said(code, *self.capsys.readouterr())
