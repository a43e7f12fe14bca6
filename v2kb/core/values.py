"""Values that a database column can hold: length, slugs, no NUL, no half characters. The same on every database."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models
from django.http import QueryDict

from v2kb.core.errors import Refusal
from v2kb.rules.canonical import NotCanonical, canonical_json

NUL = "\x00"
BAD_TEXT = "core.bad_text"
BAD_VALUE = "core.bad_value"


def check_values(model: type[models.Model], **values: str) -> None:
    """Refuse texts that their columns can't hold, each by the rules of the model's field of that name.

    SQLite would store a text of any length and PostgreSQL refuses it late, so services ask first. Raises Refusal
    core.bad_value (field: the name) for a text that is empty, too long, or no slug where one is wanted, and
    core.bad_text for NUL or half characters.
    """
    for name, value in values.items():
        check_text(value, name)
        field = model._meta.get_field(name)
        try:
            field.clean(value, None)
        except ValidationError as error:
            raise Refusal(BAD_VALUE, " ".join(error.messages), field=name) from error


def check_text(value: str, field: str) -> None:
    """Refuse a text that no database stores: with NUL or half of a surrogate pair. Raises Refusal core.bad_text."""
    if NUL in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise Refusal(
            BAD_TEXT, "It holds characters that are not text.", field=field, fix="Remove the control characters."
        )


def check_document(value: Any, field: str, max_bytes: int) -> None:
    """Refuse a document that can't be stored in its canonical form.

    Raises Refusal core.bad_value for floats and the like or for more than `max_bytes`, core.bad_text for NUL.
    """
    try:
        text = canonical_json(value)
    except NotCanonical as error:
        raise Refusal(BAD_VALUE, f"{error}.", field=error.path or field, fix="Write numbers as text.") from error
    except RecursionError as error:
        raise Refusal(BAD_VALUE, "It is nested too deeply.", field=field) from error
    if len(text.encode("utf-8", "surrogatepass")) > max_bytes:
        raise Refusal(BAD_VALUE, f"It may have {max_bytes:,} bytes.", field=field, fix="Shorten it.")
    _check_texts(value, field)


def _check_texts(value: Any, field: str) -> None:
    if isinstance(value, str):
        check_text(value, field)
    elif isinstance(value, dict):
        for key, item in value.items():
            check_text(key, field)
            _check_texts(item, f"{field}.{key}")
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            _check_texts(item, f"{field}[{number}]")


def without_nul(params: QueryDict) -> QueryDict:
    """What a form sent, with a replacement character for each NUL, which no column stores."""
    clean = params.copy()
    for name, values in params.lists():
        clean.setlist(name, [value.replace(NUL, "\N{REPLACEMENT CHARACTER}") for value in values])
    return clean


def whole_number(text: str, default: int = 0) -> int:
    """A whole number as a form sends it, or `default`: never an error for odd digits or thousands of them."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 18 else default


def plain_copy(value: Any) -> Any:
    """A copy of plain values (dicts, lists, texts), several times as fast as `copy.deepcopy`."""
    if isinstance(value, dict):
        return {name: plain_copy(item) for name, item in value.items()}
    return [plain_copy(item) for item in value] if isinstance(value, list) else value
