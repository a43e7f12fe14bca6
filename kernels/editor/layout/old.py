"""What the editor shows: sections, their fields and tables. Names are paths inside the spec document."""

from dataclasses import dataclass, field

from v2kb.rules.prediction_words import LABELS
from v2kb.rules.spec_fields import (
    ARRIVAL_KINDS,
    BLOCKS,
    FAMILIES,
    MODES,
    POLARITIES,
    QUESTION_STATES,
    REINIT_OWNERS,
    ROLES,
    STANCES,
)


def anchor_of(path: str) -> str:
    """A path of the document as the end of an element's id: smem.regions[0].name -> smem-regions-0-name."""
    return path.replace("[", "-").replace("]", "").replace(".", "-")


@dataclass(frozen=True)
class Input:
    """One field. `kind` is text, area, check, select or hidden; `options` are the values of a select."""

    name: str
    label: str
    kind: str = "text"
    options: tuple[str, ...] = ()
    help: str = ""
    short: bool = False

    @property
    def long(self) -> bool:
        """A line of text; in a table of many columns it gets a line of its own."""
        return self.kind == "text" and not self.short


@dataclass(frozen=True)
class Table:
    """Rows at `path`, each with these inputs."""

    path: str
    title: str
    row: str
    inputs: tuple[Input, ...]
    help: str = ""

    @property
    def anchor(self) -> str:
        """The end of the element's id that findings about the whole table link to."""
        return anchor_of(self.path)


@dataclass(frozen=True)
class Section:
    """One page of the editor."""

    slug: str
    title: str
    help: str
    inputs: tuple[Input, ...] = ()
    tables: tuple[Table, ...] = ()
    picture: str = ""


def _size(name: str, label: str, help: str = "") -> Input:
    return Input(name, label, help=help, short=True)


REGIONS = Table(
    "smem.regions",
    "SMEM regions",
    "region",
    (
        _size("ordinal", "ordinal"),
        Input("name", "name", short=True),
        _size("size_bytes", "size (B)"),
        _size("alignment", "align (B)"),
        _size("page_count", "pages"),
        Input("can_pack", "can pack", "check"),
        _size("release_step", "release step"),
        Input("contiguous", "contiguous", "check"),
        Input("tma_dst", "TMA target", "check"),
        Input("owner", "owner", "select", ROLES),
        Input("contents", "contents"),
    ),
    "Sizes may be expressions over the symbols, such as STAGES*3072+16. Pages -1 lets the planner decide.",
)
SEMS = Table(
    "sems.rows",
    "Semaphores",
    "row",
    (
        _size("ordinal", "from ordinal"),
        _size("slots", "slots"),
        Input("name", "name", short=True),
        _size("count", "arrivals"),
        Input("producer", "producer", short=True),
        Input("consumer", "consumer", short=True),
        Input("meaning", "meaning"),
        Input("kind", "arrival", "select", ARRIVAL_KINDS),
        Input("reinit_owner", "re-init owner", "select", REINIT_OWNERS),
    ),
    "A row may stand for several consecutive semaphores: slots STAGES, for example.",
)
ROLE_ROWS = Table(
    "roles.rows",
    "Duties per role and path",
    "role",
    (
        Input("role", "role", "select", ROLES),
        Input("duty", "normal path", "area"),
        Input("bounds_fail", "out of bounds", "area"),
        Input("inactive", "inactive", "area"),
    ),
)
GRANULARITY = Table(
    "granularity",
    "Task types",
    "task type",
    (
        Input("task", "task", short=True),
        Input("mode", "mode", "select", MODES),
        _size("num_tasks", "number of tasks"),
        _size("listed", "listed"),
        Input("justification", "justification"),
        Input("monotonic_barrier", "monotonic barrier", "check"),
        Input("host_assert", "host assert", "check"),
        Input("skip_after_step0", "skip after step 0", "check"),
        Input("task_offset", "task_offset entry", "check"),
        Input("grid_barrier", "grid barrier", "check"),
    ),
    "Per tile is the default; grid-wide needs a justification and all co-requisites.",
)
ANCHORS = Table(
    "anchors",
    "Anchors",
    "anchor",
    (Input("name", "name", short=True), Input("metric", "metric", short=True), Input("method", "method")),
    "Candidates are compared with these. An anchor must be pinned by a capture run before anything is judged.",
)
QUESTIONS = Table(
    "open_questions",
    "Open questions",
    "question",
    (
        _size("id", "id"),
        Input("text", "question", "area"),
        Input("blocks", "blocks", "select", ("", *BLOCKS)),
        Input("state", "state", "select", QUESTION_STATES),
    ),
)

