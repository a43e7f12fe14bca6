"""Rules R10, R13, R15 and R16: what a spec does with its pages beyond placing them."""

from v2kb.rules.rule_registry import ERROR, INFO, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.smem import PAGE_BYTES, PAGES, Plan, Region
from v2kb.rules.smem_rules import REGIONS, planned
from v2kb.rules.spec_view import Missing, SpecView

SLACK_BYTES = PAGE_BYTES // 4
OVERLAP_PAGES = PAGES // 2
RESERVE_BYTES = 6_144
RUNTIME_BYTES = 5_120
STATIC_BYTES = RESERVE_BYTES - RUNTIME_BYTES


@spec_rule(
    "R10",
    severity=INFO,
    title="Bytes lost to page rounding",
    source="house-style section 4",
    formula="sum over regions that are not packed of pages * 16,384 - size_bytes <= a quarter of a page",
    inputs=("smem.regions[]",),
)
def r10(view: SpecView, report: Reporter, context: Context) -> None:
    if not planned(view, report):
        return
    regions = view.planner_input[0]
    lost = [_slack(region) for region in regions]
    total = sum(lost)
    if total > SLACK_BYTES:
        worst = max(range(len(lost)), key=lambda index: lost[index])
        report.add(
            view.region_path(worst),
            f"{total:,} B lost to page rounding, {lost[worst]:,} of them behind {regions[worst].name}.",
            "Consider splitting it, so that its last part can be packed.",
            lost_bytes=total,
            region=regions[worst].name,
        )


def _slack(region: Region) -> int:
    if region.size_bytes <= 0 or region.packable():
        return 0
    return max(0, region.page_need() * PAGE_BYTES - region.size_bytes)


@spec_rule(
    "R13",
    severity=ERROR,
    title="Monolith honesty",
    source="upstream-kernel-catalog section 3; house-style section 4",
    formula="family C has exactly one region, not packed; a body that ignores offsets has one of two pages or more",
    inputs=("engine.family", "smem.ignores_offsets", "smem.regions[]"),
)
def r13(view: SpecView, report: Reporter, context: Context) -> None:
    ignores = view.doc["smem"]["ignores_offsets"]
    if view.family != "C" and ignores != "yes":
        report.skip("Neither family C nor a body that ignores region offsets.")
        return
    if not planned(view, report):
        return
    if not ignores:
        why = "The spec doesn't say whether the body ignores region offsets."
        report.missing(Missing("smem.ignores_offsets", why, "Answer yes or no; a monolith usually ignores them."))
    regions = view.planner_input[0]
    who = "A body that ignores region offsets" if ignores == "yes" else "Family C"
    if len(regions) > 1:
        report.add(
            REGIONS,
            f"{who} has exactly one region; {len(regions)} are listed.",
            "Declare one region of the real footprint, so that the planner's pages are those that the data lies on.",
            regions=len(regions),
        )
        return
    (region,) = regions or (None,)
    if region is None:
        return
    if region.can_pack:
        report.add(
            f"{view.region_path(0)}.can_pack",
            f"{region.name} may be packed; a monolith has its pages for itself.",
            "Untick can_pack.",
        )
    if ignores == "yes" and region.page_need() < 2:
        report.add(
            view.region_path(0),
            "Body ignores region offsets but the region may not start at page 0.",
            "Only a region of several pages gets the lowest physical run: pin page_count to 2, or read the offset.",
            pages=region.page_need(),
        )


@spec_rule(
    "R15",
    severity=ERROR,
    title="Overlap of tasks",
    source="upstream-kernel-catalog section 1; m1-decode-evidence, row U2",
    formula="a claim of cross-task overlap needs at most 7 pages and page assignments that the planner double-buffers",
    inputs=("smem.overlap_claim", "smem.double_buffered", "smem.regions[]"),
)
def r15(view: SpecView, report: Reporter, context: Context) -> None:
    smem = view.doc["smem"]
    if smem["overlap_claim"] != "yes":
        report.skip("The spec claims no overlap of its pages with those of the next task.")
        return
    if not planned(view, report):
        return
    if not smem["double_buffered"]:
        why = "The spec doesn't say whether the planner double-buffers its page assignments."
        report.missing(Missing("smem.double_buffered", why, "Answer yes or no."))
    if not isinstance(view.plan, Plan):
        report.missing(Missing(REGIONS, "There is no plan whose pages could be counted.", "Correct the table (R02)."))
        return
    lacking = []
    if view.plan.page_count > OVERLAP_PAGES:
        lacking.append(f"it uses {view.plan.page_count} pages, more than {OVERLAP_PAGES}")
    if smem["double_buffered"] == "no":
        lacking.append("the planner doesn't double-buffer its pages")
    if lacking:
        report.add(
            "smem.overlap_claim",
            f"Overlap without both co-requisites measured about +12%: {'; '.join(lacking)}.",
            f"Use at most {OVERLAP_PAGES} pages and double-buffered assignments, or drop the claim and cite that row.",
            pages=view.plan.page_count,
            double_buffered=smem["double_buffered"],
        )


@spec_rule(
    "R16",
    severity=WARNING,
    title="Static shared memory",
    source="runtime_header.h, comment on the reserve",
    formula="static __shared__ bytes count against the 6,144 B reserve, of which the runtime takes 5,120",
    inputs=("smem.static_shared_bytes",),
)
def r16(view: SpecView, report: Reporter, context: Context) -> None:
    path = "smem.static_shared_bytes"
    if not view.doc["smem"]["static_shared_bytes"]:
        report.skip("The spec declares no static shared memory.")
        return
    used = view.field(path)
    if isinstance(used, Missing):
        report.missing(used)
    elif used < 0:
        report.add(path, f"{used:,} B of static shared memory.", "Write 0 or more.", static_bytes=used)
    elif used > 0:
        over = used - STATIC_BYTES
        rest = f"{over:,} B too many" if over > 0 else f"{-over:,} B are left"
        report.add(
            path,
            f"{used:,} B of static __shared__ count against the {RESERVE_BYTES:,} B reserve; "
            f"the runtime takes {RUNTIME_BYTES:,} of them: {rest}.",
            "Move them into a region, where the planner sees them.",
            static_bytes=used,
            left_bytes=-over,
        )


SMEM_USE_RULES: tuple[Rule, ...] = (r10, r13, r15, r16)
