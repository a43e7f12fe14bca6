"""Spec documents that pass every rule: a pipeline over a grouped GEMM, and a norm without a pipeline."""

from v2kb.rules.spec_document import normalise


def ring_gemm_spec():
    """The grouped GEMM with its ring of weights in one row of `STAGES` slots, so that it follows STAGES (6 to 8)."""
    doc = grouped_gemm_spec()
    ring = {**doc["smem"]["regions"][0], "name": "W", "slots": "STAGES", "contents": "weight tiles"}
    claim = {"symbol": "STAGES", "low": "6", "high": "8", "text": "The ring may have 6 to 8 stages."}
    regions = [ring, doc["smem"]["regions"][8]]
    return canonical({**doc, "claims": [claim], "smem": {**doc["smem"], "regions": regions}})


def grouped_gemm_spec():
    """Eight stages: W0..W7 and BSF; 30 semaphores; 64 + 4 + 56 tasks. Its queue runs it once. The launcher releases the
    pages that the task uses, and every part of the document that a rule reads is filled in.
    """
    return canonical(
        {
            "title": "Grouped GEMM, per tile",
            "ops": [
                {"name": "W13 routed", "math": "y13 = W13 a"},
                {"name": "W13 shared", "math": "sg = Wgu a"},
                {"name": "W2", "math": "out = sum of w W2 i"},
            ],
            "symbols": {"STAGES": "8", "ACC": "2", "SLICE": "3*1024", "N": "1024", "HIDDEN": "7168", "GRP": "128"},
            "claims": [{"symbol": "ACC", "low": "1", "high": "2", "text": "One accumulator or two."}],
            "engine": {
                "family": "A", "idiom": "role pipeline", "why": "It streams 56 weight tiles.", "m": "1",
                "tile_m": "128", "tiles_per_task": "1", "source": "the grouped GEMM of v1",
                "routing": {"route": "engineer", "first_bring_up": "yes", "wired": "no", "frozen_gate": "no",
                            "numeric_target": "no", "campaign_verdict": "no", "wedge_rounds": "0"},
            },
            "smem": {"regions": _regions(), "queue": ["this"], "ignores_offsets": "no", "static_shared_bytes": "0",
                     "overlap_claim": "no"},
            "tmem": {
                "objects": [
                    {"name": "ACC", "slots": "ACC", "columns": "16", "start": "0", "dtype": "float32",
                     "writer": "mma", "reader": "consumer"},
                    {"name": "SFA", "columns": "4", "start": "32", "writer": "mma", "reader": "mma"},
                    {"name": "SFB", "columns": "4", "start": "36", "writer": "mma", "reader": "mma"},
                ],
                "alloc_columns": "64", "alloc_role": "mma", "dealloc_role": "mma", "address_cached": "yes",
                "published_by": "tmem_ready",
            },
            "sems": {"rows": _sems(), "num_op_sems": "3*STAGES + 2*ACC + 2",
                     "protocol": {"handshake": "mbarrier", "parity_wait": "every_sequence", "reinit_fenced": "yes",
                                  "tail_before_publish": "yes", "exit_snapshot": "yes"}},
            "roles": {
                "stages": "STAGES",
                "rows": _roles(),
                "release": {"owners": ["launcher"], "auto_consumer_finish": "no", "only_used_pages": "yes"},
            },
            "granularity": [
                {"task": "W13 routed", "op": "W13 routed", "type": "W13", "num_tasks": "8*(N/128)", "listed": "64",
                 "iterations": "HIDDEN/GRP", "can_be_inactive": "yes", "task_offset": True},
                {"task": "W13 shared", "op": "W13 shared", "type": "W13", "num_tasks": "512/128", "listed": "4",
                 "iterations": "HIDDEN/GRP", "can_be_inactive": "no", "task_offset": True},
                {"task": "W2", "op": "W2", "type": "W2", "num_tasks": "7,168/128", "listed": "56",
                 "iterations": "4*active + 2", "active_low": "2", "active_high": "8", "can_be_inactive": "no",
                 "task_offset": True},
            ],
            "choices": [
                {"id": "C1", "title": "Seven warps", "lever": "nwarps-7", "polarity": "adopts",
                 "wave_quant": {"items": "7168", "tasks": "136", "old_warps": "4", "new_warps": "7"}}
            ],
            "measurement": {
                "metric": "slowCTA", "tier": "1", "timer": "globaltimer", "grid": "136", "launches": "3",
                "statistic": "median", "body_us": "27", "cold": "yes", "weight_bytes": "49545216", "layers": "6",
                "floor": "same_grid_xor_consumer", "adds_block_maxima": "no", "reads_block_sum": "yes",
                "targets": [{"what": "W13 body", "now": "27", "target": "12.2", "ratio": "2.21"}],
            },
            "scale_packs": [
                {"name": "w13_scale", "positive": True, "finite": True, "power_of_two": True,
                 "exponent_in_range": True, "where": "harness load"}
            ],
            "gates": [{"rung": r, "bar": "as the ladder says"} for r in ("G0", "G1", "G2", "G3", "G4", "G5", "G9")],
            "wiring": {
                "tasks": [
                    {"type": "W13", "enum": "TASK_W13_PIPE", "id": "358", "tree": "mpk", "tma": "yes",
                     "descriptor_entries": "yes", "indexed_by": "task_offset", "in_offset_list": "yes",
                     "literal_elsewhere": "no", "inputs": "5", "outputs": "1", "register_split": "5",
                     "graph_tuple": "5, 1", "wrapper_inputs": "6", "parameters": ["always_active", "experts"],
                     "variant_parameters": ["always_active", "experts"], "descriptor_rank": "2",
                     "instruction_dimensions": "2"},
                    {"type": "W2", "enum": "TASK_W2_PIPE", "id": "359", "tree": "mpk", "tma": "yes",
                     "descriptor_entries": "yes", "indexed_by": "task_offset", "in_offset_list": "yes",
                     "literal_elsewhere": "no", "inputs": "9", "outputs": "1", "register_split": "9",
                     "graph_tuple": "9, 1", "wrapper_inputs": "10", "descriptor_rank": "2",
                     "instruction_dimensions": "2"},
                ],
                "files": [{"path": "tasks/blackwell_v2/grouped.cuh", "what": "bodies"}],
                "flag": "FFN_PIPE", "default_off": "yes",
            },
            "open_questions": [
                {"id": "Q1", "text": "Which combination releases pages?", "blocks": "build", "state": "RESOLVED",
                 "resolution": "The launcher, filtered by the pages in use."}
            ],
            "reviews": {
                "rows": [
                    {"engine": engine, "date": "2026-07-15", "item": "protocol", "verdict": "SOUND"}
                    for engine in ("ablation-logic-reviewer", "second engine")
                ]
            },
        }
    )  # fmt: skip


