"""Who does what, and how the work is cut into tasks."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import LINE, NAME, PROSE, ROLE_NAME, YES_OR_NO, rows_of
from v2kb.rules.spec_words import DEPENDENCIES, MODES, RELEASE_OWNERS

ROLE = {
    "role": ROLE_NAME,
    "empty": shape.flag(),
    "dependency": shape.one_of(*DEPENDENCIES),
    "duty": PROSE,
    "pages": LINE,
    "handshake": LINE,
    "bounds_fail": PROSE,
    "bounds_fail_pages": LINE,
    "bounds_fail_handshake": LINE,
    "inactive": PROSE,
    "inactive_pages": LINE,
    "inactive_handshake": LINE,
    "reinit_before_bail": YES_OR_NO,
    "waits_when_inactive": YES_OR_NO,
    "named_barriers": LINE,
}
RELEASE = {
    "owners": shape.rows(shape.one_of(*RELEASE_OWNERS), 3),
    "alternative": shape.one_of(*RELEASE_OWNERS),
    "auto_consumer_finish": YES_OR_NO,
    "only_used_pages": YES_OR_NO,
    "unvisited_stages": YES_OR_NO,
}
ROLES_PART = {"stages": shape.formula(), "rows": rows_of(ROLE, 32), "release": shape.record(RELEASE)}
GRANULARITY = {
    "task": NAME,
    "op": NAME,
    "type": NAME,
    "mode": shape.one_of(*MODES, blank="per_tile"),
    "num_tasks": shape.formula(),
    "listed": shape.formula(),
    "iterations": shape.formula(),
    "active_low": shape.formula(),
    "active_high": shape.formula(),
    "can_be_inactive": YES_OR_NO,
    "justification": PROSE,
    "monotonic_barrier": shape.flag(),
    "host_assert": shape.flag(),
    "skip_after_step0": shape.flag(),
    "task_offset": shape.flag(),
    "grid_barrier": shape.flag(),
}
