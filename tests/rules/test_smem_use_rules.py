"""Rules R10, R13, R15 and R16: rounding, monoliths, overlap and static shared memory."""

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import canonical, grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules.spec_rules import spec_report

GROUPED = grouped_gemm_spec()


def monolith(size="96288", **edits):
    """Family C: one region for a body with its own offsets."""
    region = {"ordinal": "0", "name": "attention", "size_bytes": size, "alignment": "1024"}
    smem = {"regions": [region], "queue": ["this"], "ignores_offsets": "yes"}
    doc = canonical({"engine": {"family": "C"}, "smem": smem})
    return changed(doc, **edits)


@pytest.mark.parametrize(
    ("stages", "lost"),
    [("7", 11_248), ("8", 8_176), ("9", 5_104), ("10", None), ("11", 15_344), ("12", 12_272)],
)
def test_r10_bytes_behind_the_ring_of_small_operands(stages, lost):
    findings = found(changed(ring_gemm_spec(), symbols__STAGES=stages), "R10")
    assert [f.facts["lost_bytes"] for f in findings] == ([lost] if lost else [])
    assert all(f.severity == "I" and f.path == "smem.regions[1]" and f.facts["region"] == "BSF" for f in findings)


@pytest.mark.parametrize(("size", "fires"), [("12288", False), ("12287", True), ("0", False), ("16384", False)])
def test_r10_starts_above_a_quarter_of_a_page(size, fires):
    assert bool(found(monolith(size), "R10")) is fires
    assert found(monolith(size, smem__regions__0__can_pack=True), "R10") == []


def test_r10_informs_and_lets_the_rule_pass():
    report = spec_report(GROUPED)
    (finding,) = found(GROUPED, "R10")
    assert finding.message == "8,176 B lost to page rounding, 8,176 of them behind BSF."
    assert report.states["R10"] == "passed"
    assert report.passes


def test_r10_counts_what_a_pinned_page_count_books():
    doc = changed(GROUPED, smem__regions__8__page_count="3")
    assert found(doc, "R10")[0].facts["lost_bytes"] == 8_176 + 16_384


def test_r10_says_what_is_missing_and_where_it_does_not_apply():
    assert [f.path for f in found(monolith("x"), "R10", "missing_input")] == ["smem.regions[0].size_bytes"]
    assert spec_report(canonical({"engine": {"family": "D"}})).states["R10"] == "not_applicable"


def test_r13_one_region_of_several_pages_is_honest():
    assert spec_report(monolith()).states["R13"] == "passed"
    assert spec_report(GROUPED).states["R13"] == "not_applicable"
    assert spec_report(norm_spec()).states["R13"] == "not_applicable"


@pytest.mark.parametrize(
    ("doc", "path", "said"),
    [
        (monolith("16384"), "smem.regions[0]", "Body ignores region offsets but the region may not start at page 0."),
        (monolith("320"), "smem.regions[0]", "Body ignores region offsets but the region may not start at page 0."),
        (monolith(smem__regions__0__can_pack=True), "smem.regions[0].can_pack", "attention may be packed"),
        (monolith(smem__regions__0__slots="2"), "smem.regions", "exactly one region; 2 are listed"),
        (changed(GROUPED, smem__ignores_offsets="yes"), "smem.regions", "exactly one region; 9 are listed"),
        (changed(GROUPED, engine__family="C"), "smem.regions", "Family C has exactly one region; 9 are listed"),
    ],
)
def test_r13_fires(doc, path, said):
    (finding,) = found(doc, "R13")
    assert (finding.path, finding.severity) == (path, "E")
    assert said in finding.message


def test_r13_a_pinned_second_page_puts_the_run_at_page_0():
    assert found(monolith("16384", smem__regions__0__page_count="2"), "R13") == []


def test_r13_a_body_that_reads_its_offset_may_have_one_page():
    assert found(monolith("16384", smem__ignores_offsets="no"), "R13") == []


def test_r13_says_what_is_missing():
    (finding,) = found(monolith(smem__ignores_offsets=""), "R13", "missing_input")
    assert finding.path == "smem.ignores_offsets"
    assert [f.path for f in found(monolith("x"), "R13", "missing_input")] == ["smem.regions[0].size_bytes"]


OVERLAP = {"smem__overlap_claim": "yes", "smem__double_buffered": "yes"}


@pytest.mark.parametrize(
    ("stages", "double_buffered", "lacking"),
    [
        ("5", "yes", None),
        ("5", "no", "double-buffer"),
        ("6", "yes", "it uses 8 pages, more than 7"),
        ("8", "no", "it uses 10 pages, more than 7; the planner"),
    ],
)
def test_r15_needs_half_the_pool_and_double_buffering(stages, double_buffered, lacking):
    doc = changed(ring_gemm_spec(), symbols__STAGES=stages, claims=[], **OVERLAP)
    doc["smem"]["double_buffered"] = double_buffered
    findings = found(doc, "R15")
    assert len(findings) == (1 if lacking else 0)
    for finding in findings:
        assert finding.message.startswith("Overlap without both co-requisites measured about +12%: ")
        assert lacking in finding.message
        assert (finding.path, finding.severity) == ("smem.overlap_claim", "E")


def test_r15_only_judges_a_claim():
    for answer in ("", "no"):
        assert spec_report(changed(GROUPED, smem__overlap_claim=answer)).states["R15"] == "not_applicable"


def test_r15_says_what_is_missing():
    doc = changed(GROUPED, smem__overlap_claim="yes", smem__double_buffered="")
    assert "smem.double_buffered" in {f.path for f in found(doc, "R15", "missing_input")}
    unplannable = changed(GROUPED, **OVERLAP, smem__regions__0__size_bytes="300000", smem__regions__0__page_count="-1")
    assert {f.path for f in found(unplannable, "R15", "missing_input")} == {"smem.regions"}


@pytest.mark.parametrize(
    ("given", "left", "said"),
    [
        ("0", None, ""),
        ("256", 768, "768 B are left"),
        ("1024", 0, "0 B are left"),
        ("1025", -1, "1 B too many"),
    ],
)
def test_r16_static_bytes_count_against_the_reserve(given, left, said):
    findings = found(changed(GROUPED, smem__static_shared_bytes=given), "R16")
    assert [f.facts["left_bytes"] for f in findings] == ([] if left is None else [left])
    assert all(said in f.message and f.severity == "W" for f in findings)


def test_r16_other_answers():
    assert spec_report(changed(GROUPED, smem__static_shared_bytes="")).states["R16"] == "not_applicable"
    assert found(changed(GROUPED, smem__static_shared_bytes="-16"), "R16")[0].facts == {"static_bytes": -16}
    (finding,) = found(changed(GROUPED, smem__static_shared_bytes="2*X"), "R16", "missing_input")
    assert finding.path == "smem.static_shared_bytes"
