from tests.rules.sessions import BASE, FIRST_SAMPLE, NULL, QUIET, UNCLEAR, WIN, case, registration, session, verdict
from v2kb.rules.canonical import canonical_json, content_hash
from v2kb.rules.grades import graded
from v2kb.rules.verdict import RULE_VERSION, show


def test_the_sentence_of_a_win():
    assert verdict(BASE, WIN, **QUIET).as_document()["sentence"] == (
        "v7 is 5.8% faster than the anchor (95% interval 5.4 to 6.2%, 3 paired runs, TIER 2 of an op launched alone, "
        "GPU 0, 1,980 MHz): registered bar 3%, prediction 5%: WIN, beats the prediction. Could have detected 0.5%."
    )


def test_inconclusive_names_next_action_and_cost():
    action = verdict(BASE, UNCLEAR, **QUIET).as_document()["next_action"]
    assert action == "Next: register a fresh session; about 14 rounds would settle it (1.9 GPU minutes)."
    assert "cost not known yet" in verdict(BASE, UNCLEAR, seconds_per_round=None).as_document()["next_action"]
    on_cpu = {"envelope": "cpu", "target": "cpu", "hardware": "cpu", "method": "process_clock"}
    assert "CPU minutes" in verdict(BASE, UNCLEAR, **on_cpu).as_document()["next_action"]


def test_a_mean_on_the_bar_is_told_that_rounds_will_not_help():
    on_bar = [a * 0.97 * wobble for a, wobble in zip(BASE, (1.01, 0.99, 1 / (1.01 * 0.99)), strict=True)]
    found = verdict(BASE, on_bar)
    assert (found.judgement, found.rounds_to_settle) == ("INCONCLUSIVE", None)
    assert "more rounds will not settle it" in found.as_document()["next_action"]


def test_null_names_the_largest_gain_still_compatible():
    assert "The largest gain still compatible is 0.25%." in verdict(BASE, NULL, **QUIET).as_document()["sentence"]
    slower = verdict(BASE, [a * r for a, r in zip(BASE, (1.002, 1.0021, 1.0022), strict=True)])
    assert "No gain is compatible" in slower.as_document()["sentence"]


def test_a_rate_is_called_higher_and_its_bar_is_explained():
    rate = {"direction": "higher", "unit": "tokens/s", "metric": "throughput"}
    text = verdict(BASE, [106, 107, 105.5], plan=rate, **rate).as_document()["sentence"]
    assert text.startswith("v7 is 6.0% higher than the anchor")
    assert "registered bar 3% of the cost (3.1% higher)" in text


def test_an_interval_around_nothing_names_both_directions():
    text = verdict(BASE, UNCLEAR, **QUIET).as_document()["sentence"]
    assert "95% interval 0.99% slower to 9.1% faster" in text


def test_the_document_carries_what_a_page_needs():
    document = verdict(BASE, WIN).as_document()
    assert document["rule_version"] == RULE_VERSION
    assert document["registration"] == registration().prereg.as_document()
    assert (document["tier"], document["grade"]) == (2, "decides")
    assert [gate["passed"] for gate in document["gates"]] == [True] * len(document["gates"])
    assert document["case_judgements"] == {"decode": "WIN"}
    assert len(content_hash(document)) == 64


def test_another_grade_shows_its_estimate_and_why_it_is_not_judged():
    shown = show(graded(session(case(BASE, WIN), target="sm_100"))).as_document()
    assert shown["judgement"] is None
    assert shown["grade"] == "diagnostic"
    assert round(float(shown["estimate"]["change_percent"]), 3) == -5.824
    assert shown["sentence"].endswith("Not judged, diagnostic: It ran on sm_90; the op is meant for sm_100.")
    assert canonical_json(shown)


def test_a_single_round_is_shown_without_an_interval():
    shown = show(graded(session(case(BASE[:1], WIN[:1]), target="sm_100"))).as_document()
    assert "1 paired run," in shown["sentence"]
    assert "One paired run has no spread." in shown["sentence"]
    assert shown["estimate"]["low_percent"] is None


def test_sealed_after_the_anchor_but_before_the_candidate_is_fine():
    assert verdict(BASE, WIN, first_candidate_sample_at=FIRST_SAMPLE).judgement == "WIN"