def _regions():
    weights = [
        {"ordinal": str(s), "name": f"W{s}", "size_bytes": "128*128", "alignment": "1024", "page_count": "1",
         "release_step": "1", "tma_dst": True, "owner": "loader", "contents": "weight tile"}
        for s in range(8)
    ]  # fmt: skip
    slices = [
        ("B", "STAGES", "s*SLICE", "2048", "1024"),
        ("SFA", "STAGES", "s*SLICE + 2048", "512", "128"),
        ("SFB", "STAGES", "s*SLICE + 2560", "512", "128"),
        ("taddr", "1", "STAGES*SLICE", "16", "16"),
    ]
    names = ("name", "slots", "offset_bytes", "size_bytes", "alignment")
    small = {"ordinal": "STAGES", "name": "BSF", "size_bytes": "STAGES*SLICE + 16", "alignment": "1024",
             "page_count": "ceil(size/PAGE)", "release_step": "1", "owner": "loader",
             "slices": [dict(zip(names, row, strict=True)) for row in slices]}  # fmt: skip
    return [*weights, small]


def _sems():
    names = ("ordinal", "slots", "name", "count", "arrivers", "producer", "consumer", "meaning", "kind", "arrives",
             "data", "pair", "first_phase", "reinit_owner", "reinit_order")  # fmt: skip
    rows = [
        ("0", "STAGES", "W_tma", "1", "tma", "loader", "mma", "weights landed", "tma", "per_iteration", "tma",
         "mma", "0", "loader", "before its first TMA"),
        ("STAGES", "STAGES", "B_sf", "1", "elected", "loader", "mma", "operands landed", "warp", "per_iteration",
         "cp_async", "mma", "0", "loader", "before its first copy"),
        ("2*STAGES", "STAGES", "mma", "1", "commit", "mma", "loader", "stage is free", "mma", "per_iteration", "none",
         "W_tma", "1", "loader", "before the first TMA, so before the first commit"),
        ("3*STAGES", "ACC", "mainloop", "1", "commit", "mma", "consumer", "tile is ready", "mma", "per_iteration",
         "tmem", "epilogue", "0", "mma", "before tmem_ready is arrived"),
        ("3*STAGES + ACC", "ACC", "epilogue", "4*32", "four_warps", "consumer", "mma", "tile was read", "warp",
         "per_iteration", "none", "mainloop", "1", "mma", "before tmem_ready is arrived"),
        ("3*STAGES + 2*ACC", "1", "tmem_ready", "1", "elected", "mma", "consumer", "address is out", "warp", "early",
         "stores", "", "0", "none", ""),
        ("3*STAGES + 2*ACC + 1", "1", "consumer_done", "128", "four_warps", "consumer", "mma", "no more reads", "warp",
         "task_tail", "none", "", "0", "mma", "before the publish that lets consumers start"),
    ]  # fmt: skip
    more = {
        "W_tma": {"storage": "W", "tx_bytes": "16384"},
        "B_sf": {"storage": "BSF", "publication": "fence_then_arrive"},
        "tmem_ready": {"waited_at_start": "yes"},
        "consumer_done": {"releases": "tensor memory"},
    }
    return [{**dict(zip(names, row, strict=True)), **more.get(row[2], {})} for row in rows]


