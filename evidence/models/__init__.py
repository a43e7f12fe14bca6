from evidence.models.facts import EvidenceChange, RowFacts
from evidence.models.lever import Lever, LeverAlias
from evidence.models.proposal import Proposal, ProposalDecision
from evidence.models.receipt import RunReceipt
from evidence.models.row import CodeSeries, EvidenceRevision, EvidenceRow, Flag, Supersession, Verdict

__all__ = [
    "CodeSeries",
    "EvidenceChange",
    "EvidenceRevision",
    "EvidenceRow",
    "Flag",
    "Lever",
    "LeverAlias",
    "Proposal",
    "ProposalDecision",
    "RowFacts",
    "RunReceipt",
    "Supersession",
    "Verdict",
]
