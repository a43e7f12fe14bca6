"""REST of levers."""

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import selectors
from evidence.models import Lever
from evidence.services import (
    add_alias,
    archive_lever,
    create_lever,
    edit_lever,
    merge_levers,
    remove_alias,
    restore_lever,
    unmerge_levers,
)
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import SLUG, Input, Nothing, Text, read


class LeverSerializer(serializers.ModelSerializer):
    """A lever with all its names; `parent` is a slug or null."""

    parent = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    aliases = serializers.SerializerMethodField()
    merged_into = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True, help_text="The lever that it was merged into, or null."
    )
    rows = serializers.IntegerField(source="row_count", read_only=True, help_text="Live rows about this lever.")

    class Meta:
        model = Lever
        fields = ["slug", "name", "description", "parent", "aliases", "merged_into", "archived_at", "rows"]

    def get_aliases(self, lever: Lever) -> list[str]:
        """Other names, without the lever's own name and slug."""
        return [alias.name for alias in selectors.other_names(lever)]


class LeverEdit(Input):
    """The editable fields of a lever."""

    name = Text(max_length=200)
    description = Text(max_length=4000, allow_blank=True, default="")
    parent = Text(max_length=80, allow_blank=True, default="", help_text="Slug of the lever above, or empty.")


class NewLever(LeverEdit):
    """A lever to add; without a slug it is made from the name."""

    slug = Text(max_length=80, allow_blank=True, default="")
    aliases = serializers.ListField(child=Text(max_length=200), max_length=100, default=list)


class Alias(Input):
    """Another name."""

    alias = Text(max_length=200)


class Reason(Input):
    """A reason that must be given."""

    reason = Text(max_length=4000)


class LeverMerge(Reason):
    """The lever that stays, and why the two are one technique."""

    into = Text(max_length=80, help_text="Slug of the lever that stays.")


class LeverViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Levers; `?q=` looks in all names, `?archived=1` lists archived ones."""

    queryset = Lever.objects.none()
    serializer_class = LeverSerializer
    filter_backends = []
    lookup_field = "slug"
    lookup_value_regex = SLUG

    def get_queryset(self) -> QuerySet[Lever]:
        query = self.request.query_params.get("q", "")[:200]
        return selectors.list_levers(archived=self.request.query_params.get("archived") == "1", query=query)

    def get_object(self) -> Lever:
        return selectors.get_counted_lever(self.kwargs["slug"])

    @extend_schema(
        parameters=[
            OpenApiParameter("q", str, description="A name in any spelling."),
            OpenApiParameter("archived", str, enum=["1"]),
        ]
    )
    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Levers by name."""
        return super().list(request, *args, **kwargs)

    @extend_schema(request=NewLever, responses={201: LeverSerializer})
    def create(self, request: Request) -> Response:
        """Add a lever."""
        lever = create_lever(actor_from_request(request, "api"), **read(NewLever, request))
        return self._shown(lever.slug, status.HTTP_201_CREATED)

    @extend_schema(request=LeverEdit, responses=LeverSerializer)
    def update(self, request: Request, slug: str) -> Response:
        """Change name, description and parent."""
        edit_lever(actor_from_request(request, "api"), slug, **read(LeverEdit, request))
        return self._shown(slug)

    @extend_schema(request=Alias, responses=LeverSerializer)
    @action(detail=True, methods=["post"], url_path="add-alias")
    def add_alias(self, request: Request, slug: str) -> Response:
        """Give the lever another name."""
        add_alias(actor_from_request(request, "api"), slug, read(Alias, request)["alias"])
        return self._shown(slug)

    @extend_schema(request=Alias, responses=LeverSerializer)
    @action(detail=True, methods=["post"], url_path="remove-alias")
    def remove_alias(self, request: Request, slug: str) -> Response:
        """Take another name away."""
        remove_alias(actor_from_request(request, "api"), slug, read(Alias, request)["alias"])
        return self._shown(slug)

    @extend_schema(request=Reason, responses=LeverSerializer)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, slug: str) -> Response:
        """Take an unused lever off the lists."""
        archive_lever(actor_from_request(request, "api"), slug, **read(Reason, request))
        return self._shown(slug)

    @extend_schema(request=LeverMerge, responses=LeverSerializer)
    @action(detail=True, methods=["post"])
    def merge(self, request: Request, slug: str) -> Response:
        """Merge the lever into another one; the answer is that one."""
        into = merge_levers(actor_from_request(request, "api"), slug, **read(LeverMerge, request))
        return self._shown(into.slug)

    @extend_schema(request=Reason, responses=LeverSerializer)
    @action(detail=True, methods=["post"])
    def unmerge(self, request: Request, slug: str) -> Response:
        """Undo the merge of the lever: another curator's act than who merged."""
        unmerge_levers(actor_from_request(request, "api"), slug, **read(Reason, request))
        return self._shown(slug)

    @extend_schema(request=Nothing, responses=LeverSerializer)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, slug: str) -> Response:
        """Put an archived lever back on the lists."""
        read(Nothing, request)
        restore_lever(actor_from_request(request, "api"), slug)
        return self._shown(slug)

    def _shown(self, slug: str, code: int = status.HTTP_200_OK) -> Response:
        return Response(LeverSerializer(selectors.get_counted_lever(slug)).data, status=code)
