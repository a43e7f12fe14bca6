"""One JSON form for every error of the API."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from v2kb.core.errors import Refusal


def _problems(detail: Any, field: str = "") -> list[dict[str, Any]]:
    if isinstance(detail, dict):
        return [p for key, value in detail.items() for p in _problems(value, f"{field}.{key}" if field else str(key))]
    if isinstance(detail, list):
        return [p for value in detail for p in _problems(value, field)]
    code = getattr(detail, "code", "invalid")
    return [{"code": f"api.{code}", "message": str(detail), "field": field or None, "rule": None, "fix": None}]


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """Turn refusals and the framework's own errors into code, message, field, rule, fix and facts."""
    if isinstance(error, Refusal):
        return Response(error.as_document(), status=error.status)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, Http404):
        code, message, problems = "api.not_found", "There is no such thing here.", []
    elif isinstance(error, PermissionDenied):
        code, message, problems = "api.permission_denied", "You may not do this.", []
    elif isinstance(error, exceptions.ValidationError):
        problems = _problems(error.detail)
        code, message = "api.invalid", " ".join(f"{p['field'] or 'input'}: {p['message']}" for p in problems)
    else:
        problems = []
        code, message = f"api.{getattr(error, 'default_code', 'error')}", str(getattr(error, "detail", error))
    response.data = Refusal(
        code, message, field=problems[0]["field"] if problems else None, problems=problems
    ).as_document()
    return response
