"""Region lists of real tasks, used by several tests of the planner and the spec rules."""

from v2kb.rules.smem import Region


def linear(stages=6, release="one"):
    """The linear task: W 32,768 B and A 4,096 B per stage, one scratch. `release` is "one" or "per_stage"."""
    step = (lambda s: s + 1) if release == "per_stage" else (lambda s: 1)
    weights = [Region(f"W{s}", 32_768, 1024, release_step=step(s)) for s in range(stages)]
    inputs = [Region(f"A{s}", 4_096, 1024, can_pack=True, release_step=step(s)) for s in range(stages)]
    return [*weights, *inputs, Region("scratch", 16, 16, can_pack=True, release_step=step(stages))]


def linear_fused(stages=6):
    """The same task with W and A of a stage in one region."""
    return [Region(f"WA{s}", 36_864, 1024) for s in range(stages)]


def grouped_gemm(stages=8, bsf_pages=-1):
    """The grouped GEMM task: one page of W per stage, and BSF with the small operands of all stages."""
    weights = [Region(f"W{s}", 16_384, 1024, page_count=1, release_step=1) for s in range(stages)]
    return [*weights, Region("BSF", stages * 3_072 + 16, 1024, page_count=bsf_pages, release_step=1)]


def rmsnorm(hidden):
    """RMS norm over `hidden` bf16 values: input, weight, output, reduce, each rounded up to 1,024 B."""

    def rounded(size):
        return -(-size // 1024) * 1024

    sizes = {"input": 2 * hidden, "weight": 2 * hidden, "output": 2 * hidden, "reduce": 512}
    return [Region(name, rounded(size), 1024, can_pack=True, release_step=1) for name, size in sizes.items()]


def attention_block():
    """One monolithic region of 96,288 B."""
    return [Region("attention", 96_288, 1024, release_step=1)]


def one_region(size_bytes):
    """A task whose bytes the planner sees as one region, as those that address their own offsets do."""
    return [Region("all", size_bytes, 1024, release_step=1)]


def language_model_head():
    """K = 7,168 in bf16 with four warps: the input on one page, the weights on two."""
    return [Region("input", 2 * 7_168, 1024, release_step=1), Region("weights", 32_768, 1024, release_step=1)]


def full_pages(count, extra_bytes=0):
    """`count` full pages, and one more region of `extra_bytes`."""
    regions = [Region(f"P{i}", 16_384, 1024) for i in range(count)]
    return [*regions, Region("extra", extra_bytes, 1024)] if extra_bytes else regions
