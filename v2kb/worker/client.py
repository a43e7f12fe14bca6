"""The worker's side of the app's HTTP door, with retries where the network or the app is briefly away."""

import hashlib
import time
from collections.abc import Callable

import requests
from pydantic import ValidationError

from v2kb.wire import (
    MAX_FILE_BYTES,
    BundleFile,
    ClaimReply,
    ClaimRequest,
    ErrorBody,
    Hello,
    LogChunk,
    Message,
    Ping,
    PingReply,
    ResultRequest,
    RunMessage,
    WorkerInfo,
)

TIMEOUT_S = (5, 30)
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.2, 5.0


class Refused(RuntimeError):
    """The app answered with a refusal; `status` is the HTTP status and `error` its coded body."""

    def __init__(self, status: int, error: ErrorBody) -> None:
        super().__init__(f"{status} {error.code}: {error.message}")
        self.status = status
        self.error = error


class Unreachable(RuntimeError):
    """The app could not be reached, or failed itself, until the time for trying was over."""


def _error_body(response: requests.Response) -> ErrorBody:
    try:
        return ErrorBody.model_validate_json(response.content)
    except ValidationError:
        return ErrorBody(code="worker.unreadable_answer", message=response.text[:300])


class Door:
    """One authorization at one app. `sleep` and `clock` can be replaced in tests."""

    def __init__(
        self,
        base_url: str,
        authorization: str,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._base = f"{base_url.rstrip('/')}/worker/v1"
        self._headers = {"Authorization": authorization}
        self._sleep, self._clock = sleep, clock

    def post(self, path: str, message: Message, try_for_s: float) -> bytes:
        """Post a message. Raises Refused for any 4xx answer and Unreachable when trying took `try_for_s`."""
        body = message.model_dump_json().encode()
        headers = self._headers | {"Content-Type": "application/json"}
        return self._attempt(
            lambda: requests.post(self._base + path, body, headers=headers, timeout=TIMEOUT_S), try_for_s
        )

    def get(self, path: str, try_for_s: float) -> bytes:
        return self._attempt(
            lambda: requests.get(self._base + path, headers=self._headers, timeout=TIMEOUT_S), try_for_s
        )

    def _attempt(self, send: Callable[[], requests.Response], try_for_s: float) -> bytes:
        deadline, pause = self._clock() + try_for_s, FIRST_PAUSE_S
        while True:
            try:
                response = send()
                if response.status_code < 300:
                    return response.content
                if response.status_code < 500 and response.status_code != 429:
                    raise Refused(response.status_code, _error_body(response))
                trouble = f"the app answered {response.status_code}"
            except requests.RequestException as error:
                trouble = str(error)
            if self._clock() + pause > deadline:
                raise Unreachable(trouble)
            self._sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_S)


class RunClient:
    """The messages of one run, authorized by its key."""

    CLAIM_TRY_S, FILE_TRY_S, RESULT_TRY_S = 30.0, 60.0, 300.0

    def __init__(self, message: RunMessage) -> None:
        self._door = Door(message.base_url, f"Run {message.run_key}")
        self._path = f"/runs/{message.run_id}"

    def claim(self, worker: WorkerInfo) -> ClaimReply:
        """Claim the run. Raises Refused with status 409 when another worker has it or it is over."""
        answer = self._door.post(f"{self._path}/claim", ClaimRequest(worker=worker), self.CLAIM_TRY_S)
        return ClaimReply.model_validate_json(answer)

    def file(self, wanted: BundleFile) -> bytes:
        """Fetch a kernel file. Raises ValueError when its content is not what its hash says."""
        data = self._door.get(f"{self._path}/files/{wanted.sha256}", self.FILE_TRY_S)
        if len(data) > MAX_FILE_BYTES or hashlib.sha256(data).hexdigest() != wanted.sha256:
            raise ValueError(f"The app sent other content for {wanted.path} than its hash {wanted.sha256[:12]} says.")
        return data

    def ping(self, ping: Ping) -> PingReply:
        return PingReply.model_validate_json(self._door.post(f"{self._path}/ping", ping, 0))

    def log(self, chunk: LogChunk) -> None:
        self._door.post(f"{self._path}/log", chunk, 0)

    def result(self, result: ResultRequest) -> None:
        self._door.post(f"{self._path}/result", result, self.RESULT_TRY_S)


class HelloClient:
    """Tells the app that this worker is there."""

    def __init__(self, app_url: str, token: str) -> None:
        self._door = Door(app_url, f"Worker {token}")

    def hello(self, worker: WorkerInfo) -> None:
        self._door.post("/hello", Hello(worker=worker), 0)
