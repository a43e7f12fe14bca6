from kernels.models.anchor import Anchor
from kernels.models.kernel import FileBlob, Kernel, KernelVersion, VersionFile
from kernels.models.op import Op, OpContract, OpStop
from kernels.models.review import (
    Approval,
    Comment,
    GateResult,
    MechanismMark,
    Position,
    PreRegistration,
    Submission,
)
from kernels.models.run import Judgement, Run, RunAttempt, RunLog, RunResult, Worker
from kernels.models.search import SearchReceipt
from kernels.models.spec import Citation, Spec, SpecDraft, SpecOp, SpecRevision
from kernels.models.waiver import FindingWaiver, WaiverAnswer

__all__ = [
    "Anchor",
    "Approval",
    "Citation",
    "Comment",
    "FileBlob",
    "FindingWaiver",
    "GateResult",
    "Judgement",
    "Kernel",
    "KernelVersion",
    "MechanismMark",
    "Op",
    "OpContract",
    "OpStop",
    "Position",
    "PreRegistration",
    "Run",
    "RunAttempt",
    "RunLog",
    "RunResult",
    "SearchReceipt",
    "Spec",
    "SpecDraft",
    "SpecOp",
    "SpecRevision",
    "Submission",
    "VersionFile",
    "WaiverAnswer",
    "Worker",
]
