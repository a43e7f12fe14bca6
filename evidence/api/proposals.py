"""REST of proposals."""

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import selectors
from evidence.api.flags import EffectSerializer
from evidence.api.levers import Reason
from evidence.api.rows import ReceiptSerializer
from evidence.curation import effects_of
from evidence.deciding import acceptances_needed
from evidence.models import Proposal, ProposalDecision
from evidence.services import (
    accept_proposal,
    propose_change,
    propose_row,
    reject_proposal,
    revise_proposal,
    withdraw_proposal,
)
from evidence.services.bulk import ACCEPTED, NEEDS_SECOND, REFUSED, accept_many, preview_bulk
from evidence.services.claims import claim_proposal, release_claim
from evidence.services.decisions import recuse
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Document, Input, Nothing, Text, engine_of, read

NO_CONFLICT = "none"


class DecisionSerializer(serializers.ModelSerializer):
    """One curator's decision. `conflict` is what an acceptor declared; empty where they stated that they have none."""

    user = serializers.CharField(source="user.username", read_only=True)
    engine = engine_of("user")

    class Meta:
        model = ProposalDecision
        fields = ["user", "engine", "decision", "reason", "conflict", "at"]


class ProposalSerializer(serializers.ModelSerializer):
    """A wanted change; `row` is null for a new row until it is accepted."""

    row = serializers.CharField(source="row.code", default=None, read_only=True, allow_null=True)
    base = serializers.CharField(source="base.content_hash", default=None, read_only=True, allow_null=True)
    author = serializers.CharField(source="author.username", read_only=True)
    engine = engine_of("author")
    content = Document(read_only=True)
    replaces = serializers.IntegerField(source="replaces_id", allow_null=True, read_only=True)
    reverts_to = serializers.IntegerField(source="reverts_to.number", default=None, allow_null=True, read_only=True)
    merges = serializers.CharField(source="merges.row.code", default=None, allow_null=True, read_only=True)
    claimed_by = serializers.SerializerMethodField()
    stale = serializers.SerializerMethodField()
    acceptances_needed = serializers.SerializerMethodField()
    decisions = DecisionSerializer(many=True, read_only=True)
    receipts = ReceiptSerializer(many=True, read_only=True)

    class Meta:
        model = Proposal
        fields = [
            "id", "row", "base", "state", "origin", "kind", "author", "engine", "reason", "content", "replaces",
            "reverts_to", "merges", "stale", "acceptances_needed", "claimed_by", "decisions", "receipts", "created_at",
        ]  # fmt: skip

    def get_stale(self, proposal: Proposal) -> bool:
        """Whether the row has moved on since."""
        return selectors.is_stale(proposal)

    def get_acceptances_needed(self, proposal: Proposal) -> int:
        """How many curators must accept."""
        return acceptances_needed(proposal)

    def get_claimed_by(self, proposal: Proposal) -> str:
        """Who looks at it now; empty for nobody."""
        claim = getattr(proposal, "claim", None)
        return claim.user.username if claim is not None and claim.until > timezone.now() else ""


class Revision(Input):
    """The content that a row should have, and why. `base_hash` is the head that it was made from."""

    base_hash = Text(max_length=64, allow_blank=True, default="")
    content = Document()
    reason = Text(max_length=4000)


class NewProposal(Revision):
    """A change of `row`, or without it a new row."""

    row = Text(max_length=20, allow_blank=True, default="")


class Acceptance(Input):
    """`conflict`: `none`, or what your conflict of interest is. The remark is optional."""

    conflict = Text(max_length=4000, help_text="none, or what your conflict of interest is.")
    reason = Text(max_length=4000, allow_blank=True, default="")


def acceptance(form: type[Input], request: Request) -> dict[str, Any]:
    """The checked body, with an empty conflict where `none` is stated."""
    data = read(form, request)
    stated = data["conflict"].strip()
    return data | {"conflict": "" if stated.lower() == NO_CONFLICT else stated}


class OneAcceptance(Acceptance):
    """The same of one proposal; `over_claim` confirms that you know of another curator's claim."""

    over_claim = serializers.BooleanField(default=False)


class BulkAcceptance(Acceptance):
    """Up to 50 proposals of one kind. With `dry_run` nothing is written."""

    ids = serializers.ListField(child=serializers.IntegerField(min_value=1, max_value=2**62), max_length=500)
    dry_run = serializers.BooleanField(default=False)


class BulkLineSerializer(serializers.Serializer):
    """accepted, needs_second_acceptor, or refused with code and message; a dry run says what would be."""

    id = serializers.IntegerField(source="proposal.pk")
    outcome = serializers.ChoiceField([ACCEPTED, NEEDS_SECOND, REFUSED])
    code = serializers.CharField()
    message = serializers.CharField()


class ProposalViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Proposals: made, revised and withdrawn by their authors, decided by curators who did not write them."""

    queryset = Proposal.objects.none()
    serializer_class = ProposalSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    def get_queryset(self) -> QuerySet[Proposal]:
        params = self.request.query_params
        state = params.get("state", "")
        kind = params.get("kind", "")
        proposals = selectors.list_proposals(
            state if state in Proposal.State.values else "", kind if kind in Proposal.Kind.values else ""
        )
        if params.get("row"):
            proposals = proposals.filter(row__code=params["row"][:20].upper())
        return proposals.prefetch_related("receipts")

    @extend_schema(
        parameters=[
            OpenApiParameter("state", str, enum=Proposal.State.values),
            OpenApiParameter("kind", str, enum=Proposal.Kind.values),
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

    @extend_schema(request=OneAcceptance, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def accept(self, request: Request, pk: str) -> Response:
        """Accept, stating a conflict of interest or none. Some changes stay open until a second curator accepts."""
        accept_proposal(actor_from_request(request, "api"), int(pk), **acceptance(OneAcceptance, request))
        return self._shown(int(pk))

    @extend_schema(request=BulkAcceptance, responses=BulkLineSerializer(many=True))
    @action(detail=False, methods=["post"], url_path="bulk-accept", pagination_class=None)
    def bulk_accept(self, request: Request) -> Response:
        """Accept up to 50 proposals of one kind, each for itself, or say what would become of them."""
        data, actor = acceptance(BulkAcceptance, request), actor_from_request(request, "api")
        ids, dry_run = data.pop("ids"), data.pop("dry_run")
        lines = preview_bulk(actor, ids) if dry_run else accept_many(actor, ids, **data)
        return Response(BulkLineSerializer(lines, many=True).data)

    @extend_schema(responses=EffectSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def effects(self, request: Request, pk: str) -> Response:
        """Dry run: approved specs that accepting it would reopen, that are stale already, or that hold again."""
        proposal = selectors.get_proposal(int(pk))
        return Response(EffectSerializer(effects_of([proposal])[proposal.pk], many=True).data)

    @extend_schema(request=Reason, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def recuse(self, request: Request, pk: str) -> Response:
        """Stand aside: you no longer decide it."""
        recuse(actor_from_request(request, "api"), int(pk), **read(Reason, request))
        return self._shown(int(pk))

    @extend_schema(request=Nothing, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def claim(self, request: Request, pk: str) -> Response:
        """Say for 15 minutes that you look at it."""
        read(Nothing, request)
        claim_proposal(actor_from_request(request, "api"), int(pk))
        return self._shown(int(pk))

    @extend_schema(request=Nothing, responses=ProposalSerializer)
    @action(detail=True, methods=["post"])
    def release(self, request: Request, pk: str) -> Response:
        """Let go of your claim."""
        read(Nothing, request)
        release_claim(actor_from_request(request, "api"), int(pk))
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
