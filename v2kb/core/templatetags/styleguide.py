"""Sample data of the styleguide page, so that every part can be seen without a database."""

from datetime import UTC, date, datetime

from django import forms, template
from django.core.paginator import Paginator
from django.utils.safestring import mark_safe

from v2kb.core.errors import Refusal
from v2kb.rules.page_map import queue_map
from v2kb.rules.smem import Region
from v2kb.rules.smem_sequence import simulate
from v2kb.rules.spec_rules import layer_graph, page_map, role_matrix, semaphore_map, tmem_map

register = template.Library()

LAYER = {
    "w13": {"producers": ["top-k routing", "row quantisation"], "consumers": ["W2"]},
    "w2": {"producers": ["W13"], "consumers": ["all-reduce of the layer"]},
}
NOW = datetime(2026, 7, 3, 14, 5, tzinfo=UTC)


class RegionForm(forms.Form):
    name = forms.CharField(max_length=40)
    size_bytes = forms.CharField(label="Size", help_text="Bytes, or an expression such as STAGES*3072+16")
    alignment = forms.IntegerField(initial=1024)
    can_pack = forms.BooleanField(label="May share a page", required=False)


class ProposalForm(forms.Form):
    lever = forms.CharField(help_text="Name of the technique, as the team says it.")
    verdict = forms.ChoiceField(choices=[("DEAD", "DEAD"), ("WIN", "WIN"), ("UNTESTED", "UNTESTED")])
    grade = forms.ChoiceField(
        choices=[("1", "Tier 1, in situ"), ("2", "Tier 2, faithful harness"), ("3", "Tier 3, wall clock")],
        widget=forms.RadioSelect,
        help_text="Only tier 1 decides for an op inside a megakernel.",
    )
    mechanism = forms.CharField(widget=forms.Textarea, help_text="Why it is so, in a sentence a reviewer can check.")
    measured_on = forms.DateField(required=False, widget=forms.DateInput(attrs={"type": "date"}))
    structural = forms.BooleanField(required=False, label="Holds for any size (structural)")


def _document(stages: int) -> dict:
    """A grouped GEMM whose regions and semaphores follow the number of stages."""
    common = {"alignment": "1024", "release_step": "1", "can_pack": False, "contiguous": True}
    weight = {"size_bytes": "16384", "page_count": "1", **common}
    regions = [{"ordinal": str(n), "name": f"W{n}", **weight} for n in range(stages)]
    scales = {"ordinal": str(stages), "name": "BSF", "size_bytes": "STAGES*3072+16", "page_count": "-1", **common}
    sems, first = [], 0
    for name, slots, producer, consumer in [
        ("FULL", stages, "loader", "mma"),
        ("EMPTY", stages, "mma", "loader"),
        ("SF", stages, "loader", "mma"),
        ("ACC_FULL", 2, "mma", "consumer"),
        ("ACC_EMPTY", 2, "consumer", "mma"),
    ]:
        row = {"ordinal": str(first), "slots": str(slots), "name": name, "producer": producer, "consumer": consumer}
        sems.append({**row, "count": "1", "kind": "tma", "meaning": "stage ready", "reinit_owner": "none"})
        first += slots
    return {
        "symbols": {"STAGES": str(stages)},
        "smem": {"regions": [*regions, scales]},
        "sems": {"rows": sems, "num_op_sems": str(first)},
        "tmem": {
            "objects": [
                {"name": "ACC", "slots": "2", "columns": "16", "start": "0"},
                {"name": "SF", "slots": "1", "columns": "8", "start": "40"},
            ],
            "alloc_columns": "64",
        },
        "roles": {
            "rows": [
                {"role": "loader", "duty": "streams tiles", "pages": "none", "handshake": "arrives FULL, waits EMPTY"},
                {"role": "mma", "duty": "issues products", "pages": "releases all used pages", "handshake": "arrives"},
                {"role": "storer", "empty": True},
            ]
        },
        "ops": [{"name": "W13", "op": "w13"}, {"name": "W2", "op": "w2"}],
        "granularity": [
            {"task": "routed", "op": "w13", "num_tasks": "64"},
            {"task": "shared", "op": "w13", "num_tasks": "4"},
            {"task": "down", "op": "w2", "num_tasks": "56"},
        ],
    }


def _regions(stages: int) -> list[Region]:
    weights = [Region(f"W{n}", 16_384, page_count=1, release_step=1) for n in range(stages)]
    return [*weights, Region("BSF", stages * 3_072 + 16, release_step=1)]


def _forms() -> dict:
    bad = ProposalForm({"lever": "", "verdict": "WIN", "mechanism": "", "measured_on": "3 July"})
    bad.is_valid()
    rows = forms.formset_factory(RegionForm, extra=0, can_delete=True)
    first = [{"name": "W0", "size_bytes": "16384"}, {"name": "BSF", "size_bytes": "STAGES*3072+16"}]
    refusal = Refusal(
        "evidence.stale_base",
        "The row changed while you were writing: W2 has a newer revision.",
        field="base",
        rule="AL2",
        fix="Compare your text with the newer revision, then send it again.",
    )
    return {
        "form": ProposalForm(),
        "bad_form": bad,
        "formset": rows(initial=first, prefix="regions"),
        "refusal": refusal,
    }


