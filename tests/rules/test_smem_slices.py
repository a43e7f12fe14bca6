"""Rule R11: slices inside one region."""

import pytest

from tests.rules.spec_checks import changed, found
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec, ring_gemm_spec
from v2kb.rules.smem_slices import overlaps, slices_of
from v2kb.rules.spec_rules import spec_report
from v2kb.rules.spec_view import SpecView

DOC = grouped_gemm_spec()
AT = "smem.regions[8].slices"
B, SFA, SFB, TADDR = (f"smem__regions__8__slices__{index}__" for index in range(4))


def bsf(doc=DOC):
    view = SpecView(doc)
    return slices_of(view, view.regions[-1])


def test_the_worked_slices():
    parts, missing = bsf()
    at = {part.name: part.start for part in parts}
    assert missing == []
    assert len(parts) == 25
    for s in range(8):
        assert (at[f"B{s}"], at[f"SFA{s}"], at[f"SFB{s}"]) == (s * 3_072, s * 3_072 + 2_048, s * 3_072 + 2_560)
    assert at["taddr"] == 24_576
    assert max(part.end for part in parts) == 24_592
    assert overlaps(parts) == []


def test_slices_follow_the_stages():
    parts, _ = bsf(changed(ring_gemm_spec(), symbols__STAGES="10"))
    assert (len(parts), parts[-1].start) == (31, 30_720)
    assert found(changed(ring_gemm_spec(), symbols__STAGES="10", claims=[]), "R11") == []


@pytest.mark.parametrize(
    ("edit", "path", "message"),
    [
        ({B + "size_bytes": "2049"}, f"{AT}[1].offset_bytes", "Slice SFA0 overlaps B0."),
        ({SFB + "offset_bytes": "s*SLICE + 2048"}, f"{AT}[2].offset_bytes", "Slice SFB0 overlaps SFA0."),
        ({TADDR + "size_bytes": "32"}, f"{AT}[3].offset_bytes", "Slice taddr ends at byte 24,608, but BSF has 24,592."),
        ({B + "slots": "9"}, f"{AT}[0].offset_bytes", "Slice B8 ends at byte 26,624, but BSF has 24,592."),
        ({B + "offset_bytes": "s*SLICE - 16"}, f"{AT}[0].offset_bytes", "Slice B0 starts at byte -16, before BSF."),
        ({SFA + "alignment": "1024", "symbols__SLICE": "3000"}, f"{AT}[1].offset_bytes",
         "Slice SFA1 starts at byte 5,048, which is no multiple of 1,024."),
        ({TADDR + "alignment": "12"}, f"{AT}[3].alignment", "Slice taddr is aligned 12, which is not a power of two."),
        ({"smem__regions__8__alignment": "512"}, f"{AT}[0].alignment", "Slice B0 is aligned 1,024, but BSF only 512."),
        ({SFA + "size_bytes": "0"}, f"{AT}[1].size_bytes", "Slice SFA has size_bytes 0."),
        ({TADDR + "slots": "0"}, f"{AT}[3].slots", "Slice taddr has slots 0."),
    ],
)  # fmt: skip
def test_r11_fires(edit, path, message):
    findings = found(changed(DOC, **edit), "R11")
    assert (path, message) in [(f.path, f.message) for f in findings]
    assert all(f.severity == "E" for f in findings)


def test_r11_a_ring_that_overlaps_itself_is_one_finding():
    findings = found(changed(DOC, **{B + "size_bytes": "2048", SFA + "offset_bytes": "s*SLICE"}), "R11")
    assert [f.path for f in findings] == [f"{AT}[1].offset_bytes"]


def test_r11_a_long_slice_is_seen_behind_a_short_one():
    doc = changed(DOC, **{B + "slots": "1", B + "size_bytes": "24000"})
    assert {f.path for f in found(doc, "R11")} == {f"{AT}[1].offset_bytes", f"{AT}[2].offset_bytes"}


@pytest.mark.parametrize(
    ("edit", "path"),
    [
        ({SFA + "offset_bytes": ""}, f"{AT}[1].offset_bytes"),
        ({SFA + "offset_bytes": "s*SLOT"}, f"{AT}[1].offset_bytes"),
        ({SFA + "offset_bytes": "4096/(3 - s)"}, f"{AT}[1].offset_bytes"),
        ({SFA + "size_bytes": ""}, f"{AT}[1].size_bytes"),
        ({SFA + "slots": "x"}, f"{AT}[1].slots"),
        ({SFA + "slots": "10**60"}, AT),
        ({SFA + "slots": "112"}, AT),
        ({"smem__regions__8__size_bytes": ""}, "smem.regions[8].size_bytes"),
    ],
)
def test_r11_says_what_is_missing(edit, path):
    assert path in {f.path for f in found(changed(DOC, **edit), "R11", "missing_input")}


def test_r11_compares_a_bounded_number_of_slices():
    part = {**DOC["smem"]["regions"][8]["slices"][0], "slots": "128", "offset_bytes": "0"}
    region = {**DOC["smem"]["regions"][8], "slices": [part]}
    doc = changed(DOC, smem__regions=[{**region, "name": f"r{i}", "ordinal": str(i)} for i in range(5)])
    messages = [f.message for f in found(doc, "R11", "missing_input")]
    assert messages == ["The spec has more than 512 slices."]


def test_r11_does_not_apply_without_slices():
    assert spec_report(norm_spec()).states["R11"] == "not_applicable"
    assert spec_report(changed(DOC, smem__regions__8__slices=[])).states["R11"] == "not_applicable"
