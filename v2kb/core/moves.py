"""Moving a state. One table says what may become what (`v2kb.rules.states`), and every service asks it here."""

from django.db import models

from v2kb.core.errors import Conflict
from v2kb.rules.states import move_refused


def require_move(thing: models.Model, wanted: str, code: str, fix: str = "") -> None:
    """Raise Conflict `code` unless a run, an anchor or a proposal may go from its state to `wanted`. Hold its lock."""
    refused = move_refused(thing._meta.model_name, thing.state, wanted, str(thing))
    if refused is not None:
        facts = {"state": thing.state, "allowed": list(refused.allowed)}
        raise Conflict(code, refused.message, fix=fix or "Read it again to see how it stands now.", facts=facts)


def move(thing: models.Model, wanted: str, code: str, fix: str = "") -> None:
    """Let `thing` go to `wanted`; the caller saves it. Raises as `require_move`."""
    require_move(thing, wanted, code, fix)
    thing.state = wanted
