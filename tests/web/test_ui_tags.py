"""Tags and components of the design system: what they print, and that no page needs what the CSP refuses."""

import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import timezone

from v2kb.core.errors import Refusal
from v2kb.core.ui.charts import chart_parts
from v2kb.core.ui.diffs import changed_part, line_diff
from v2kb.core.ui.icons import PATHS
from v2kb.core.ui.maps import sem_map, smem_map, smem_queue
from v2kb.core.ui.numbers import duration_text, num_text
from v2kb.core.ui.states import _TABLE, look
from v2kb.rules.page_map import queue_map
from v2kb.rules.smem import Region
from v2kb.rules.smem_sequence import simulate
from v2kb.rules.spec_rules import page_map, semaphore_map

TEMPLATES = Path(__file__).resolve().parent.parent.parent / "templates"

VOCABULARY = [
    "DEAD",
    "WIN",
    "UNTESTED",
    "NULL",
    "REGRESS",
    "PARKED",
    "KILLED",
    "draft",
    "accepted",
    "rejected",
    "withdrawn",
    "superseded",
    "UNVERIFIED",
    "PINNED",
    "STALE",
    "adopts",
    "avoids",
    "keeps",
    "defers",
    "stale",
    "stopped",
    "archived",
    "approve",
    "discuss",
    "recuse",
    "queued",
    "claimed",
    "running",
    "finished",
    "cancelled",
    "PASS",
    "FAIL_NUMERIC",
    "FAIL_SHAPE",
    "COMPILE_ERROR",
    "COMPILE_TIMEOUT",
    "WEDGE",
    "IMA",
    "MISALIGNED",
    "TIMEOUT",
    "CRASHED",
    "OOM",
    "DECODE_FAILED",
    "TAMPERED",
    "INVALID_REFERENCE",
    "NO_CASES",
    "NO_DATA",
    "INFRA",
    "INCONCLUSIVE",
    "INVALID",
    "ship",
    "kill",
    "park",
    "none",
    "decides",
    "corroborates",
    "diagnostic",
    "FAIL",
    "MISSING",
    "NOT_APPLICABLE",
    "PENDING",
    "SATISFIED",
    "UNSATISFIED",
    "OVERRIDDEN",
    "ERROR",
    "open",
    "waived",
    "fixed",
    "in review",
    "approved to build",
    "verdict-ready",
    "no objection",
]


def render(text: str, path: str = "/", **context) -> str:
    request = RequestFactory().get(path)
    return Template("{% load ui %}" + text).render(Context({"request": request, **context}))


@pytest.mark.parametrize("word", VOCABULARY)
def test_each_word_of_the_vocabulary_has_a_look(word):
    assert word.lower().replace("_", " ") in {key.replace("_", " ") for key in _TABLE}
    assert look(word).icon in PATHS


def test_verdicts_differ_by_glyph_and_word_not_only_by_colour():
    looks = [look(word) for word in ("DEAD", "WIN", "UNTESTED")]
    assert len({seen.icon for seen in looks}) == len({seen.label for seen in looks}) == 3


def test_an_unknown_word_is_shown_as_it_is_and_escaped():
    assert "&lt;b&gt;odd" in render("{% state word %}", word="<b>odd")


def test_kind_settles_a_word_with_two_meanings():
    assert look("open", "finding").tone == "warn"
    assert look("open", "proposal").tone == "info"
    assert look("E", "severity").label == "blocks"


@pytest.mark.parametrize(
    ("value", "options", "shown"),
    [
        ("1252.25", {"unit": "us"}, "1,252.25 µs"),
        ("-6.7", {"unit": "percent", "signed": True}, "−6.7%"),
        (Decimal("2.345"), {"decimals": 1}, "2.3"),
        (3, {"signed": True}, "+3"),
        (224_256, {"unit": "bytes"}, "224,256 B"),
        (None, {"unit": "us"}, "–"),
        ("about six", {}, "–"),
        (float("nan"), {}, "–"),
        (True, {}, "–"),
    ],
)
def test_numbers_as_text(value, options, shown):
    assert num_text(value, **options) == shown


def test_number_keeps_its_fraction_in_a_box_of_its_own():
    assert '48<span class="frac">.9</span>' in render("{% num value %}", value="48.9")
    assert "not known" in render("{% num value %}", value=None)


@pytest.mark.parametrize(
    ("percent", "direction", "word"), [("-3", "lower", "better"), ("3", "lower", "worse"), ("3", "higher", "better")]
)
def test_change_says_better_or_worse_in_words(percent, direction, word):
    assert f"> {word}<" in render("{% change percent direction %}", percent=percent, direction=direction)


def test_zero_change_is_neither():
    shown = render("{% change 0 'lower' %}")
    assert "better" not in shown
    assert "worse" not in shown


