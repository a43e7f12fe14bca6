"""Rules R29 and R30: how the data that a barrier announces gets there, and how many bytes of it."""

import re

from v2kb.rules.barriers import has_barriers, need_word, waiter
from v2kb.rules.rule_registry import ERROR, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import MAX_SLOTS, Missing, Row, SpecView
from v2kb.rules.spec_words import ARRIVERS

# Arrivals of one phase, by the way in which cp.async data is published.
_PUBLISHED_BY = {"fence_then_arrive": ARRIVERS["elected"], "noinc": ARRIVERS["noinc_and_elected"]}


@spec_rule(
    "R29",
    severity=ERROR,
    title="Bytes that a TMA barrier expects",
    source="house-style section 5",
    formula="expect_tx = bytes of the storage that is bound to the barrier",
    inputs=("sems.rows[].tx_bytes", "sems.rows[].storage", "smem.regions[].size_bytes"),
)
def r29(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    for row in view.sems:
        if row.source["kind"] == "tma":
            _check_bytes(view, report, row)
        elif row.source["kind"] and row.source["tx_bytes"] not in ("", "0"):
            report.add(
                row.cell("tx_bytes"),
                f"{row.label()} expects bytes, but no TMA arrives at it: its phase would never complete.",
                "Leave the bytes blank, or correct how it is arrived.",
            )


def _check_bytes(view: SpecView, report: Reporter, row: Row) -> None:
    numbers = report.need(row, "tx_bytes", "slots")
    if not need_word(report, row, "storage") or numbers is None:
        return
    expected, slots = numbers
    sizes = bound_sizes(view, row.source["storage"])
    if isinstance(sizes, Missing):
        report.missing(sizes)
    elif not sizes:
        report.add(
            row.cell("storage"),
            f"{row.label()} is bound to {row.source['storage']}, which is no region or slice of this spec.",
            "Name a region or a slice, or the common start of numbered ones (W for W0 to W7).",
        )
    elif sum(sizes) != slots * expected or (len(sizes) == slots and len(set(sizes)) > 1):
        report.add(
            row.cell("tx_bytes"),
            f"{row.label()} expects {expected:,} B in each of {slots} slots, but {row.source['storage']} has "
            f"{_held(sizes)}.",
            "Write the bytes that TMA brings for one phase, or bind the barrier to a slice of that size.",
            expected=expected,
            slots=slots,
            bound=sum(sizes),
        )


def _held(sizes: list[int]) -> str:
    if len(set(sizes)) == 1:
        return f"{len(sizes)} of {sizes[0]:,} B"
    return f"{sum(sizes):,} B in {len(sizes)} parts of unequal size"


@spec_rule(
    "R30",
    severity=ERROR,
    title="Publishing cp.async data to tcgen05",
    source="house-style section 5; the exemplar's review item 4a",
    formula="wait_group, then fence.proxy.async, then one arrive; or the noinc variant with two arrivals",
    inputs=("sems.rows[].data", "sems.rows[].publication", "sems.rows[].count"),
)
def r30(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_barriers(view, report):
        return
    threads = [row for row in view.sems if row.source["kind"] == "warp" and waiter(row) == "mma"]
    copies = [row for row in threads if need_word(report, row, "data") == "cp_async"]
    if not copies and not report.findings:
        report.skip("No barrier announces cp.async data to the mma role.")
    for row in copies:
        publication, count = need_word(report, row, "publication"), report.need(row, "count")
        if publication and count is not None and count[0] != _PUBLISHED_BY[publication]:
            needed = _PUBLISHED_BY[publication]
            way = "the fence and one arrive" if needed == 1 else "the copy's own arrival and one more"
            report.add(
                row.cell("count"),
                f"{row.label()} publishes cp.async data by {way}, so a phase has {needed} arrivals, but its count is "
                f"{count[0]}.",
                f"Write {needed}, or choose the other way; never both.",
                count=count[0],
                needed=needed,
            )


def bound_sizes(view: SpecView, names: str) -> list[int] | Missing:
    """Return the bytes of each part of SMEM that a barrier's storage names, or the first size that is missing.

    `names` are names of regions or slices joined by commas or +; a name also stands for all regions that are numbered
    after it (W for W0 to W7). Each slot of a row counts. The list is empty where a name fits nothing.
    """
    sizes: list[int] = []
    for name in _names(names):
        parts = _parts(view, name)
        for part in parts:
            size, slots = part.values["size_bytes"], part.values["slots"]
            for number in (size, slots):
                if isinstance(number, Missing):
                    return number
            sizes += [size] * min(max(slots, 0), MAX_SLOTS)
        if not parts:
            return []
    return sizes


def slots_of_storage(view: SpecView, names: str) -> set[int]:
    """Return how many slots each part of SMEM has that a barrier's storage names (`names` as in `bound_sizes`).

    A region of one slot counts by its slices. What has one slot, or no number of slots that can be read, is left out.
    """
    counts: set[int] = set()
    for name in _names(names):
        parts = _parts(view, name)
        numbers = [part.values["slots"] for part in parts]
        if numbers == [1]:
            slices = enumerate(parts[0].source.get("slices", ()))
            counts |= {view.number(f"{parts[0].path}.slices[{n}].slots", part["slots"]) for n, part in slices}
        elif all(isinstance(number, int) for number in numbers):
            counts.add(sum(numbers))
    return {count for count in counts if isinstance(count, int) and count > 1}


def tma_targets(view: SpecView) -> set[str]:
    """Return the paths of the regions into which a TMA barrier's storage says that copies land, whole or in a slice."""
    bound = [name for row in view.sems if row.source["kind"] == "tma" for name in _names(row.source["storage"])]
    return {part.path.partition(".slices")[0] for name in bound for part in _parts(view, name)}


def _names(storage: str) -> list[str]:
    return [name for name in re.split(r"[\s,+]+", storage) if name]


def _parts(view: SpecView, name: str) -> list[Row]:
    numbered = re.compile(re.escape(name) + r"[0-9]+")
    regions = [row for row in view.regions if row.source["name"] == name]
    regions = regions or [row for row in view.regions if numbered.fullmatch(row.source["name"])]
    if regions:
        return regions
    return [
        view.row(f"{region.path}.slices[{index}]", part, ("slots", "size_bytes"))
        for region in view.regions
        for index, part in enumerate(region.source["slices"])
        if name in (part["name"], f"{region.source['name']}.{part['name']}")
    ]


DATA_RULES: tuple[Rule, ...] = (r29, r30)
