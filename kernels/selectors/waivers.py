"""Reading waivers: who asked, who agreed, and which of them have an effect."""

from dataclasses import dataclass

from kernels.models import FindingWaiver, Spec, WaiverAnswer
from v2kb.core.models import User
from v2kb.rules.rule_registry import Finding
from v2kb.rules.waivers import Waiver

ASKED = "asked"


@dataclass(frozen=True)
class HeldWaiver:
    """A waiver with its answers, oldest first."""

    row: FindingWaiver
    answers: tuple[WaiverAnswer, ...]

    @property
    def state(self) -> str:
        """asked, agreed, refused or withdrawn."""
        return self.answers[-1].kind if self.answers else ASKED

    @property
    def is_live(self) -> bool:
        """True while it is asked or agreed."""
        return self.state in (ASKED, WaiverAnswer.Kind.AGREED)

    def covers(self, finding: Finding) -> bool:
        """Whether it is about this finding, in its present words."""
        return self.as_rule().meets(finding)

    def as_rule(self) -> Waiver:
        """The waiver as the rules read it; without a reviewer unless one has agreed."""
        agreed = self.state == WaiverAnswer.Kind.AGREED
        row = self.row
        reviewer = self.answers[-1].user.username if agreed else ""
        return Waiver(row.rule, row.path, row.message, row.reason, row.asked_by.username, reviewer)


def waivers_of(spec: Spec) -> list[HeldWaiver]:
    """All waivers of a spec, oldest first, in two queries."""
    rows = spec.waivers.select_related("asked_by").prefetch_related("answers__user").order_by("id")
    return [HeldWaiver(row, tuple(row.answers.all())) for row in rows]


def asked_of(reviewer: User) -> list[FindingWaiver]:
    """The waivers that this reviewer may answer and nobody has: of findings that the newest revision of their spec has.

    A waiver that was asked for after that revision was made is of one; for an older one its stored findings say so.
    """
    waiting = (
        FindingWaiver.objects.filter(answers=None, spec__archived_at=None, spec__head__isnull=False)
        .exclude(asked_by=reviewer)
        .exclude(spec__revisions__author=reviewer)
        .select_related("spec__head", "asked_by")
        .defer("spec__head__content")
    )
    return [waiver for waiver in waiting if _is_current(waiver)]


def _is_current(waiver: FindingWaiver) -> bool:
    head = waiver.spec.head
    about = (waiver.rule, waiver.path, waiver.message)
    stored = head.checks.get("findings", ())
    return waiver.asked_at >= head.created_at or any((f["rule"], f["path"], f["message"]) == about for f in stored)


def agreed_waivers(spec: Spec) -> list[Waiver]:
    """The waivers of a spec that a reviewer has agreed to and nobody took back, as the rules read them."""
    return [held.as_rule() for held in waivers_of(spec) if held.state == WaiverAnswer.Kind.AGREED]
