"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, TriggerGuard, head_moves_forward, register

register(
    Immutable("evidence_evidencerevision"),
    Immutable("evidence_proposaldecision"),
    Immutable("evidence_experimententry"),
    Immutable("evidence_experimentlink"),
    Immutable("evidence_runreceipt"),
    head_moves_forward("evidence_evidencerow", "evidence_evidencerevision", "row_id"),
    TriggerGuard(
        table="evidence_proposal",
        name="decided",
        code="database.proposal_decided",
        message="An accepted or closed proposal keeps its content, and every proposal its author and what it is.",
        refuse_when=(
            "NEW.author_id <> OLD.author_id OR COALESCE(NEW.merges_id, 0) <> COALESCE(OLD.merges_id, 0) OR "
            "COALESCE(NEW.reverts_to_id, 0) <> COALESCE(OLD.reverts_to_id, 0) OR "
            "(NEW.content <> OLD.content AND (OLD.state <> 'open' OR "
            "EXISTS (SELECT 1 FROM evidence_proposaldecision d WHERE d.proposal_id = OLD.id)))"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_lever",
        name="merged",
        code="database.lever_merged",
        message="A merge of levers is not undone, and the merged lever keeps its slug.",
        refuse_when=(
            "OLD.slug <> NEW.slug OR (OLD.merged_into_id IS NOT NULL AND "
            "(NEW.merged_into_id IS NULL OR NEW.merged_into_id <> OLD.merged_into_id))"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_term",
        name="word",
        code="database.term_word",
        message="A term keeps its kind and its word, and a built-in one stays built in.",
        refuse_when="OLD.kind <> NEW.kind OR OLD.word <> NEW.word OR (OLD.built_in AND NOT NEW.built_in)",
        event="UPDATE",
    ),
)
