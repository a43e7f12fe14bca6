"""REST of specs: list with derived states, begin, own draft, checks and gate of posted content, differences."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.filtersets import SpecFilter
from kernels.models import Op, Spec, SpecDraft, SpecRevision
from kernels.selectors.checks import checks_document, report_of
from kernels.selectors.gate import gate_preview
from kernels.selectors.specs import spec_statuses
from kernels.selectors.sweeps import sweep_or_refuse
from kernels.services import posting, specs
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing
from v2kb.core.rest import Document, Input, Named, Text, engine_of, find, read
from v2kb.rules.spec_check import check_file
from v2kb.rules.spec_diff import spec_diff
from v2kb.rules.spec_markdown.blocks import MAX_BYTES
from v2kb.rules.spec_markdown.draft import STATES
from v2kb.rules.states import SPEC_STATES

CODE_OF_SPEC = OpenApiParameter("code", str, OpenApiParameter.PATH, description="Code of the spec, such as S1.")
CODE = r"[A-Za-z]\d{1,9}"


class RevisionSummary(serializers.ModelSerializer):
    """A revision without its content."""

    author = serializers.CharField(source="author.username")
    engine = engine_of("author")
    checks = serializers.SerializerMethodField(help_text="Whether the spec rules passed when it was saved, and counts.")

    class Meta:
        model = SpecRevision
        fields = ["number", "content_hash", "author", "engine", "reason", "created_at", "checks"]

    def get_checks(self, revision: SpecRevision) -> dict[str, Any]:
        return revision.checks.get("summary", {})


class MovedPin(serializers.Serializer):
    """An evidence row that changed materially since the approved revision pinned it."""

    choice_id = serializers.CharField()
    code = serializers.CharField()
    pinned_number = serializers.IntegerField()
    head_number = serializers.IntegerField()
    sentences = serializers.ListField(child=serializers.CharField())


class SpecSerializer(serializers.ModelSerializer):
    """A spec with the state that its rows give it."""

    ops = serializers.SlugRelatedField(slug_field="slug", many=True, read_only=True)
    state = serializers.ChoiceField(choices=SPEC_STATES, source="status.state")
    state_reason = serializers.CharField(source="status.reason")
    moved_pins = MovedPin(many=True, source="status.moved")
    head = RevisionSummary(allow_null=True)
    created_by = serializers.CharField(source="created_by.username")

    class Meta:
        model = Spec
        fields = [
            "code", "title", "ops", "state", "state_reason", "moved_pins", "head", "created_by", "created_at",
            "archived_at",
        ]  # fmt: skip


class DraftSerializer(serializers.ModelSerializer):
    """One's own draft."""

    base = serializers.CharField(source="base.content_hash", default="", help_text="Revision that it began from.")
    content = Document()

    class Meta:
        model = SpecDraft
        fields = ["version", "base", "content", "updated_at"]


class FindingSerializer(serializers.Serializer):
    """What one rule says of one place of the document."""

    rule = serializers.CharField()
    severity = serializers.CharField()
    path = serializers.CharField()
    message = serializers.CharField()
    fix = serializers.CharField()
    kind = serializers.CharField()
    version = serializers.IntegerField()
    source = serializers.CharField()
    state = serializers.CharField()
    also = serializers.ListField(child=serializers.CharField())
    facts = Document()


class Checks(serializers.Serializer):
    """What the spec rules say."""

    summary = Document()
    findings = FindingSerializer(many=True)


class PlacementSerializer(serializers.Serializer):
    """What became of some lines of a file."""

    first = serializers.IntegerField()
    last = serializers.IntegerField()
    state = serializers.ChoiceField(choices=STATES)
    where = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField()


class LineFinding(FindingSerializer):
    """A finding with the line of the file that it concerns."""

    line = serializers.IntegerField()


class FileChecks(serializers.Serializer):
    """A file as it was read, and what the spec rules say of it."""

    exit_code = serializers.IntegerField(help_text="0 clear, 1 warnings, 2 errors or missing inputs, 3 unreadable.")
    unreadable = serializers.CharField(help_text="Why nothing could be read; empty otherwise.")
    summary = Document()
    findings = LineFinding(many=True)
    placements = PlacementSerializer(many=True)
    about = Document(help_text="Status, designer and date, as the file gives them.")
    document = Document(help_text="The spec document that was read.")


