"""What this app puts into the hooks that core and evidence offer."""

from typing import Any

from django.urls import reverse
from django.utils.text import Truncator

from evidence.hooks import CITATIONS, DESIGNS, OPEN_SPEC_AUTHORS, REOPENS, RESTING, SPEC_COUNTS
from evidence.models import EvidenceRow
from kernels import indexing
from kernels.models import Kernel, Position, Run, Spec, SpecRevision
from kernels.selectors.interests import authors_on_lever, citations_of_row, specs_resting_on
from kernels.selectors.searches import ops_to_design, spec_counts
from kernels.selectors.specs import MAY_BUILD, spec_statuses, specs_citing, specs_reopened
from kernels.selectors.waivers import asked_of
from kernels.starter import load_starter
from v2kb.core.models import User
from v2kb.core.registry import LINKS, STARTERS, TURNS, add_panel
from v2kb.rules.states import STALE

REVIEWERS = ("reviewer_correctness", "reviewer_performance", "curator")


def register_hooks() -> None:
    """Fill the registries; called once, when the app is ready."""
    STARTERS.add("starter data", load_starter)
    TURNS.add("reviews", reviews_waiting)
    TURNS.add("own specs", own_specs_waiting)
    LINKS.add("spec", spec_link)
    LINKS.add("run", run_link)
    LINKS.add("kernel", kernel_link)
    indexing.register()
    add_panel("evidence.evidencerow", cited_by)
    CITATIONS.add("specs", citations_of_row)
    REOPENS.add("specs", specs_reopened)
    OPEN_SPEC_AUTHORS.add("specs", authors_on_lever)
    SPEC_COUNTS.add("specs", spec_counts)
    DESIGNS.add("ops", ops_to_design)
    RESTING.add("specs", specs_resting_on)


def reviews_waiting(user: User) -> list[dict[str, Any]]:
    """Revisions in review that this user may judge and has not judged yet, and waivers that wait for an answer."""
    roles = set(user.groups.values_list("name", flat=True))
    if not roles.intersection(REVIEWERS):
        return []
    waiting = (
        SpecRevision.objects.filter(head_of__archived_at__isnull=True, submission__isnull=False, approval__isnull=True)
        .exclude(spec__revisions__author=user)
        .exclude(pk__in=Position.objects.filter(user=user).values("revision"))
        .select_related("spec", "submission")
    )
    may_answer = not roles.isdisjoint(("reviewer_correctness", "reviewer_performance"))
    if not may_answer:
        waiting = [revision for revision in waiting if any(c["new_mechanism"] for c in revision.content["choices"])]
    turns = [
        {
            "title": f"Answer a waiver on {waiver.spec}",
            "why": f"{waiver.asked_by.display_name} asks that {waiver.rule} may stand: "
            f"{Truncator(waiver.reason).chars(160)}",
            "since": waiver.asked_at,
            "url": f"{waiver.spec.get_absolute_url()}#findings-h",
        }
        for waiver in (asked_of(user) if may_answer else ())
    ]
    return turns + [
        {
            "title": f"Review {revision.spec}",
            "why": f"revision {revision.number} was handed in",
            "since": revision.submission.at,
            "url": revision.spec.get_absolute_url(),
        }
        for revision in waiting
    ]


def own_specs_waiting(user: User) -> list[dict[str, Any]]:
    """The user's own specs that went stale or have a reviewer who wants to discuss."""
    specs = list(
        Spec.objects.filter(created_by=user, archived_at__isnull=True, head__isnull=False).select_related("head")
    )
    if not specs:
        return []
    statuses = spec_statuses(specs)
    turns = [
        {
            "title": f"{spec} is stale",
            "why": statuses[spec.pk].reason.rstrip("."),
            "since": min(pin.since for pin in statuses[spec.pk].moved),
            "url": spec.get_absolute_url(),
        }
        for spec in specs
        if statuses[spec.pk].state == STALE
    ]
    discussed = Position.objects.filter(
        revision__in=[spec.head_id for spec in specs], position=Position.Kind.DISCUSS, revision__approval__isnull=True
    ).select_related("revision__spec", "user")
    return turns + [
        {
            "title": f"Answer on {position.revision.spec}",
            "why": f"{position.user.display_name} wants to discuss {position.aspect}",
            "since": position.at,
            "url": position.revision.spec.get_absolute_url(),
        }
        for position in discussed
    ]


def spec_link(target: str) -> tuple[str, str] | None:
    """[[spec:S1]]."""
    spec = Spec.objects.filter(code__iexact=target).first()
    return (spec.get_absolute_url(), spec.code) if spec else None


def run_link(target: str) -> tuple[str, str] | None:
    """[[run:R...]]."""
    run = Run.objects.filter(public_id=target).first()
    return (run.get_absolute_url(), run.public_id) if run else None


def kernel_link(target: str) -> tuple[str, str] | None:
    """[[kernel:rmsnorm-fused]]."""
    kernel = Kernel.objects.filter(slug=target).first()
    return (kernel.get_absolute_url(), kernel.slug) if kernel else None


def cited_by(request: Any, row: EvidenceRow) -> dict[str, Any] | None:
    """Specs whose newest revision cites this row, and whether their approval still holds."""
    citations = specs_citing(row.pk)
    if not citations:
        return None
    statuses = spec_statuses({c.revision.spec for c in citations})
    lines = [
        {
            "spec": c.revision.spec,
            "url": reverse("kernels:spec_detail", args=[c.revision.spec.code]),
            "choice": c.choice_id,
            "stance": c.stance,
            "state": statuses[c.revision.spec_id].state,
            "holds": statuses[c.revision.spec_id].state in MAY_BUILD,
            "moved": c.evidence_id != row.head_id,
        }
        for c in citations
    ]
    return {"title": "Cited by", "template": "kernels/parts/cited_by.html", "context": {"lines": lines}}
