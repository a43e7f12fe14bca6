"""What the database refuses of this app's tables.

A revision of a row is to its proposal what an approval is to its gate: the database takes it only with the acceptances
that the change needs.
"""

from v2kb.core.guards import Immutable, Kept, TriggerGuard, head_moves_forward, register

_ACCEPTED_BY = (
    "(SELECT COUNT(*) FROM evidence_proposaldecision d JOIN evidence_proposal p ON p.id = d.proposal_id "
    "WHERE {which} AND d.decision = 'accept' AND d.user_id <> p.author_id)"
)
_NEEDS_TWO = (
    "EXISTS (SELECT 1 FROM evidence_evidencerevision w WHERE w.row_id = NEW.row_id AND w.verdict <> 'UNTESTED' "
    "AND NEW.verdict <> 'UNTESTED' AND w.verdict <> NEW.verdict AND NOT EXISTS (SELECT 1 "
    "FROM evidence_evidencerevision x WHERE x.row_id = w.row_id AND x.number > w.number AND x.verdict <> 'UNTESTED')) "
    "OR EXISTS (SELECT 1 FROM evidence_evidencerevision b WHERE b.id = NEW.base_id AND ("
    "(b.blocking <> '' AND (NEW.blocking = '' OR NEW.lever_id <> b.lever_id)) OR "
    "(b.blocking = 'full' AND NEW.blocking = 'weak')))"
)

# What the log says last of a lever's merges: it is written before the lever changes, and never again.
_LAST_OF_MERGES = (
    "(SELECT a.verb FROM core_activity a WHERE a.object_type = 'evidence.lever' "
    "AND a.object_id = CAST(OLD.id AS varchar(40)) "
    "AND a.verb IN ('evidence.merge_levers', 'evidence.unmerge_levers') ORDER BY a.id DESC LIMIT 1)"
)

