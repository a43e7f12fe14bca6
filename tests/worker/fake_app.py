"""An app that knows just the worker's protocol, in a thread of the test."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from v2kb.wire import ClaimReply, ErrorBody, Job, PingReply, ResultRequest

RUN_KEY = "run-key-0123456789"
WORKER_TOKEN = "worker-token"


class FakeApp:
    """One run. Set `cancel`, `stale`, `claimed` or `failures` (HTTP 503 answers to give first) from the test."""

    def __init__(self, job: Job, contents: dict[str, bytes]) -> None:
        self.job, self.contents = job, contents
        self.claimed = self.cancel = self.stale = False
        self.failures = 0
        self.hellos: list[dict] = []
        self.pings: list[dict] = []
        self.chunks: dict[int, str] = {}
        self.results: list[ResultRequest] = []
        self.pinged, self.ended, self.greeted = threading.Event(), threading.Event(), threading.Event()
        self.on_ping = self.on_result = lambda: None

    @property
    def log(self) -> str:
        assert sorted(self.chunks) == list(range(len(self.chunks))), "no chunk is missing"
        return "".join(text for _, text in sorted(self.chunks.items()))

    def handle(self, method: str, path: str, authorization: str, body: bytes) -> tuple[int, bytes]:
        if self.failures:
            self.failures -= 1
            return 503, b"away"
        if path == "/worker/v1/hello":
            if authorization != f"Worker {WORKER_TOKEN}":
                return refusal(403, "worker.token")
            self.hellos.append(json.loads(body))
            self.greeted.set()
            return 200, b"{}"
        if authorization != f"Run {RUN_KEY}":
            return refusal(403, "worker.run_key")
        action = path.removeprefix(f"/worker/v1/runs/{self.job.run_id}/")
        if method == "GET":
            data = self.contents.get(action.removeprefix("files/"))
            return refusal(404, "worker.no_file") if data is None else (200, data)
        return getattr(self, f"_{action}")(body)

    def _claim(self, body: bytes) -> tuple[int, bytes]:
        if self.claimed:
            return refusal(409, "worker.claimed")
        self.claimed = True
        reply = ClaimReply(fence=3, attempt=1, lease_s=30, ping_s=1, job=self.job)
        return 200, reply.model_dump_json().encode()

    def _ping(self, body: bytes) -> tuple[int, bytes]:
        self.pings.append(json.loads(body))
        self.pinged.set()
        self.on_ping()
        if self.stale:
            return refusal(409, "worker.stale_fence")
        return 200, PingReply(cancel=self.cancel).model_dump_json().encode()

    def _log(self, body: bytes) -> tuple[int, bytes]:
        chunk = json.loads(body)
        assert len(chunk["text"].encode()) <= 16 * 1024
        self.chunks[chunk["seq"]] = chunk["text"]
        return 200, b"{}"

    def _result(self, body: bytes) -> tuple[int, bytes]:
        self.on_result()
        self.results.append(ResultRequest.model_validate_json(body))
        self.ended.set()
        return 200, b"{}"


def refusal(status: int, code: str) -> tuple[int, bytes]:
    return status, ErrorBody(code=code, message="no").model_dump_json().encode()


@contextmanager
def serve(app: FakeApp):
    """Serve `app` on a free port; gives its base URL."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self, method: str) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, answer = app.handle(method, self.path, self.headers.get("Authorization", ""), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            self._answer("POST")

        def do_GET(self) -> None:
            self._answer("GET")

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
