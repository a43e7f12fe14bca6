"""Who may do what to ops, specs, kernels and runs."""

from kernels.models import FindingWaiver, Run, SpecRevision, WaiverAnswer
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden
from v2kb.core.policies import require_role, require_user

REVIEWER_OF = {
    "correctness": "reviewer_correctness",
    "performance": "reviewer_performance",
    "curation": "curator",
}


def may_design(actor: Actor) -> None:
    """Write ops and specs."""
    require_role(actor, "designer")


def may_implement(actor: Actor) -> None:
    """Attach kernels and their versions."""
    require_role(actor, "implementer", "designer")


def may_run(actor: Actor) -> None:
    """Send runs to workers and capture anchors."""
    require_role(actor, "validator", "implementer", "designer")


def may_cancel(actor: Actor, run: Run) -> None:
    """Cancel a run: its submitter, or an operator."""
    require_user(actor)
    if run.submitted_by_id != actor.user.pk:
        require_role(actor, "operator", "administrator")


def may_report(actor: Actor) -> None:
    """Claim, ping, log and report: a worker that its key let in, nobody else."""
    if actor.kind != "worker":
        raise Forbidden("run.not_a_worker", "Only a worker that holds a run's key can do this.")


def may_reap(actor: Actor) -> None:
    """Take runs back from workers that went silent: the reaper, or an operator."""
    require_role(actor, "operator", "administrator")


def may_take_position(actor: Actor, revision: SpecRevision, aspect: str) -> None:
    """Take a position on an aspect of a revision: the aspect's reviewers, never a contributor of the spec."""
    require_role(actor, REVIEWER_OF[aspect])
    if is_contributor(actor, revision):
        raise Forbidden(
            "spec.contributor",
            "You wrote a revision of this spec, so you can't review it.",
            fix="Ask another reviewer.",
        )


def may_sign_mechanism(actor: Actor, revision: SpecRevision) -> None:
    """Sign a mechanism as new: a curator who is no contributor."""
    may_take_position(actor, revision, "curation")


def may_agree_to_waiver(actor: Actor, waiver: FindingWaiver) -> None:
    """Agree to a waiver, or refuse it: a reviewer who did not ask for it and wrote no revision of the spec."""
    require_role(actor, "reviewer_correctness", "reviewer_performance")
    wrote = SpecRevision.objects.filter(spec_id=waiver.spec_id, author=actor.user).exists()
    if wrote or waiver.asked_by_id == actor.user.pk:
        raise Forbidden(
            "waiver.own",
            "You asked for this waiver or wrote a revision of its spec.",
            fix="Ask a reviewer who did neither.",
        )


def may_withdraw_waiver(actor: Actor, waiver: FindingWaiver) -> None:
    """Take a waiver back: who asked for it; once a reviewer has agreed, any reviewer too."""
    require_user(actor)
    if waiver.asked_by_id == actor.user.pk:
        return
    require_role(actor, "reviewer_correctness", "reviewer_performance")
    if not any(answer.kind == WaiverAnswer.Kind.AGREED for answer in waiver.answers.all()):
        raise Forbidden(
            "waiver.not_yours",
            "This waiver was asked for by somebody else, and nobody has agreed to it.",
            fix="Refuse it instead, with a word why.",
        )


def is_contributor(actor: Actor, revision: SpecRevision) -> bool:
    """Whether the actor wrote any revision of this spec."""
    return actor.user is not None and SpecRevision.objects.filter(spec_id=revision.spec_id, author=actor.user).exists()
