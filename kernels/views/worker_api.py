"""The door for workers: JSON over HTTP, opened by a worker token (hello) or a run key (everything else)."""

import functools
import hmac
import re
from collections.abc import Callable
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST
from pydantic import BaseModel, ValidationError

from kernels.models import RunAttempt
from kernels.services import dispatch, results
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden, Refusal
from v2kb.wire.base import MAX_BODY_BYTES
from v2kb.wire.messages import ClaimRequest, Hello, LogChunk, Ping, ResultRequest

M = TypeVar("M", bound=BaseModel)
_ESCAPE = re.compile(rb"\\(u0000|.)", re.DOTALL)


def _credential(request: HttpRequest, scheme: str) -> str:
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    if kind != scheme or not value.strip():
        raise Forbidden("run.no_key", f"This address wants the header 'Authorization: {scheme} ...'.")
    return value.strip()


def _without_nul(body: bytes) -> bytes:
    """The JSON text with each escaped NUL as a replacement character: a candidate's message may hold some, and
    PostgreSQL stores none.
    """
    return _ESCAPE.sub(lambda found: b"\\ufffd" if found[1] == b"u0000" else found[0], body)


def _body(request: HttpRequest) -> bytes:
    """The body. Raises Refusal run.body_too_large, for what Django itself won't read as well."""
    refusal = Refusal("run.body_too_large", f"A body may have {MAX_BODY_BYTES:,} bytes.", status=413)
    try:
        body = request.body
    except RequestDataTooBig:
        raise refusal from None
    if len(body) > MAX_BODY_BYTES:
        raise refusal
    return body


def _message(request: HttpRequest, model: type[M]) -> M:
    body = _body(request)
    try:
        return model.model_validate_json(_without_nul(body))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"])
        raise Refusal(
            "run.bad_message", f"{field or 'body'}: {first['msg']}", field=field or None, status=400
        ) from error


def with_run_key(
    view: Callable[[HttpRequest, Actor, RunAttempt], HttpResponse],
) -> Callable[..., HttpResponse]:
    """Look up the attempt that the run key opens and hand it to the view."""

    @csrf_exempt
    @functools.wraps(view)
    def run(request: HttpRequest, run_id: str, **kwargs: str) -> HttpResponse:
        attempt = dispatch.attempt_of_key(run_id, _credential(request, "Run"))
        actor = Actor.worker(f"worker of {run_id}", request.request_id)
        return view(request, actor, attempt, **kwargs)

    return run


@csrf_exempt
@require_POST
def hello(request: HttpRequest) -> HttpResponse:
    """A worker says that it is alive."""
    if not hmac.compare_digest(_credential(request, "Worker").encode(), settings.WORKER_TOKEN.encode()):
        raise Forbidden(
            "run.bad_worker_token",
            "This worker token is not ours.",
            fix="Set V2KB_WORKER_TOKEN on the worker.",
        )
    info = _message(request, Hello).worker
    dispatch.worker_hello(Actor.worker(info.name, request.request_id), info=info)
    return JsonResponse({})


@require_POST
@with_run_key
def claim(request: HttpRequest, actor: Actor, attempt: RunAttempt) -> HttpResponse:
    """Take the run."""
    reply = dispatch.claim_run(actor, attempt=attempt, info=_message(request, ClaimRequest).worker)
    return JsonResponse(reply.model_dump(mode="json"))


@require_GET
@with_run_key
def file(request: HttpRequest, actor: Actor, attempt: RunAttempt, sha256: str) -> HttpResponse:
    """One file of the candidate or the anchor."""
    return HttpResponse(dispatch.file_of_run(attempt, sha256), content_type="application/octet-stream")


@require_POST
@with_run_key
def ping(request: HttpRequest, actor: Actor, attempt: RunAttempt) -> HttpResponse:
    """Renew the lease."""
    reply = dispatch.ping_run(actor, attempt=attempt, ping=_message(request, Ping))
    return JsonResponse(reply.model_dump(mode="json"))


@require_POST
@with_run_key
def log(request: HttpRequest, actor: Actor, attempt: RunAttempt) -> HttpResponse:
    """Keep a piece of the log."""
    dispatch.append_log(actor, attempt=attempt, chunk=_message(request, LogChunk))
    return JsonResponse({})


@require_POST
@with_run_key
def result(request: HttpRequest, actor: Actor, attempt: RunAttempt) -> HttpResponse:
    """Store the result."""
    results.store_result(actor, attempt=attempt, message=_message(request, ResultRequest))
    return JsonResponse({})
