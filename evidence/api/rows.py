"""REST of rows, their revisions and flags."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import presenters, selectors
from evidence.api.levers import Reason
from evidence.curation import verdicts_over_time
from evidence.lineage import lineage_of
from evidence.models import EvidenceRevision, EvidenceRow, Flag, RowBounds, RunReceipt, Supersession, Verdict
from evidence.search import FACETS, Query, hits_of, search_rows
from evidence.services import archive_row, flag_row, restore_row, supersede_row
from evidence.services.merging import propose_merge
from evidence.services.proposals import propose_revert
from evidence.services.watching import set_bounds, unwatch_row, watch_row
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Document, Input, Nothing, Text, read
from v2kb.core.values import whole_number
from v2kb.rules.evidence import missing_fields, weak_dead
from v2kb.rules.evidence_change import diff
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
    raised_by = serializers.CharField(
        source="raised_by.username", default="", read_only=True, help_text="Empty: the system, by a recorded bound."
    )

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


class BoundsSerializer(serializers.ModelSerializer):
    """What a row was measured on; the system flags it when the world has moved past."""

    snapshot = serializers.IntegerField(source="snapshot_id", allow_null=True, read_only=True)

    class Meta:
        model = RowBounds
        fields = ["baseline", "driver", "snapshot"]


class RowSerializer(ShortRowSerializer):
    """A row with everything that hangs on it."""

    found_by = None
    head = RevisionSerializer()
    weak = serializers.SerializerMethodField()
    missing = serializers.SerializerMethodField()
    flags = FlagSerializer(source="open_flags", many=True)
    superseded_by = serializers.SerializerMethodField()
    receipts = ReceiptSerializer(source="all_receipts", many=True)
    bounds = serializers.SerializerMethodField()

    def get_weak(self, row: EvidenceRow) -> bool:
        """Whether a DEAD verdict rests on at most one approach."""
        return weak_dead(row.head.content)

    def get_missing(self, row: EvidenceRow) -> list[str]:
        """Fields that the verdict should have and lacks."""
        return [problem.field for problem in missing_fields(row.head.content)]

    @extend_schema_field(BoundsSerializer(allow_null=True))
    def get_bounds(self, row: EvidenceRow) -> dict[str, Any] | None:
        """What it was measured on; null where nothing is watched."""
        bounds = getattr(row, "bounds", None)
        return BoundsSerializer(bounds).data if bounds else None

    def get_superseded_by(self, row: EvidenceRow) -> list[dict[str, str]]:
        """Newer rows with their relation."""
        return [{"code": edge.newer.code, "kind": edge.kind} for edge in row.successors]


class Revert(Input):
    """Which revision's content should come back, and why."""

    revision = serializers.IntegerField(min_value=1, max_value=10**9)
    reason = Text(max_length=4000)


class Merge(Input):
    """The row that this one takes in, and why."""

    taken = Text(max_length=20, help_text="Code of the row that is taken in and archived.")
    reason = Text(max_length=4000)


class OpenedSerializer(serializers.Serializer):
    """The id of the proposal that was opened."""

    proposal = serializers.IntegerField()


class Bounds(Input):
    """What the row was measured on; what is empty is not watched."""

    baseline = Text(max_length=80, allow_blank=True, default="", help_text="Commit of the baseline.")
    driver = Text(max_length=80, allow_blank=True, default="")
    snapshot = serializers.IntegerField(allow_null=True, default=None, min_value=1, max_value=2**62)


class FieldChangeSerializer(serializers.Serializer):
    """One field that differs; of lists `removed` and `added` hold the entries."""

    field = serializers.CharField()
    label = serializers.CharField()
    old = serializers.JSONField()
    new = serializers.JSONField()
    removed = serializers.JSONField()
    added = serializers.JSONField()


class EdgeSerializer(serializers.ModelSerializer):
    """How a newer row stands to an older one."""

    newer = serializers.CharField(source="newer.code")
    older = serializers.CharField(source="older.code")

    class Meta:
        model = Supersession
        fields = ["newer", "kind", "older", "reason", "created_at"]