def _roles():
    names = ("role", "dependency", "duty", "pages", "handshake", "bounds_fail_pages", "bounds_fail_handshake",
             "inactive_pages", "inactive_handshake")  # fmt: skip
    rows = [
        ("loader", "inline", "streams tiles", "none", "arrives W_tma and B_sf, waits mma", "none", "none", "none",
         "none"),
        ("mma", "codegen", "issues products", "releases all used pages at the end", "arrives mma and mainloop",
         "releases all used pages", "none", "releases all used pages", "none"),
        ("consumer", "codegen", "writes the result", "none", "waits mainloop, arrives epilogue", "none", "none",
         "none", "none"),
        ("storer", "none", "nothing", "none", "none", "none", "none", "none", "none"),
    ]  # fmt: skip
    said = {"bounds_fail": "returns at once", "inactive": "re-initialises and returns", "reinit_before_bail": "yes",
            "waits_when_inactive": "no"}  # fmt: skip
    return [{**dict(zip(names, row, strict=True)), **said, "empty": row[0] == "storer"} for row in rows]


def norm_spec(hidden=7168):
    """RMS norm: four packed regions, no semaphores of its own, one task per row."""
    regions = [
        {"ordinal": str(i), "name": name, "size_bytes": f"ceil({size}/1024)*1024", "alignment": "1024",
         "can_pack": True, "release_step": "1"}
        for i, (name, size) in enumerate(
            [("input", "2*HIDDEN"), ("weight", "2*HIDDEN"), ("output", "2*HIDDEN"), ("reduce", "512")]
        )
    ]  # fmt: skip
    return canonical(
        {
            "title": "RMS norm",
            "symbols": {"HIDDEN": str(hidden)},
            "engine": {"family": "B", "idiom": "consumer only", "why": "It is a reduction."},
            "smem": {"regions": regions, "queue": ["this"]},
            "granularity": [{"task": "norm", "num_tasks": "1", "listed": "1"}],
        }
    )


def canonical(raw):
    """The canonical form of `raw`, which must be free of problems."""
    doc, problems = normalise(raw)
    assert problems == []
    return doc
