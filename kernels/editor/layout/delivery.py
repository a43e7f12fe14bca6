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
        Input("type", "type", short=True, help="The task type, as Granularity names it."),
        Input("enum", "enum", short=True, help="Its name in the runtime's enum, such as TASK_RMS_NORM_V2."),
        size("id", "id", "Its number in that enum: the next free one of the tree."),
        Input("tree", "tree", short=True, help="Where the enum is, such as mpk or upstream: ids differ per tree."),
        yes_no("tma", "TMA", "Whether the body reads through TMA descriptors."),
        word("indexed_by", "indexed by", INDEXED_BY, "What the body takes its tile from."),
        yes_no(
            "in_offset_list", "in the offset list", "In the runtime's task_offset list; if not, the field stays -1."
        ),
    ),
    more=(
        yes_no("descriptor_entries", "Explicit descriptor entries", "Only for TMA with an id outside 231 to 256."),
        yes_no("literal_elsewhere", "Id used as a literal elsewhere", "Whether another file repeats the number."),
        size("inputs", "Inputs"),
        size("outputs", "Outputs"),
        size("register_split", "Register split", "After how many tensors the registration splits: the inputs."),
        Input("graph_tuple", "Graph tuple", short=True, help="Inputs and outputs in graph.cc, as 5, 1."),
        size("wrapper_inputs", "Wrapper new_input calls", "Tensors that the wrapper adds: inputs and outputs."),
        size("descriptor_rank", "Descriptor rank", "Only for TMA."),
        size("instruction_dimensions", "Instruction dimensions", "Of the copy instruction, as many as the rank."),
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
