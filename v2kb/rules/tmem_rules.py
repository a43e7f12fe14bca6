"""Rule R14: the tensor-memory table of a spec, and its picture."""

from typing import Any

from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView
from v2kb.rules.tmem import COLUMNS, LEAST_COLUMNS, TmemLayout, TmemObject, layout, valid_allocation

OBJECTS = "tmem.objects"
ALLOC = "tmem.alloc_columns"


def uses_tmem(view: SpecView) -> bool:
    """True when the spec lists tensor memory, or a barrier of it says that the tensor cores write some."""
    tmem = view.doc["tmem"]
    if view.tmem or any(tmem[name] for name in tmem if name != "objects"):
        return True
    return any(row.source["kind"] == "mma" or row.source["data"] == "tmem" for row in view.sems)


def tmem_objects(view: SpecView) -> tuple[list[TmemObject], list[Missing]]:
    """Return (objects of the table in its order, inputs that are missing; then no objects)."""
    objects: list[TmemObject] = []
    missing: list[Missing] = []
    for row in view.tmem:
        values = {name: v for name, v in row.values.items() if name != "start" or row.source["start"]}
        absent = [value for value in values.values() if isinstance(value, Missing)]
        missing += absent
        if not absent:
            objects.append(TmemObject(row.label(), values["slots"], values["columns"], values.get("start")))
    return ([], missing) if missing else (objects, [])


@spec_rule(
    "R14",
    severity=ERROR,
    title="Tensor memory",
    source="ffn_item1_spec section 2; house-style section 2; tcgen05.alloc in the PTX ISA",
    formula="columns = sum(slots * columns); allocated: the next power of two, 32 to 512; one role allocates and frees",
    inputs=("tmem.objects[]", "tmem.alloc_columns", "tmem.alloc_role", "tmem.dealloc_role", "tmem.address_cached"),
)
def r14(view: SpecView, report: Reporter, context: Context) -> None:
    if not uses_tmem(view):
        report.skip("Nothing in the spec uses tensor memory.")
        return
    if not view.tmem:
        why = "Products of the tensor cores land in tensor memory, but no object is listed."
        report.missing(Missing(OBJECTS, why, "List the accumulators and scales with their columns."))
    objects, missing = tmem_objects(view)
    for absent in missing:
        report.missing(absent)
    for row in view.tmem:
        _check_row(report, row)
    if objects:
        _check_layout(view, report, layout(objects))
    _check_lifecycle(view, report)


def _check_row(report: Reporter, row: Row) -> None:
    for name, least in (("slots", 1), ("columns", 1), ("start", 0)):
        value = row.values[name]
        if isinstance(value, int) and value < least:
            report.add(f"{row.path}.{name}", f"{row.label()} has {name} {value:,}.", f"Write {least} or more.")


def _check_layout(view: SpecView, report: Reporter, plan: TmemLayout) -> None:
    seen: set[int] = set()
    index_of = {span.name: span.index for span in plan.spans}
    for first, last, name, other in plan.overlaps:
        index = index_of[name]
        if index not in seen:
            seen.add(index)
            columns = f"column {first}" if first == last else f"columns {first}..{last}"
            report.add(
                f"{view.tmem[index].path}.start",
                f"{name} overlaps {other} in {columns}.",
                f"Start it behind {other}, or leave the start blank so that it follows the row before.",
                first=first,
                last=last,
            )
    if plan.alloc is None:
        report.add(
            OBJECTS,
            f"{plan.need:,} columns are needed; tensor memory has {COLUMNS}.",
            "Use fewer slots or a narrower tile.",
            need=plan.need,
        )
    given = view.field(ALLOC)
    if isinstance(given, Missing):
        report.missing(given)
    else:
        _check_allocation(report, given, plan)


def _check_allocation(report: Reporter, given: int, plan: TmemLayout) -> None:
    fix = f"Allocate {plan.alloc}." if plan.alloc else "Use fewer columns."
    facts = {"need": plan.need, "alloc_columns": given}
    sums = f"{plan.need:,} columns are needed"
    if not valid_allocation(given):
        message = f"{given:,} columns can't be allocated: a power of two from {LEAST_COLUMNS} to {COLUMNS} can."
        report.add(ALLOC, message, fix, **facts)
    elif given < plan.need:
        report.add(ALLOC, f"{sums}, but {given:,} are allocated.", fix, **facts)
    elif plan.alloc and given > plan.alloc:
        message = f"{sums} and {given:,} are allocated; {plan.alloc} would do."
        report.add(ALLOC, message, fix, severity=WARNING, **facts)


