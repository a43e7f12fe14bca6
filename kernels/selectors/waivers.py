"""Reading waivers: who asked, who agreed, and which of them have an effect."""

from dataclasses import dataclass

from kernels.models import FindingWaiver, Spec, WaiverAnswer
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


def agreed_waivers(spec: Spec) -> list[Waiver]:
    """The waivers of a spec that a reviewer has agreed to and nobody took back, as the rules read them."""
    return [held.as_rule() for held in waivers_of(spec) if held.state == WaiverAnswer.Kind.AGREED]
