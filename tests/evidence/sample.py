# ruff: noqa: E501
"""A small evidence map of the tests' own, and contents of rows."""

import copy
import json
from typing import Any

from evidence.importers.load import MapPlan, load_map
from v2kb.core.actor import Actor

MAP = """# Probe map of the test team

Read it before you propose.

## 1. Dead

| # | Lever | Verdict + number | Mechanism (one line) | Date / source |
|---|---|---|---|---|
| D1 | Loader warp in the fused GEMV (warp-spec producer) | DEAD, killed 3× (+67%, +17% regressions) | Takes a MAC slot; see W1 | 2026-07-03 `note_warps` |
| D2 | Split-K for qkv_a | REGRESS; 6.24µs = 2.50 TB/s | Combine costs ~3.9µs | 2026-06-20/27 ac3d9736; `note_split` |
| D10 | STAGES 4→12 | ALL FLAT (≤6%) | Consumer bound | 2026-06-29 v4/v6; commit f624d75a |

## 2. Wins

| # | Win | Number | Mechanism (corrected) | Source |
|---|---|---|---|---|
| W1 | nwarps=7 MAC fold | −7..−9% vs v1 | Integer trips | 2026-07-03 acd86f8a; `note_fold` |
| W2 | Coarse barrier | ties the chain | Fences once | same |

## 3. Untested

| # | Cell | Status | Bound / caveat |
|---|---|---|---|
| U1 | TMA from a MAC warp | Never tried | Upside bounded by 6.24µs; predict ≤ 1.18× |

## 4. Measurement rules for claims

- **Tier first** (note): TIER 1 decides.
- **Cold L2** is production.
  - a detail of it

## 5. The anti-loop contract

1. Cite the row.
2. Register the prediction.

## Known gaps

- No baseline yet. It must be captured.

## Other

| Place | Tool |
|---|---|
| a | b |
"""

TYPING: dict[str, Any] = {
    "levers": [
        {"slug": "split-k", "name": "Split-K", "description": "", "aliases": ["splitting K"], "parent": "splits"},
        {"slug": "splits", "name": "Splits of a GEMV", "description": "", "aliases": [], "parent": ""},
        {"slug": "warp-spec", "name": "Warp-specialised producer", "aliases": ["loader warp"], "parent": ""},
    ],
    "rows": {
        "D1": {
            "lever": "warp-spec",
            "title": "Loader warp",
            "scope": {"op_class": ["gemv"], "m": "1", "arch": ["sm_100"], "envelope": ["fused_megakernel"]},
            "cause_class": "regressed_in_scope",
            "approaches": ["one", "two"],
            "not_checked": "M above 1.",
        },
        "D2": {
            "lever": "split-k",
            "scope": {"arch": ["sm_100"]},
            "cause_class": "ruled_out_by_survey",
            "approaches": ["one"],
            "not_checked": "Others.",
            "numbers": [
                {
                    "text": "6.24µs",
                    "readable": True,
                    "value": "6.24",
                    "unit": "µs",
                    "direction": "lower",
                    "role": "verdict",
                }
            ],
        },
    },
}


def typing_bytes() -> bytes:
    """The typing file of the sample."""
    return json.dumps(TYPING).encode()


def load_sample(actor: Actor, text: str = MAP, *, typed: bool = True, **options: Any) -> MapPlan:
    """Import the sample map."""
    typing = typing_bytes() if typed else None
    return load_map(actor, name="probe-map.md", data=text.encode(), typing=typing, **options)


def changed(content: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A copy of a content with other fields."""
    return {**copy.deepcopy(content), **changes}
