"""REST of the search before design: the board, a spec that begins with its receipt, the receipts of a spec."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence.search.board import NARROWING, Board, Design, board_of
from evidence.selectors import resolve_lever
from kernels.api.specs import CODE_OF_SPEC, NewSpec, SpecSerializer, spec_of, with_status
from kernels.models import Op, SearchReceipt, Spec
from kernels.selectors.searches import receipts_of
from kernels.services.searches import begin_spec, bring_decisions, record_search
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing, Refusal
from v2kb.core.rest import Document, Input, Named, Nothing, Text, read
from v2kb.rules.scope import read_scope
from v2kb.rules.search_query import MAX_CHARS
from v2kb.rules.search_receipt import DECISIONS, MAX_REASON
from v2kb.rules.spec_words import FAMILIES


class Filters(Input):
    """Facets that narrow WIN and UNTESTED rows; DEAD rows stay whatever they say."""

    verdict = serializers.ListField(child=Text(max_length=100), required=False, max_length=20)
    cause = serializers.ListField(child=Text(max_length=100), required=False, max_length=20)
    blocking = serializers.ListField(child=Text(max_length=100), required=False, max_length=20)
    tier = serializers.ListField(child=Text(max_length=100), required=False, max_length=20)
    state = serializers.ListField(child=Text(max_length=100), required=False, max_length=20)


class Search(Input):
    """What is planned. The scope is that of the op, with what `scope` says in its place."""

    query = Text(max_length=MAX_CHARS, required=False, allow_blank=True, default="")
    levers = serializers.ListField(child=Text(max_length=200), required=False, max_length=12)
    op = Named(slug_field="slug", queryset=Op.objects.select_related("head"), required=False, allow_null=True)
    scope = Document(required=False)
    filters = Filters(required=False)


class Decision(Input):
    """What was decided of a hit; `seen` is the content hash that one looked at."""

    code = Text(max_length=20)
    decision = serializers.ChoiceField(choices=list(DECISIONS))
    reason = Text(max_length=MAX_REASON, required=False, allow_blank=True, default="")
    seen = Text(max_length=64, required=False, allow_blank=True, default="")


class DecidedSearch(Input):
    """A search with what was decided of its hits. Every row that blocks needs a decision."""

    search = Search()
    decisions = serializers.ListField(child=Decision(), required=False, max_length=500)


class FurtherSearch(DecidedSearch):
    """A search for a spec that exists."""

    into_draft = serializers.BooleanField(
        default=False, help_text="Bring what was decided into your draft; what is typed there stays."
    )


class SpecFromSearch(DecidedSearch):
    """A spec that begins with a search."""

    title = Text(max_length=200)
    ops = NewSpec().fields["ops"]
    family = serializers.ChoiceField(choices=FAMILIES, required=False, default="")


class BoardRowSerializer(serializers.Serializer):
    """A row beside a planned design."""

    code = serializers.CharField(source="row.code")
    content_hash = serializers.CharField(source="row.head.content_hash")
    verdict = serializers.CharField(source="row.head.verdict")
    title = serializers.CharField(source="row.head.title")
    lever = serializers.CharField(source="row.head.lever.slug")
    relation = serializers.CharField(source="standing.relation", help_text="Of your scope to its scope.")
    scopes = serializers.ListField(child=serializers.CharField(), source="standing.scopes")
    blocks = serializers.BooleanField(source="standing.blocks")
    why_blocks = serializers.CharField(source="standing.why", help_text="Why it blocks you, or why not.")
    aside = serializers.CharField(source="standing.aside", help_text="superseded, flagged, out of scope, archived")
    found_by = serializers.CharField(source="why")


class BoardSerializer(serializers.Serializer):
    """What is known of a planned design, DEAD rows first."""

    change = serializers.IntegerField(help_text="High-water mark of the evidence.")
    left_out = serializers.IntegerField(help_text="Rows beyond those shown; such a search can't be stored.")
    rows = BoardRowSerializer(many=True)


class NewBlockerSerializer(serializers.Serializer):
    """A row that blocks now and did not when the search was stored."""

    code = serializers.CharField()
    content_hash = serializers.CharField()
    why = serializers.CharField()


class SearchReceiptSerializer(serializers.Serializer):
    """A stored search, and what running it again says."""

    content = Document(source="receipt.content")
    content_hash = serializers.CharField(source="receipt.content_hash")
    change = serializers.IntegerField(source="receipt.change")
    user = serializers.CharField(source="receipt.user.username")
    at = serializers.DateTimeField(source="receipt.at")
    is_current = serializers.BooleanField(source="check.is_current")
    sentence = serializers.CharField(source="check.sentence")
    new_blocking = NewBlockerSerializer(source="check.new", many=True)


class BroughtSerializer(serializers.Serializer):
    """The choices of your draft that got something."""

    choices = serializers.ListField(child=serializers.CharField())


def _design(data: dict[str, Any]) -> Design:
    """Raises Refusal search.scope and Missing evidence.no_lever."""
    levers = []
    for name in data.get("levers", ()):
        lever = resolve_lever(name)
        if lever is None:
            raise Missing("evidence.no_lever", f"There is no lever {name[:80]}.", fix="Pick one from the list.")
        levers.append(lever.slug)
    op = data.get("op")
    given = op is not None or "scope" in data
    of_op = op.head.content.get("scope", {}) if op is not None and op.head else {}
    scope, problems = read_scope({**of_op, **data.get("scope", {})})
    if problems:
        raise Refusal("search.scope", problems[0].message, field=f"scope.{problems[0].field}", fix=problems[0].fix)
    filters = data.get("filters") or {}
    chosen = {name: tuple(filters[name]) for name in NARROWING if filters.get(name)}
    return Design(data["query"], tuple(dict.fromkeys(levers)), scope if given else None, chosen)


def _decisions(data: dict[str, Any]) -> dict[str, dict[str, str]]:
    return {one.pop("code").upper(): one for one in data.get("decisions", ())}


class DesignSearchViewSet(viewsets.GenericViewSet):
    """Step 0 of a spec: what is known of a design."""

    queryset = Spec.objects.none()
    serializer_class = BoardSerializer
    filter_backends = []
    pagination_class = None

    @extend_schema(request=Search, responses={200: BoardSerializer})
    def create(self, request: Request) -> Response:
        """Search; nothing is stored."""
        board: Board = board_of(_design(read(Search, request)))
        return Response(BoardSerializer(board).data)

    @extend_schema(request=SpecFromSearch, responses={201: SpecSerializer})
    @action(detail=False, methods=["post"])
    def begin(self, request: Request) -> Response:
        """Begin a spec with a search: its receipt is stored, and what you decided fills your draft."""
        data = read(SpecFromSearch, request)
        spec = begin_spec(
            actor_from_request(request, "api"),
            title=data["title"],
            ops=data["ops"],
            family=data["family"],
            design=_design(data["search"]),
            decisions=_decisions(data),
        )
        found = Spec.objects.select_related("created_by", "head__author").prefetch_related("ops").get(pk=spec.pk)
        return Response(SpecSerializer(with_status([found])[0]).data, status=201)


@extend_schema(parameters=[CODE_OF_SPEC])
class SearchReceiptViewSet(viewsets.GenericViewSet):
    """Searches that are stored with a spec."""

    queryset = SearchReceipt.objects.none()
    serializer_class = SearchReceiptSerializer
    lookup_field = "content_hash"
    lookup_value_regex = "[0-9a-f]{64}"
    filter_backends = []
    pagination_class = None

    @extend_schema(responses=SearchReceiptSerializer(many=True))
    def list(self, request: Request, code: str) -> Response:
        """The newest receipt of each search, run again now."""
        return Response(SearchReceiptSerializer(receipts_of(spec_of(code)), many=True).data)

    @extend_schema(request=FurtherSearch, responses={201: SearchReceiptSerializer})
    def create(self, request: Request, code: str) -> Response:
        """Store a further search with the spec; with `into_draft` what you decided goes into your draft too."""
        data, spec = read(FurtherSearch, request), spec_of(code)
        actor, design = actor_from_request(request, "api"), _design(data["search"])
        receipt = record_search(actor, spec=spec, design=design, decisions=_decisions(data))
        if data["into_draft"]:
            bring_decisions(actor, receipt=receipt)
        return Response(SearchReceiptSerializer(receipts_of(spec)[0]).data, status=201)

    @extend_schema(request=Nothing, responses=BroughtSerializer)
    @action(detail=True, methods=["post"])
    def bring(self, request: Request, code: str, content_hash: str) -> Response:
        """Bring what was decided in a stored search into your draft; what is typed there stays."""
        read(Nothing, request)
        receipt = SearchReceipt.objects.filter(spec=spec_of(code), content_hash=content_hash).first()
        if receipt is None:
            raise Missing("search.no_receipt", f"{code} has no search of this hash.", fix="Take one from its list.")
        changed = bring_decisions(actor_from_request(request, "api"), receipt=receipt)
        return Response(BroughtSerializer({"choices": changed}).data)