def _lanes() -> list[dict]:
    dead = {
        "code": "D3",
        "verdict": "DEAD",
        "url": "#d3",
        "title": "Deeper pipeline past eight stages",
        "figure": "+4.1 %",
        "mechanism": "The stage barrier hides the load already; a further stage costs a page that is not there.",
        "scope": ["gemm", "M 1..16", "sm_100"],
    }
    win = {
        "code": "W2",
        "verdict": "WIN",
        "url": "#w2",
        "title": "Fold the MAC into seven consumer warps",
        "figure": "−7 to −9 %",
        "mechanism": "Each warp keeps its rows in registers, so the reduction leaves shared memory alone.",
        "scope": ["gemv", "fused_megakernel"],
    }
    open_row = {
        "code": "U1",
        "verdict": "UNTESTED",
        "url": "#u1",
        "title": "Overlap the next task's weights with the tail",
        "mechanism": "Needs both a footprint of seven pages and a planner that buffers twice.",
        "scope": ["gemm"],
    }
    return [
        {
            "verdict": "DEAD",
            "count": 11,
            "cards": [dead, {**dead, "code": "D7", "title": "Standalone launch per expert"}],
        },
        {"verdict": "WIN", "count": 5, "cards": [win]},
        {"verdict": "UNTESTED", "count": 3, "cards": [open_row]},
    ]


def _rules() -> list[dict]:
    return [
        {
            "rule": "AL1",
            "state": "SATISFIED",
            "summary": "A search was made and its receipt is newer than the draft.",
            "detail": "Receipt of 3 Jul 2026 with 14 hits, 3 of them cited.",
        },
        {
            "rule": "AL3",
            "state": "UNSATISFIED",
            "blocking": True,
            "open": True,
            "summary": "C2 adopts a lever that D3 measured dead in the same scope, and names no new mechanism.",
            "items": [{"href": "#c2", "text": "C2 Nine stages"}, {"href": "#d3", "text": "D3, DEAD"}],
            "fix": "Say in C2 what is different from what D3 measured, or change C2 to avoid the lever.",
        },
        {
            "rule": "AL4",
            "state": "OVERRIDDEN",
            "summary": "The curator signed for U1 without a bound.",
            "detail": "Mark stays.",
        },
        {"rule": "AL5", "state": "NOT_APPLICABLE", "summary": "No choice defers a lever."},
        {
            "rule": "R20",
            "state": "ERROR",
            "blocking": True,
            "summary": "The slots of FULL can't be computed: STAGES has no value.",
            "fix": "Give STAGES a value in the symbols of the spec.",
        },
    ]


def _charts() -> dict:
    wave = [0.0, 0.4, -0.3, 0.1, -0.2, 0.6, -0.1, 0.2, -0.4, 0.3]
    runs = [
        {
            "label": f"round {n}, {role}",
            "role": role,
            "values": [round(base + w + n * 0.1, 3) for w in wave],
            "clock_mhz": [1965 - 5 * n + (i % 3) * 5 for i in range(10)],
        }
        for n in (1, 2)
        for role, base in (("anchor", 52.4), ("candidate", 48.9))
    ]
    return {
        "ladder": {
            "unit": "us",
            "direction": "lower",
            "anchor": {"name": "pinned 3 Jul", "value": "52.4"},
            "floor": {"name": "load-only probe", "value": "41.8"},
            "versions": [
                {"name": "v1", "value": "58.2", "low": "57.7", "high": "58.9"},
                {"name": "v2", "value": "51.0", "low": "50.6", "high": "51.3"},
                {"name": "v3", "value": "48.9", "low": "48.5", "high": "49.4"},
            ],
        },
        "one": {
            "unit": "us",
            "direction": "lower",
            "anchor": {"name": "pinned", "value": "52.4"},
            "floor": None,
            "versions": [{"name": "v1", "value": "58.2", "low": None, "high": None}],
        },
        "samples": {"unit": "us", "direction": "lower", "runs": runs},
        "paired": {
            "unit": "us",
            "direction": "lower",
            "rounds": [{"round": n, "anchor": 52.4 + n * 0.1, "candidate": 48.9 + n * 0.07} for n in range(1, 6)],
        },
        "forest": {
            "direction": "lower",
            "band": ["-1", "1"],
            "thresholds": [{"label": "predicted", "value": "-5"}, {"label": "kill", "value": "3"}],
            "cases": [
                {"name": "decode_1x7168", "change_percent": "-6.7", "low": "-7.9", "high": "-5.4", "judgement": "WIN"},
                {
                    "name": "decode_16x7168",
                    "change_percent": "-0.4",
                    "low": "-1.9",
                    "high": "1.1",
                    "judgement": "INCONCLUSIVE",
                },
            ],
        },
    }


