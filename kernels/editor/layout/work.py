"""Who does what, and how the work is cut into tasks."""

from kernels.editor.layout.parts import Fields, Input, Matrix, Section, Table, size, word, yes_no
from v2kb.rules.spec_words import DEPENDENCIES, MODES, RELEASE_OWNERS, ROLES


def _path(prefix: str, duty: str) -> tuple[Input, ...]:
    return (Input(duty, "duty", "area"), Input(f"{prefix}pages", "pages"), Input(f"{prefix}handshake", "handshake"))


ROLE_ROWS = Table(
    "roles.rows",
    "Duties per role and path",
    "role",
    (
        word("role", "role", ROLES),
        Input("empty", "empty body", "check"),
        word("dependency", "dependency", DEPENDENCIES),
        yes_no("reinit_before_bail", "re-init before bail"),
        yes_no("waits_when_inactive", "waits when inactive"),
        Input("named_barriers", "named barriers", short=True),
    ),
    "What each role does, which pages it takes or releases, and whom it waits for or tells, on each path.",
    matrix=Matrix(
        ("duty", "pages", "handshake"),
        (
            ("normal", _path("", "duty")),
            ("out of bounds", _path("bounds_fail_", "bounds_fail")),
            ("inactive", _path("inactive_", "inactive")),
        ),
    ),
)
RELEASE = Fields(
    (
        Input("roles.release.owners", "Released by", "several", RELEASE_OWNERS, "Exactly one of them."),
        word("roles.release.alternative", "Alternative that the spec documents", RELEASE_OWNERS),
        yes_no("roles.release.auto_consumer_finish", "auto_consumer_finish"),
        yes_no("roles.release.only_used_pages", "Only used pages are released"),
        yes_no("roles.release.unvisited_stages", "Stages that were never visited are released"),
    ),
    "Release of pages",
    columns=3,
)
ROLES_SECTION = Section(
    "roles",
    "Stages and roles",
    "Who does what on the normal path, out of bounds and when inactive.",
    (Fields((size("roles.stages", "Stages"),)), ROLE_ROWS, RELEASE),
    ("roles",),
)
GRANULARITY_ROWS = Table(
    "granularity",
    "Instances",
    "instance",
    (
        Input("task", "task", short=True, help="A name for the instance, such as W13 routed."),
        Input("op", "op here", short=True, help="The op's name in this spec, as the overview lists it."),
        Input("type", "task type", short=True, help="As the wiring names it; instances may share one."),
        Input("mode", "mode", "select", MODES),
        size("num_tasks", "number of tasks", "A formula over the symbols, such as ceil(ROWS/TILE_ROWS)."),
        size("listed", "listed", "The count that the plan states; the formula must give it."),
        Input("task_offset", "task_offset entry", "check", help="The body takes its tile from task_offset."),
    ),
    "One row per instance of an op. Per tile is the default; grid-wide needs a justification and all co-requisites.",
    more=(
        size("iterations", "K iterations of one task", "May use active, the number of active experts."),
        size("active_low", "active, from"),
        size("active_high", "active, to"),
        yes_no("can_be_inactive", "Can be inactive"),
        Input("monotonic_barrier", "Monotonic barrier", "check"),
        Input("host_assert", "Host assert", "check"),
        Input("skip_after_step0", "skip_after_step0", "check"),
        Input("grid_barrier", "Grid barrier", "check"),
        Input("justification", "Justification", "area"),
    ),
    more_title="Iterations, inactive tasks, co-requisites",
)
GRANULARITY = Section(
    "granularity", "Granularity", "How the work is cut into tasks.", (GRANULARITY_ROWS,), ("granularity",)
)