class GateLine(serializers.Serializer):
    """One gate rule on one choice."""

    rule = serializers.CharField()
    version = serializers.CharField()
    choice = serializers.CharField()
    status = serializers.CharField()
    message = serializers.CharField()
    field = serializers.CharField()
    fix = serializers.CharField()
    inputs = Document()
    what_would_change = serializers.ListField(child=serializers.CharField())


class Gate(serializers.Serializer):
    """What the anti-loop gate says now; nothing is stored."""

    gate_version = serializers.CharField()
    passed = serializers.BooleanField()
    summary = serializers.CharField()
    lines = GateLine(many=True)


class ChangeSerializer(serializers.Serializer):
    """One difference between two revisions."""

    kind = serializers.CharField()
    section = serializers.CharField()
    key = serializers.CharField()
    place = serializers.CharField()
    before = serializers.CharField()
    after = serializers.CharField()
    percent = serializers.CharField()


class SweepRange(Input):
    """A symbol of the spec, and the first and last value to try: numbers or formulas."""

    symbol = Text(max_length=64)
    low = Text(max_length=100)
    high = Text(max_length=100)


class BrokenRule(serializers.Serializer):
    """A rule that judges worse than at the written value."""

    rule = serializers.CharField()
    severity = serializers.CharField()
    path = serializers.CharField()
    message = serializers.CharField()


class FirstBreak(BrokenRule):
    """The first value at which a rule breaks."""

    value = serializers.IntegerField()


class SweepRow(serializers.Serializer):
    """What one value makes of the spec; a number is null where it has no value."""

    value = serializers.IntegerField()
    smem_bytes = serializers.IntegerField(allow_null=True)
    smem_pages = serializers.IntegerField(allow_null=True)
    regions = serializers.IntegerField(allow_null=True)
    semaphores = serializers.IntegerField(allow_null=True)
    tasks = serializers.IntegerField(allow_null=True)
    plan_error = serializers.CharField(help_text="What the planner refuses; empty where it does not.")
    breaks = BrokenRule(many=True)


class Sweep(serializers.Serializer):
    """A spec at every value of one symbol."""

    symbol = serializers.CharField()
    written = serializers.IntegerField(allow_null=True)
    rows = SweepRow(many=True)
    first_breaks = FirstBreak(many=True)


SWEEP_PARAMETERS = [
    OpenApiParameter("symbol", str, required=True, description="A symbol of the spec, such as STAGES."),
    OpenApiParameter("low", str, required=True, description="First value: a number or a formula."),
    OpenApiParameter("high", str, required=True, description="Last value: a number or a formula."),
]


class NewSpec(Input):
    """A spec over one or several ops; `content` becomes the first draft."""

    title = Text(max_length=200)
    ops = serializers.ListField(
        child=Named(slug_field="slug", queryset=Op.objects.select_related("head").filter(archived_at__isnull=True)),
        min_length=1,
        max_length=16,
    )
    content = Document(required=False)


class PostedContent(Input):
    """A spec document to be judged; it is not stored."""

    content = Document()


class PostedFile(Input):
    """The text of a spec's file, markdown or JSON; it is not stored."""

    text = Text(max_length=MAX_BYTES, trim_whitespace=False)


class TwoRevisions(Input):
    """Numbers of two revisions."""

    old = serializers.IntegerField(min_value=1, max_value=999_999_999)
    new = serializers.IntegerField(min_value=1, max_value=999_999_999)


def spec_of(code: str) -> Spec:
    """The spec of this code. Raises Missing spec.none."""
    return find(Spec.objects.select_related("head"), "spec.none", f"spec {code}", code=code.upper())


def revision_of(code: str, number: str | int) -> SpecRevision:
    """A revision with its spec. Raises Missing spec.none or spec.no_revision."""
    spec = spec_of(code)
    found = SpecRevision.objects.filter(spec=spec).select_related("author")
    revision = find(found, "spec.no_revision", f"revision {number} of {spec.code}", number=int(number))
    revision.spec = spec
    return revision


def with_status(found: list[Spec]) -> list[Spec]:
    """The same specs, each with its derived `status`."""
    statuses = spec_statuses(found)
    for spec in found:
        spec.status = statuses[spec.pk]
    return found


