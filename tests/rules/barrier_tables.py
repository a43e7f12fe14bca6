"""The two worked barrier tables as specs: the reference linear in channels, the grouped GEMM in channels and rows."""

import copy

from tests.rules.spec_examples import canonical, grouped_gemm_spec
from v2kb.rules.spec_rules import check_spec

BARRIER_RULES = {f"R{number}" for number in range(20, 39)}
_ONE_SHOTS = [
    {"name": "tmem_ready", "ordinal": "{0}", "arrivals": "1", "arrivers": "elected", "producer": "mma",
     "consumer": "consumer", "kind": "warp", "arrives": "early", "data": "stores", "first_phase": "0",
     "waited_at_start": "yes", "reinit_by": "none", "meaning": "address is out"},
    {"name": "consumer_done", "ordinal": "{1}", "arrivals": "4*32", "arrivers": "four_warps", "producer": "consumer",
     "consumer": "mma", "kind": "warp", "arrives": "task_tail", "data": "none", "first_phase": "0", "reinit_by": "mma",
     "reinit_order": "before tmem_ready is arrived", "meaning": "no more reads", "releases": "tensor memory"},
]  # fmt: skip


def ring(name, depth, full, empty, **more):
    """A channel that the loader fills and the mma role empties by commit."""
    return {"name": name, "depth": depth, "producer": "loader", "consumer": "mma", "consumer_kind": "mma",
            "full_base": full, "full_arrivals": "1", "empty_base": empty, "empty_arrivals": "1",
            "reinit_full_by": "loader", "reinit_full_order": "before its first copy",
            "reinit_empty_by": "loader", "reinit_empty_order": "before its first copy", **more}  # fmt: skip


def tma(storage, tx_bytes):
    return {"producer_kind": "tma", "data": "tma", "storage": storage, "tx_bytes": tx_bytes}


def sharing(channel, owner):
    """The channel without an empty edge of its own."""
    blank = {key: "" for key in channel if key.startswith(("empty_", "reinit_empty_")) or key == "consumer_kind"}
    return {**channel, **blank, "shares_empty_with": owner}


def accumulators(full, empty):
    return {"name": "acc", "depth": "2", "producer": "mma", "producer_kind": "mma", "consumer": "consumer",
            "consumer_kind": "warp", "full_base": full, "full_arrivals": "1", "empty_base": empty,
            "empty_arrivals": "4*32", "empty_arrivers": "four_warps", "data": "tmem",
            "reinit_full_by": "mma", "reinit_full_order": "before tmem_ready is arrived", "reinit_empty_by": "mma",
            "reinit_empty_order": "before tmem_ready is arrived"}  # fmt: skip


def one_shots(first):
    return [{**shot, "ordinal": shot["ordinal"].format(first, first + 1)} for shot in copy.deepcopy(_ONE_SHOTS)]


def linear_spec():
    """Six stages of two TMA rings that share the commit: (6+6)+(6)+(2+2)+2 = 24 barriers, 14 pages."""
    doc = grouped_gemm_spec()
    weights, activations = "128*128*2", "16*128*2"
    regions = [
        {"ordinal": "0", "slots": "6", "name": "W", "size_bytes": weights, "alignment": "1024", "tma_dst": True},
        {"ordinal": "6", "slots": "6", "name": "A", "size_bytes": activations, "alignment": "1024", "can_pack": True,
         "tma_dst": True},
        {"ordinal": "12", "name": "scratch", "size_bytes": "16", "alignment": "16", "can_pack": True},
    ]  # fmt: skip
    channels = [
        ring("W", "6", "0", "12", empty_name="mma", **tma("W", weights)),
        sharing(ring("A", "6", "6", "", **tma("A", activations)), "W"),
        accumulators("18", "20"),
    ]
    sems = {"form": "channels", "channels": channels, "one_shots": one_shots(22), "num_op_sems": "24",
            "protocol": doc["sems"]["protocol"]}  # fmt: skip
    release = {**doc["roles"]["release"], "only_used_pages": "no"}
    return canonical(
        {**doc, "symbols": {"STAGES": "6"}, "claims": [], "sems": sems, "smem": {"regions": regions, "queue": ["this"]},
         "roles": {**doc["roles"], "release": release}, "granularity": [
             {"task": "tile", "type": "W13", "num_tasks": "64", "listed": "64", "iterations": "56", "op": "W13 routed",
              "can_be_inactive": "no", "task_offset": True}]}
    )  # fmt: skip


def grouped_gemm_channels():
    """The grouped GEMM's table as channels: 3*8 + 4 + 2 = 30 barriers."""
    doc = grouped_gemm_spec()
    channels = [
        ring("W_tma", "8", "0", "16", empty_name="mma", **tma("W", "128*128*1")),
        sharing(ring("B_sf", "8", "8", "", producer_kind="warp", full_arrivers="elected", data="cp_async",
                     publication="fence_then_arrive", storage="BSF"), "W_tma"),
        accumulators("24", "26"),
    ]  # fmt: skip
    sems = {"form": "channels", "channels": channels, "one_shots": one_shots(28), "num_op_sems": "30",
            "protocol": doc["sems"]["protocol"]}  # fmt: skip
    return canonical({**doc, "claims": [], "sems": sems})


def barrier_findings(doc):
    """What the rules of barriers, roles and page release find."""
    return [f for f in check_spec(doc) if BARRIER_RULES & {f.rule, *f.also}]
