from evidence.models.experiment import ExperimentEntry, ExperimentLink
from evidence.models.facts import EvidenceChange, RowFacts
from evidence.models.importing import ImportChunk, ImportedLine, ImportJob, ImportLine, ImportMapping
from evidence.models.lever import Lever, LeverAlias
from evidence.models.proposal import Proposal, ProposalClaim, ProposalDecision
from evidence.models.receipt import RunReceipt
from evidence.models.row import CodeSeries, EvidenceRevision, EvidenceRow, Flag, Supersession, Verdict
from evidence.models.saved import SavedSearch
from evidence.models.term import Term, TermAlias
from evidence.models.vector import RowVector
from evidence.models.watch import RowBounds, RowSubscription

__all__ = [
    "CodeSeries",
    "EvidenceChange",
    "EvidenceRevision",
    "EvidenceRow",
    "ExperimentEntry",
    "ExperimentLink",
    "Flag",
    "ImportChunk",
    "ImportJob",
    "ImportLine",
    "ImportMapping",
    "ImportedLine",
    "Lever",
    "LeverAlias",
    "Proposal",
    "ProposalClaim",
    "ProposalDecision",
    "RowBounds",
    "RowFacts",
    "RowSubscription",
    "RowVector",
    "RunReceipt",
    "SavedSearch",
    "Supersession",
    "Term",
    "TermAlias",
    "Verdict",
]
