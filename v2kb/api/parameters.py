"""What follows the `?` of an address: a GET takes the parameters that the API document declares for it, no other."""

import datetime
import threading
from collections.abc import Callable
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ComponentRegistry
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.settings import api_settings

FLAGS = ("true", "false", "1", "0")
_declared: dict[tuple[Callable, str], dict[str, dict[str, Any]]] = {}
_declaring = threading.Lock()
"""drf-spectacular loads its extensions at the first request, and not for several threads at once."""


class DeclaredParameters:
    """Refuses a GET with a parameter that its operation does not declare, or with a value that can't be read: ignored
    in silence it would give the whole list to somebody who believes that it is narrowed. An empty value is none.
    """

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Raises ValidationError with every parameter that is refused, once the user may ask at all."""
        super().initial(request, *args, **kwargs)
        if request.method == "GET" and hasattr(self, "get"):
            refuse_parameters(request, declared(request))


def declared(request: Request) -> dict[str, dict[str, Any]]:
    """Name -> OpenAPI schema of each query parameter of the GET at this address; worked out once for each."""
    match = request.resolver_match
    key = (match.func, match.route)
    if key not in _declared:
        with _declaring:
            _declared[key] = _of_document(match.func, match.route, request)
    return _declared[key]


def _of_document(func: Callable, route: str, request: Request) -> dict[str, dict[str, Any]]:
    generator, components = SchemaGenerator(), ComponentRegistry()  # what follows holds both weakly
    view = generator.create_view(func, "GET")
    view.request, view.swagger_fake_view = request, True
    operation = view.schema.get_operation("/", route, "", "GET", components)
    found = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    return {each["name"]: each["schema"] for each in found}


def refuse_parameters(request: Request, known: dict[str, dict[str, Any]]) -> None:
    """Raise ValidationError with each parameter that is unknown, and each value that its schema does not allow."""
    refused = {}
    for name, values in request.query_params.lists():
        if name in known:
            wrong = next((text for value in values if value and (text := _wrong(known[name], value))), "")
            if wrong:
                refused[name] = [serializers.ErrorDetail(wrong, "invalid_parameter")]
        elif name != api_settings.URL_FORMAT_OVERRIDE:
            hint = f"This address takes {', '.join(sorted(known))}." if known else "This address takes none."
            refused[name[:80]] = [serializers.ErrorDetail(f"There is no such parameter. {hint}", "unknown_parameter")]
    if refused:
        raise serializers.ValidationError(refused)


def _wrong(schema: dict[str, Any], value: str) -> str:
    """Why the value can't be read, and what is allowed; empty where it can."""
    schema = schema.get("items", schema)
    shown = value[:40]
    if "enum" in schema and value not in schema["enum"]:
        return f"“{shown}” is none of {', '.join(map(str, schema['enum']))}."
    if schema.get("type") == "boolean" and value.lower() not in FLAGS:
        return f"“{shown}” is neither true nor false."
    if schema.get("type") == "integer" and not (value.isascii() and value.isdigit() and 0 < int(value[:20]) < 2**31):
        return f"“{shown}” is no whole number from 1."
    if schema.get("format") == "date" and not _is_day(value):
        return f"“{shown}” is no day; write for example 2026-07-03."
    return ""


def _is_day(text: str) -> bool:
    try:
        return bool(datetime.date.fromisoformat(text))
    except ValueError:
        return False
