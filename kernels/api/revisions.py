"""REST of a spec's revisions: content, submission, gate, approval."""

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.api.specs import (
    CODE_OF_SPEC,
    SWEEP_PARAMETERS,
    Gate,
    GateLine,
    RevisionSummary,
    Sweep,
    revision_of,
    spec_of,
    swept,
)
from kernels.models import Approval, GateResult, PreRegistration, SpecRevision, Submission
from kernels.selectors.gate import gate_preview
from kernels.selectors.reviews import what_is_missing
from kernels.services import gate, posting, reviews, specs
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import AS_TEXT, NUMBER, Document, Input, Nothing, Text, read
from v2kb.rules.spec_markdown.writing import write_markdown

NUMBER_OF_REVISION = OpenApiParameter("number", int, OpenApiParameter.PATH, description="Number of the revision.")


class RevisionDetail(RevisionSummary):
    """A revision with its content and everything the rules found when it was saved."""

    content = Document()
    findings = serializers.SerializerMethodField()

    class Meta:
        model = SpecRevision
        fields = [*RevisionSummary.Meta.fields, "content", "findings"]

    def get_findings(self, revision: SpecRevision) -> list[dict]:
        return revision.checks.get("findings", [])


class SubmissionSerializer(serializers.ModelSerializer):
    """Who handed the revision in, and when."""

    user = serializers.CharField(source="user.username")

    class Meta:
        model = Submission
        fields = ["user", "at"]


class GateResultSerializer(serializers.ModelSerializer):
    """A stored answer of the gate, with everything it looked at."""

    lines = GateLine(many=True)
    inputs = Document()

    class Meta:
        model = GateResult
        fields = ["id", "revision_hash", "passed", "gate_version", "content_hash", "created_at", "lines", "inputs"]


class PredictionSerializer(serializers.ModelSerializer):
    """A prediction with its kill threshold, sealed at approval."""

    content = Document()

    class Meta:
        model = PreRegistration
        fields = ["choice_id", "choice_hash", "content", "content_hash", "sealed_at"]


class ApprovalSerializer(serializers.ModelSerializer):
    """That the revision may be built."""

    approver = serializers.CharField(source="approver.username")
    gate_result = serializers.IntegerField(source="gate_result_id")

    class Meta:
        model = Approval
        fields = ["revision_hash", "approver", "gate_result", "at"]


class ReviewState(serializers.Serializer):
    """Where the review of a revision stands; `missing` is empty once it is approved."""

    submission = SubmissionSerializer(allow_null=True)
    approval = ApprovalSerializer(allow_null=True)
    predictions = PredictionSerializer(many=True)
    missing = serializers.ListField(child=serializers.CharField())


class NewRevision(Input):
    """Content on top of the revision with `base_hash`; without content one's draft is saved."""

    base_hash = Text(max_length=64, allow_blank=True, help_text="Hash of the newest revision; empty for the first.")
    content = Document(required=False)
    reason = Text(max_length=4000, default="", allow_blank=True)
    draft_version = serializers.IntegerField(
        required=False, min_value=1, max_value=999_999_999, help_text="Replaces one's unfinished draft of this version."
    )


def review_state(revision: SpecRevision) -> dict:
    """Submission, approval, sealed predictions and what is missing."""
    return ReviewState(
        {
            "submission": Submission.objects.filter(revision=revision).select_related("user").first(),
            "approval": Approval.objects.filter(revision=revision).select_related("approver").first(),
            "predictions": list(revision.preregistrations.all()),
            "missing": what_is_missing(revision),
        }
    ).data


