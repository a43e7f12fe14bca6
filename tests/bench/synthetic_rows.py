"""Rows for the search bench: made-up text as engineers write it, about 800 bytes a row, the same for the same seed.

Nearly every row says "kernel". Identifiers are of one row alone, or from a pool whose first ones stand in every third
row and whose last ones in one of forty. Every row names a commit by its hash, percentages, times and a source.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from v2kb.rules.evidence import CAUSE_CLASSES, check_revision
from v2kb.rules.number_reading import parse_numbers

LEVERS = (
    "Split-K", "Warp-specialised producer", "Deeper ring of stages", "Coarse barrier", "TMA multicast",
    "Cluster launch", "Fused row norm", "Packed scales", "Two-CTA pairs", "Persistent grid",
    "Early release of slots", "Vector loads", "Swizzled tiles", "Register spilling",
    "Prefetch of the next layer", "L2 pinning", "Stream order", "Tail split", "Epilogue fusion",
    "Double-buffered accumulators", "Smaller tiles", "Async stores", "Shared memory carve-out",
    "Programmatic launch", "Cache hints", "Block scheduling", "Unrolled inner loop", "FP8 accumulation",
    "Row packing", "Warp shuffle reduction",
)  # fmt: skip
IDENTIFIERS = (
    "cp.async", "qkv_a", "tcgen05", "W13/W2", "mbarrier.try_wait", "split-k", "ld.global.nc", "o_proj",
    "kv_b", "moe_down", "nwarps=7", "M=1", "BN=16", "STAGES=6", "setmaxnreg", "wgmma", "TMA", "stmatrix",
    "griddepcontrol", "cluster_dims", "pipeline_state", "numReduceBlocks", "smem_bytes", "elect.sync",
    "fence.proxy.async", "red.async", "ldmatrix.x4", "lm_head", "rmsnorm_qkv", "arrive.expect_tx",
    "tmem_alloc", "umma_arrive", "kPipeStages", "L2::evict_first", "bar.sync", "cudaGraphLaunch",
    "nanosleep", "__launch_bounds__", "cta_group::2", "prmt.b32", "hfma2.bf16x2", "descPtr", "k_tile",
    "num_splits", "gate_up", "warpgroup_reg_dealloc", "shfl.sync.bfly", "mma.m16n8k32", "cvt.rn.satfinite",
    "atomicAdd",
)  # fmt: skip
STEMS = ("stage_ring", "slot_ticket", "tile_walk", "gateBlock", "normRow", "kvPage", "scale_pack", "drainLoop")
WORDS = tuple(
    """
    barrier latency bandwidth occupancy register pipeline consumer producer prologue epilogue tail launch
    prefetch swizzle bank conflict reduction combine scheduler cluster multicast descriptor fence ticket slot
    stage ring tile accumulator scale quantised residual router expert attention decode prefill chunk page
    cache eviction writeback stall issue dispatch balance imbalance headroom ceiling roofline throttle clock
    driver toolkit compiler spill unroll predicate mask alignment padding stride gather scatter shuffle
    broadcast warmup median outlier variance noise drift anchor candidate baseline regression improvement flat
    harness replay capture graph stream event
    """.split()  # noqa: SIM905 - a list of 90 literals reads worse
)
WEIGHTS = tuple(1 / (place + 4) for place in range(len(IDENTIFIERS)))
SENTENCES = (
    "The {w} of this kernel waits for the {w} before {i} can start, so that {n} of {m} warps stand idle",
    "Moving {i} out of the {w} gained {p} on one shape and lost {q} on every other",
    "With {i} the {w} takes {t}µs of the {u}µs per call; the rest is {w} and {w}",
    "Nsight shows {i} behind a {w} {w} in {p} of the samples",
    "Tried at {c} with {i} and without: the {w} moved by {p}, inside the {w} of the machine",
    "Every attempt to hide the {w} behind {i} ended with more {w} than it saved",
    "The ring of stages was full before the {w} asked for the next {w}",
    "{r} keeps the {w} from reaching {i} until the {w} is drained",
    "A {w} per tile costs {t}µs, which is {p} of the budget of this kernel",
    "Registers went from {n} to {m} per thread and the {w} spilled at {c}",
    "The compiler hoists {i} above the {w}; {r} has to fence it",
    "L2 holds the {w} of one layer only, so the {w} reads from memory again",
    "Upside is bounded by the {w}: at most {p} of {u}µs",
    "The same {w} was seen with {i} in {r} at {c}",
    "Below M=8 the {w} is never the limit; above it {i} decides",
    "Cold L2 made it worse by {q}, warm L2 by {p}",
)  # fmt: skip
SCOPES: dict[str, tuple[str, ...]] = {
    "op_class": ("gemv", "gemm", "attention", "moe", "norm"),
    "arch": ("sm_100", "sm_90", "sm_80"),
    "dtype": ("fp8_e4m3", "bf16", "fp4", "fp16"),
    "envelope": ("fused_megakernel", "standalone"),
}
PREFIX = {"DEAD": "D", "WIN": "W", "UNTESTED": "U"}


@dataclass(frozen=True)
class Synthetic:
    """One row: its code and the contents of its revisions, oldest first."""

    code: str
    contents: tuple[dict[str, Any], ...]


@dataclass
class Rows:
    """The rows of one seed. Iterate once; `commits` and `rare` then hold hashes and identifiers of single rows."""

    size: int
    revisions: int = 3
    seed: int = 7
    commits: list[str] = field(default_factory=list)
    rare: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[Synthetic]:
        chance = random.Random(self.seed)
        numbers = dict.fromkeys(PREFIX, 0)
        for place in range(self.size):
            verdict = chance.choices(tuple(PREFIX), (55, 25, 20))[0]
            numbers[verdict] += 1
            head = self._content(chance, verdict, place)
            older = [
                {**head, "mechanism": f"{head['mechanism']} Said {age} before."}
                for age in range(self.revisions - 1, 0, -1)
            ]
            yield Synthetic(f"{PREFIX[verdict]}{numbers[verdict]}", (*older, head))

    def _content(self, chance: random.Random, verdict: str, place: int) -> dict[str, Any]:
        commit, rare = f"{chance.getrandbits(32):08x}", f"{chance.choice(STEMS)}_{place}"
        self.commits.append(commit)
        self.rare.append(rare)
        lever = chance.randrange(len(LEVERS))

        def said(count: int) -> str:
            return " ".join(self._sentence(chance, commit, rare) + "." for _ in range(count))

        number = f"{chance.choice('+-')}{chance.randint(1, 400) / 10:.1f}% vs {_identifier(chance)}"
        raw = {
            "lever": f"lever-{lever}",
            "title": f"{LEVERS[lever]} for the {_identifier(chance)} {chance.choice(WORDS)}",
            "verdict": verdict,
            "scope": {name: [chance.choice(words)] for name, words in SCOPES.items() if chance.random() < 0.8},
            "numbers": parse_numbers(number, role="bound" if verdict == "UNTESTED" else "verdict"),
            "mechanism": said(5),
            "cause_class": chance.choice(tuple(CAUSE_CLASSES)) if verdict == "DEAD" else "",
            "approaches": [said(1) for _ in range(chance.randint(0, 2))],
            "not_checked": f"Not checked: {_identifier(chance)} above M={chance.randint(2, 64)}.",
            "bound": said(1) if verdict == "UNTESTED" else "",
            "measured_on": f"2026-{chance.randint(1, 11):02d}-{chance.randint(1, 28):02d}",
            "sources": [{"kind": "commit", "text": f"kernel history {commit}", "document": "", "anchor": ""}],
        }
        return check_revision(raw, imported=True).content

    def _sentence(self, chance: random.Random, commit: str, rare: str) -> str:
        words = {
            "i": _identifier(chance),
            "r": rare,
            "c": commit,
            "n": chance.randint(1, 8),
            "m": chance.randint(9, 255),
            "p": f"{chance.randint(1, 30)}%",
            "q": f"-{chance.randint(1, 30)}%",
            "t": f"{chance.randint(10, 990) / 100}",
            "u": f"{chance.randint(10, 99)}",
        }
        parts = chance.choice(SENTENCES).split("{w}")
        return "".join(part + chance.choice(WORDS) for part in parts[:-1]).format(**words) + parts[-1].format(**words)


def markdown(row: Synthetic) -> str:
    """The row's head as people keep it in a file today: one line of a table."""
    content = row.contents[-1]
    scope = ", ".join(word for words in content["scope"].values() for word in words)
    cells = [
        row.code,
        content["title"],
        f"{content['verdict']} {' '.join(number['text'] for number in content['numbers'])} {content['cause_class']}",
        " ".join([content["mechanism"], *content["approaches"], content["not_checked"], content["bound"]]),
        scope,
        f"{content['measured_on']} {' '.join(source['text'] for source in content['sources'])}",
    ]
    return f"| {' | '.join(cells)} |"


