"""REST of proposals."""

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import selectors
from evidence.api.levers import Reason
from evidence.api.rows import ReceiptSerializer
from evidence.models import Proposal, ProposalDecision
from evidence.services import (
    accept_proposal,
    propose_change,
    propose_row,
    reject_proposal,
    revise_proposal,
    withdraw_proposal,
)
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Document, Input, Nothing, Text, read
from v2kb.rules.evidence_change import acceptors_needed


class DecisionSerializer(serializers.ModelSerializer):
    """One curator's decision."""

    user = serializers.CharField(source="user.username", read_only=True)

    class Meta:
        model = ProposalDecision
        fields = ["user", "decision", "reason", "at"]


class ProposalSerializer(serializers.ModelSerializer):
    """A wanted change; `row` is null for a new row until it is accepted."""

    row = serializers.CharField(source="row.code", default=None, read_only=True, allow_null=True)
    base = serializers.CharField(source="base.content_hash", default=None, read_only=True, allow_null=True)
    author = serializers.CharField(source="author.username", read_only=True)
    content = Document(read_only=True)
    replaces = serializers.IntegerField(source="replaces_id", allow_null=True, read_only=True)
    stale = serializers.SerializerMethodField()
    acceptances_needed = serializers.SerializerMethodField()
    decisions = DecisionSerializer(many=True, read_only=True)
    receipts = ReceiptSerializer(many=True, read_only=True)

    class Meta:
        model = Proposal
        fields = [
            "id", "row", "base", "state", "origin", "author", "reason", "content", "replaces", "stale",
            "acceptances_needed", "decisions", "receipts", "created_at",
        ]  # fmt: skip

    def get_stale(self, proposal: Proposal) -> bool:
        """Whether the row has moved on since."""
        return selectors.is_stale(proposal)

    def get_acceptances_needed(self, proposal: Proposal) -> int:
        """How many curators must accept."""
        return acceptors_needed(proposal.base.content if proposal.base else None, proposal.content)


class Revision(Input):
    """The content that a row should have, and why. `base_hash` is the head that it was made from."""

    base_hash = Text(max_length=64, allow_blank=True, default="")
    content = Document()
    reason = Text(max_length=4000)


class NewProposal(Revision):
    """A change of `row`, or without it a new row."""

    row = Text(max_length=20, allow_blank=True, default="")


class Acceptance(Input):
    """An optional remark."""

    reason = Text(max_length=4000, allow_blank=True, default="")


class ProposalViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Proposals: made, revised and withdrawn by their authors, decided by curators who did not write them."""

    queryset = Proposal.objects.none()
    serializer_class = ProposalSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    def get_queryset(self) -> QuerySet[Proposal]:
        params = self.request.query_params
        state = params.get("state", "")
        proposals = selectors.list_proposals(state if state in Proposal.State.values else "")
        if params.get("row"):
            proposals = proposals.filter(row__code=params["row"][:20].replace("\x00", "").upper())
        return proposals.prefetch_related("receipts")

    @extend_schema(
        parameters=[
            OpenApiParameter("state", str, enum=Proposal.State.values),
            OpenApiParameter("row", str, description="Code of a row."),
        ]
    )
    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Proposals; open ones oldest first."""
        return super().list(request, *args, **kwargs)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One proposal."""
        return self._shown(int(pk))

    @extend_schema(request=NewProposal, responses={201: ProposalSerializer})
    def create(self, request: Request) -> Response:
        """Propose a change of a row, or a new row. A row that moved on answers 409 with base, theirs and mine."""
        data, actor = read(NewProposal, request), actor_from_request(request, "api")
        code, base_hash = data.pop("row").upper(), data.pop("base_hash")
        proposal = propose_change(actor, code, base_hash=base_hash, **data) if code else propose_row(actor, **data)
        return self._shown(proposal.pk, status.HTTP_201_CREATED)

    @extend_schema(request=Revision, responses={201: ProposalSerializer})
    @action(detail=True, methods=["post"])
    def revise(self, request: Request, pk: str) -> Response:
        """Put a newer proposal in the place of an open one."""
        proposal = revise_proposal(actor_from_request(request, "api"), int(pk), **read(Revision, request))
        return self._shown(proposal.pk, status.HTTP_201_CREATED)

    @extend_schema(request=Acceptance, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """Accept. Some changes stay open until a second curator accepts."""
        accept_proposal(actor_from_request(request, "api"), int(pk), **read(Acceptance, request))
        return self._shown(int(pk))

    @extend_schema(request=Reason, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def reject(self, request: Request, pk: str) -> Response:
        """Reject with a reason."""
        reject_proposal(actor_from_request(request, "api"), int(pk), **read(Reason, request))
        return self._shown(int(pk))

    @extend_schema(request=Nothing, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str) -> Response:
        """Take back one's own."""
        read(Nothing, request)
        withdraw_proposal(actor_from_request(request, "api"), int(pk))
        return self._shown(int(pk))

    def _shown(self, pk: int, code: int = status.HTTP_200_OK) -> Response:
        return Response(ProposalSerializer(selectors.get_proposal(pk)).data, status=code)
