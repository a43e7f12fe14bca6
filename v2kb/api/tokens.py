"""Tokens for programs. A token is shown once; only its hash is kept."""

from django.contrib.auth import authenticate
from drf_spectacular.utils import extend_schema
from knox.models import AuthToken
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from v2kb.api.parameters import DeclaredParameters
from v2kb.api.services import issue_token, revoke_token
from v2kb.api.throttles import TokenThrottle
from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.errors import Forbidden
from v2kb.core.rest import Input, Text, read


class Credentials(Input):
    """Name and password of the user that the token acts for."""

    username = Text(max_length=150)
    password = Text(max_length=200, trim_whitespace=False)
    days = serializers.IntegerField(min_value=1, max_value=366, default=90)


class Token(serializers.Serializer):
    """A token, named by its first characters."""

    key = serializers.CharField(source="token_key")
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField(source="expiry", allow_null=True)


class NewToken(serializers.Serializer):
    """A token with its text, which is shown this once."""

    token = serializers.CharField()
    key = serializers.CharField()
    created = serializers.DateTimeField()
    expires = serializers.DateTimeField()


class TokenView(DeclaredParameters, GenericAPIView):
    """Make a token with name and password; list one's own."""

    serializer_class = Token
    filter_backends = []

    def get_queryset(self):
        return AuthToken.objects.filter(user=self.request.user).order_by("-created", "token_key")

    def get_permissions(self):
        return [AllowAny()] if self.request.method == "POST" else super().get_permissions()

    def get_throttles(self):
        return [TokenThrottle()] if self.request.method == "POST" else super().get_throttles()

    @extend_schema(request=Credentials, responses={201: NewToken}, auth=[], operation_id="tokens_create")
    def post(self, request: Request) -> Response:
        """Make a token. Few attempts an hour are allowed from one address."""
        form = read(Credentials, request)
        user = authenticate(request._request, username=form["username"], password=form["password"])
        if user is None:
            raise _refused(request)
        if user.must_change_password:
            raise Forbidden(
                "api.one_time_password",
                "This password is for one sign-in on the page.",
                fix="Sign in there and choose your own first.",
            )
        actor = Actor(user=user, kind="user", channel="api", request_id=request._request.request_id)
        stored, token = issue_token(actor, days=form["days"])
        made = {"token": token, "key": stored.token_key, "created": stored.created, "expires": stored.expiry}
        return Response(NewToken(made).data, status=201)

    @extend_schema(responses=Token(many=True), operation_id="tokens_list")
    def get(self, request: Request) -> Response:
        """One's own tokens, newest first."""
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(Token(page, many=True).data)


def _refused(request: Request) -> Forbidden:
    """Why nobody was let in. A lock is told here, as JSON, instead of by the page that the lockout has for people."""
    if getattr(request._request, "axes_locked_out", False):
        request._request.axes_locked_out = False
        return Forbidden(
            "api.locked",
            "There were too many failed attempts; this account is locked for a while.",
            fix="Wait a quarter of an hour, or ask an administrator.",
        )
    return Forbidden("api.bad_credentials", "Name or password is wrong.")


class TokenDetail(APIView):
    """Revoke one of one's own tokens."""

    @extend_schema(request=None, responses={204: None}, operation_id="tokens_destroy")
    def delete(self, request: Request, key: str) -> Response:
        """Revoke a token by its first characters."""
        revoke_token(actor_from_request(request, "api"), key=key)
        return Response(status=204)