def _words() -> dict:
    words = (
        "draft,in review,approved to build,verdict-ready,stale,stopped,PINNED,UNVERIFIED,queued,running,finished,"
        "PASS,FAIL_NUMERIC,WEDGE,INFRA,decides,diagnostic,SATISFIED,UNSATISFIED,OVERRIDDEN,ERROR,adopts,avoids,keeps"
    )
    verdicts = "DEAD,WIN,UNTESTED,NULL,REGRESS,PARKED,KILLED,INCONCLUSIVE,INVALID"
    return {"words": words.split(","), "verdicts": verdicts.split(","), "now": NOW, "day": date(2026, 7, 3)}


def _lists() -> dict:
    verdicts = [
        {"value": "DEAD", "label": "DEAD", "count": 11, "checked": True},
        {"value": "WIN", "label": "WIN", "count": 5},
        {"value": "UNTESTED", "label": "UNTESTED", "count": 3},
    ]
    ops = [{"value": "", "label": "any"}, {"value": "gemm", "label": "gemm", "count": 9}]
    return {
        "page": Paginator(range(430), 50).page(4),
        "numbers": [
            ("decode_1x7168", "48.9", "-6.7", 1, "6"),
            ("decode_16x7168", "1252.25", "-0.4", 12, "0.125"),
            ("prefill", None, "2.15", None, "31.5"),
        ],
        "filters": [
            {"name": "verdict", "label": "Verdict", "options": verdicts},
            {"name": "op", "label": "Op class", "type": "select", "options": ops},
            {"name": "words", "label": "Words", "type": "text"},
        ],
        "applied": [{"label": "verdict: DEAD", "url": "?"}],
        "pairs": [
            ("Lever", "7-warp MAC fold"),
            ("Scope", "gemv, M 1..16, sm_100"),
            ("Envelope", "fused megakernel"),
            ("Measured", "3 Jul 2026"),
        ],
    }


def _review() -> dict:
    comment = {
        "id": "1",
        "author": "reviewer",
        "role": "correctness",
        "when": NOW,
        "body_html": mark_safe("<p>Which bound holds at <code>M=16</code>?</p>"),
    }
    said = mark_safe("<p>The one of D3.</p>")
    answer = {**comment, "id": "2", "author": "designer", "role": "", "body_html": said}
    thread = {"id": "7", "title": "C2 Nine stages", "state": "open", "url": "#c2", "reply_url": "#"}
    accepted = {"text": "accepted the proposal of run R-118", "verdict": "WIN", "tone": "good", "url": "#r118"}
    return {
        "thread": {**thread, "comments": [comment, answer]},
        "timeline": [
            {"when": NOW, "who": "curator", "detail": "Tier 1, grade decides.", **accepted},
            {"when": NOW, "who": "validator", "text": "attached a receipt", "tone": "info", "url": "#r97"},
            {"when": NOW, "who": "curator", "text": "imported the row", "verdict": "UNTESTED"},
        ],
        "missing": [
            "AL3 is not satisfied: C2 repeats D3.",
            "One correctness approval is needed; you contributed, so it can't be yours.",
        ],
        "settled": ["All spec rules pass."],
        "decisions": [
            {"label": "Approve", "tone": "primary", "disabled": True, "name": "position", "value": "approve"},
            {"label": "Discuss", "name": "position", "value": "discuss"},
        ],
        "old_text": "STAGES = 8\nwarps = 4\nrelease at 1\nloader waits on EMPTY\nconsumer waits on FULL\nstore",
        "new_text": "STAGES = 8\nwarps = 7\nrelease at 1\nloader waits on EMPTY\nconsumer waits on FULL\nstore\nsign",
        "field_rows": [
            {"field": "verdict", "old": "UNTESTED", "new": "WIN"},
            {"field": "bound", "old": "", "new": "at most 9 %"},
        ],
    }


def _memory() -> dict:
    return {
        "smem": page_map(_document(8)),
        "smem_refused": page_map(_document(11)),
        "smem_queue": queue_map(simulate([("gg", _regions(8)), ("gg again", _regions(8))])),
        "sems": semaphore_map(_document(8)),
        "sems_over": semaphore_map(_document(10)),
        "tmem": tmem_map(_document(8)),
        "roles": role_matrix(_document(8)),
        "layers": layer_graph(_document(8), LAYER),
    }


def _work() -> dict:
    job = {"title": "Run R-118", "state": "running", "phase": "round 3 of 5, candidate", "done": 11, "total": 20}
    lines = [
        "[14:05:02] claimed by cpu-1, fence 1",
        "[14:05:03] compiling kernel.py",
        "[14:05:04] decode_1x7168 seed 41: cos 0.99998, rel_max 0.004",
    ]
    return {"job": {**job, "finished": True}, "log": "\n".join(lines)}


@register.simple_tag
def styleguide_data() -> dict:
    """Everything that the styleguide shows."""
    parts = {**_forms(), **_words(), **_lists(), **_review(), **_memory(), **_work()}
    return {**parts, "lanes": _lanes(), "rules": _rules(), "charts": _charts()}
