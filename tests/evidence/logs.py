"""Logs of experiments, and their way through an import, for tests."""

from evidence.models import ImportLine
from evidence.services import import_work as work
from evidence.services.import_jobs import apply_import, map_import, start_import

INDEX = """# Index of experiments

| Date | Env | Verdict | Why | Trace | Commit |
|---|---|---|---|---|---|
| 2026-07-01 | B200 | WIN | Fences once `a|b` | outputs/f1/ | ac3d9736 |
| 2026-07-02 | B200 | NULL | Flat \\| within noise | outputs/f2/ | n/a |
| 2026-07-02 | H200 | REGRESS | Takes a MAC<br>slot | – | – |
"""
SLASHES = """# Index

Newest last.

- 2026-07-01 / B200 / WIN / Fences once (outputs/f1/, commit ac3d9736)
- 2026-07-02 / B200 / NULL / Flat / within noise / outputs/f2/ / bd00aa11
  and it goes on
* 2026-07-03 / H200
"""
LOG = """Time;Change;Result;Speed;Notes
2026-07-01;Fold MACs;Kept;−7..−9%;integer trips – good
2026-07-02;Deeper stages;Reverted (below gate);≤6%;flat
2026-07-03;Huge tile;OOM;n/a;does not fit
2026-07-04;Two of them;Kept, then OOM;3,5% and 2 us;merged claims
04/07/2026;Fold again;Kept;1.2x;which month
"""
WORDS = {
    "Kept": {"as": "entry", "verdict": "WIN"},
    "Reverted (below gate)": {"as": "entry", "verdict": "NULL"},
    "OOM": {"as": "row", "verdict": "DEAD", "cause_class": "ruled_out_by_construction"},
}
LOG_MAPPING = {
    "columns": {"Time": "date", "Change": "title", "Result": "verdict", "Speed": "number", "Notes": "why"},
    "words": WORDS,
}


def start(actor, text, name="log.md", **options):
    data = text if isinstance(text, bytes) else text.encode()
    job = start_import(actor, name=name, chunks=[data], **options)
    run()
    job.refresh_from_db()
    return job


def run():
    for pk in work.due_jobs():
        assert work.work_on(pk)


def check(actor, job, mapping=None, **options):
    map_import(actor, job.public_id, mapping=mapping or job.mapping, **options)
    run()
    job.refresh_from_db()
    return job


def apply(actor, job, **options):
    apply_import(actor, job.public_id, **options)
    run()
    job.refresh_from_db()
    return job


def bring(actor, text, name="log.md", mapping=None):
    """Upload, map, check and import."""
    return apply(actor, check(actor, start(actor, text, name), mapping), skip_unreadable=True)


def counts(job):
    return {state: count for state, count in job.counts.items() if count and state in ImportLine.State.values}
