"""Findings of the spec rules as a page shows them, each with its waivers and what the reader may do."""

from typing import Any

from kernels.models import Spec
from kernels.policies import may_agree_to_waiver, may_withdraw_waiver
from kernels.selectors.waivers import ASKED, HeldWaiver, waivers_of
from v2kb.core.actor import Actor
from v2kb.core.errors import Forbidden
from v2kb.rules.rule_registry import Finding
from v2kb.rules.spec_rules import SpecReport
from v2kb.rules.waivers import may_be_waived


def finding_lines(actor: Actor, spec: Spec, report: SpecReport, *, newest: bool, may_ask: bool) -> list[dict[str, Any]]:
    """{finding, waivers, may_ask} per finding, worst first; the newest revision alone takes waivers and answers."""
    held = waivers_of(spec)
    about = ((finding, [waiver for waiver in held if waiver.covers(finding)]) for finding in report.findings)
    return [_line(actor, finding, found, newest, may_ask) for finding, found in about]


def _line(actor: Actor, finding: Finding, held: list[HeldWaiver], newest: bool, may_ask: bool) -> dict[str, Any]:
    live = any(waiver.is_live for waiver in held)
    return {
        "finding": finding.as_document(),
        "waivers": [
            {
                "waiver": waiver.row,
                "state": waiver.state,
                "answer": waiver.answers[-1] if waiver.answers else None,
                "may_agree": newest and waiver.state == ASKED and _may(may_agree_to_waiver, actor, waiver),
                "may_withdraw": newest and waiver.is_live and _may(may_withdraw_waiver, actor, waiver),
            }
            for waiver in held
        ],
        "may_ask": may_ask and not live and may_be_waived(finding),
    }


def _may(policy: Any, actor: Actor, waiver: HeldWaiver) -> bool:
    try:
        policy(actor, waiver.row)
    except Forbidden:
        return False
    return True
