"""REST of what curators do with a doubt."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from evidence.api.levers import Reason
from evidence.api.rows import FlagSerializer
from evidence.curation import effects_of_confirming
from evidence.models import Flag
from evidence.selectors import get_flag
from evidence.services import clear_flag, confirm_flag
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import NUMBER, Nothing, read


class EffectSerializer(serializers.Serializer):
    """What a decision would do to approved work: it reopens it, it is stale already, or it holds again."""

    title = serializers.CharField()
    url = serializers.CharField()
    effect = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField())


class FlagViewSet(viewsets.GenericViewSet):
    """What curators do with a doubt."""

    queryset = Flag.objects.none()
    serializer_class = FlagSerializer
    filter_backends = []
    lookup_value_regex = NUMBER

    @extend_schema(responses=EffectSerializer(many=True))
    @action(detail=True, pagination_class=None)
    def effects(self, request: Request, pk: str) -> Response:
        """Dry run: approved specs that confirming it would reopen, or that are stale already. None for a flag that is
        confirmed or cleared.
        """
        return Response(EffectSerializer(effects_of_confirming(get_flag(int(pk))), many=True).data)

    @extend_schema(request=Nothing, responses=FlagSerializer)
    @action(detail=True, methods=["post"])
    def confirm(self, request: Request, pk: str) -> Response:
        """Confirm: the row can't be cited from now on."""
        read(Nothing, request)
        return Response(FlagSerializer(confirm_flag(actor_from_request(request, "api"), int(pk))).data)

    @extend_schema(request=Reason, responses=FlagSerializer)
    @action(detail=True, methods=["post"])
    def clear(self, request: Request, pk: str) -> Response:
        """Take a doubt down."""
        flag = clear_flag(actor_from_request(request, "api"), int(pk), **read(Reason, request))
        return Response(FlagSerializer(flag).data)
