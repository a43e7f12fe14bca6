"""Services on API tokens."""

from datetime import timedelta

from django.utils import timezone
from knox.models import AuthToken

from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Missing
from v2kb.core.models import User
from v2kb.core.policies import require_user
from v2kb.core.service import service

MAX_TOKENS = 20


@service("api.issue_token")
def issue_token(actor: Actor, *, days: int) -> tuple[AuthToken, str]:
    """Make a token for the actor's user. Returns the stored token and its text, which is not kept.

    Raises Conflict api.too_many_tokens; tokens that have expired are removed first.
    """
    require_user(actor)
    User.objects.select_for_update().get(pk=actor.user.pk)
    own = AuthToken.objects.filter(user=actor.user)
    own.filter(expiry__lte=timezone.now()).delete()
    if own.count() >= MAX_TOKENS:
        raise Conflict("api.too_many_tokens", f"You have {MAX_TOKENS} tokens.", fix="Revoke one of them first.")
    stored, token = AuthToken.objects.create(user=actor.user, expiry=timedelta(days=days))
    record(actor, "api.issue_token", actor.user, f"token {stored.token_key} made", after={"key": stored.token_key})
    return stored, token


@service("api.revoke_token")
def revoke_token(actor: Actor, *, key: str) -> None:
    """Revoke one of the actor's own tokens by its first characters. Raises Missing api.no_token."""
    require_user(actor)
    found = AuthToken.objects.filter(user=actor.user, token_key=key).first()
    if found is None:
        raise Missing("api.no_token", "You have no such token.")
    found.delete()
    record(actor, "api.revoke_token", actor.user, f"token {key} revoked")
