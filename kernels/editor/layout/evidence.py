"""Choices with their predictions, anchors, and how the result will be measured."""

from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word, yes_no
from v2kb.rules.prediction_words import LABELS
from v2kb.rules.spec_words import FLOORS, POLARITIES, STANCES, STATISTICS, TIMERS

CHOICES = Section(
    "choices",
    "Choices",
    "Each design decision, the lever it is about and the evidence it rests on.",
    covers=("choices",),
)
SCOPE = (
    Input("op_class", "op class", "list", short=True),
    Input("m", "M", short=True),
    Input("batch", "batch", short=True),
    Input("dtype", "dtype", "list", short=True),
    Input("arch", "arch", "list", short=True),
    Input("envelope", "envelope", "select", ("", "fused_megakernel", "standalone", "cpu")),
    Input("grid", "grid", short=True),
    Input("sharding", "sharding", "list", short=True),
    Input("baseline", "baseline", short=True),
)
SCOPE_LISTS = ("op_class", "dtype", "arch", "envelope", "sharding")
CHOICE = (
    Input("title", "Title"),
    Input("lever", "Lever", help="From the vocabulary; aliases are understood.", suggest="lever-list"),
    Input(
        "polarity",
        "What the spec does with the lever",
        "select",
        POLARITIES,
        help="What adopts a lever answers its DEAD rows and predicts. What avoids, keeps or defers one cites what it "
        "rests on.",
    ),
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
        ("anchor", {"short": True, "suggest": "anchor-list", "help": "As the section Anchors names it."}),
        ("metric", {"short": True}),
        ("unit", {"short": True}),
        ("direction", {"kind": "select", "options": ("", "lower", "higher")}),
        ("tier", {"kind": "select", "options": ("", "1", "2", "3"), "help": "1 decides inside a megakernel."}),
        ("gain_percent", {"short": True, "help": "Of the anchor's value; or an amount."}),
        ("gain_high_percent", {"short": True}),
        ("gain_absolute", {"short": True}),
        ("kill_percent", {"short": True, "help": "Less gain than this ends the candidate."}),
        ("kill_absolute", {"short": True}),
        ("delta_percent", {"short": True, "help": "A change within it counts as none."}),
        ("rounds", {"short": True, "help": "Pairs of anchor and candidate runs, 3 or more."}),
        ("looks", {"short": True, "help": "How often the rounds may be judged; empty is once."}),
        (
            "cases",
            {"kind": "list", "suggest": "case-list", "help": "Workloads of the ops' contracts, separated by commas."},
        ),
        ("kill_event", {}),
        ("budget_runs", {"short": True, "help": "This or a deadline ends the attempt."}),
        ("deadline", {"short": True, "help": "2026-12-31"}),
        ("park_metric", {"short": True, "help": "What must not get worse, such as layer_wall_us."}),
        ("park_percent", {"short": True}),
    )
)
BANDS = Table(
    "prediction.bands",
    LABELS["bands"],
    "band",
    (
        Input("what", "what", short=True),
        Input("low", "from", short=True),
        Input("high", "to", short=True),
        Input("unit", "unit", short=True),
    ),
    "Absolute ranges that are predicted, such as W13 12 to 20 us.",
)
WAVE_QUANT = (
    Input("items", "Items", short=True),
    Input("tasks", "Tasks", short=True),
    Input("old_warps", "Warps now", short=True),
    Input("new_warps", "Warps then", short=True),
)
CITATIONS = Table(
    "citations",
    "Rests on",
    "citation",
    (
        Input("target", "evidence code, document#anchor, or tree:path@commit:lines", suggest="cite-list"),
        Input("stance", "stance", "select", STANCES),
        Input("revision", "", "hidden"),
    ),
    "A row such as D3 is pinned to its newest revision when you save a revision of the spec, and stays pinned. Where "
    "it has moved on since, press Pin newest.",
)
ACKNOWLEDGED = Table(
    "acknowledged",
    "Changes acknowledged",
    "acknowledgement",
    (
        Input("code", "code", short=True),
        Input("reason", "why the change does not matter"),
        Input("revision", "", "hidden"),
    ),
    "Where a cited row moved on and the choice still stands: say why.",
)
ANCHORS = Table(
    "anchors",
    "Anchors",
    "anchor",
    (
        Input("name", "name", short=True, suggest="anchor-list"),
        Input("metric", "metric", short=True),
        Input("method", "method"),
    ),
    "Candidates are compared with these. An anchor must be pinned by a capture run before anything is judged.",
)
MEASUREMENT = Fields(
    (
        Input("measurement.metric", "Metric", short=True),
        word("measurement.tier", "Tier", ("1", "2", "3")),
        word("measurement.timer", "Timer", TIMERS),
        size("measurement.grid", "Grid"),
        size("measurement.launches", "Launches"),
        word("measurement.statistic", "Statistic", STATISTICS),
        Input("measurement.body_us", "Body (us)", short=True),
        yes_no("measurement.cold", "Cold L2"),
        size("measurement.weight_bytes", "Weights per iteration (B)"),
        size("measurement.layers", "Layers"),
        word("measurement.floor", "Floor", FLOORS),
        yes_no("measurement.adds_block_maxima", "Adds maxima of different blocks"),
        yes_no("measurement.reads_block_sum", "Reads the sum over blocks too"),
    ),
    "Measurement",
    columns=4,
)
TARGETS = Table(
    "measurement.targets",
    "Targets",
    "target",
    (
        Input("what", "what", short=True),
        Input("now", "now", short=True),
        Input("target", "target", short=True),
        Input("ratio", "ratio", short=True),
    ),
    "The ratio is worked out again from the two numbers.",
)
ANCHOR_SECTION = Section(
    "anchors",
    "Anchors and measurement",
    "What is compared with, and how the result will be measured.",
    (ANCHORS, MEASUREMENT, TARGETS),
    ("anchors", "measurement"),
)
