"""What messages call a field of a spec: the words that stand over it on the screen."""

import re

# By the field's name, or by its path where two fields share a name. Fields that are missing here are called by their
# name. Tests compare these words with those of the editor.
_WORDS = {
    "active_high": "active, to",
    "active_low": "active, from",
    "alignment": "align (B)",
    "alloc_columns": "columns allocated",
    "claims.high": "to",
    "claims.low": "from",
    "columns": "columns per slot",
    "count": "arrivals",
    "descriptor_entries": "explicit descriptor entries",
    "empty_arrivals": "arrivals, empty",
    "empty_base": "empty from",
    "full_arrivals": "arrivals, full",
    "full_base": "full from",
    "in_offset_list": "in the offset list",
    "iterations": "K iterations of one task",
    "literal_elsewhere": "id used as a literal elsewhere",
    "num_op_sems": "number of semaphores",
    "num_tasks": "number of tasks",
    "offset_bytes": "offset (B)",
    "page_count": "pages",
    "sems.rows.ordinal": "from ordinal",
    "size_bytes": "size (B)",
    "start": "start column",
    "static_shared_bytes": "static shared memory (B)",
    "tma": "TMA",
    "tx_bytes": "expected bytes",
    "variant_parameters": "parameters in the variant string",
    "wedge_rounds": "rounds of the same wedge",
    "weight_bytes": "weights per iteration (B)",
    "wrapper_inputs": "wrapper new_input calls",
}
_INDEX = re.compile(r"\[([0-9]+)\]")


def field_words(path: str) -> str:
    """The field at the end of a path: wiring.tasks[0].wrapper_inputs -> "wrapper new_input calls"."""
    plain = _INDEX.sub("", path)
    name = plain.rpartition(".")[2]
    return _WORDS.get(plain) or _WORDS.get(name) or name.replace("_", " ")


def spoken(path: str) -> str:
    """A path of the document in words: "wiring tasks, row 1: register split"."""
    place, _, _ = path.rpartition(".")
    rows = _INDEX.sub(lambda found: f", row {int(found[1]) + 1}", place.replace(".", " ")).replace("_", " ")
    return f"{rows}: {field_words(path)}" if place else field_words(path)