SECTIONS: tuple[Section, ...] = (
    Section(
        "overview",
        "Overview",
        "What the spec is about, its symbols and its engine.",
        (
            Input("title", "Title"),
            Input("summary", "Summary", "area", help="Markdown. [[D3]] becomes a link."),
            Input("engine.family", "Family", "select", ("", *FAMILIES)),
            Input("engine.idiom", "Engine idiom"),
            Input("engine.why", "Why this engine", "area"),
        ),
    ),
    Section(
        "smem",
        "Shared memory",
        "Regions as the planner sees them: 14 pages of 16,384 bytes, 224,256 bytes in all.",
        (
            Input(
                "smem.queue", "Queue", help="What runs on the same SM, in order, separated by commas: this, S3, this."
            ),
        ),
        (REGIONS,),
        "smem",
    ),
    Section(
        "sems",
        "Semaphores",
        "At most 31 operation semaphores, ordinals from 0 without a gap.",
        (Input("sems.num_op_sems", "Number of semaphores", short=True),),
        (SEMS,),
        "sems",
    ),
    Section(
        "roles",
        "Stages and roles",
        "Who does what on the normal path, out of bounds and when inactive.",
        (Input("roles.stages", "Stages", short=True),),
        (ROLE_ROWS,),
    ),
    Section("granularity", "Granularity", "How the work is cut into tasks.", (), (GRANULARITY,)),
    Section("choices", "Choices", "Each design decision, the lever it is about and the evidence it rests on."),
    Section(
        "anchors", "Anchors and questions", "What is compared with, and what is still open.", (), (ANCHORS, QUESTIONS)
    ),
)
BY_SLUG = {section.slug: section for section in SECTIONS}

SCOPE = (
    Input("op_class", "op class", short=True),
    Input("m", "M", short=True),
    Input("batch", "batch", short=True),
    Input("dtype", "dtype", short=True),
    Input("arch", "arch", short=True),
    Input("envelope", "envelope", "select", ("", "fused_megakernel", "standalone", "cpu")),
    Input("grid", "grid", short=True),
    Input("sharding", "sharding", short=True),
    Input("baseline", "baseline", short=True),
)
CHOICE = (
    Input("title", "Title"),
    Input("lever", "Lever", help="From the vocabulary; aliases are understood."),
    Input("polarity", "What the spec does with the lever", "select", POLARITIES),
    Input("rationale", "Rationale", "area"),
    Input(
        "new_mechanism",
        "New mechanism",
        "area",
        help="Only where a dead row stands against an adopted lever: what differs from how it died.",
    ),
)
PREDICTION = tuple(
    Input(name, LABELS[name], **more)
    for name, more in (
        ("row", {"short": True, "help": "The evidence row that the result speaks about, such as U4."}),
        ("anchor", {"short": True}),
        ("metric", {"short": True}),
        ("unit", {"short": True}),
        ("direction", {"kind": "select", "options": ("", "lower", "higher")}),
        ("tier", {"kind": "select", "options": ("", "1", "2", "3")}),
        ("gain_percent", {"short": True}),
        ("gain_high_percent", {"short": True}),
        ("kill_percent", {"short": True}),
        ("delta_percent", {"short": True}),
        ("rounds", {"short": True}),
        ("cases", {"help": "Separated by commas."}),
        ("kill_event", {}),
        ("budget_runs", {"short": True}),
        ("deadline", {"short": True, "help": "2026-12-31"}),
        ("park_metric", {"short": True}),
        ("park_percent", {"short": True}),
    )
)
WAVE_QUANT = (
    Input("items", "Items", short=True),
    Input("tasks", "Tasks", short=True),
    Input("old_warps", "Warps now", short=True),
    Input("new_warps", "Warps then", short=True),
)
CITATION = (
    Input("target", "evidence code, document#anchor, or tree:path@commit:lines"),
    Input("stance", "stance", "select", STANCES),
    Input("revision", "", "hidden"),
)
ACKNOWLEDGED = (Input("code", "code", short=True), Input("reason", "why the change does not matter"))


@dataclass
class Cell:
    """One input with its value, its path and what the rules say about it."""

    input: Input
    path: str
    value: object
    findings: list = field(default_factory=list)

    @property
    def id(self) -> str:
        """An id for the element, made of its path."""
        return "f-" + anchor_of(self.path)
