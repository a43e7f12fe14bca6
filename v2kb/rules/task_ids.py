"""Ids of task types per tree: those that are known to be taken, ranges that mean something, and the next free one.

Sources: wiring-recipe section 1, upstream-kernel-catalog section 0 and the grouped GEMM's appendix 10.5.
"""

from collections.abc import Collection, Iterable, Mapping
from itertools import count

KNOWN_TASKS: Mapping[str, Mapping[str, int]] = {
    "mpk": {
        "TASK_LINEAR_SM100_V2": 242,
        "TASK_DSV3_FFN_MEGA_V2": 348,
        "TASK_TENSOR_INIT_V2": 352,
        "TASK_ATTN_BLOCK_MEGAKERNEL_V2": 353,
        "TASK_DSV3_FFN_W13_PIPE_V2": 356,
        "TASK_DSV3_FFN_W2_PIPE_V2": 357,
    },
    "upstream": {
        "TASK_RMS_NORM_HOPPER_V2": 224,
        "TASK_ATTN_SM100_V2": 227,
        "TASK_LINEAR_SM100_V2": 244,
        "TASK_LINEAR_WITH_RESIDUAL_SM100_V2": 245,
    },
}
MULTI_GPU_START = 300
MULTI_GPU_END = "MULTIGPU_TASK_END"
KNOWN_PLACEHOLDERS: Mapping[str, int] = {MULTI_GPU_END: 356}
TMA_IDS = (231, 256)  # both ends excluded: the generated code asks > 231 and < 256
HOPPER_TMA_IDS = (150, 198)  # both ends excluded


def has_descriptors(number: int) -> bool:
    """Say whether the generated code makes TMA descriptors for a task by its id alone."""
    low, high = TMA_IDS
    return low < number < high


def next_free(tree: str, taken: Iterable[int], placeholders: Collection[int], *, tma: bool) -> int | None:
    """Return the first id above all that are known in a tree and above `taken`; None for a tree that isn't known.

    It is no placeholder, and only a task that reads TMA descriptors gets one for which they are made.
    """
    known = KNOWN_TASKS.get(tree, {}).values()
    if not known:
        return None
    above = count(max(*known, *taken) + 1)
    return next(number for number in above if number not in placeholders and (tma or not has_descriptors(number)))
