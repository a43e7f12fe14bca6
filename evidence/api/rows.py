"""REST of rows, their revisions and flags."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import presenters, selectors
from evidence.api.levers import Reason
from evidence.models import EvidenceRevision, EvidenceRow, Flag, RunReceipt, Supersession
from evidence.search import FACETS, Query, hits_of, search_rows
from evidence.services import archive_row, clear_flag, confirm_flag, flag_row, restore_row, supersede_row
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Document, Input, Nothing, Text, read
from v2kb.rules.evidence import check_revision, weak_dead
from v2kb.rules.scope import describe

CODE = r"[A-Za-z]{1,3}[0-9]{1,6}"


class RevisionSerializer(serializers.ModelSerializer):
    """One revision. A citation pins `content_hash`."""

    content = Document(read_only=True)
    author = serializers.CharField(source="author.username", default="", read_only=True)
    proposal = serializers.IntegerField(source="proposal_id", allow_null=True, read_only=True)

    class Meta:
        model = EvidenceRevision
        fields = ["number", "content_hash", "content", "author", "reason", "proposal", "created_at"]


class FlagSerializer(serializers.ModelSerializer):
    """A doubt about a row."""

    row = serializers.CharField(source="row.code", read_only=True)
    raised_by = serializers.CharField(source="raised_by.username", read_only=True)

    class Meta:
        model = Flag
        fields = ["id", "row", "reason", "raised_by", "raised_at", "confirmed_at", "cleared_at"]


class ReceiptSerializer(serializers.ModelSerializer):
    """A finished run that speaks of a row."""

    proposal = serializers.IntegerField(source="proposal_id", allow_null=True, read_only=True)

    class Meta:
        model = RunReceipt
        fields = ["run_id", "result_hash", "judgement", "grade", "sentence", "proposal", "created_at"]


class ShortRowSerializer(serializers.Serializer):
    """A row in a list."""

    code = serializers.CharField()
    verdict = serializers.CharField(source="head.verdict")
    title = serializers.CharField(source="head.title")
    lever = serializers.CharField(source="head.lever.slug")
    cause_class = serializers.CharField(source="head.cause_class")
    blocking = serializers.CharField(source="head.blocking", help_text="full, weak or empty")
    scope = serializers.SerializerMethodField()
    figure = serializers.SerializerMethodField()
    measured_on = serializers.DateField(source="head.measured_on", allow_null=True)
    revision = serializers.IntegerField(source="head.number")
    content_hash = serializers.CharField(source="head.content_hash")
    archived_at = serializers.DateTimeField(allow_null=True)
    found_by = serializers.CharField(default="")

    def get_scope(self, row: EvidenceRow) -> str:
        """The scope in words."""
        return describe(row.head.content["scope"])

    def get_figure(self, row: EvidenceRow) -> str:
        """The first number of the verdict, in words."""
        return presenters.figure(row.head.content)


class RowSerializer(ShortRowSerializer):
    """A row with everything that hangs on it."""

    found_by = None
    head = RevisionSerializer()
    weak = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()
    flags = FlagSerializer(source="open_flags", many=True)
    superseded_by = serializers.SerializerMethodField()
    receipts = ReceiptSerializer(many=True)

    def get_weak(self, row: EvidenceRow) -> bool:
        """Whether a DEAD verdict rests on at most one approach."""
        return weak_dead(row.head.content)

    def get_missing(self, row: EvidenceRow) -> list[str]:
        """Fields that the verdict should have and lacks."""
        return [problem.field for problem in check_revision(row.head.content, imported=True).missing]

    def get_superseded_by(self, row: EvidenceRow) -> list[dict[str, str]]:
        """Newer rows with their relation."""
        return [{"code": edge.newer.code, "kind": edge.kind} for edge in row.successors]


class Newer(Input):
    """How a newer row stands to this one."""

    newer = Text(max_length=20, help_text="Code of the newer row.")
    kind = serializers.ChoiceField(choices=Supersession.Kind.choices)
    reason = Text(max_length=4000)


_FILTERS = [
    OpenApiParameter("q", str, description="Codes, identifiers, words; every word must stand in the row."),
    OpenApiParameter("archived", str, enum=["1"]),
    *(OpenApiParameter(name, str, many=True, description="Several values are alternatives.") for name in FACETS),
]


class RowViewSet(viewsets.GenericViewSet):
    """Rows of evidence. Their content changes through proposals only."""

    queryset = EvidenceRow.objects.none()
    serializer_class = RowSerializer
    filter_backends = []
    lookup_field = "code"
    lookup_value_regex = CODE

    @extend_schema(parameters=_FILTERS, responses=ShortRowSerializer(many=True))
    def list(self, request: Request) -> Response:
        """Search: exact codes first, then rows that hold every word, narrowed by facets."""
        found = search_rows(Query.of_params(request.query_params))
        hits = hits_of(found, [int(row_id) for row_id in self.paginate_queryset(found.ids)])
        for hit in hits:
            hit.row.found_by = hit.why
        return self.get_paginated_response(ShortRowSerializer([hit.row for hit in hits], many=True).data)

    def retrieve(self, request: Request, code: str) -> Response:
        """One row."""
        return self._shown(code)

    @extend_schema(responses=RevisionSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def revisions(self, request: Request, code: str) -> Response:
        """All revisions, newest first."""
        revisions = selectors.get_row(code).revisions.select_related("author")
        return Response(RevisionSerializer(revisions, many=True).data)

    @extend_schema(responses=RevisionSerializer)
    @action(detail=True, url_path=rf"revisions/(?P<number>{NUMBER})")
    def revision(self, request: Request, code: str, number: str) -> Response:
        """One revision."""
        return Response(RevisionSerializer(selectors.get_revision(selectors.get_row(code), int(number))).data)

    @extend_schema(request=Reason, responses={201: FlagSerializer})
    @action(detail=True, methods=["post"])
    def flag(self, request: Request, code: str) -> Response:
        """Raise a doubt."""
        flag = flag_row(actor_from_request(request, "api"), code.upper(), **read(Reason, request))
        return Response(FlagSerializer(flag).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=Newer, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def supersede(self, request: Request, code: str) -> Response:
        """Say that a newer row replaces, narrows, contradicts, merges or splits this one."""
        data = read(Newer, request)
        newer = data.pop("newer").strip().upper()
        supersede_row(actor_from_request(request, "api"), newer=newer, older=code.upper(), **data)
        return self._shown(code)

    @extend_schema(request=Reason, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, code: str) -> Response:
        """Take a row that nobody cites off the lists."""
        archive_row(actor_from_request(request, "api"), code.upper(), **read(Reason, request))
        return self._shown(code)

    @extend_schema(request=Nothing, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, code: str) -> Response:
        """Put an archived row back on the lists."""
        read(Nothing, request)
        restore_row(actor_from_request(request, "api"), code.upper())
        return self._shown(code)

    def _shown(self, code: str) -> Response:
        return Response(RowSerializer(selectors.get_full_row(code)).data)


class FlagViewSet(viewsets.GenericViewSet):
    """What curators do with a doubt."""

    queryset = Flag.objects.none()
    serializer_class = FlagSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    @extend_schema(request=Nothing, responses=FlagSerializer)
    @action(detail=True, methods=["post"])
    def confirm(self, request: Request, pk: str) -> Response:
        """Confirm: the row can't be cited from now on."""
        read(Nothing, request)
        return Response(FlagSerializer(confirm_flag(actor_from_request(request, "api"), int(pk))).data)

    @extend_schema(request=Reason, responses=FlagSerializer)
    @action(detail=True, methods=["post"])
    def clear(self, request: Request, pk: str) -> Response:
        """Take a doubt down."""
        flag = clear_flag(actor_from_request(request, "api"), int(pk), **read(Reason, request))
        return Response(FlagSerializer(flag).data)
