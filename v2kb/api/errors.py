"""One JSON form for every error of the API."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import IntegrityError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from v2kb.core.errors import Conflict, Refusal
from v2kb.core.uploads import refusal_of_unread

log = logging.getLogger(__name__)


def _problems(detail: Any, field: str = "") -> list[dict[str, Any]]:
    if isinstance(detail, dict):
        return [p for key, value in detail.items() for p in _problems(value, _path(field, key))]
    if isinstance(detail, list):
        return [p for value in detail for p in _problems(value, field)]
    code = getattr(detail, "code", "invalid")
    return [{"code": f"api.{code}", "message": str(detail), "field": field or None, "rule": None, "fix": None}]


def _path(field: str, key: Any) -> str:
    if key == api_settings.NON_FIELD_ERRORS_KEY:
        return field
    if isinstance(key, int):
        return f"{field}[{key}]"
    return f"{field}.{key}" if field else str(key)


def _own(error: Exception) -> Refusal | None:
    """The refusal behind an error that the framework has no answer for."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, SuspiciousOperation):
        bad = Refusal("api.bad_request", str(error) or "This request can't be read.", status=400)
        return refusal_of_unread(error) or bad
    if isinstance(error, IntegrityError):
        log.warning("answered 409 to a database conflict", exc_info=error)
        return Conflict("api.conflict", "Somebody did the same at the same moment.", fix="Look, then try again.")
    return None


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn refusals and the framework's own errors into code, message, field, rule, fix and facts."""
    own = _own(error)
    if own is not None:
        return Response(own.as_document(), status=own.status, content_type="application/json")
    response = exception_handler(error, context)
    if response is None:
        return None
    problems: list[dict[str, Any]] = []
    if isinstance(error, Http404):
        code, message = "api.not_found", "There is no such thing here."
    elif isinstance(error, PermissionDenied):
        code, message = "api.permission_denied", "You may not do this."
    elif isinstance(error, exceptions.ValidationError):
        problems = _problems(error.detail)
        code, message = "api.invalid", " ".join(f"{p['field'] or 'input'}: {p['message']}" for p in problems)
    else:
        code, message = f"api.{error.default_code}", str(error.detail)
    field = problems[0]["field"] if problems else None
    response.data = Refusal(code, message, field=field, problems=problems).as_document()
    response.content_type = "application/json"
    return response


@csrf_exempt
def no_such_address(request: HttpRequest) -> JsonResponse:
    """The answer for addresses under /api/ that do not exist."""
    refusal = Refusal(
        "api.no_such_address",
        f"There is nothing at {request.path}.",
        fix="Addresses end with a slash; /api/ lists them.",
    )
    return JsonResponse(refusal.as_document(), status=404)
