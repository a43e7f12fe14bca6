"""REST of the snapshot that a repository keeps for reading and checking without the server."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import viewsets
from rest_framework.request import Request

from kernels.selectors.snapshot import snapshot_text

NDJSON = "application/x-ndjson"


class SnapshotViewSet(viewsets.ViewSet):
    """What is known now, as JSON lines."""

    @extend_schema(responses={(200, NDJSON): OpenApiTypes.STR}, operation_id="repository_snapshot")
    def list(self, request: Request) -> HttpResponse:
        """The head first, then rules, levers, rows, documents, sections, ops, specs (docs/formats.md)."""
        return HttpResponse("".join(snapshot_text()), content_type=f"{NDJSON}; charset=utf-8")
