"""REST of the snapshot that a repository keeps for reading and checking without the server."""

from django.http import HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.views.decorators.gzip import gzip_page
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import viewsets
from rest_framework.request import Request

from kernels.selectors.snapshot import snapshot_text
from v2kb.rules.snapshot import read_head

NDJSON = "application/x-ndjson"


class SnapshotViewSet(viewsets.ViewSet):
    """What is known now, as JSON lines."""

    @extend_schema(
        parameters=[
            OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="ETag of what one has.")
        ],
        responses={(200, NDJSON): OpenApiTypes.STR, 304: None},
        operation_id="repository_snapshot",
    )
    @method_decorator(gzip_page)
    def list(self, request: Request) -> HttpResponse:
        """The head first, then rules, levers, rows, documents, sections, ops, specs (docs/formats.md).

        304 without a body where `If-None-Match` names what is known now: the date in the head makes no difference.
        """
        lines = list(snapshot_text())
        response = HttpResponse(
            "".join(lines), content_type=f"{NDJSON}; charset=utf-8", headers={"Cache-Control": "no-cache"}
        )
        response["ETag"] = read_head(lines[0]).etag
        return get_conditional_response(request._request, etag=response["ETag"], response=response)
