"""Print how long the rules take over a filled-in spec and over a sweep of 200 values of one symbol.

Run from the repository root: `python -m tests.bench.bench_spec_rules`. Bars: 50 ms for the whole report of the example,
1 s for the sweep.
"""

import statistics
import time
from collections.abc import Callable
from pathlib import Path

from tests.rules.spec_examples import grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules.spec_markdown.reading import read_markdown
from v2kb.rules.spec_rules import page_map, semaphore_map, spec_report, tmem_map
from v2kb.rules.sweep import sweep

EXEMPLAR = Path(__file__).parents[3] / "shared" / "corpus" / "applications" / "ffn_item1_spec.md"
REPORT_BAR_MS = 50
SWEEP_BAR_MS = 1_000
TRIES = 20


def times_ms(work: Callable[[], object], tries: int) -> list[float]:
    """Return the wall time of each of `tries` runs, in ms."""
    found = []
    for _ in range(tries):
        start = time.perf_counter()
        work()
        found.append((time.perf_counter() - start) * 1e3)
    return found


def claiming_spec() -> dict:
    """The ring that claims to grow from 8 to 12 stages: five more values to try in each report."""
    doc = ring_gemm_spec()
    doc["claims"][0].update(low="8", high="12")
    return doc


def amended_spec() -> dict:
    """The ring with 32 amendments of two fields each."""
    fields = [{"field": "wiring.tasks[0].id", "value": "358"}, {"field": "roles.rows[1].pages", "value": "all used"}]
    return {**ring_gemm_spec(), "amendments": [{"id": f"A{n}", "fields": fields} for n in range(32)]}


def pictures(doc: dict) -> None:
    """Everything that an editor draws of one document."""
    for draw in (page_map, semaphore_map, tmem_map):
        draw(doc)


def main() -> None:
    ring, claiming, norm, rows = ring_gemm_spec(), claiming_spec(), norm_spec(), grouped_gemm_spec()
    amending = amended_spec()
    work = [
        ("report, grouped GEMM, rows written out", lambda: spec_report(rows), TRIES, REPORT_BAR_MS),
        ("report, its ring, claim of 6 to 8 stages", lambda: spec_report(ring), TRIES, REPORT_BAR_MS),
        ("report, its ring, claim of 8 to 12 stages", lambda: spec_report(claiming), TRIES, REPORT_BAR_MS),
        ("report, its ring, 64 amended fields", lambda: spec_report(amending), TRIES, REPORT_BAR_MS),
        ("report, norm", lambda: spec_report(norm), TRIES, REPORT_BAR_MS),
        ("pictures of the ring", lambda: pictures(ring), TRIES, REPORT_BAR_MS),
        ("sweep, STAGES 1 to 200", lambda: sweep(ring, "STAGES", 1, 200), 3, SWEEP_BAR_MS),
        ("sweep, SLICE 2,800 to 2,999", lambda: sweep(ring, "SLICE", 2_800, 2_999), 3, SWEEP_BAR_MS),
    ]
    if EXEMPLAR.exists():
        exemplar = read_markdown(EXEMPLAR.read_text(encoding="utf-8")).document
        work.insert(0, ("report, the exemplar", lambda: spec_report(exemplar), TRIES, REPORT_BAR_MS))
    print(f"{'what':<42} {'median ms':>10} {'worst ms':>10} {'bar ms':>7}")
    for name, run, tries, bar in work:
        run()
        found = times_ms(run, tries)
        median = statistics.median(found)
        print(f"{name:<42} {median:>10.1f} {max(found):>10.1f} {bar:>7} {'' if median <= bar else 'MISSED'}".rstrip())


if __name__ == "__main__":
    main()
