"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, TriggerGuard, head_moves_forward, register

register(
    *(
        Immutable(f"kernels_{table}")
        for table in (
            "opcontract",
            "opstop",
            "specrevision",
            "citation",
            "searchreceipt",
            "submission",
            "position",
            "comment",
            "mechanismmark",
            "gateresult",
            "approval",
            "preregistration",
            "findingwaiver",
            "waiveranswer",
            "fileblob",
            "kernelversion",
            "versionfile",
            "runresult",
            "judgement",
        )
    ),
    head_moves_forward("kernels_op", "kernels_opcontract", "op_id"),
    head_moves_forward("kernels_spec", "kernels_specrevision", "spec_id"),
    TriggerGuard(
        table="kernels_run",
        name="over",
        code="database.run_over",
        message="A run that is over keeps its state, outcome and job.",
        refuse_when=(
            "OLD.state IN ('finished', 'cancelled') AND "
            "(NEW.state <> OLD.state OR NEW.outcome <> OLD.outcome OR NEW.job <> OLD.job)"
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="kernels_anchor",
        name="pinned",
        code="database.anchor_pinned",
        message="The values of a pinned anchor change with a new capture only.",
        refuse_when=(
            "OLD.state = 'PINNED' AND NEW.state = 'PINNED' AND NEW.capture_id = OLD.capture_id "
            'AND NEW."values" <> OLD."values"'
        ),
        event="UPDATE",
    ),
    TriggerGuard(
        table="kernels_approval",
        name="gate",
        code="spec.gate_not_passed",
        message="An approval needs the newest stored gate result of the same revision and hash, and it must pass.",
        refuse_when=(
            "NOT EXISTS (SELECT 1 FROM kernels_gateresult g JOIN kernels_specrevision r ON r.id = g.revision_id "
            "WHERE g.id = NEW.gate_result_id AND g.revision_id = NEW.revision_id AND g.passed "
            "AND g.revision_hash = r.content_hash AND NEW.revision_hash = r.content_hash "
            "AND NOT EXISTS (SELECT 1 FROM kernels_gateresult later WHERE later.revision_id = g.revision_id "
            "AND later.id > g.id))"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="author",
        code="spec.approver_is_author",
        message="A contributor of a spec cannot approve it.",
        refuse_when=(
            "EXISTS (SELECT 1 FROM kernels_specrevision mine "
            "JOIN kernels_specrevision other ON other.spec_id = mine.spec_id "
            "WHERE mine.id = NEW.revision_id AND other.author_id = NEW.approver_id)"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="newest",
        code="spec.not_newest",
        message="Only the newest revision of a spec can be approved.",
        refuse_when=(
            "EXISTS (SELECT 1 FROM kernels_specrevision mine "
            "JOIN kernels_specrevision other ON other.spec_id = mine.spec_id "
            "WHERE mine.id = NEW.revision_id AND other.number > mine.number)"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="position",
        code="spec.no_approving_position",
        message="An approval needs an approving position on correctness by the approver, as the last word.",
        refuse_when=(
            "NOT EXISTS (SELECT 1 FROM kernels_position p WHERE p.revision_id = NEW.revision_id "
            "AND p.user_id = NEW.approver_id AND p.aspect = 'correctness' AND p.position = 'approve' "
            "AND NOT EXISTS (SELECT 1 FROM kernels_position later WHERE later.revision_id = p.revision_id "
            "AND later.user_id = p.user_id AND later.aspect = p.aspect AND later.id > p.id))"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="role",
        code="spec.approver_no_reviewer",
        message="An approval needs an approver who is active and reviews correctness.",
        refuse_when=(
            "NOT EXISTS (SELECT 1 FROM core_user u JOIN core_user_groups m ON m.user_id = u.id "
            "JOIN auth_group g ON g.id = m.group_id "
            "WHERE u.id = NEW.approver_id AND u.is_active AND g.name = 'reviewer_correctness')"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="submitted",
        code="spec.not_submitted",
        message="Only a revision that was handed in can be approved.",
        refuse_when="NOT EXISTS (SELECT 1 FROM kernels_submission s WHERE s.revision_id = NEW.revision_id)",
    ),
    TriggerGuard(
        table="kernels_approval",
        name="discussed",
        code="spec.discussed",
        message="A revision that a reviewer still wants to discuss is not approved.",
        refuse_when=(
            "EXISTS (SELECT 1 FROM kernels_position p WHERE p.revision_id = NEW.revision_id "
            "AND p.position = 'discuss' "
            "AND NOT EXISTS (SELECT 1 FROM kernels_position later WHERE later.revision_id = p.revision_id "
            "AND later.user_id = p.user_id AND later.aspect = p.aspect AND later.id > p.id))"
        ),
    ),
    TriggerGuard(
        table="kernels_approval",
        name="outdated",
        code="spec.gate_outdated",
        message="The evidence has moved since the gate was asked; it must be asked again.",
        refuse_when=(
            "EXISTS (SELECT 1 FROM kernels_gateresult g WHERE g.id = NEW.gate_result_id AND ("
            "EXISTS (SELECT 1 FROM evidence_evidencerevision e WHERE e.created_at > g.created_at) OR "
            "EXISTS (SELECT 1 FROM evidence_flag f WHERE f.confirmed_at > g.created_at AND f.cleared_at IS NULL) OR "
            "EXISTS (SELECT 1 FROM evidence_supersession s WHERE s.created_at > g.created_at "
            "AND s.kind IN ('replaces', 'merges'))))"
        ),
    ),
    TriggerGuard(
        table="kernels_waiveranswer",
        name="two_people",
        code="waiver.own",
        message="A waiver is agreed to by a reviewer who neither asked for it nor wrote a revision of the spec.",
        refuse_when=(
            "NEW.kind = 'agreed' AND EXISTS (SELECT 1 FROM kernels_findingwaiver w WHERE w.id = NEW.waiver_id AND ("
            "w.asked_by_id = NEW.user_id OR EXISTS (SELECT 1 FROM kernels_specrevision r "
            "WHERE r.spec_id = w.spec_id AND r.author_id = NEW.user_id) OR NOT EXISTS ("
            "SELECT 1 FROM core_user u JOIN core_user_groups m ON m.user_id = u.id "
            "JOIN auth_group g ON g.id = m.group_id WHERE u.id = NEW.user_id AND u.is_active "
            "AND g.name IN ('reviewer_correctness', 'reviewer_performance'))))"
        ),
    ),
    TriggerGuard(
        table="kernels_preregistration",
        name="approved",
        code="spec.seal_without_approval",
        message="A prediction is sealed when its revision is approved.",
        refuse_when="NOT EXISTS (SELECT 1 FROM kernels_approval a WHERE a.revision_id = NEW.revision_id)",
    ),
)
