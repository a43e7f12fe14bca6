"""The app's side of the encoder: asks for vectors, briefly, and says why there are none."""

import base64
import time
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException

import numpy as np
from django.conf import settings
from pydantic import ValidationError

from v2kb.wire.meaning import EncodeReply, EncodeRequest

ASK_S = 1.0
REST_S = 10.0
"""After a failure nobody asks again for so long: a search must not wait for an encoder that is away."""

_rest_until = 0.0


class EncoderAway(Exception):
    """There is no answer; the text says why."""


def is_on() -> bool:
    """Whether an encoder is set up (V2KB_MEANING_URL)."""
    return bool(settings.MEANING_URL)


def encode(texts: Sequence[str], *, timeout_s: float = ASK_S) -> tuple[str, np.ndarray]:
    """(model, unit vectors as float32 of shape (len(texts), width)). Raises EncoderAway."""
    global _rest_until
    if not is_on():
        raise EncoderAway("V2KB_MEANING_URL is not set")
    if time.monotonic() < _rest_until:
        raise EncoderAway("the encoder did not answer just now")
    request = urllib.request.Request(
        f"{settings.MEANING_URL.rstrip('/')}/encode",
        data=EncodeRequest(texts=list(texts)).model_dump_json().encode(),
        headers={"Content-Type": "application/json", "Authorization": f"Bearer {settings.WORKER_TOKEN}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            reply = EncodeReply.model_validate_json(answer.read())
        vectors = np.stack([np.frombuffer(base64.b64decode(vector), "<f4") for vector in reply.vectors])
        if len(vectors) != len(texts):
            raise ValueError("a vector is missing")
    except (OSError, HTTPException, ValidationError, ValueError) as error:
        _rest_until = time.monotonic() + REST_S
        raise EncoderAway(f"the encoder at {settings.MEANING_URL} did not answer: {error}") from error
    return reply.model, vectors
