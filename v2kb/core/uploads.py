"""How large a request's body may be: refused by its declared length, before any of it is read."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest

from v2kb.core.errors import Refusal
from v2kb.core.values import whole_number
from v2kb.rules.sizes import MIB, size_text, too_much_text

View = TypeVar("View", bound=Callable)

TOO_LARGE = "core.body_too_large"
TOO_MANY_PARTS = "core.too_many_parts"
# Names of fields, boundaries, the other fields of a form with files.
MAX_NAME_CHARS = 200
FORM_BYTES = MIB
UNREADABLE_BYTES = 10**18
"""What a length of very many digits counts as."""


@dataclass(frozen=True)
class BodyLimit:
    """What the body of a view's requests may have. `field` is where most of it stands, `what` says so in words."""

    max_bytes: int
    field: str | None = None
    what: str = "a request"


def body_limit(files_bytes: int, *, field: str, what: str) -> Callable[[View], View]:
    """Let a view's requests carry files of `files_bytes` together; others may have DATA_UPLOAD_MAX_MEMORY_SIZE."""

    def mark(view: View) -> View:
        view.body_limit = BodyLimit(files_bytes + FORM_BYTES, field, what)
        return view

    return mark


def refusal_of_body(request: HttpRequest, view: Callable) -> Refusal | None:
    """Why this request's body is not read, or None. Looks at its declared length alone."""
    limit = getattr(view, "body_limit", None) or BodyLimit(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
    if request.META.get("CONTENT_LENGTH", "") == "" and "HTTP_TRANSFER_ENCODING" in request.META:
        return Refusal(
            "core.length_needed", "The request does not say how long it is.", fix="Send Content-Length.", status=411
        )
    declared = request.META.get("CONTENT_LENGTH") or "0"
    length = whole_number(declared, default=UNREADABLE_BYTES if declared.isdecimal() else 0)
    if length <= limit.max_bytes:
        return None
    return Refusal(
        TOO_LARGE,
        too_much_text("This", length, limit.what, limit.max_bytes),
        field=limit.field,
        fix="Send less at once.",
        facts={"bytes": length, "limit": limit.max_bytes},
        status=413,
    )


def refusal_of_unread(error: SuspiciousOperation) -> Refusal | None:
    """What a body that the framework refused to read on answers: too much text, too many fields or files."""
    if isinstance(error, RequestDataTooBig):
        text = f"The fields of a form may have {size_text(settings.DATA_UPLOAD_MAX_MEMORY_SIZE)} of text together."
        return Refusal(TOO_LARGE, text, fix="Send less at once.", status=413)
    if isinstance(error, TooManyFilesSent):
        text = f"At most {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files can be sent at once."
        return Refusal(TOO_MANY_PARTS, text, fix="Send fewer, or pack them into a zip.", status=400)
    if isinstance(error, TooManyFieldsSent):
        text = f"A form may have {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS:,} fields."
        return Refusal(TOO_MANY_PARTS, text, fix="Send fewer.", status=400)
    return None


def file_name(sent: str, default: str) -> str:
    """The last part of an uploaded file's name as text that can be stored, at most MAX_NAME_CHARS; else `default`."""
    name = sent.replace("\\", "/").rsplit("/", 1)[-1].replace("\x00", "")
    return name.encode(errors="replace").decode().strip()[:MAX_NAME_CHARS] or default