register(
    Immutable("evidence_evidencerevision"),
    Immutable("evidence_evidencechange"),
    Immutable("evidence_proposaldecision"),
    Immutable("evidence_experimententry"),
    Immutable("evidence_experimentlink"),
    Immutable("evidence_runreceipt"),
    Immutable("evidence_supersession"),
    Kept("evidence_evidencerow"),
    Kept("evidence_flag"),
    Kept("evidence_lever"),
    Kept("evidence_proposal"),
    head_moves_forward("evidence_evidencerow", "evidence_evidencerevision", "row_id"),
    TriggerGuard(
        table="evidence_evidencerow",
        name="code",
        code="database.row_code",
        message="A row keeps its code.",
        refuse_when="OLD.code <> NEW.code",
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_evidencerevision",
        name="base",
        code="database.revision_base",
        message="A revision is made from the head of its row.",
        refuse_when=(
            "COALESCE(NEW.base_id, 0) <> "
            "COALESCE((SELECT r.head_id FROM evidence_evidencerow r WHERE r.id = NEW.row_id), 0)"
        ),
    ),
    TriggerGuard(
        table="evidence_evidencerevision",
        name="accepted",
        code="database.revision_accepted",
        message="A change of a row needs an open proposal on it, accepted by as many as the change needs.",
        refuse_when=(
            "(NEW.proposal_id IS NULL AND NEW.base_id IS NOT NULL) OR (NEW.proposal_id IS NOT NULL AND (NOT EXISTS ("
            "SELECT 1 FROM evidence_proposal o WHERE o.id = NEW.proposal_id AND o.state = 'open' "
            "AND COALESCE(o.row_id, NEW.row_id) = NEW.row_id AND COALESCE(o.base_id, 0) = COALESCE(NEW.base_id, 0)) "
            f"OR {_ACCEPTED_BY.format(which='p.id = NEW.proposal_id')} < CASE WHEN {_NEEDS_TWO} THEN 2 ELSE 1 END))"
        ),
    ),
    TriggerGuard(
        table="evidence_proposaldecision",
        name="own",
        code="evidence.own_proposal",
        message="Nobody decides their own proposal.",
        refuse_when=(
            "EXISTS (SELECT 1 FROM evidence_proposal p WHERE p.id = NEW.proposal_id AND p.author_id = NEW.user_id)"
        ),
    ),
    TriggerGuard(
        table="evidence_proposaldecision",
        name="closed",
        code="evidence.proposal_closed",
        message="Only an open proposal is decided.",
        refuse_when=(
            "NOT EXISTS (SELECT 1 FROM evidence_proposal p WHERE p.id = NEW.proposal_id AND p.state = 'open')"
        ),
    ),
    TriggerGuard(
        table="evidence_proposaldecision",
        name="role",
        code="database.decider_no_curator",
        message="A proposal is decided by a curator who is active.",
        refuse_when=(
            "NOT EXISTS (SELECT 1 FROM core_user u JOIN core_user_groups m ON m.user_id = u.id "
            "JOIN auth_group g ON g.id = m.group_id "
            "WHERE u.id = NEW.user_id AND u.is_active AND g.name = 'curator')"
        ),
    ),
    TriggerGuard(
        table="evidence_proposal",
        name="opened",
        code="database.proposal_decided",
        message="A proposal begins open.",
        refuse_when="NEW.state NOT IN ('draft', 'open')",
    ),
    TriggerGuard(
        table="evidence_proposal",
        name="decided",
        code="database.proposal_decided",
        message="An accepted or closed proposal keeps its content and state, and every proposal its author and what it "
        "is; accepted is one whose revision is written.",
        refuse_when=(
            "NEW.author_id <> OLD.author_id OR NEW.origin <> OLD.origin OR NEW.kind <> OLD.kind OR "
            "COALESCE(NEW.base_id, 0) <> COALESCE(OLD.base_id, 0) OR "
            "COALESCE(NEW.merges_id, 0) <> COALESCE(OLD.merges_id, 0) OR "
            "COALESCE(NEW.replaces_id, 0) <> COALESCE(OLD.replaces_id, 0) OR "
            "COALESCE(NEW.reverts_to_id, 0) <> COALESCE(OLD.reverts_to_id, 0) OR "
            "(COALESCE(NEW.row_id, 0) <> COALESCE(OLD.row_id, 0) "
            "AND (OLD.row_id IS NOT NULL OR NEW.state <> 'accepted')) OR "
            "(NEW.state <> OLD.state AND OLD.state NOT IN ('draft', 'open')) OR "
            "(NEW.state = 'accepted' AND NOT EXISTS (SELECT 1 FROM evidence_evidencerevision r "
            "WHERE r.proposal_id = NEW.id AND r.row_id = NEW.row_id)) OR "
            "(NEW.content <> OLD.content AND (OLD.state <> 'open' OR "
            "EXISTS (SELECT 1 FROM evidence_proposaldecision d WHERE d.proposal_id = OLD.id)))"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_supersession",
        name="disarms",
        code="evidence.supersession_disarms",
        message="A row gives way to one that blocks less or has the other verdict by a merge of two curators only.",
        refuse_when=(
            "NEW.kind IN ('replaces', 'merges') AND EXISTS (SELECT 1 FROM evidence_evidencerow older "
            "JOIN evidence_evidencerevision was ON was.id = older.head_id, evidence_evidencerow newer "
            "JOIN evidence_evidencerevision now ON now.id = newer.head_id "
            "WHERE older.id = NEW.older_id AND newer.id = NEW.newer_id AND ((was.blocking <> '' "
            "AND now.blocking = '') OR (was.verdict = 'WIN' AND now.verdict = 'DEAD') "
            "OR (was.verdict = 'DEAD' AND now.verdict = 'WIN'))) "
            "AND "
            + _ACCEPTED_BY.format(
                which="p.row_id = NEW.newer_id AND p.merges_id = "
                "(SELECT r.head_id FROM evidence_evidencerow r WHERE r.id = NEW.older_id)"
            )
            + " < 2"
        ),
    ),
    TriggerGuard(
        table="evidence_flag",
        name="raised",
        code="database.flag_raised",
        message="A flag keeps what it says; confirmed and cleared are not taken back.",
        refuse_when=(
            "NEW.row_id <> OLD.row_id OR NEW.reason <> OLD.reason OR NEW.cause <> OLD.cause OR "
            "COALESCE(NEW.raised_by_id, 0) <> COALESCE(OLD.raised_by_id, 0) OR "
            "(OLD.confirmed_at IS NOT NULL AND (NEW.confirmed_at IS NULL OR NEW.confirmed_at <> OLD.confirmed_at "
            "OR COALESCE(NEW.confirmed_by_id, 0) <> COALESCE(OLD.confirmed_by_id, 0))) OR "
            "(OLD.cleared_at IS NOT NULL AND (NEW.cleared_at IS NULL OR NEW.cleared_at <> OLD.cleared_at "
            "OR COALESCE(NEW.cleared_by_id, 0) <> COALESCE(OLD.cleared_by_id, 0)))"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_flag",
        name="begins",
        code="database.flag_raised",
        message="A flag begins open.",
        refuse_when="NEW.confirmed_at IS NOT NULL OR NEW.cleared_at IS NOT NULL",
    ),
    TriggerGuard(
        table="evidence_flag",
        name="own",
        code="evidence.own_flag",
        message="A flag is confirmed by somebody, and by nobody who raised it.",
        refuse_when=(
            "OLD.confirmed_at IS NULL AND NEW.confirmed_at IS NOT NULL AND "
            "(NEW.confirmed_by_id IS NULL OR NEW.confirmed_by_id = NEW.raised_by_id)"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="evidence_lever",
        name="merged",
        code="database.lever_merged",
        message="A merge of levers is undone by its service alone, and the merged lever keeps its slug.",
        refuse_when=(
            "OLD.slug <> NEW.slug OR (OLD.merged_into_id IS NOT NULL AND "
            "(NEW.merged_into_id <> OLD.merged_into_id OR (NEW.merged_into_id IS NULL AND "
            f"COALESCE({_LAST_OF_MERGES}, '') <> 'evidence.unmerge_levers')))"
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