class SpecViewSet(viewsets.GenericViewSet, mixins.ListModelMixin):
    """Specs, newest first; archived ones too."""

    queryset = (
        Spec.objects.select_related("created_by", "head__author")
        .prefetch_related("ops")
        .defer("head__content")
        .order_by("-id")
        .distinct()
    )
    serializer_class = SpecSerializer
    filterset_class = SpecFilter
    lookup_field = "code"
    lookup_value_regex = CODE

    def paginate_queryset(self, queryset):
        return with_status(super().paginate_queryset(queryset))

    def _one(self, code: str) -> Response:
        spec = find(self.queryset, "spec.none", f"spec {code}", code=code.upper())
        return Response(SpecSerializer(with_status([spec])[0]).data)

    def retrieve(self, request: Request, code: str) -> Response:
        """A spec, the state that its rows give it, and why."""
        return self._one(code)

    @extend_schema(request=NewSpec, responses={201: SpecSerializer})
    def create(self, request: Request) -> Response:
        """Begin a spec. Its draft is yours; post a revision to make it readable to others."""
        spec = posting.post_spec(actor_from_request(request, "api"), **read(NewSpec, request))
        response = self._one(spec.code)
        response.status_code = 201
        return response

    @extend_schema(responses=DraftSerializer, filters=False)
    @action(detail=True, pagination_class=None, filterset_class=None)
    def draft(self, request: Request, code: str) -> Response:
        """One's own draft."""
        return Response(DraftSerializer(_draft(request, code)).data)

    @extend_schema(responses=Sweep, parameters=SWEEP_PARAMETERS, filters=False)
    @action(detail=True, pagination_class=None, filterset_class=None, url_path="draft/sweep", url_name="draft-sweep")
    def draft_sweep(self, request: Request, code: str) -> Response:
        """One's own draft at every value of a symbol, with the rules that break there."""
        return swept(request, _draft(request, code).content)

    @extend_schema(request=None, responses={204: None})
    @draft.mapping.delete
    def discard_draft(self, request: Request, code: str) -> Response:
        """Throw one's own draft away."""
        specs.discard_draft(actor_from_request(request, "api"), spec=_draft(request, code).spec)
        return Response(status=204)

    @extend_schema(
        responses=ChangeSerializer(many=True),
        parameters=[
            OpenApiParameter("old", int, required=True, description="Number of a revision."),
            OpenApiParameter("new", int, required=True, description="Number of a revision."),
        ],
        filters=False,
    )
    @action(detail=True, pagination_class=None, filterset_class=None)
    def diff(self, request: Request, code: str) -> Response:
        """What changed between two revisions."""
        asked = TwoRevisions(data=request.query_params)
        asked.is_valid(raise_exception=True)
        old, new = (revision_of(code, asked.validated_data[name]) for name in ("old", "new"))
        changes = [change.as_document() for change in spec_diff(old.content, new.content)]
        return Response(ChangeSerializer(changes, many=True).data)

    @extend_schema(request=PostedContent, responses=Checks)
    @action(detail=False, methods=["post"])
    def check(self, request: Request) -> Response:
        """Run the spec rules over a document, finished or not; nothing is stored."""
        return Response(checks_document(report_of(read(PostedContent, request)["content"])))

    @extend_schema(request=PostedFile, responses=FileChecks)
    @action(detail=False, methods=["post"], url_path="check-file", url_name="check-file")
    def check_file(self, request: Request) -> Response:
        """Read a spec from the text of a file and run the spec rules over it, by line; nothing is stored."""
        return Response(check_file(read(PostedFile, request)["text"], report_of).as_document())

    @extend_schema(request=PostedContent, responses=Gate)
    @action(detail=True, methods=["post"])
    def gate(self, request: Request, code: str) -> Response:
        """Ask the gate about a document, as if it were the next revision of this spec; nothing is stored."""
        spec = spec_of(code)
        document = posting.next_revision(spec, request.user, read(PostedContent, request)["content"])
        return Response(gate_preview(spec, document).as_document())


def swept(request: Request, document: dict[str, Any]) -> Response:
    """The sweep that the query asks for. Raises ValidationError, and Refusal spec.sweep."""
    asked = SweepRange(data=request.query_params.dict())
    asked.is_valid(raise_exception=True)
    return Response(Sweep(sweep_or_refuse(document, **asked.validated_data)).data)


def _draft(request: Request, code: str) -> SpecDraft:
    spec = spec_of(code)
    draft = SpecDraft.objects.filter(spec=spec, user=request.user).select_related("base").first()
    if draft is None:
        raise Missing("spec.no_draft", f"You have no draft of {spec.code}.", fix="Post a revision, or open the editor.")
    draft.spec = spec
    return draft
