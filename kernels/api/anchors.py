"""REST of anchors."""

from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.filtersets import AnchorFilter
from kernels.models import Anchor, Op
from kernels.services import anchors
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import SLUG, Document, Input, Named, Text, find, read


class AnchorSerializer(serializers.ModelSerializer):
    """A measured number that candidates are compared with. Values are in ns, per workload."""

    op = serializers.CharField(source="op.slug")
    kernel = serializers.CharField(source="version.kernel.slug", default="")
    version = serializers.IntegerField(source="version.number", default=None, allow_null=True)
    capture = serializers.CharField(source="capture.public_id", default="", help_text="Run that captured it.")
    values = Document()

    class Meta:
        model = Anchor
        fields = [
            "name", "op", "state", "metric", "method", "machine", "values", "kernel", "version", "capture",
            "captured_at", "created_at",
        ]  # fmt: skip


class NewAnchor(Input):
    """A name to plan with; a capture run pins its number."""

    name = serializers.SlugField(max_length=80)
    op = Named(slug_field="slug", queryset=Op.objects.filter(archived_at__isnull=True))
    method = Text(max_length=300)
    metric = Text(max_length=40, default="time_us")


class WhatMoved(Input):
    """Why the anchor no longer holds."""

    reason = Text(max_length=4000)


class AnchorViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Anchors by name."""

    queryset = Anchor.objects.select_related("op", "version__kernel", "capture").defer("capture__job").order_by("name")
    serializer_class = AnchorSerializer
    filterset_class = AnchorFilter
    lookup_field = "name"
    lookup_value_regex = SLUG

    @extend_schema(request=NewAnchor, responses={201: AnchorSerializer})
    def create(self, request: Request) -> Response:
        """Name an anchor; it is UNVERIFIED until a capture run pins it."""
        anchor = anchors.name_anchor(actor_from_request(request, "api"), **read(NewAnchor, request))
        return Response(AnchorSerializer(anchor).data, status=201)

    @extend_schema(request=WhatMoved, responses=AnchorSerializer)
    @action(detail=True, methods=["post"])
    def stale(self, request: Request, name: str) -> Response:
        """Say that a pinned anchor no longer holds."""
        anchor = find(self.queryset, "anchor.none", f"anchor {name}", name=name)
        moved = anchors.mark_anchor_stale(actor_from_request(request, "api"), anchor=anchor, **read(WhatMoved, request))
        return Response(AnchorSerializer(moved).data)