@extend_schema(parameters=[CODE_OF_SPEC])
class RevisionViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Revisions of a spec, newest first."""

    queryset = SpecRevision.objects.select_related("author").order_by("-number")
    serializer_class = RevisionSummary
    lookup_field = "number"
    lookup_value_regex = NUMBER

    def get_queryset(self):
        return self.queryset.filter(spec=spec_of(self.kwargs["code"])).defer("content")

    @extend_schema(responses=RevisionDetail, parameters=[NUMBER_OF_REVISION])
    def retrieve(self, request: Request, code: str, number: str) -> Response:
        """A revision with its content."""
        return Response(RevisionDetail(revision_of(code, number)).data)

    @extend_schema(request=NewRevision, responses={201: RevisionDetail, 200: RevisionDetail})
    def create(self, request: Request, code: str) -> Response:
        """Make a revision; 200 with the head when nothing changed."""
        revision, is_new = posting.post_revision(
            actor_from_request(request, "api"), spec=spec_of(code), **read(NewRevision, request)
        )
        return Response(RevisionDetail(revision).data, status=201 if is_new else 200)

    @extend_schema(request=None, responses={201: SubmissionSerializer}, parameters=[NUMBER_OF_REVISION])
    @action(detail=True, methods=["post"])
    def submit(self, request: Request, code: str, number: str) -> Response:
        """Hand the newest revision in for review."""
        read(Nothing, request)
        handed_in = specs.submit_spec(actor_from_request(request, "api"), revision=revision_of(code, number))
        return Response(SubmissionSerializer(handed_in).data, status=201)

    @extend_schema(responses=Gate, parameters=[NUMBER_OF_REVISION], filters=False)
    @action(detail=True, pagination_class=None)
    def gate(self, request: Request, code: str, number: str) -> Response:
        """What the gate says of this revision now; nothing is stored."""
        revision = revision_of(code, number)
        return Response(gate_preview(revision.spec, revision.content).as_document())

    @extend_schema(responses=str, parameters=[NUMBER_OF_REVISION], filters=False)
    @action(detail=True, pagination_class=None, renderer_classes=AS_TEXT)
    def markdown(self, request: Request, code: str, number: str) -> Response:
        """The revision as markdown, in the order of a Stage-1 spec; it is read back without loss."""
        return Response(write_markdown(revision_of(code, number).content))

    @extend_schema(responses=Sweep, parameters=[NUMBER_OF_REVISION, *SWEEP_PARAMETERS], filters=False)
    @action(detail=True, pagination_class=None)
    def sweep(self, request: Request, code: str, number: str) -> Response:
        """The revision at every value of a symbol, with the rules that break there."""
        return swept(request, revision_of(code, number).content)

    @extend_schema(responses=ReviewState, parameters=[NUMBER_OF_REVISION], filters=False)
    @action(detail=True, pagination_class=None)
    def review(self, request: Request, code: str, number: str) -> Response:
        """Where the review stands and what is missing for an approval, in sentences."""
        return Response(review_state(revision_of(code, number)))

    @extend_schema(request=None, responses={201: ReviewState}, parameters=[NUMBER_OF_REVISION])
    @action(detail=True, methods=["post"])
    def close(self, request: Request, code: str, number: str) -> Response:
        """Approve a revision whose positions are complete, after what else was missing has been mended."""
        read(Nothing, request)
        revision = revision_of(code, number)
        reviews.close_quorum(actor_from_request(request, "api"), revision=revision)
        return Response(review_state(revision), status=201)


@extend_schema(parameters=[CODE_OF_SPEC, NUMBER_OF_REVISION])
class GateResultViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Stored answers of the gate on a revision, newest first."""

    queryset = GateResult.objects.order_by("-id")
    serializer_class = GateResultSerializer

    def get_queryset(self):
        return self.queryset.filter(revision=revision_of(self.kwargs["code"], self.kwargs["number"]))

    @extend_schema(request=None, responses={201: GateResultSerializer, 200: GateResultSerializer})
    def create(self, request: Request, code: str, number: str) -> Response:
        """Ask the gate now and keep the answer; 200 with the newest one when it says the same on the same evidence."""
        read(Nothing, request)
        stored, is_new = gate.evaluate_gate(actor_from_request(request, "api"), revision=revision_of(code, number))
        return Response(GateResultSerializer(stored).data, status=201 if is_new else 200)
