"""REST of the experiment history."""

import datetime

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence import history
from evidence.models import ExperimentEntry
from evidence.services import add_entry, correct_entry
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Input, Text, engine_of, read
from v2kb.rules.experiments import MAX_LENGTHS, MAX_LINKS, VERDICTS


class ExperimentSerializer(serializers.ModelSerializer):
    """One line. `corrects` and `corrected_by` are ids of lines or null."""

    lever = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    links = serializers.SerializerMethodField()
    corrects = serializers.IntegerField(source="corrects_id", allow_null=True, read_only=True)
    corrected_by = serializers.SerializerMethodField()
    author = serializers.CharField(source="author.username", default="", read_only=True)
    engine = engine_of("author")

    class Meta:
        model = ExperimentEntry
        fields = [
            "id", "on", "env", "verdict", "why", "trace", "commit", "lever", "links", "corrects", "corrected_by",
            "content_hash", "author", "engine", "created_at",
        ]  # fmt: skip

    def get_links(self, entry: ExperimentEntry) -> list[str]:
        """Texts such as `row:D3`, `kernel:fused`, `run:R12`."""
        return [str(link) for link in entry.links.all()]

    def get_corrected_by(self, entry: ExperimentEntry) -> int | None:
        """The line that takes its place."""
        return next((later.pk for later in entry.corrections.all()), None)


class NewExperiment(Input):
    """A line to append."""

    on = Text(max_length=10, help_text="The day: 2026-07-03.")
    env = Text(max_length=MAX_LENGTHS["env"])
    verdict = serializers.ChoiceField(choices=VERDICTS)
    why = Text(max_length=MAX_LENGTHS["why"])
    trace = Text(max_length=MAX_LENGTHS["trace"], allow_blank=True, default="")
    commit = Text(max_length=MAX_LENGTHS["commit"], allow_blank=True, default="")
    lever = Text(max_length=80, allow_blank=True, default="", help_text="Slug of a lever, or empty.")
    links = serializers.ListField(child=Text(max_length=100), max_length=MAX_LINKS, default=list)


_FILTERS = [
    OpenApiParameter("q", str, description="Words; every one must stand in the line."),
    OpenApiParameter("verdict", str, many=True, enum=VERDICTS),
    OpenApiParameter("lever", str, description="A lever's name in any spelling."),
    OpenApiParameter("env", str, description="The environment, as it is written."),
    OpenApiParameter("since", datetime.date, description="First day."),
    OpenApiParameter("until", datetime.date, description="Last day."),
    OpenApiParameter("link", str, description="row:D3, kernel:its-name or run:its-id."),
    OpenApiParameter("current", str, enum=["1"], description="Leave out corrected lines."),
]


class ExperimentViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """The experiment history: lines are appended and corrected by new lines, never changed."""

    queryset = ExperimentEntry.objects.none()
    serializer_class = ExperimentSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    def get_queryset(self) -> QuerySet[ExperimentEntry]:
        return history.list_entries(history.EntryFilter.of_params(self.request.query_params))

    @extend_schema(parameters=_FILTERS)
    def list(self, request: Request, *args: object, **kwargs: object) -> Response:
        """Lines, newest day first."""
        return super().list(request, *args, **kwargs)

    def retrieve(self, request: Request, pk: str) -> Response:
        """One line."""
        return self._shown(int(pk))

    @extend_schema(request=NewExperiment, responses={201: ExperimentSerializer})
    def create(self, request: Request) -> Response:
        """Append a line."""
        entry = add_entry(actor_from_request(request, "api"), entry=read(NewExperiment, request))
        return self._shown(entry.pk, status.HTTP_201_CREATED)

    @extend_schema(request=NewExperiment, responses={201: ExperimentSerializer})
    @action(detail=True, methods=["post"])
    def correct(self, request: Request, pk: str) -> Response:
        """Append a line that takes the place of this one."""
        entry = correct_entry(actor_from_request(request, "api"), int(pk), entry=read(NewExperiment, request))
        return self._shown(entry.pk, status.HTTP_201_CREATED)

    def _shown(self, pk: int, code: int = status.HTTP_200_OK) -> Response:
        return Response(ExperimentSerializer(history.get_entry(pk)).data, status=code)
