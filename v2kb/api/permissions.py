"""Who may use the API at all; what they may do there is for the services to say."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from v2kb.core.errors import Forbidden


class SignedIn(BasePermission):
    """A user by token or session whose password is their own."""

    def has_permission(self, request: Request, view: object) -> bool:
        """False without a user (401). Raises Forbidden while a one-time password waits to be changed."""
        user = request.user
        if user is None or not user.is_authenticated:
            return False
        if user.must_change_password:
            raise Forbidden(
                "api.one_time_password",
                "This password is for one sign-in on the page.",
                fix="Sign in there and choose your own first.",
            )
        return True
