from evidence.models.facts import EvidenceChange, RowFacts
from evidence.models.lever import Lever, LeverAlias
from evidence.models.proposal import Proposal, ProposalClaim, ProposalDecision
from evidence.models.receipt import RunReceipt
from evidence.models.row import CodeSeries, EvidenceRevision, EvidenceRow, Flag, Supersession, Verdict
from evidence.models.watch import RowBounds, RowSubscription

__all__ = [
    "CodeSeries",
    "EvidenceChange",
    "EvidenceRevision",
    "EvidenceRow",
    "Flag",
    "Lever",
    "LeverAlias",
    "Proposal",
    "ProposalClaim",
    "ProposalDecision",
    "RowBounds",
    "RowFacts",
    "RowSubscription",
    "RunReceipt",
    "Supersession",
    "Verdict",
]
