"""REST of the vocabulary besides levers."""

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence.models import Term
from evidence.services.terms import (
    add_term,
    add_term_alias,
    archive_term,
    edit_term,
    remove_term_alias,
    restore_term,
)
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Input, Nothing, Text, read


class TermSerializer(serializers.ModelSerializer):
    """A word of the vocabulary; what is built in is part of the program."""

    aliases = serializers.SerializerMethodField()

    class Meta:
        model = Term
        fields = ["id", "kind", "word", "note", "aliases", "built_in", "archived_at"]

    def get_aliases(self, term: Term) -> list[str]:
        """Other ways to write it."""
        return [alias.word for alias in term.aliases.all()]


class TermEdit(Input):
    """What can be changed of a term."""

    note = Text(max_length=1000, allow_blank=True)


class NewTerm(Input):
    """A term to add: of the kind `arch`, `dtype` or `cause`. An added cause class blocks in full."""

    kind = Text(max_length=10)
    word = Text(max_length=60)
    note = Text(max_length=1000, allow_blank=True, default="")
    aliases = serializers.ListField(child=Text(max_length=60), max_length=50, default=list)


class TermAliasInput(Input):
    """Another way to write the term."""

    alias = Text(max_length=60)


class TermReason(Input):
    """A reason that must be given."""

    reason = Text(max_length=4000)


class TermViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Architectures, dtypes, units and cause classes; `?kind=` narrows, `?archived=1` lists archived ones."""

    queryset = Term.objects.none()
    serializer_class = TermSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    def get_queryset(self) -> QuerySet[Term]:
        terms = Term.objects.prefetch_related("aliases")
        if self.action != "list":
            return terms
        kind = self.request.query_params.get("kind", "")
        terms = terms.filter(archived_at__isnull=self.request.query_params.get("archived") != "1")
        return terms.filter(kind=kind) if kind in Term.Kind.values else terms

    @extend_schema(
        parameters=[
            OpenApiParameter("kind", str, enum=Term.Kind.values),
            OpenApiParameter("archived", str, enum=["1"]),
        ]
    )
    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Terms by kind and word."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewTerm, responses={201: TermSerializer})
    def create(self, request: Request) -> Response:
        """Add a term."""
        term = add_term(actor_from_request(request, "api"), **read(NewTerm, request))
        return self._shown(term.pk, status.HTTP_201_CREATED)

    @extend_schema(request=TermEdit, responses=TermSerializer)
    def update(self, request: Request, pk: str) -> Response:
        """Change the note."""
        edit_term(actor_from_request(request, "api"), int(pk), **read(TermEdit, request))
        return self._shown(int(pk))

    @extend_schema(request=TermAliasInput, responses=TermSerializer)
    @action(detail=True, methods=["post"], url_path="add-alias")
    def add_alias(self, request: Request, pk: str) -> Response:
        """Give the term another name."""
        add_term_alias(actor_from_request(request, "api"), int(pk), read(TermAliasInput, request)["alias"])
        return self._shown(int(pk))

    @extend_schema(request=TermAliasInput, responses=TermSerializer)
    @action(detail=True, methods=["post"], url_path="remove-alias")
    def remove_alias(self, request: Request, pk: str) -> Response:
        """Take an added name away."""
        remove_term_alias(actor_from_request(request, "api"), int(pk), read(TermAliasInput, request)["alias"])
        return self._shown(int(pk))

    @extend_schema(request=TermReason, responses=TermSerializer)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        """Take an added term off the lists to pick from."""
        archive_term(actor_from_request(request, "api"), int(pk), **read(TermReason, request))
        return self._shown(int(pk))

    @extend_schema(request=Nothing, responses=TermSerializer)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        """Put an archived term back on the lists."""
        read(Nothing, request)
        restore_term(actor_from_request(request, "api"), int(pk))
        return self._shown(int(pk))

    def _shown(self, pk: int, code: int = status.HTTP_200_OK) -> Response:
        return Response(TermSerializer(Term.objects.prefetch_related("aliases").get(pk=pk)).data, status=code)
