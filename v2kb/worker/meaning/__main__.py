"""`python -m v2kb.worker.meaning`: serves the encoder over HTTP, to the app alone (bearer token).

    POST /encode   EncodeRequest -> EncodeReply

Loading takes a second or two; a sentence takes some ten milliseconds.
"""

import argparse
import base64
import hmac
import logging
import os
import signal
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from pydantic import ValidationError

from v2kb.wire.meaning import MAX_TEXT_CHARS, MAX_TEXTS, EncodeReply, EncodeRequest
from v2kb.worker.meaning.encoder import MODEL, Encoder

log = logging.getLogger("v2kb.worker.meaning")
MAX_BODY_BYTES = MAX_TEXTS * MAX_TEXT_CHARS * 4
SOCKET_TIMEOUT_S = 10


class Handler(BaseHTTPRequestHandler):
    """Answers one request. The server holds the encoder, its lock (one text batch at a time) and the token."""

    timeout = SOCKET_TIMEOUT_S

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b'{"error": "the body is too large or has no length"}')
            return
        body = self.rfile.read(int(length))
        if not hmac.compare_digest(self.headers.get("Authorization", ""), f"Bearer {self.server.token}"):
            self._answer(HTTPStatus.UNAUTHORIZED, b'{"error": "the token is wrong"}')
        elif self.path != "/encode":
            self._answer(HTTPStatus.NOT_FOUND, b'{"error": "POST /encode is all there is"}')
        else:
            self._encode(body)

    def _encode(self, body: bytes) -> None:
        try:
            request = EncodeRequest.model_validate_json(body)
        except ValidationError as error:
            self._answer(HTTPStatus.UNPROCESSABLE_ENTITY, error.json(include_url=False).encode())
            return
        with self.server.lock:
            vectors = self.server.encoder.encode(request.texts).numpy().astype("<f4")
        encoded = [base64.b64encode(vector.tobytes()).decode() for vector in vectors]
        self._answer(HTTPStatus.OK, EncodeReply(model=MODEL, vectors=encoded).model_dump_json().encode())

    def _answer(self, status: HTTPStatus, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        log.debug(format, *args)


class Server(ThreadingHTTPServer):
    """Threads for connections, which closing waits for; the encoder itself is asked by one at a time."""

    daemon_threads = False

    def __init__(self, address: tuple[str, int], token: str) -> None:
        self.token, self.encoder, self.lock = token, Encoder(), threading.Lock()
        super().__init__(address, Handler)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m v2kb.worker.meaning", description="Encodes texts for the search.")
    parser.add_argument("--listen", default="127.0.0.1:8010", help="address and port (default 127.0.0.1:8010)")
    options = parser.parse_args(arguments)
    token = os.environ.get("V2KB_WORKER_TOKEN", "")
    if not token:
        parser.error("V2KB_WORKER_TOKEN is not set: the app's own token, so that nobody else asks.")
    host, _, port = options.listen.rpartition(":")
    if not host or not port.isdigit():
        parser.error(f"--listen {options.listen!r} must look like 127.0.0.1:8010.")
    logging.basicConfig(level=logging.INFO, format="[%(asctime)s: %(levelname)s/meaning] %(message)s")
    try:
        server = Server((host, int(port)), token)
    except ModuleNotFoundError as error:
        parser.error(f"{error}. Install the optional packages: make meaning")
    signal.signal(signal.SIGTERM, lambda *_: threading.Thread(target=server.shutdown, daemon=True).start())
    log.info("encoding with %s at %s:%d", MODEL, *server.server_address[:2])
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main(sys.argv[1:])
