"""REST of one's own saved searches."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence.models import SavedSearch
from evidence.search.saved import SavedView, saved_searches
from evidence.services.searches import delete_search, mark_search_seen, save_search
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Input, Nothing, Text, read


class SavedSearchSerializer(serializers.Serializer):
    """A saved search of one's own, with what is new in it."""

    id = serializers.IntegerField(source="search.pk")
    name = serializers.CharField(source="search.name")
    query = serializers.CharField(source="search.query", help_text="Query string of the evidence list.")
    seen = serializers.IntegerField(source="search.seen", help_text="Newest change of the evidence that was looked at.")
    new = serializers.IntegerField(help_text="Rows that came or changed since.")
    codes = serializers.ListField(child=serializers.CharField(), help_text="Codes of the first of them.")
    problem = serializers.CharField(help_text="Why it can't be run; empty when it can.")


class NewSearch(Input):
    """A search to keep; a name that one has is overwritten."""

    name = Text(max_length=100)
    query = Text(max_length=2000, help_text="Query string of the evidence list, such as q=split-k&verdict=DEAD.")


class SavedSearchViewSet(viewsets.GenericViewSet):
    """Saved searches of whoever asks."""

    queryset = SavedSearch.objects.none()
    serializer_class = SavedSearchSerializer
    filter_backends = []
    pagination_class = None
    lookup_value_regex = NUMBER

    @extend_schema(responses=SavedSearchSerializer(many=True))
    def list(self, request: Request) -> Response:
        """One's own, by name."""
        return Response(SavedSearchSerializer(saved_searches(request.user), many=True).data)

    @extend_schema(request=NewSearch, responses={201: SavedSearchSerializer})
    def create(self, request: Request) -> Response:
        """Keep a search."""
        saved = save_search(actor_from_request(request, "api"), **read(NewSearch, request))
        return Response(SavedSearchSerializer(SavedView(saved)).data, status=status.HTTP_201_CREATED)

    def destroy(self, request: Request, pk: str) -> Response:
        """Forget a search."""
        delete_search(actor_from_request(request, "api"), int(pk))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=Nothing, responses=SavedSearchSerializer)
    @action(detail=True, methods=["post"])
    def seen(self, request: Request, pk: str) -> Response:
        """Say that what is new was looked at."""
        read(Nothing, request)
        saved = mark_search_seen(actor_from_request(request, "api"), int(pk))
        return Response(SavedSearchSerializer(SavedView(saved)).data)