def _check_lifecycle(view: SpecView, report: Reporter) -> None:
    tmem = view.doc["tmem"]
    for name, what in (("alloc_role", "allocates"), ("dealloc_role", "frees")):
        if not tmem[name]:
            report.missing(Missing(f"tmem.{name}", f"The spec doesn't say who {what} tensor memory.", "Name the role."))
    if tmem["alloc_role"] and tmem["dealloc_role"] and tmem["alloc_role"] != tmem["dealloc_role"]:
        report.add(
            "tmem.dealloc_role",
            f"{tmem['alloc_role']} allocates tensor memory and {tmem['dealloc_role']} frees it.",
            "Let the same warp do both.",
        )
    if not tmem["address_cached"]:
        why = "The spec doesn't say whether the address is cached before the scratch page goes."
        report.missing(Missing("tmem.address_cached", why, "Answer yes or no."))
    elif tmem["address_cached"] == "no":
        report.add(
            "tmem.address_cached",
            "The address isn't cached before the scratch page is released, so that freeing reads another task's page.",
            "Keep it in registers from the allocation on.",
        )
    _check_publication(view, report)


def _check_publication(view: SpecView, report: Reporter) -> None:
    tmem = view.doc["tmem"]
    others = {row.source[name] for row in view.tmem for name in ("writer", "reader")} - {"", tmem["alloc_role"]}
    if not tmem["published_by"]:
        if others and tmem["alloc_role"]:
            why = f"No barrier publishes the address to {', '.join(sorted(others))}."
            report.missing(Missing("tmem.published_by", why, "Name the semaphore row that does."))
    elif tmem["published_by"] not in {row.source["name"] for row in view.sems}:
        report.add(
            "tmem.published_by",
            f"{tmem['published_by']} is no row of the semaphore table.",
            "Name the row whose arrival publishes the address.",
        )


TMEM_RULES: tuple[Rule, ...] = (r14,)


def tmem_map(view: SpecView) -> dict[str, Any]:
    """Return plain values for a picture of the 512 columns.

    `error` is None, or says which input is missing; then nothing is drawn. `alloc` is what the spec allocates (None
    where that has no value), `wanted` what its objects need; `index` of an object is its row, whose roles `users` has.
    """
    objects, missing = tmem_objects(view)
    given = view.field(ALLOC)
    error = {"path": missing[0].path, "message": missing[0].message} if missing else None
    users = [{name: row.source[name] for name in ("writer", "reader")} for row in view.tmem]
    owners = {name: view.doc["tmem"][name] for name in ("alloc_role", "dealloc_role")}
    drawn = draw_layout(layout(objects), given if isinstance(given, int) else None)
    return drawn | owners | {"users": users, "error": error}


def draw_layout(plan: TmemLayout, alloc: int | None) -> dict[str, Any]:
    """Return the plain values of a layout and of the allocation given for it."""
    end = alloc if alloc is not None and valid_allocation(alloc) else COLUMNS
    return {
        "columns": COLUMNS,
        "total": plan.total,
        "need": plan.need,
        "wanted": plan.alloc,
        "alloc": alloc,
        "alloc_valid": alloc is not None and valid_allocation(alloc) and alloc >= plan.need,
        "unused": max(0, alloc - plan.total) if alloc is not None and valid_allocation(alloc) else None,
        "objects": [
            {
                "index": span.index,
                "name": span.name,
                "slot": span.slot,
                "first": span.first,
                "last": span.last,
                "outside": span.first < 0 or span.last >= end,
            }
            for span in plan.spans
        ],
        "gaps": [{"first": first, "last": last} for first, last in plan.gaps],
        "overlaps": [
            {"first": first, "last": last, "names": [other, name]} for first, last, name, other in plan.overlaps
        ],
    }
