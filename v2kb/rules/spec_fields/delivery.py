"""Scale packs, gates, and how the op is wired into the runtime."""

from v2kb.rules import document_shape as shape
from v2kb.rules.spec_fields.parts import LINE, NAME, YES_OR_NO, rows_of
from v2kb.rules.spec_words import INDEXED_BY, RUNGS

SCALE_PACK = {
    "name": NAME,
    "positive": shape.flag(),
    "finite": shape.flag(),
    "power_of_two": shape.flag(),
    "exponent_in_range": shape.flag(),
    "where": LINE,
}
GATE = {"rung": shape.one_of(*RUNGS), "bar": LINE, "cases": LINE, "reason": LINE}
WIRED_TASK = {
    "type": NAME,
    "enum": NAME,
    "id": shape.formula(),
    "tree": NAME,
    "tma": YES_OR_NO,
    "descriptor_entries": YES_OR_NO,
    "indexed_by": shape.one_of(*INDEXED_BY),
    "in_offset_list": YES_OR_NO,
    "literal_elsewhere": YES_OR_NO,
    "inputs": shape.formula(),
    "outputs": shape.formula(),
    "register_split": shape.formula(),
    "graph_tuple": NAME,
    "wrapper_inputs": shape.formula(),
    "parameters": shape.rows(NAME, 32),
    "variant_parameters": shape.rows(NAME, 32),
    "descriptor_rank": shape.formula(),
    "instruction_dimensions": shape.formula(),
}
FILE = {"path": LINE, "what": LINE}
WIRING = {
    "tasks": rows_of(WIRED_TASK, 32),
    "files": rows_of(FILE, 32),
    "flag": NAME,
    "default_off": YES_OR_NO,
    "placeholders": shape.named(r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), 64, "Name the enum."),
}
