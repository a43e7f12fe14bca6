"""Specs that arrive whole, as programs send them: checked in one piece, drafts in the way respected."""

from typing import Any

from kernels import policies
from kernels.models import Op, Spec, SpecDraft, SpecRevision
from kernels.services.specs import create_spec, open_draft, pin_citations, rebase_draft, save_draft, save_revision
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, refuse_problems
from v2kb.core.models import User
from v2kb.core.service import service
from v2kb.rules.spec_document import normalise


def readable(content: dict[str, Any]) -> dict[str, Any]:
    """The canonical form of a posted spec document. Raises Refusal spec.unreadable with every field that is wrong."""
    document, problems = normalise(content)
    refuse_problems("spec.unreadable", problems)
    return document


def next_revision(spec: Spec, user: User, content: dict[str, Any]) -> dict[str, Any]:
    """The document that a posted `content` would become: pinned, and without ops of its own with those of the user's
    draft. Raises Refusal spec.unreadable.
    """
    document = readable(content)
    if "ops" not in content:
        draft = SpecDraft.objects.filter(spec=spec, user=user).first()
        begun = draft.content if draft else spec.head.content if spec.head else {}
        document["ops"] = begun.get("ops") or []
    return pin_citations(document)


@service("kernels.post_spec")
def post_spec(actor: Actor, *, title: str, ops: list[Op], content: dict[str, Any] | None = None) -> Spec:
    """Begin a spec whose first draft holds `content`. Raises as `create_spec`, and Refusal spec.unreadable."""
    policies.may_design(actor)
    return create_spec(actor, title=title, ops=ops, content=None if content is None else readable(content))


@service("kernels.post_revision")
def post_revision(
    actor: Actor,
    *,
    spec: Spec,
    base_hash: str,
    content: dict[str, Any] | None = None,
    reason: str = "",
    draft_version: int | None = None,
) -> tuple[SpecRevision, bool]:
    """Make a revision of `content` (or of the actor's draft when None) on top of the revision with `base_hash`.

    Returns the revision and whether it is new; content that equals the head gives the head. Without ops the content
    takes those of the draft. Raises Conflict spec.stale_base, spec.archived, or spec.draft_in_the_way when the
    actor's draft holds typing of another session and `draft_version` does not name it; Refusal spec.unreadable.
    """
    policies.may_design(actor)
    document = None if content is None else readable(content)
    spec = Spec.objects.select_for_update(of=("self",)).select_related("head").get(pk=spec.pk)
    head = spec.head.content_hash if spec.head else ""
    if base_hash != head:
        raise Conflict(
            "spec.stale_base",
            f"{spec.code} is not at the revision that you began from.",
            field="base_hash",
            fix="Read the newest revision, then make your change again on top of it.",
            facts={"head": head, "number": spec.head.number if spec.head else 0},
        )
    draft = open_draft(actor, spec=spec)
    if document is not None:
        _replaceable(spec, draft, draft_version)
        if "ops" not in content:
            document["ops"] = draft.content.get("ops") or []
        if draft.base_id != spec.head_id:
            draft = rebase_draft(actor, spec=spec)
        draft = save_draft(actor, spec=spec, content=document, version=draft.version)
    revision = save_revision(actor, spec=spec, version=draft.version, reason=reason)
    return revision, revision.content_hash != head


def _replaceable(spec: Spec, draft: SpecDraft, draft_version: int | None) -> None:
    typed_into = draft.version > 1
    if draft_version != draft.version and (typed_into or draft_version is not None):
        raise Conflict(
            "spec.draft_in_the_way",
            f"You have an unfinished draft of {spec.code}, which this would replace.",
            field="draft_version",
            fix="Finish or discard the draft, or send its version to replace it.",
            facts={"version": draft.version},
        )
