"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, register

register(
    Immutable("evidence_evidencerevision"),
    Immutable("evidence_proposaldecision"),
    Immutable("evidence_runreceipt"),
)
