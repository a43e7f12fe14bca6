"""What the spec is about: title, ops, symbols, claims, engine."""

from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word, yes_no
from v2kb.rules.spec_words import FAMILIES, ROUTES

NAMED = (Input("name", "name", short=True), Input("value", "value or expression"))
OPS = Table(
    "ops",
    "Ops",
    "op",
    (
        Input("name", "name here", short=True),
        Input("op", "op", short=True, suggest="op-list"),
        Input("math", "what it computes"),
    ),
    "One spec may cover several ops that share a file pair. Their instances and task counts stand under Granularity.",
    more=(
        Input("weights", "Weights"),
        Input("scales", "Scales"),
        Input("output", "Output"),
        Input("contract", "Contract", help="The hash of the op's contract that the spec was written for."),
    ),
    more_title="Weights, scales, output, contract",
)
SYMBOLS = Table(
    "symbols",
    "Symbols",
    "symbol",
    NAMED,
    "Named sizes and counts. Fixed axes of the ops' contracts are known as well.",
    named=True,
)
CLAIMS = Table(
    "claims",
    "Claimed ranges",
    "claim",
    (Input("symbol", "symbol", short=True), size("low", "from"), size("high", "to"), Input("text", "as the spec says")),
    "A symbol that may take other values. Every rule is tried at each of them.",
)
ENGINE = Fields(
    (
        Input("engine.family", "Family", "select", ("", *FAMILIES)),
        Input("engine.idiom", "Engine idiom"),
        Input("engine.why", "Why this engine", "area"),
        Input("engine.source", "Source of the engine", help="The file that it starts from."),
    ),
    "Engine",
)
SHAPE = Fields(
    (
        size("engine.m", "M"),
        size("engine.tile_m", "Tile M"),
        size("engine.tiles_per_task", "Tiles per task"),
    ),
    "Shape of the engine",
    columns=3,
)
ROUTING = Fields(
    (
        word("engine.routing.route", "Who builds it", ROUTES),
        yes_no("engine.routing.first_bring_up", "First bring-up"),
        yes_no("engine.routing.wired", "Wired already"),
        yes_no("engine.routing.frozen_gate", "Frozen gate"),
        yes_no("engine.routing.numeric_target", "Numeric target"),
        yes_no("engine.routing.campaign_verdict", "Campaign verdict"),
        size("engine.routing.wedge_rounds", "Rounds of the same wedge"),
    ),
    "Routing",
    columns=4,
)
OVERVIEW = Section(
    "overview",
    "Overview",
    "What the spec is about, its ops, its symbols and its engine.",
    (
        Fields((Input("title", "Title"), Input("summary", "Summary", "area", help="Markdown. [[D3]] becomes a link."))),
        OPS,
        SYMBOLS,
        CLAIMS,
        ENGINE,
        SHAPE,
        ROUTING,
    ),
    ("title", "summary", "ops", "symbols", "claims", "engine"),
)