def test_times_name_the_viewers_zone_and_dates_do_not_shift():
    moment = datetime(2026, 7, 3, 23, 30, tzinfo=UTC)
    with timezone.override("Europe/Berlin"):
        assert "4 Jul 2026, 01:30 CEST" in render("{% when moment %}", moment=moment)
        assert ">3 Jul 2026<" in render("{% day day %}", day=date(2026, 7, 3))


def test_query_string_is_kept_and_the_page_falls_away():
    shown = render("{% qs sort='-code' %}", "/?verdict=DEAD&verdict=WIN&page=3&part=list")
    assert shown == "?verdict=DEAD&amp;verdict=WIN&amp;sort=-code"
    assert render("{% qs verdict='' %}", "/?verdict=DEAD") == "?"


def test_sort_head_turns_and_says_its_direction():
    tag = "{% sort_head 'Time' 'time' unit='us' numeric=True %}"
    assert "aria-sort" not in render(tag)
    assert 'aria-sort="ascending"' in render(tag, "/?sort=time")
    assert 'href="?sort=-time"' in render(tag, "/?sort=time")
    assert 'aria-sort="descending"' in render(tag, "/?sort=-time")


def test_pager_shows_the_range_and_keeps_filters():
    shown = render("{% pager page %}", "/?verdict=DEAD&page=2", page=Paginator(range(120), 50).page(2))
    assert "51–100 of 120" in shown
    assert "?verdict=DEAD&amp;page=3" in shown


class Sample(forms.Form):
    lever = forms.CharField(help_text="Its name.")
    grade = forms.ChoiceField(choices=[("1", "one"), ("2", "two")], widget=forms.RadioSelect)


def test_field_ties_label_help_and_error_together():
    form = Sample({"lever": ""})
    shown = render("{% form_fields form %}", form=form)
    described = re.search(r'<input[^>]*name="lever"[^>]*aria-describedby="([^"]*)"', shown)[1].split()
    assert set(described) == {"id_lever_helptext", "id_lever_error"}
    for name in described:
        assert f'id="{name}"' in shown
    assert '<label for="id_lever">' in shown
    assert "<legend>Grade" in shown


def test_error_summary_links_to_the_first_control_of_each_field():
    shown = render("{% error_summary form=form %}", form=Sample({}))
    assert "There are 2 problems" in shown
    assert 'href="#id_lever"' in shown
    assert 'href="#id_grade_0"' in shown
    assert render("{% error_summary form=form %}", form=Sample()).strip() == ""


def test_error_summary_of_a_refusal_names_field_rule_and_fix():
    refusal = Refusal("spec.dead", "C2 repeats <D3>.", field="C2", rule="AL3", fix="Name a new mechanism.")
    shown = render("{% error_summary refusal=refusal %}", refusal=refusal)
    for part in ("C2 repeats &lt;D3&gt;.", "Field: C2", "AL3", "Name a new mechanism.", "spec.dead"):
        assert part in shown


def test_error_summary_lists_each_problem_of_a_refusal():
    problems = [{"code": "a.b", "message": "first"}, {"code": "a.c", "message": "second", "rule": "R20"}]
    shown = render("{% error_summary refusal=refusal %}", refusal=Refusal("x.y", "Two.", problems=problems))
    assert "first" in shown
    assert "R20" in shown


def test_of_long_texts_the_stretch_that_differs_is_shown():
    old = "a" * 300 + " −9% " + "b" * 300
    parts = changed_part(old, old.replace("−9%", "−12%"), around=3)
    assert parts == ("…a −9% b…", "…a −12% b…")
    assert changed_part("same start", "same start, and more", around=100) == ("same start", "same start, and more")
    assert changed_part("", "x" * 500, longest=10) == ("", "x" * 10 + "…")
    assert changed_part("aa", "aaa") == ("aa", "aaa")


def test_line_diff_numbers_lines_and_folds_what_stayed():
    old = "\n".join(f"line {n}" for n in range(1, 21))
    lines = line_diff(old, old.replace("line 10", "line ten"))
    assert [(x["kind"], x["old"], x["new"]) for x in lines if x["kind"] in ("add", "del")] == [
        ("del", 10, None),
        ("add", None, 10),
    ]
    assert [x["text"] for x in lines if x["kind"] == "skip"] == ["6 unchanged lines", "7 unchanged lines"]
    assert line_diff(old, old) == []


def _gg(stages: int) -> dict:
    row = {"alignment": "1024", "release_step": "1", "can_pack": False, "contiguous": True}
    weights = [
        {"ordinal": str(n), "name": f"W{n}", "size_bytes": "16384", "page_count": "1", **row} for n in range(stages)
    ]
    scales = {"ordinal": str(stages), "name": "BSF", "size_bytes": "STAGES*3072+16", "page_count": "-1", **row}
    sems = [
        {"ordinal": "0", "slots": "STAGES", "name": "FULL"},
        {"ordinal": str(stages - 1), "slots": "2", "name": "ACC"},
    ]
    return {
        "symbols": {"STAGES": str(stages)},
        "smem": {"regions": [*weights, scales]},
        "sems": {"rows": sems, "num_op_sems": str(stages + 2)},
    }


