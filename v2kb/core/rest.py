"""What the REST doors of all apps share: strict input, documents, plain-text answers, look-ups with a code."""

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request

from v2kb.core.errors import Missing

M = TypeVar("M", bound=Model)

SLUG = r"[-a-zA-Z0-9_]{1,80}"
NUMBER = r"\d{1,9}"


class Input(serializers.Serializer):
    """What a client sends. Fields that are unknown, or that the server alone writes, are refused."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """Values by field. Raises ValidationError with every field that can't be sent here."""
        if isinstance(data, Mapping):
            wanted = [name for name, field in self.fields.items() if not field.read_only]
            hint = f"Send {', '.join(wanted)}." if wanted else "Send no fields."
            refused = {
                str(name)[:80]: [serializers.ErrorDetail(f"This field can't be sent here. {hint}", "unknown_field")]
                for name in data
                if name not in wanted
            }
            if refused:
                raise serializers.ValidationError(refused)
        return super().to_internal_value(data)


class Nothing(Input):
    """A body without fields."""


def read(form: type[Input], request: Request) -> dict[str, Any]:
    """The checked body of a request. Raises ValidationError, which becomes a 400 that names each field."""
    filled = form(data=request.data)
    filled.is_valid(raise_exception=True)
    return filled.validated_data


class Text(serializers.CharField):
    """Text. Numbers and other types are refused, not turned into text."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


def engine_of(who: str) -> serializers.CharField:
    """The engine behind the user that stands in the field `who`."""
    return serializers.CharField(
        source=f"{who}.engine_name", default="", read_only=True, help_text=f"Engine of {who}, where that is an agent."
    )


class Named(serializers.SlugRelatedField):
    """A thing by its name, such as an op by its slug; whoever names none is told what kind of thing is missing."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.error_messages["does_not_exist"] = f"There is no {self.queryset.model._meta.verbose_name} {{value}}."


@extend_schema_field({"type": "object", "additionalProperties": True})
class Document(serializers.Field):
    """A JSON object whose fields the domain's rules check."""

    default_error_messages = {"not_an_object": "This must be a JSON object."}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, dict):
            self.fail("not_an_object")
        return data

    def to_representation(self, value: Any) -> Any:
        return value


class PlainRenderer(BaseRenderer):
    """Text as it is; errors stay JSON."""

    media_type = "text/plain"
    format = "txt"
    charset = "utf-8"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> str:
        return data if isinstance(data, str) else json.dumps(data)


class CsvRenderer(PlainRenderer):
    """Comma-separated values."""

    media_type = "text/csv"
    format = "csv"


AS_TEXT = [PlainRenderer, JSONRenderer]
AS_CSV = [CsvRenderer, JSONRenderer]


def find(found: QuerySet[M], code: str, what: str, /, **lookup: Any) -> M:
    """The one object that fits. Raises Missing with `code`; `what` names it in the sentence."""
    one = found.filter(**lookup).first()
    if one is None:
        raise Missing(code, f"There is no {what}.")
    return one
