"""Who the caller is."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from v2kb.api.parameters import DeclaredParameters
from v2kb.core.actor import actor_from_request


class Me(serializers.Serializer):
    """The signed-in user with the roles that the services will look at."""

    username = serializers.CharField()
    display_name = serializers.CharField()
    engine_name = serializers.CharField(help_text="Set for an agent.")
    roles = serializers.ListField(child=serializers.CharField())
    by_token = serializers.BooleanField(help_text="Whether this request came with a token.")


class MeView(DeclaredParameters, APIView):
    """The user that this request acts for."""

    @extend_schema(responses=Me, operation_id="me")
    def get(self, request: Request) -> Response:
        actor = actor_from_request(request, "api")
        user = request.user
        return Response(
            {
                "username": user.username,
                "display_name": user.display_name,
                "engine_name": user.engine_name,
                "roles": sorted(actor.roles),
                "by_token": actor.kind == "token",
            }
        )
