"""Uploaded files kept between the preview and the import."""

import datetime
import json
import zlib

from django.utils import timezone

from references.models import UploadDraft
from references.policies import require_import
from v2kb.core.actor import Actor
from v2kb.core.errors import Missing, Refusal
from v2kb.core.service import service

KEEP = datetime.timedelta(days=1)


@service("references.keep_upload", silent=True)
def keep_upload(actor: Actor, *, payload: dict, source: str = "") -> UploadDraft:
    """Keep what was read of an upload (a JSON document) for the actor; older and expired ones go away."""
    require_import(actor)
    if actor.user is None:
        raise Refusal("references.upload_needs_user", "Only a signed-in user can upload.", fix="Sign in first.")
    UploadDraft.objects.filter(owner=actor.user).delete()
    UploadDraft.objects.filter(created_at__lt=timezone.now() - KEEP).delete()
    packed = zlib.compress(json.dumps(payload, ensure_ascii=False).encode())
    return UploadDraft.objects.create(owner=actor.user, source=source, packed=packed)


def open_upload(actor: Actor, *, pk: int) -> tuple[UploadDraft, dict]:
    """The actor's own kept upload and its payload. Raises Missing, also for somebody else's."""
    require_import(actor)
    draft = UploadDraft.objects.filter(pk=pk, owner=actor.user, created_at__gte=timezone.now() - KEEP).first()
    if draft is None:
        raise Missing(
            "references.no_upload", "This upload is gone: it was imported, replaced or a day old.", fix="Send it again."
        )
    return draft, json.loads(zlib.decompress(bytes(draft.packed)))


@service("references.discard_upload", silent=True)
def discard_upload(actor: Actor, *, pk: int) -> None:
    """Throw the actor's kept upload away; harmless where it is gone."""
    require_import(actor)
    UploadDraft.objects.filter(pk=pk, owner=actor.user).delete()
