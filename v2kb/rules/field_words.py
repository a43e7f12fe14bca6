"""What messages say of a field of a spec: the words that stand over it on the screen, and what to enter there."""

import re
from collections.abc import Mapping

from v2kb.rules.spec_words import ARRIVAL_KINDS, ARRIVERS, ARRIVES, DATA_PATHS, PUBLICATIONS, REINIT_OWNERS

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
A_NUMBER = "Write a number or a formula."


def _choose(*words: str) -> str:
    return f"Choose {', '.join(words[:-1])} or {words[-1]}."


# What to enter where a blank says too little; by name or path as above.
_TO_ENTER = {
    "alignment": "Write the bytes that it is aligned to, such as 128; a TMA target needs 1024.",
    "arrivals": "Write how many arrivals complete a phase.",
    "arrivers": _choose(*ARRIVERS),
    "arrives": _choose(*ARRIVES),
    "columns": "Write the columns of one slot, as a number or a formula.",
    "consumer": "Name the role that waits, such as mma.",
    "count": "Write how many arrivals complete a phase.",
    "data": _choose(*DATA_PATHS),
    "depth": "Write the slots of the ring, such as STAGES.",
    "descriptor_rank": "Write the rank of the TMA descriptor, 1 to 5.",
    "empty_arrivals": "Write how many arrivals complete a phase of the empty edge.",
    "empty_base": "Write the first ordinal of the empty edge, such as STAGES.",
    "full_arrivals": "Write how many arrivals complete a phase of the full edge.",
    "full_base": "Write the first ordinal of the full edge, such as 0.",
    "indexed_by": "Choose task_offset or nothing.",
    "inputs": "Count the tensors that it reads, at most 14.",
    "instruction_dimensions": "Write the dimensions of the copy instruction, 1 to 5: they must match the rank.",
    "iterations": "Write the K iterations of one task, such as HIDDEN/GRP.",
    "kind": _choose(*ARRIVAL_KINDS),
    "claims.low": "Write the lowest value that is claimed.",
    "claims.high": "Write the highest value that is claimed.",
    "listed": "Write the number of tasks that the plan states; the formula must give it.",
    "meaning": "Write what an arrival says, such as: the slot is filled.",
    "num_tasks": "Write how many tasks it becomes, such as ceil(ROWS/TILE_ROWS).",
    "offset_bytes": "Write the bytes from the start of the region; s stands for the slot.",
    "ordinal": "Write its number from 0, such as 2*STAGES.",
    "outputs": "Count the tensors that it writes, at most 3.",
    "producer": "Name the role that arrives, such as loader.",
    "publication": _choose(*PUBLICATIONS),
    "register_split": "Write after how many tensors the registration splits: as many as the inputs.",
    "reinit_order": "Write what keeps every arrival behind it, such as: the loader arrives first, and it re-arms.",
    "reinit_owner": _choose(*REINIT_OWNERS),
    "size_bytes": "Write its bytes, as a number or a formula such as 128*128.",
    "slots": "Write how many it stands for, such as STAGES or 1.",
    "storage": "Name the region that the bytes land in.",
    "tree": "Name it, such as mpk or upstream: ids differ per tree.",
    "wiring.tasks.id": "Write its number in the runtime's enum of its tree.",
    "wrapper_inputs": "Write how many tensors the wrapper adds: inputs and outputs together.",
}
_INDEX = re.compile(r"\[([0-9]+)\]")


def field_words(path: str) -> str:
    """The field at the end of a path: wiring.tasks[0].wrapper_inputs -> "wrapper new_input calls"."""
    return _said(_WORDS, path) or path.rpartition(".")[2].replace("_", " ")


def to_enter(path: str, default: str = A_NUMBER) -> str:
    """What a person enters in the field at a path; `default` where its name says enough."""
    return _said(_TO_ENTER, path) or default


def _said(words: Mapping[str, str], path: str) -> str:
    plain = _INDEX.sub("", path)
    return words.get(plain) or words.get(plain.rpartition(".")[2], "")


def spoken(path: str) -> str:
    """A path of the document in words: "wiring tasks, row 1: register split"."""
    place, _, _ = path.rpartition(".")
    rows = _INDEX.sub(lambda found: f", row {int(found[1]) + 1}", place.replace(".", " ")).replace("_", " ")
    return f"{rows}: {field_words(path)}" if place else field_words(path)
