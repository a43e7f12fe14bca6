"""REST of ops: contracts, the evidence that touches them, stopping."""

from django.db.models import Exists, OuterRef
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.filtersets import OpFilter
from kernels.models import Op, OpContract, OpStop
from kernels.selectors.ops import evidence_touching, op_stage
from kernels.services import ops
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import SLUG, Document, Input, Text, find, read

SLUG_OF_OP = OpenApiParameter("slug", str, OpenApiParameter.PATH, description="Name of the op.")
HASH_CHARS = 64


class ContractSerializer(serializers.ModelSerializer):
    """One immutable contract."""

    author = serializers.CharField(source="author.username", default="", read_only=True)
    content = Document()

    class Meta:
        model = OpContract
        fields = ["number", "content_hash", "content", "author", "reason", "created_at"]


class OpSerializer(serializers.ModelSerializer):
    """An op as lists show it."""

    contract_number = serializers.IntegerField(source="head.number", default=None, allow_null=True)
    contract_hash = serializers.CharField(source="head.content_hash", default="")
    family = serializers.CharField(source="head.family", default="")
    envelope = serializers.CharField(source="head.envelope", default="")
    target = serializers.CharField(source="head.target", default="")
    stopped = serializers.BooleanField()
    created_by = serializers.CharField(source="created_by.username", default="")

    class Meta:
        model = Op
        fields = [
            "slug", "title", "contract_number", "contract_hash", "family", "envelope", "target", "stopped",
            "created_by", "created_at", "archived_at",
        ]  # fmt: skip


class OpDetailSerializer(OpSerializer):
    """An op with its newest contract and the stage it has reached."""

    contract = ContractSerializer(source="head")
    stage = serializers.SerializerMethodField()

    class Meta:
        model = Op
        fields = [*OpSerializer.Meta.fields, "stage", "contract"]

    def get_stage(self, op: Op) -> str:
        return op_stage(op)


class StopSerializer(serializers.ModelSerializer):
    """That an op was stopped, why, and by which evidence."""

    user = serializers.CharField(source="user.username")
    rows = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))

    class Meta:
        model = OpStop
        fields = ["lever", "reason", "rows", "user", "at"]


class EvidenceCard(serializers.Serializer):
    """An evidence row that touches an op."""

    code = serializers.CharField()
    title = serializers.CharField()
    verdict = serializers.CharField()
    note = serializers.CharField(help_text="Whether it blocks.")
    figure = serializers.CharField()
    mechanism = serializers.CharField()
    scope = serializers.ListField(child=serializers.CharField(), help_text="How the scopes relate, and the row's.")


class EvidenceLane(serializers.Serializer):
    """The rows of one verdict."""

    verdict = serializers.CharField()
    cards = EvidenceCard(many=True)


class NewOp(Input):
    """An op with its first contract."""

    slug = serializers.SlugField(max_length=80)
    content = Document()
    reason = Text(max_length=4000, default="", allow_blank=True)


class NewContract(Input):
    """A contract in the place of the one with `base_hash`."""

    base_hash = Text(max_length=HASH_CHARS, allow_blank=True)
    content = Document()
    reason = Text(max_length=4000, default="", allow_blank=True)


class NewStop(Input):
    """Why the work stops, and the evidence rows that decided."""

    reason = Text(max_length=4000)
    codes = serializers.ListField(child=Text(max_length=20), max_length=50, allow_empty=False)
    lever = Text(max_length=80, default="", allow_blank=True)


def op_of(slug: str) -> Op:
    """The op of this name. Raises Missing op.none."""
    return find(Op.objects.select_related("head"), "op.none", f"op {slug}", slug=slug)


class OpViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Ops, archived ones too; `?archived=false` leaves those out."""

    queryset = (
        Op.objects.select_related("head__author", "created_by")
        .annotate(stopped=Exists(OpStop.objects.filter(op=OuterRef("pk"))))
        .order_by("slug")
    )
    filterset_class = OpFilter
    lookup_field = "slug"
    lookup_value_regex = SLUG

    def get_serializer_class(self):
        return OpSerializer if self.action == "list" else OpDetailSerializer

    @extend_schema(request=NewOp, responses={201: OpDetailSerializer})
    def create(self, request: Request) -> Response:
        """Add an op with its first contract."""
        op = ops.create_op(actor_from_request(request, "api"), **read(NewOp, request))
        return Response(OpDetailSerializer(self.queryset.get(pk=op.pk)).data, status=201)

    @extend_schema(responses=EvidenceLane(many=True), filters=False)
    @action(detail=True, pagination_class=None, filterset_class=None)
    def evidence(self, request: Request, slug: str) -> Response:
        """The evidence rows that touch the op, in three lanes."""
        return Response(EvidenceLane(evidence_touching(op_of(slug)), many=True).data)


@extend_schema(parameters=[SLUG_OF_OP])
class ContractViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Contracts of an op, newest first."""

    queryset = OpContract.objects.select_related("author").order_by("-number")
    serializer_class = ContractSerializer

    def get_queryset(self):
        return self.queryset.filter(op=op_of(self.kwargs["slug"]))

    @extend_schema(request=NewContract, responses={201: ContractSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Give the op a new contract; the same content as the head gives the head."""
        op = ops.revise_op(actor_from_request(request, "api"), op=op_of(slug), **read(NewContract, request))
        return Response(ContractSerializer(op.head).data, status=201)


@extend_schema(parameters=[SLUG_OF_OP])
class StopViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """When and why work on an op was stopped at stage 0, newest first."""

    queryset = OpStop.objects.select_related("user").order_by("-id")
    serializer_class = StopSerializer

    def get_queryset(self):
        return self.queryset.filter(op=op_of(self.kwargs["slug"]))

    @extend_schema(request=NewStop, responses={201: StopSerializer})
    def create(self, request: Request, slug: str) -> Response:
        """Record that the evidence says not to build this."""
        stop = ops.stop_op(actor_from_request(request, "api"), op=op_of(slug), **read(NewStop, request))
        return Response(StopSerializer(stop).data, status=201)