class SeriesSerializer(serializers.Serializer):
    """How many live rows had one verdict at the end of each day."""

    name = serializers.CharField()
    values = serializers.ListField(child=serializers.IntegerField())


class OverTimeSerializer(serializers.Serializer):
    """Verdict counts by day; only days on which one changed."""

    unit = serializers.CharField()
    days = serializers.ListField(child=serializers.DateField())
    series = SeriesSerializer(many=True)


class Newer(Input):
    """How a newer row stands to this one."""

    newer = Text(max_length=20, help_text="Code of the newer row.")
    kind = serializers.ChoiceField(choices=Supersession.Kind.choices)
    reason = Text(max_length=4000)


_CLOSED = {"verdict": Verdict.values}
_FILTERS = [
    OpenApiParameter("q", str, description="Codes, identifiers, words; every word must stand in the row."),
    OpenApiParameter("archived", str, enum=["1"]),
    *(
        OpenApiParameter(name, str, many=True, enum=_CLOSED.get(name), description="Several values are alternatives.")
        for name in FACETS
    ),
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

    @extend_schema(
        parameters=[OpenApiParameter("old", int, required=True), OpenApiParameter("new", int, required=True)],
        responses=FieldChangeSerializer(many=True),
    )
    @action(detail=True, pagination_class=None)
    def diff(self, request: Request, code: str) -> Response:
        """Fields that differ between two revisions."""
        row = selectors.get_row(code)
        old, new = (
            selectors.get_revision(row, whole_number(request.query_params.get(name, ""))) for name in ("old", "new")
        )
        return Response(FieldChangeSerializer(diff(old.content, new.content), many=True).data)

    @extend_schema(responses=EdgeSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def lineage(self, request: Request, code: str) -> Response:
        """How rows around this one replace, narrow, contradict, merge or split each other."""
        return Response(EdgeSerializer(lineage_of(selectors.get_row(code)).edges, many=True).data)

    @extend_schema(responses=OverTimeSerializer)
    @action(detail=False, url_path="over-time", pagination_class=None)
    def over_time(self, request: Request) -> Response:
        """How many rows had each verdict, day by day."""
        return Response(OverTimeSerializer(verdicts_over_time()).data)

    @extend_schema(request=Revert, responses={201: OpenedSerializer})
    @action(detail=True, methods=["post"])
    def revert(self, request: Request, code: str) -> Response:
        """Propose that the row says again what an earlier revision said. Answers with the id of the proposal."""
        data, actor = read(Revert, request), actor_from_request(request, "api")
        proposal = propose_revert(actor, code.upper(), data["revision"], reason=data["reason"])
        return Response({"proposal": proposal.pk}, status=status.HTTP_201_CREATED)

    @extend_schema(request=Merge, responses={201: OpenedSerializer})
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, code: str) -> Response:
        """Propose that the row takes in another one. Answers with the id of the proposal."""
        data, actor = read(Merge, request), actor_from_request(request, "api")
        taken = data["taken"].strip().upper()
        proposal = propose_merge(actor, into=code.upper(), taken=taken, reason=data["reason"])
        return Response({"proposal": proposal.pk}, status=status.HTTP_201_CREATED)

    @extend_schema(request=Bounds, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def bounds(self, request: Request, code: str) -> Response:
        """Record what the row was measured on."""
        set_bounds(actor_from_request(request, "api"), code.upper(), **read(Bounds, request))
        return self._shown(code)

    @extend_schema(request=Nothing, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def watch(self, request: Request, code: str) -> Response:
        """See on your home what happens to it."""
        read(Nothing, request)
        watch_row(actor_from_request(request, "api"), code.upper())
        return self._shown(code)

    @extend_schema(request=Nothing, responses=RowSerializer)
    @action(detail=True, methods=["post"])
    def unwatch(self, request: Request, code: str) -> Response:
        """Watch it no longer."""
        read(Nothing, request)
        unwatch_row(actor_from_request(request, "api"), code.upper())
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