def test_page_map_is_drawn_to_scale():
    drawn = smem_map(page_map(_gg(8)))
    scales = next(part for part in drawn["strips"][0]["parts"] if part["text"] == "BSF")
    assert scales["x"] == 0
    assert scales["width"] == pytest.approx(24_592 / 16_384 * 80, abs=0.01)
    assert drawn["strips"][0]["void_x"] == pytest.approx(224_256 / 16_384 * 80, abs=0.01)
    assert "155,664 of 224,256 B, 10 of 14 pages" in drawn["description"]


def test_page_map_of_a_refused_plan_says_why():
    assert "11,264" in smem_map(page_map(_gg(11)))["description"]


def test_queue_map_marks_what_ends_past_the_capacity():
    regions = [
        *(Region(f"W{n}", 16_384, page_count=1, release_step=1) for n in range(8)),
        Region("BSF", 24_592, release_step=1),
    ]
    drawn = smem_queue(queue_map(simulate([("gg", regions), ("again", regions)])))
    assert [part["text"] for part in drawn["strips"][1]["parts"] if part["over"]] == ["W3"]
    assert "W3 of again by 5,120 B" in drawn["description"]


def test_semaphore_map_marks_an_ordinal_claimed_twice():
    drawn = sem_map(semaphore_map(_gg(8)))
    assert [slot["number"] for slot in drawn["slots"] if slot["over"]] == [7]
    assert "Claimed twice: 7" in drawn["description"]


def test_chart_has_a_table_of_exactly_its_points():
    data = {"unit": "us", "direction": "lower", "rounds": [{"round": 1, "anchor": 50.0, "candidate": 45.0}]}
    shown = render("{% chart 'paired' data 'c1' 'Rounds' %}", data=data)
    assert 'role="group"' in shown
    assert '<script id="c1-data" type="application/json">' in shown
    assert "µs, lower is better" in shown
    assert 'data-exact="45.0"' in shown
    assert "−10" in shown


def test_chart_data_can_not_break_out_of_its_script():
    data = {
        "unit": "us",
        "direction": "lower",
        "anchor": None,
        "floor": None,
        "versions": [{"name": "</script><b>", "value": 1}],
    }
    shown = render("{% chart 'ladder' data 'c1' 'Versions' %}", data=data)
    assert shown.count("</script>") == 1
    assert "<b>" not in shown


def test_samples_table_keeps_the_order_and_leaves_unknown_clocks_open():
    runs = [
        {"label": "a", "role": "anchor", "values": [3, 1], "clock_mhz": [1900]},
        {"label": "b", "role": "candidate", "values": [2], "clock_mhz": None},
    ]
    rows = chart_parts("samples", {"unit": "us", "runs": runs})["rows"]
    assert [[cell["exact"] for cell in row] for row in rows] == [
        ["a", "1", "3", "1900"],
        ["a", "2", "1", ""],
        ["b", "1", "2", ""],
    ]


@pytest.mark.urls("tests.browser.frame_urls")
def test_styleguide_shows_every_component(rf, django_user_model):
    request = rf.get("/styleguide/")
    request.user = django_user_model(username="dora")
    shown = Template((TEMPLATES / "styleguide.html").read_text()).render(
        Context({"request": request, "user": request.user})
    )
    assert "There are 4 problems" in shown
    assert shown.count('role="group"') > 8
    assert "style=" not in shown


@pytest.mark.parametrize("page", sorted(TEMPLATES.rglob("*.html")), ids=lambda page: str(page.relative_to(TEMPLATES)))
def test_no_template_needs_what_the_csp_refuses(page):
    text = page.read_text()
    assert not re.search(r"\sstyle\s*=", text), "use a class or an SVG attribute"
    assert not re.search(r"<[^>]*\son[a-z]+\s*=", text), "listen in a static script"
    assert not re.search(r"<script(?![^>]*\bsrc=)", text), "put the code into static/js"
    assert not re.search(r"<style(?![^>]*\bnonce=)", text), "put the rules into static/css"
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*(?:src|href)=\"https?://", text), "serve it from here"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (7, "7 s"),
        (60, "1 min"),
        (185, "3 min 5 s"),
        (7440, "2 h 4 min"),
        (3605, "1 h"),
        (262_800, "3 d 1 h"),
    ],
)
def test_a_duration_names_its_two_largest_units(seconds, text):
    assert duration_text(seconds) == text
