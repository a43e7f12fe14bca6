"""Spec documents that pass every rule: a pipeline over a grouped GEMM, and a norm without a pipeline."""

from v2kb.rules.spec_document import normalise


def grouped_gemm_spec():
    """Eight stages: W0..W7 and BSF; 30 semaphores; 64 + 4 + 56 tasks. Its queue runs it once."""
    weights = [
        {"ordinal": str(s), "name": f"W{s}", "size_bytes": "128*128", "alignment": "1024", "page_count": "1",
         "release_step": "1", "tma_dst": True, "owner": "loader", "contents": "weight tile"}
        for s in range(8)
    ]  # fmt: skip
    small = {"ordinal": "STAGES", "name": "BSF", "size_bytes": "STAGES*SLICE + 16", "alignment": "1024",
             "page_count": "ceil(size/PAGE)", "release_step": "1", "owner": "loader"}  # fmt: skip
    sem_rows = [
        ("0", "STAGES", "W_tma", "1", "loader", "mma", "weights landed", "tma", "loader"),
        ("STAGES", "STAGES", "B_sf", "1", "loader", "mma", "operands landed", "warp", "loader"),
        ("2*STAGES", "STAGES", "mma", "1", "mma", "loader", "stage is free", "mma", "loader"),
        ("3*STAGES", "2", "mainloop", "1", "mma", "consumer", "tile is ready", "mma", "mma"),
        ("3*STAGES+2", "2", "epilogue", "4*32", "consumer", "mma", "tile was read", "warp", "mma"),
        ("3*STAGES+4", "1", "tmem_ready", "1", "mma", "consumer", "address is out", "warp", "none"),
        ("3*STAGES+5", "1", "consumer_done", "128", "consumer", "mma", "no more reads", "warp", "mma"),
    ]
    names = ("ordinal", "slots", "name", "count", "producer", "consumer", "meaning", "kind", "reinit_owner")
    return canonical(
        {
            "title": "Grouped GEMM, per tile",
            "symbols": {"STAGES": "8", "SLICE": "3*1024", "N": "1024"},
            "engine": {"family": "A", "idiom": "role pipeline", "why": "It streams 56 weight tiles."},
            "smem": {"regions": [*weights, small], "queue": ["this"]},
            "sems": {"rows": [dict(zip(names, row, strict=True)) for row in sem_rows], "num_op_sems": "30"},
            "granularity": [
                {"task": "W13 routed", "mode": "per_tile", "num_tasks": "8*(N/128)", "listed": "64"},
                {"task": "W13 shared", "mode": "per_tile", "num_tasks": "512/128", "listed": "4"},
                {"task": "W2", "mode": "per_tile", "num_tasks": "7,168/128", "listed": "56"},
            ],
            "choices": [
                {"id": "C1", "title": "Seven warps", "lever": "nwarps-7", "polarity": "adopts",
                 "wave_quant": {"items": "7168", "tasks": "136", "old_warps": "4", "new_warps": "7"}}
            ],
        }
    )  # fmt: skip


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
