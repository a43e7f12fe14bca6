"""Gates that the op must pass, scale packs, and how it is wired into the runtime."""

from kernels.editor.layout.overview import NAMED
from kernels.editor.layout.parts import Fields, Input, Section, Table, size, word, yes_no
from v2kb.rules.spec_words import INDEXED_BY, RUNGS

GATE_ROWS = Table(
    "gates",
    "Gates",
    "gate",
    (
        word("rung", "rung", RUNGS),
        Input("bar", "bar"),
        Input("cases", "cases"),
        Input("reason", "why it is left out"),
    ),
    "The rungs of the ladder with their bars. A rung that doesn't apply needs a reason.",
)
SCALE_PACKS = Table(
    "scale_packs",
    "Scale packs",
    "scale pack",
    (
        Input("name", "name", short=True),
        Input("positive", "positive", "check"),
        Input("finite", "finite", "check"),
        Input("power_of_two", "powers of two", "check"),
        Input("exponent_in_range", "exponent -127 to 127", "check"),
        Input("where", "where it is checked"),
    ),
    "What is checked of each pack of scales before it is used.",
)
GATES = Section(
    "gates",
    "Gates and scale packs",
    "What the op must pass before anyone judges its speed.",
    (GATE_ROWS, SCALE_PACKS),
    ("gates", "scale_packs"),
)
WIRED_TASKS = Table(
    "wiring.tasks",
    "Task types",
    "task type",
    (
        Input("type", "type", short=True),
        Input("enum", "enum", short=True),
        size("id", "id"),
        Input("tree", "tree", short=True),
        yes_no("tma", "TMA"),
        word("indexed_by", "indexed by", INDEXED_BY),
        yes_no("in_offset_list", "in the offset list"),
    ),
    more=(
        yes_no("descriptor_entries", "Explicit descriptor entries"),
        yes_no("literal_elsewhere", "Id used as a literal elsewhere"),
        size("inputs", "Inputs"),
        size("outputs", "Outputs"),
        size("register_split", "Register split"),
        Input("graph_tuple", "Graph tuple", short=True),
        size("wrapper_inputs", "Wrapper new_input calls"),
        size("descriptor_rank", "Descriptor rank"),
        size("instruction_dimensions", "Instruction dimensions"),
        Input("parameters", "Parameters", "list", help="Separated by commas."),
        Input("variant_parameters", "Parameters in the variant string", "list", help="Separated by commas."),
    ),
    more_title="Arity, parameters, descriptors",
)
FILES = Table(
    "wiring.files",
    "Files",
    "file",
    (Input("path", "path"), Input("what", "what changes")),
)
PLACEHOLDERS = Table(
    "wiring.placeholders",
    "Placeholder ids",
    "placeholder",
    NAMED,
    "Enums of the tree that only mark an end or a range.",
    named=True,
)
WIRING = Section(
    "wiring",
    "Wiring",
    "How the op comes into the runtime: ids, arity, parameters, files.",
    (
        WIRED_TASKS,
        Fields(
            (Input("wiring.flag", "Flag", short=True), yes_no("wiring.default_off", "Off by default")),
            "Switch",
            columns=3,
        ),
        FILES,
        PLACEHOLDERS,
    ),
    ("wiring",),
)
