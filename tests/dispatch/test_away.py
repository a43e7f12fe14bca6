"""A broker or an app that is away, a worker that is not ours: nothing is lost, and it is said."""

import socket
import socketserver
import threading
import time

import pytest
import requests

from kernels.models import Worker
from kernels.services.dispatch import reap
from kernels.services.runs import submit_run
from tests import factories as f
from tests.dispatch import kernels
from tests.dispatch.harness import make_late, send_run, sending_app, until, wait_until_over


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("scheme", ["amqp", "redis", "embedded"])
def test_a_run_submitted_while_the_broker_is_away_waits_and_is_sent_again(
    dispatcher, system, monkeypatch, tmp_path, scheme
):
    url = f"{scheme}://127.0.0.1:{free_port()}"
    if scheme == "embedded":
        (tmp_path / "no-folder").mkdir()
        (tmp_path / "no-folder" / "broker").write_text("a file where the broker's folder should be")
        url = "embedded://"
    with monkeypatch.context() as patch:
        version = f.kernel_version(f.op(), slug="honest", source=kernels.HONEST.encode())
        patch.setattr("v2kb.core.jobs.app", sending_app(url, tmp_path / "no-folder"))
        started = time.monotonic()
        run = submit_run(f.designer(), kind="validate", version=version)
        took = time.monotonic() - started
    print(f"\nsubmitting with {scheme} away took {took:.1f} s")
    assert took < 6, "nobody waits for a broker that is away"
    run.refresh_from_db()
    assert (run.state, run.attempts) == ("queued", 1)
    first_key = dispatcher.key_of(run)

    dispatcher.start_worker()
    assert reap(system) == 0, "a message sent a moment ago may still be on its way"
    make_late(run)
    assert reap(system) == 1
    run = wait_until_over(run)
    assert (run.outcome, run.attempts, run.fence) == ("PASS", 1, 1)
    assert dispatcher.key_of(run, 2) != first_key


def test_a_worker_with_a_wrong_token_is_refused_and_says_so(dispatcher):
    worker = dispatcher.start_worker("stranger", token="not-the-token-of-this-app", hello=False)

    def refused() -> bool:
        worker.check_alive()
        return "refuses this worker's token" in worker.log

    until(refused, "the worker's line about its token")
    assert "403 run.bad_worker_token" in worker.log
    assert not Worker.objects.exists()
    answer = requests.post(f"{dispatcher.app_url}/worker/v1/hello", json={}, timeout=60)
    assert (answer.status_code, answer.json()["code"]) == (403, "run.no_key")


class Relay(socketserver.ThreadingTCPServer):
    """Passes connections on to the app: the network that a worker did not have before."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, port: int, target: tuple[str, int]) -> None:
        self.target = target
        super().__init__(("127.0.0.1", port), _Pass)


class _Pass(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        with socket.create_connection(self.server.target) as onward:
            back = threading.Thread(target=_copy, args=(onward, self.request))
            back.start()
            _copy(self.request, onward)
            back.join()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_a_worker_that_cannot_reach_the_app_gives_the_message_back_until_it_can(dispatcher, settings, live_server):
    port = free_port()
    settings.BASE_URL = f"http://127.0.0.1:{port}"
    worker = dispatcher.start_worker(claim_try_s=2.0)
    run = send_run(kernels.HONEST, "honest")
    until(lambda: worker.log.count(f"run {run.public_id} could not be claimed") >= 2, "a second delivery")
    worker.check_alive()
    run.refresh_from_db()
    assert (run.state, run.fence) == ("queued", 0)
    with Relay(port, (live_server.thread.host, live_server.thread.port)) as relay:
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        run = wait_until_over(run)
        relay.shutdown()
    assert (run.outcome, run.attempts) == ("PASS", 1)
    assert len(dispatcher.sent) == 1, "the message itself came back; nobody sent another"
