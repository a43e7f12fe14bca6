"""Services of the review: comments, positions, signatures of new mechanisms, and the approval that follows."""

from kernels import policies
from kernels.models import (
    Approval,
    Comment,
    MechanismMark,
    Position,
    PreRegistration,
    Spec,
    SpecRevision,
    Submission,
)
from kernels.selectors.checks import blocking_now
from kernels.selectors.reviews import approver_of, current_positions, what_is_missing
from kernels.services.gate import store_gate_result
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Missing, Refusal
from v2kb.core.policies import require_user
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.canonical import content_hash
from v2kb.rules.prediction_reading import parse_prediction
from v2kb.rules.spec_document import choice_hash

MAX_COMMENT = 20_000
PLACES = ("summary", "engine", "smem", "sems", "roles", "granularity", "anchors", "open_questions")


def _locked_spec(revision: SpecRevision) -> Spec:
    return Spec.objects.select_for_update(of=("self",)).select_related("head").get(pk=revision.spec_id)


def _in_review(revision: SpecRevision) -> Spec:
    """Lock the spec; the revision must be its newest, handed in, and not approved yet."""
    spec = _locked_spec(revision)
    if spec.head_id != revision.pk:
        raise Conflict(
            "spec.not_newest",
            f"{spec.code} has moved on to revision {spec.head.number}.",
            fix="Review the newest revision.",
            facts={"head": spec.head.number},
        )
    if not Submission.objects.filter(revision=revision).exists():
        raise Conflict("spec.not_submitted", f"Revision {revision.number} was not handed in for review yet.")
    if Approval.objects.filter(revision=revision).exists():
        raise Conflict("spec.approved", f"Revision {revision.number} is approved already.")
    return spec


@service("kernels.comment")
def comment(
    actor: Actor, *, revision: SpecRevision, place: str, text: str, quote: str = "", parent: Comment | None = None
) -> Comment:
    """Comment on a choice or a section of a revision. Anyone signed in may, contributors too.

    An answer to an answer joins the thread that it belongs to.
    """
    require_user(actor)
    known = {choice["id"] for choice in revision.content["choices"]} | set(PLACES)
    if place not in known:
        raise Refusal(
            "review.unknown_place", f"This revision has no {place!r}.", field="place", facts={"known": sorted(known)}
        )
    check_text(text, "text")
    check_text(quote, "quote")
    if not text.strip():
        raise Refusal("review.empty_comment", "Write something.", field="text")
    if len(text) > MAX_COMMENT:
        raise Refusal("review.long_comment", f"A comment may have {MAX_COMMENT:,} characters.", field="text")
    if parent is not None and parent.revision.spec_id != revision.spec_id:
        raise Refusal("review.other_thread", "The comment answered belongs to another spec.", field="parent")
    thread = parent and (parent.parent or parent)
    made = Comment.objects.create(
        revision=revision, place=place, text=text.strip(), quote=quote[:2000], parent=thread, author=actor.user
    )
    record(
        actor,
        "kernels.comment",
        revision.spec,
        f"comment on {place} of revision {revision.number}",
        after={"comment": made.pk},
    )
    return made


@service("kernels.take_position")
def take_position(actor: Actor, *, revision: SpecRevision, aspect: str, position: str, note: str = "") -> Position:
    """Take a position on one aspect; the last one of a person and aspect counts. May close the quorum.

    Raises Forbidden for a contributor or a missing role, Refusal for a discuss without text, Conflict for a
    revision that is not the newest, not handed in, or approved already.
    """
    if aspect not in policies.REVIEWER_OF:
        raise Refusal("review.unknown_aspect", f"{aspect!r} is no aspect.", field="aspect")
    if position not in Position.Kind.values:
        raise Refusal("review.unknown_position", f"{position!r} is no position.", field="position")
    policies.may_take_position(actor, revision, aspect)
    check_text(note, "note")
    if position == Position.Kind.DISCUSS and not note.strip():
        raise Refusal("review.reason_missing", "Say what there is to discuss.", field="note")
    spec = _in_review(revision)
    taken = Position.objects.create(
        revision=revision, user=actor.user, aspect=aspect, position=position, note=note.strip()
    )
    record(
        actor,
        "kernels.take_position",
        spec,
        f"{taken.get_position_display()} on {aspect} of revision {revision.number}",
        after={"aspect": aspect, "position": position},
    )
    _close_quorum(actor, revision)
    return taken


@service("kernels.sign_mechanism")
def sign_mechanism(actor: Actor, *, revision: SpecRevision, choice_id: str, reason: str) -> MechanismMark:
    """A curator who is no contributor signs the mechanism of a choice, as it stands, as new. May close the quorum."""
    policies.may_sign_mechanism(actor, revision)
    check_text(reason, "reason")
    spec = _in_review(revision)
    if not reason.strip():
        raise Refusal("review.reason_missing", "Say what is new against the dead rows.", field="reason")
    try:
        digest = choice_hash(revision.content, choice_id)
    except KeyError:
        raise Missing("review.unknown_choice", f"This revision has no choice {choice_id}.", field="choice_id") from None
    if MechanismMark.objects.filter(revision=revision, choice_id=choice_id, user=actor.user).exists():
        raise Conflict("review.signed", f"You signed {choice_id} of this revision already.")
    mark = MechanismMark.objects.create(
        revision=revision, choice_id=choice_id, choice_hash=digest, user=actor.user, reason=reason.strip()
    )
    record(actor, "kernels.sign_mechanism", spec, f"mechanism of {choice_id} signed as new", after={"choice": digest})
    _close_quorum(actor, revision)
    return mark


@service("kernels.close_quorum")
def close_quorum(actor: Actor, *, revision: SpecRevision) -> Approval:
    """Approve a revision whose positions are complete, after something else that was missing has been mended.

    The gate is evaluated again, under locks. Raises Conflict (spec.approval_incomplete) with what is missing.
    """
    policies.may_take_position(actor, revision, "correctness")
    spec = _in_review(revision)
    approval = _close_quorum(actor, revision)
    if approval is None:
        missing = what_is_missing(revision)
        raise Conflict("spec.approval_incomplete", " ".join(missing), facts={"missing": missing, "spec": spec.code})
    return approval


def _close_quorum(actor: Actor, revision: SpecRevision) -> Approval | None:
    """Write the approval if everything is there; the database checks the same conditions once more."""
    positions = current_positions(revision)
    approver = approver_of(positions)
    if approver is None or any(p.position == Position.Kind.DISCUSS for p in positions):
        return None
    if blocking_now(revision):
        return None
    stored, result = store_gate_result(revision, lock=True)
    if not stored.passed:
        return None
    approval = Approval.objects.create(
        revision=revision, revision_hash=revision.content_hash, gate_result=stored, approver=approver
    )
    for choice in revision.content["choices"]:
        if choice["polarity"] == "adopts" and choice["prediction"]:
            _seal(revision, choice)
    record(
        actor,
        "kernels.approve_spec",
        revision.spec,
        f"revision {revision.number} approved to build",
        after={"revision": revision.content_hash, "gate": stored.content_hash, "approver": approver.username},
        rule_version=f"antiloop/{result.version}",
    )
    return approval


def _seal(revision: SpecRevision, choice: dict) -> PreRegistration:
    parsed = parse_prediction(choice["prediction"])
    content = parsed.prereg.as_document()
    return PreRegistration.objects.create(
        revision=revision,
        choice_id=choice["id"],
        choice_hash=choice_hash(revision.content, choice["id"]),
        content={**content, "lever": choice["lever"], "scope": choice["scope"]},
        content_hash=content_hash(content),
    )
