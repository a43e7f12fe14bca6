"""REST of runs: submit, watch, read results and judgements, cancel."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.api.kernels import kernel_of, version_of
from kernels.filtersets import RunFilter
from kernels.models import Anchor, Judgement, Run, RunAttempt, RunLog, RunResult
from kernels.selectors.samples import samples_csv
from kernels.services import runs
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Missing
from v2kb.core.rest import AS_CSV, Document, Input, Named, Nothing, Text, engine_of, find, read


class JudgementSerializer(serializers.ModelSerializer):
    """What the rules said of a perf session."""

    content = Document()

    class Meta:
        model = Judgement
        fields = [
            "judgement", "grade", "disposition", "tier", "sentence", "rule_version", "content_hash", "created_at",
            "content",
        ]  # fmt: skip


class JudgementSummary(JudgementSerializer):
    """A judgement in one sentence."""

    class Meta:
        model = Judgement
        fields = ["judgement", "grade", "disposition", "tier", "sentence"]


class Registration(serializers.Serializer):
    """The sealed prediction that the run is judged against."""

    spec = serializers.CharField(source="revision.spec.code")
    revision = serializers.IntegerField(source="revision.number")
    choice_id = serializers.CharField()
    content_hash = serializers.CharField()


class Progress(serializers.Serializer):
    """What the worker reported last."""

    done = serializers.IntegerField(source="progress_done")
    total = serializers.IntegerField(source="progress_total")
    phase = serializers.CharField(source="progress_phase")


class RunSerializer(serializers.ModelSerializer):
    """A run as lists show it."""

    id = serializers.CharField(source="public_id")
    op = serializers.CharField(source="op.slug")
    kernel = serializers.CharField(source="version.kernel.slug")
    version = serializers.IntegerField(source="version.number")
    anchor = serializers.CharField(source="anchor.name", default="")
    registration = Registration(source="preregistration", allow_null=True)
    progress = Progress(source="*")
    submitted_by = serializers.CharField(source="submitted_by.username")
    engine = engine_of("submitted_by")
    judgement = serializers.SerializerMethodField(help_text="The newest, of a finished perf run.")

    class Meta:
        model = Run
        fields = [
            "id", "kind", "op", "kernel", "version", "anchor", "registration", "queue", "state", "outcome", "message",
            "attempts", "progress", "submitted_by", "engine", "submitted_at", "claimed_at", "finished_at",
            "cancel_requested_at", "judgement",
        ]  # fmt: skip

    @extend_schema_field(JudgementSummary(allow_null=True))
    def get_judgement(self, run: Run) -> dict[str, Any] | None:
        newest = next(iter(run.judgements.all()), None)
        return JudgementSummary(newest).data if newest else None


class AttemptSerializer(serializers.ModelSerializer):
    """One attempt: who took it and how it ended."""

    worker = serializers.CharField(source="worker.name", default="")

    class Meta:
        model = RunAttempt
        fields = ["number", "worker", "claimed_at", "last_ping_at", "ended_at", "ended_why"]


class RunDetail(RunSerializer):
    """A run with what the worker was told to do. The secret of its inputs' seeds is not part of it."""

    contract_hash = serializers.CharField(source="contract.content_hash")
    digest = serializers.CharField(source="version.digest")
    workloads = serializers.ListField(child=serializers.CharField(), source="job.workloads")
    plan = Document(source="job.plan", allow_null=True)
    limits = Document(source="job.limits")
    attempt_rows = AttemptSerializer(many=True)

    class Meta:
        model = Run
        fields = [*RunSerializer.Meta.fields, "contract_hash", "digest", "workloads", "plan", "limits", "attempt_rows"]


class LogChunkSerializer(serializers.ModelSerializer):
    """A piece of the log; `fence` counts claims, `seq` pieces of one claim."""

    class Meta:
        model = RunLog
        fields = ["fence", "seq", "at", "text"]


class ResultSerializer(serializers.ModelSerializer):
    """What the worker measured: cases, rounds with every sample in ns, environment."""

    content = Document()

    class Meta:
        model = RunResult
        fields = ["fence", "content_hash", "created_at", "content"]