def queries(rows: Rows, each: int = 24) -> dict[str, list[str]]:
    """Kind of query -> `each` texts of that kind, none twice unless the kind has no more."""
    chance = random.Random(rows.seed + 1)
    common, words, rare, commits = IDENTIFIERS, WORDS, rows.rare, rows.commits
    number = max(1, rows.size // 8)

    def of(make: Any) -> list[str]:
        return [make() for _ in range(each)]

    return {
        "exact code": of(lambda: f"{chance.choice('DWU')}{chance.randint(1, number)}"),
        "hash prefix": of(
            lambda: chance.choice([text for text in chance.sample(commits, 40) if not text.isdigit()])[:7]
        ),
        "identifier": of(lambda: chance.choice([chance.choice(common), chance.choice(rare)])),
        "two identifiers": of(lambda: " ".join(chance.sample(common, 2))),
        "quoted phrase": of(lambda: f'"ring of stages was full before the {chance.choice(words)}"'),
        "common word": of(lambda: chance.choice(["kernel", "the kernel", "kernels", "wait", "commit", *words[:6]])),
        "common + rare": of(lambda: f"kernel {chance.choice(rare)}"),
        "field + word": of(lambda: f"verdict:dead arch:{chance.choice(SCOPES['arch'])} {chance.choice(words)}"),
        "typing error": of(lambda: _misspelt(chance.choice([word for word in words if len(word) > 6]), chance)),
        "sentence": of(
            lambda: (
                f"why does the {chance.choice(words)} of {chance.choice(common)} wait for the {chance.choice(words)}"
            )
        ),
        "no words": [""] * each,
    }


def _identifier(chance: random.Random) -> str:
    return chance.choices(IDENTIFIERS, WEIGHTS)[0]


def _misspelt(word: str, chance: random.Random) -> str:
    place = chance.randint(1, len(word) - 2)
    return word[:place] + word[place + 1] + word[place] + word[place + 2 :]
