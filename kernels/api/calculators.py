"""REST of the calculators: plain values in, plain values out; nothing is read or stored."""

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.models import Spec
from v2kb.core.rest import Document, Input, read
from v2kb.rules.calculators import CALCULATORS


@extend_schema_field({"oneOf": [{"type": "string"}, {"type": "integer"}]})
class Typed(serializers.Field):
    """A number or a formula as text. The calculator reads it and says what is wrong with it."""

    def to_internal_value(self, data: Any) -> Any:
        return data

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"type": "array", "items": {"type": "object", "additionalProperties": True}})
class RowsTyped(Typed):
    """A list of rows, each an object."""


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
class SymbolsTyped(Typed):
    """Names with the formulas that they stand for."""


class Formulas(Input):
    """Values whose formulas may use `symbols`."""

    symbols = SymbolsTyped(required=False)


class SmemPlanner(Formulas):
    """Regions in ordinal order; `others` are further tasks (name, regions), `queue` names those that one SM runs."""

    regions = RowsTyped(help_text="name, slots, size_bytes, alignment, page_count, can_pack, release_step")
    page_bytes = Typed(required=False)
    pages = Typed(required=False)
    others = RowsTyped(required=False)
    queue = serializers.ListField(child=Typed(), required=False, max_length=64)


class WaveQuantisation(Formulas):
    """Items that tasks of old_warps or of new_warps deal with."""

    items = Typed()
    tasks = Typed()
    old_warps = Typed()
    new_warps = Typed()


class AchievableFloor(Formulas):
    """Bytes to move (31.5 MB is an amount too), and a band of bandwidth in TB/s."""

    bytes = Typed()
    low_tb_s = Typed(required=False)
    high_tb_s = Typed(required=False)


class TaskCount(Formulas):
    """A formula for the number of tasks, and the number that is listed."""

    num_tasks = Typed()
    listed = Typed(required=False)


class TmemColumns(Formulas):
    """Objects of tensor memory, and the columns to be allocated."""

    objects = RowsTyped(help_text="name, slots, columns, start")
    alloc_columns = Typed(required=False)


class CalculatorProblem(serializers.Serializer):
    """What is wrong with one value."""

    code = serializers.CharField()
    field = serializers.CharField()
    message = serializers.CharField()
    fix = serializers.CharField()


class CalculatorAnswer(serializers.Serializer):
    """What a calculator says; `result` is null where something is missing or can't be read."""

    result = Document(allow_null=True)
    problems = CalculatorProblem(many=True)


def _answer(name: str, form: type[Input], request: Request) -> Response:
    return Response(CalculatorAnswer(CALCULATORS[name](dict(read(form, request)))).data)


class CalculatorViewSet(viewsets.GenericViewSet):
    """Small sums of a design, without a spec."""

    queryset = Spec.objects.none()
    serializer_class = CalculatorAnswer
    filter_backends = []
    pagination_class = None

    @extend_schema(request=SmemPlanner, responses={200: CalculatorAnswer})
    @action(detail=False, methods=["post"], url_path="smem-planner")
    def smem_planner(self, request: Request) -> Response:
        """Where the planner puts the regions of a task, and what happens over a queue of tasks; nothing is stored."""
        return _answer("smem-planner", SmemPlanner, request)

    @extend_schema(request=WaveQuantisation, responses={200: CalculatorAnswer})
    @action(detail=False, methods=["post"], url_path="wave-quantisation")
    def wave_quantisation(self, request: Request) -> Response:
        """Whether more warps per task save a trip, or tie; nothing is stored."""
        return _answer("wave-quantisation", WaveQuantisation, request)

    @extend_schema(request=AchievableFloor, responses={200: CalculatorAnswer})
    @action(detail=False, methods=["post"], url_path="achievable-floor")
    def achievable_floor(self, request: Request) -> Response:
        """The least time that moving bytes takes at a bandwidth that was reached; nothing is stored."""
        return _answer("achievable-floor", AchievableFloor, request)

    @extend_schema(request=TaskCount, responses={200: CalculatorAnswer})
    @action(detail=False, methods=["post"], url_path="task-count")
    def task_count(self, request: Request) -> Response:
        """How many tasks a formula gives, beside the number that is listed; nothing is stored."""
        return _answer("task-count", TaskCount, request)

    @extend_schema(request=TmemColumns, responses={200: CalculatorAnswer})
    @action(detail=False, methods=["post"], url_path="tmem-columns")
    def tmem_columns(self, request: Request) -> Response:
        """Which columns of tensor memory the objects take, and how many to allocate; nothing is stored."""
        return _answer("tmem-columns", TmemColumns, request)
