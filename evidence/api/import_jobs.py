"""REST of imports as jobs, and of exports."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import exports, import_jobs
from evidence.importers.typing_file import MAX_TYPING_BYTES
from evidence.models import ImportJob, ImportLine
from evidence.policies import require_curator
from evidence.services.import_jobs import (
    apply_import,
    cancel_import,
    map_import,
    retry_import,
    start_import,
)
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import Document, Input, Nothing, Text, read

MAX_TEXT_CHARS = 11_000_000
UUID = r"[0-9a-f-]{1,36}"


class ImportJobSerializer(serializers.ModelSerializer):
    """An import. `profile` holds header, samples and words; `counts` lines by what happens to them."""

    id = serializers.UUIDField(source="public_id", read_only=True)
    profile = serializers.SerializerMethodField()
    mapping = Document(read_only=True)
    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)
    author = serializers.CharField(source="author.username", read_only=True)

    class Meta:
        model = ImportJob
        fields = [
            "id", "name", "source", "size", "sha256", "encoding", "format", "state", "cursor", "total", "message",
            "profile", "mapping", "counts", "author", "created_at",
        ]  # fmt: skip

    def get_profile(self, job: ImportJob) -> dict[str, Any]:
        """Columns, some of their cells, and the words of those that have few."""
        names = ("header", "samples", "words", "others", "suggested")
        return {name: job.profile[name] for name in names if name in job.profile}


class ImportedLineSerializer(serializers.ModelSerializer):
    """What the dry run found in one line."""

    document = Document(read_only=True)
    problems = serializers.ListField(child=Document(), read_only=True)

    class Meta:
        model = ImportLine
        fields = ["number", "line", "kind", "state", "target", "document", "problems", "note"]


class NewImportJob(Input):
    """A file as text. Larger ones go through the page, which takes 50 MiB."""

    name = Text(max_length=200, help_text="File name; a later file of this name is compared with this one.")
    text = Text(max_length=MAX_TEXT_CHARS, trim_whitespace=False)
    typing = Text(max_length=MAX_TYPING_BYTES, allow_blank=True, default="", help_text="For an evidence map.")
    source = Text(max_length=300, allow_blank=True, default="")


class Mapping(Input):
    """How the file is read: {"columns": {column: field}, "words": {word: {"as", "verdict", "cause_class"}}}."""

    mapping = Document()
    save_as = Text(max_length=100, allow_blank=True, default="")


class Apply(Input):
    """Whether lines that can't be read are left out."""

    skip_unreadable = serializers.BooleanField(default=False)


class ImportJobViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Imports of logs and maps as jobs: a curator's right. The work goes on in the background; ask for the state."""

    queryset = ImportJob.objects.none()
    serializer_class = ImportJobSerializer
    filter_backends = []
    lookup_value_regex = UUID

    def get_queryset(self):
        return import_jobs.list_jobs().defer(None)

    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Imports, newest first."""
        require_curator(actor_from_request(request, "api"))
        return super().list(request, *args, **kwargs)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One import."""
        require_curator(actor_from_request(request, "api"))
        return self._shown(pk)

    @extend_schema(request=NewImportJob, responses={201: ImportJobSerializer})
    def create(self, request: Request) -> Response:
        """Upload a file."""
        data, actor = read(NewImportJob, request), actor_from_request(request, "api")
        chunks = [data["text"].encode("utf-8", "surrogatepass")]
        typing = data["typing"].encode("utf-8", "surrogatepass")
        job = start_import(actor, name=data["name"], chunks=chunks, source=data["source"], typing=typing)
        return self._shown(str(job.public_id), status.HTTP_201_CREATED)

    @extend_schema(
        parameters=[OpenApiParameter("state", str, enum=ImportLine.State.values)],
        responses=ImportedLineSerializer(many=True),
    )
    @action(detail=True)
    def lines(self, request: Request, pk: str) -> Response:
        """What the dry run found, in the order of the file."""
        require_curator(actor_from_request(request, "api"))
        lines = import_jobs.list_lines(import_jobs.get_job(pk), request.query_params.get("state", ""))
        return self.get_paginated_response(ImportedLineSerializer(self.paginate_queryset(lines), many=True).data)

    @extend_schema(request=Mapping, responses=ImportJobSerializer)
    @action(detail=True, methods=["post"])
    def check(self, request: Request, pk: str) -> Response:
        """Say how the file is read, and begin the dry run."""
        map_import(actor_from_request(request, "api"), pk, **read(Mapping, request))
        return self._shown(pk)

    @extend_schema(request=Apply, responses=ImportJobSerializer)
    @action(detail=True, methods=["post"])
    def apply(self, request: Request, pk: str) -> Response:
        """Begin to take over what the dry run found."""
        apply_import(actor_from_request(request, "api"), pk, **read(Apply, request))
        return self._shown(pk)

    @extend_schema(request=Nothing, responses=ImportJobSerializer)
    @action(detail=True, methods=["post"])
    def retry(self, request: Request, pk: str) -> Response:
        """Take up a failed import again. One that has a mapping goes on by `check`."""
        read(Nothing, request)
        retry_import(actor_from_request(request, "api"), pk)
        return self._shown(pk)

    @extend_schema(request=Nothing, responses=ImportJobSerializer)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str) -> Response:
        """Stop. What was taken over so far stays."""
        read(Nothing, request)
        cancel_import(actor_from_request(request, "api"), pk)
        return self._shown(pk)

    def _shown(self, pk: str, code: int = status.HTTP_200_OK) -> Response:
        return Response(ImportJobSerializer(import_jobs.get_job(pk)).data, status=code)


class ExportViewSet(viewsets.ViewSet):
    """Exports as files; each can be imported again and then changes nothing."""

    lookup_value_regex = r"[a-z0-9.]+"

    @extend_schema(
        parameters=[
            OpenApiParameter("id", str, "path", enum=list(exports.NAMES)),
            OpenApiParameter("document", str, description="For map.md: slug of the imported map to write again."),
        ],
        responses={(200, kind): OpenApiTypes.STR for kind in exports.TYPES.values()},
    )
    def retrieve(self, request: Request, pk: str) -> HttpResponse:
        """map.md, rows.csv, rows.jsonl, history.md, history.csv or history.jsonl."""
        document = request.query_params.get("document", "")[:80]
        parts = exports.export(pk, document=document)
        return HttpResponse("".join(parts), content_type=f"{exports.TYPES[pk.rpartition('.')[2]]}; charset=utf-8")