class NewRun(Input):
    """A run of a kernel version on the op's workloads (all of them when none is named)."""

    kind = serializers.ChoiceField(choices=Run.Kind.choices)
    kernel = Text(max_length=80)
    version = serializers.IntegerField(min_value=1, max_value=999_999_999)
    workloads = serializers.ListField(child=Text(max_length=80), required=False, max_length=64)
    anchor = Named(
        slug_field="name", queryset=Anchor.objects.select_related("version"), required=False, allow_null=True
    )
    rounds = serializers.IntegerField(default=runs.DEFAULT_ROUNDS, min_value=1, max_value=1000)
    launches = serializers.IntegerField(default=runs.DEFAULT_LAUNCHES, min_value=1, max_value=100_000)
    queue = Text(max_length=40, default="", allow_blank=True, help_text="Empty for the op's own target.")
    diagnostic = serializers.BooleanField(default=False, help_text="Bound to no prediction; can't back a verdict.")


class RunViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Runs, newest first."""

    queryset = (
        Run.objects.select_related("op", "version__kernel", "anchor", "preregistration__revision__spec", "submitted_by")
        .prefetch_related("judgements")
        .defer("job", "preregistration__revision__content", "preregistration__revision__checks")
        .order_by("-id")
    )
    serializer_class = RunSerializer
    filterset_class = RunFilter
    lookup_field = "public_id"
    lookup_url_kwarg = "id"
    lookup_value_regex = r"[A-Za-z0-9]{1,40}"

    def _run(self, public_id: str) -> Run:
        return find(self.queryset, "run.none", f"run {public_id}", public_id=public_id)

    def _detail(self, public_id: str, status: int = 200) -> Response:
        found = self.queryset.defer(None).select_related("contract").prefetch_related("attempt_rows__worker")
        run = find(found, "run.none", f"run {public_id}", public_id=public_id)
        return Response(RunDetail(run).data, status=status)

    @extend_schema(responses=RunDetail)
    def retrieve(self, request: Request, id: str) -> Response:
        """A run with its attempts."""
        return self._detail(id)

    @extend_schema(request=NewRun, responses={201: RunDetail})
    def create(self, request: Request) -> Response:
        """Queue a run. A perf run of a kernel under a spec is bound to the sealed prediction of its revision."""
        sent = read(NewRun, request)
        version = version_of(kernel_of(sent.pop("kernel")), sent.pop("version"))
        run = runs.submit_run(actor_from_request(request, "api"), version=version, **sent)
        return self._detail(run.public_id, 201)

    @extend_schema(request=None, responses=RunDetail)
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, id: str) -> Response:
        """Cancel a run: at once while it is queued, else its worker is told with the next ping."""
        read(Nothing, request)
        runs.cancel_run(actor_from_request(request, "api"), run=self._run(id))
        return self._detail(id)

    @extend_schema(responses=LogChunkSerializer(many=True), filters=False)
    @action(detail=True, filterset_class=None, serializer_class=LogChunkSerializer)
    def log(self, request: Request, id: str) -> Response:
        """The log in the order in which the worker sent it."""
        chunks = RunLog.objects.filter(run=self._run(id)).order_by("fence", "seq")
        return self.get_paginated_response(LogChunkSerializer(self.paginate_queryset(chunks), many=True).data)

    @extend_schema(responses=JudgementSerializer(many=True), filters=False)
    @action(detail=True, filterset_class=None, serializer_class=JudgementSerializer)
    def judgements(self, request: Request, id: str) -> Response:
        """What the rules said, newest first; a recomputed judgement is a new one."""
        found = Judgement.objects.filter(run=self._run(id)).order_by("-id")
        return self.get_paginated_response(JudgementSerializer(self.paginate_queryset(found), many=True).data)

    @extend_schema(responses=ResultSerializer, filters=False)
    @action(detail=True, filterset_class=None, pagination_class=None)
    def result(self, request: Request, id: str) -> Response:
        """What the worker measured."""
        return Response(ResultSerializer(_result(self._run(id))).data)

    @extend_schema(
        responses={(200, "text/csv"): OpenApiResponse(str, description="One sample a line, times in ns.")},
        filters=False,
    )
    @action(detail=True, filterset_class=None, pagination_class=None, renderer_classes=AS_CSV)
    def samples(self, request: Request, id: str) -> Response:
        """Every sample in the order in which it was taken."""
        text = samples_csv(_result(self._run(id)).content)
        headers = {"Content-Disposition": f'attachment; filename="{id}-samples.csv"'}
        return Response(text, content_type="text/csv; charset=utf-8", headers=headers)


def _result(run: Run) -> RunResult:
    result = RunResult.objects.filter(run=run).first()
    if result is None:
        raise Missing("run.no_result", f"{run.public_id} is {run.state}; it has no result.")
    return result
