"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, TriggerGuard, head_moves_forward, register

register(
    Immutable("evidence_evidencerevision"),
    Immutable("evidence_proposaldecision"),
    Immutable("evidence_experimententry"),
    Immutable("evidence_experimentlink"),
    Immutable("evidence_runreceipt"),
    head_moves_forward("evidence_evidencerow", "evidence_evidencerevision"),
    TriggerGuard(
        table="evidence_proposal",
        name="decided",
        code="database.proposal_decided",
        message="An accepted or closed proposal keeps its content, and every proposal its author.",
        refuse_when=(
            "NEW.author_id <> OLD.author_id OR (NEW.content <> OLD.content AND (OLD.state <> 'open' OR "
            "EXISTS (SELECT 1 FROM evidence_proposaldecision d WHERE d.proposal_id = OLD.id)))"
        ),
        event="UPDATE",
    ),
)
