"""REST of workers and queues, read only."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.filtersets import WorkerFilter
from kernels.models import Worker
from kernels.selectors.workers import alive_since, queue_status
from v2kb.core.rest import Document


class WorkerSerializer(serializers.ModelSerializer):
    """A run worker as its own heartbeat describes it."""

    facts = Document()
    alive = serializers.SerializerMethodField(help_text="Heard of in the last half minute.")

    class Meta:
        model = Worker
        fields = ["name", "queue", "alive", "first_seen", "last_seen", "facts"]

    def get_alive(self, worker: Worker) -> bool:
        return worker.last_seen > alive_since()


class QueueSerializer(serializers.Serializer):
    """What waits and runs on one queue."""

    queue = serializers.CharField()
    waiting = serializers.IntegerField()
    waiting_since = serializers.DateTimeField(allow_null=True, help_text="When the oldest waiting run was submitted.")
    running = serializers.IntegerField()
    workers_alive = serializers.IntegerField()


class WorkerViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Workers by queue and name."""

    queryset = Worker.objects.order_by("queue", "name")
    serializer_class = WorkerSerializer
    filterset_class = WorkerFilter


class QueueViewSet(viewsets.ViewSet):
    """The queues, one per architecture."""

    @extend_schema(responses=QueueSerializer(many=True))
    def list(self, request: Request) -> Response:
        """All queues."""
        return Response(QueueSerializer(queue_status(), many=True).data)
