"""What every message has in common: unknown fields refused, floats finite, one schema version, one hash."""

import hashlib
import json
from typing import Literal

from pydantic import BaseModel, ConfigDict

MAX_BODY_BYTES = 8 * 1024 * 1024
"""The largest JSON body either side should accept."""


class Part(BaseModel):
    """A piece of a message. Unknown fields are refused; NaN and infinity are no values; instances are immutable."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Message(Part):
    """A whole message, or a document that is stored by itself."""

    schema_version: Literal[1] = 1


def message_hash(message: Part) -> str:
    """Return the sha256 (64 hex digits) of a message, equal for equal contents however the JSON was spelled."""
    text = json.dumps(message.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
