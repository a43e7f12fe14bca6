"""Telling the app every few seconds that this worker is there, and what it is."""

import logging
import platform
import threading

from v2kb.wire import WorkerInfo
from v2kb.worker.client import HelloClient, Refused, Unreachable
from v2kb.worker.harness import facts, sandbox
from v2kb.worker.settings import WorkerSettings

log = logging.getLogger(__name__)

HELLO_INTERVAL_S = 10.0


def describe(settings: WorkerSettings) -> WorkerInfo:
    """Return what this worker is. Tries the sandbox; asks nvidia-smi on a card's queue; does not import torch."""
    gpu = settings.device == "cuda"
    return WorkerInfo(
        name=settings.name,
        queue=settings.queue,
        card=facts.query_card("name") if gpu else "",
        cpu=facts.cpu_name(),
        torch=facts.torch_version(),
        python=platform.python_version(),
        driver=facts.query_card("driver_version") if gpu else "",
        sandbox=sandbox.probe().said,
        harness_hash=facts.harness_hash(),
    )


class HelloThread:
    """Says hello at once and then every `interval_s`; each change of the answer is one log line."""

    def __init__(self, client: HelloClient, worker: WorkerInfo, interval_s: float = HELLO_INTERVAL_S) -> None:
        self._client, self._worker, self._interval_s = client, worker, interval_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hello", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._end.set()
        self._thread.join(timeout=5)

    def _run(self) -> None:
        last = None
        while True:
            try:
                self._client.hello(self._worker)
                said = "the app knows this worker"
            except Refused as refusal:
                said = f"the app refuses this worker's token or message: {refusal}"
            except Unreachable:
                said = "the app can't be reached; trying again"
            except Exception as error:
                said = f"hello failed: {error}"
            if said != last:
                log.warning("%s", said) if last or "knows" not in said else log.info("%s", said)
                last = said
            if self._end.wait(self._interval_s):
                return
