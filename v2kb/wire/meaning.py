"""Messages between the app and the encoder that turns texts into vectors."""

from typing import Annotated

from pydantic import Field, StringConstraints

from v2kb.wire.base import Message

MAX_TEXTS = 64
MAX_TEXT_CHARS = 20_000

EncodedText = Annotated[str, StringConstraints(max_length=MAX_TEXT_CHARS)]


class EncodeRequest(Message):
    """Texts to encode, each read up to the model's own limit."""

    texts: Annotated[list[EncodedText], Field(min_length=1, max_length=MAX_TEXTS)]


class EncodeReply(Message):
    """One vector a text, in order: little-endian float32 of unit length, base64. `model` names what made them."""

    model: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    vectors: list[str]
