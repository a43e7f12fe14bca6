"""Writes with an `Idempotency-Key`: done once, however often they are sent."""

import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from v2kb.core.errors import Conflict, Refusal
from v2kb.core.models import SentWrite, User

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
MAX_KEY_CHARS = 80
KEPT = timedelta(days=90)


class KeyedWrites:
    """Wraps the POSTs of a view set: the write and its answer are stored in one transaction, a refusal is not."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method == "POST" and HEADER in request.headers:
            self.post = partial(done_once, self.post)


def done_once(write: Callable[..., Response], request: Request, *args: Any, **kwargs: Any) -> Response:
    """The answer of `write`, or the stored one where the same user sent the same request with this key before.

    Raises Refusal api.invalid for a key that can't be stored, Conflict api.key_reused for one of another request.
    """
    key, digest = _key(request), _digest(request)
    with transaction.atomic():
        # Weaker than FOR UPDATE: other writes of the same user may go on to name the user in their rows.
        User.objects.select_for_update(no_key=True).get(pk=request.user.pk)
        earlier = SentWrite.objects.filter(user=request.user, key=key).first()
        if earlier is not None:
            return _answered(earlier, digest)
        response = write(request, *args, **kwargs)
        answer = "" if response.data is None else JSONRenderer().render(response.data).decode()
        now = timezone.now()
        SentWrite.objects.filter(user=request.user, at__lt=now - KEPT).delete()
        SentWrite.objects.create(
            user=request.user, key=key, digest=digest, status=response.status_code, answer=answer, at=now
        )
    return response


def _answered(earlier: SentWrite, digest: str) -> Response:
    if earlier.digest != digest:
        raise Conflict(
            "api.key_reused",
            "This idempotency key was used for another request.",
            field="idempotency_key",
            fix="Send a key of its own with each request.",
            facts={"at": earlier.at.isoformat()},
        )
    data = json.loads(earlier.answer) if earlier.answer else None
    return Response(data, status=earlier.status, headers={REPLAYED: "true"})


def _key(request: Request) -> str:
    key = request.headers[HEADER]
    if not (0 < len(key) <= MAX_KEY_CHARS and key.isascii() and key.isprintable()):
        raise Refusal(
            "api.invalid",
            f"idempotency_key: {HEADER} is 1 to {MAX_KEY_CHARS} printable ASCII characters.",
            field="idempotency_key",
            fix="Send for example a random UUID.",
            status=400,
        )
    return key


def _digest(request: Request) -> str:
    asked = f"{request.method} {request.get_full_path()}\n".encode()
    return hashlib.sha256(asked + request._request.body).hexdigest()
