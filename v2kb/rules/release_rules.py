"""Rules R32, R33 and R35: who releases the pages of a task, which pages, and whether none is forgotten."""

from collections.abc import Mapping

from v2kb.rules.barriers import has_roles
from v2kb.rules.granularity import Iterations, has_rows, iterations
from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.smem import PlanError
from v2kb.rules.smem_rules import has_regions
from v2kb.rules.spec_view import Missing, Row, SpecView

RELEASE = "roles.release"
CODEGEN, LAUNCHER, STORER = "codegen", "launcher", "storer"


def release_owners(view: SpecView) -> tuple[str, ...]:
    """The owners of page release, each once, in the order in which they are written."""
    return tuple(dict.fromkeys(owner for owner in view.doc["roles"]["release"]["owners"] if owner))


def _need_owners(view: SpecView, report: Reporter) -> tuple[str, ...]:
    owners = release_owners(view)
    if not owners:
        fix = "Name one: the generated suffix (codegen), the launcher, or the storer."
        report.missing(Missing(f"{RELEASE}.owners", "The spec doesn't say who releases the pages.", fix))
    return owners


@spec_rule(
    "R32",
    severity=ERROR,
    title="One owner of page release",
    source="house-style section 2",
    formula="exactly one of codegen suffix, launcher and storer; auto_consumer_finish = no unless it is the suffix",
    inputs=("roles.release.owners", "roles.release.auto_consumer_finish"),
)
def r32(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_roles(view, report):
        return
    owners = _need_owners(view, report)
    if len(owners) > 1:
        report.add(
            f"{RELEASE}.owners",
            f"{len(owners)} owners release pages ({', '.join(owners)}): each page would flip twice, and the next "
            "occupant waits for ever.",
            "Keep one owner; name another as the documented alternative.",
            owners=list(owners),
        )
        return
    path = f"{RELEASE}.auto_consumer_finish"
    answer = view.doc["roles"]["release"]["auto_consumer_finish"]
    if owners and not answer:
        report.missing(Missing(path, "The spec doesn't say whether auto_consumer_finish is on.", "Answer yes or no."))
    elif owners and answer != ("yes" if owners == (CODEGEN,) else "no"):
        releases = "twice" if answer == "yes" else "never"
        report.add(
            path,
            f"The {owners[0]} owns page release, but auto_consumer_finish is {'on' if answer == 'yes' else 'off'}: "
            f"pages would be released {releases}.",
            "It is on only where the generated suffix is the owner.",
            owner=owners[0],
        )


@spec_rule(
    "R33",
    severity=ERROR,
    title="Release of used pages only",
    source="the exemplar's question Q3; house-style section 2",
    formula="owner = launcher and pages < 14: the release is filtered by the pages in use",
    inputs=("roles.release.owners", "roles.release.only_used_pages", "smem.regions[]"),
)
def r33(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_roles(view, report):
        return
    owners = _need_owners(view, report)
    if owners and LAUNCHER not in owners:
        report.skip("The launcher doesn't release the pages.")
    answer = view.doc["roles"]["release"]["only_used_pages"]
    if LAUNCHER not in owners or answer == "yes":
        return
    if not has_regions(view, report):
        return
    for missing in view.planner_input[1]:
        report.missing(missing)
    path = f"{RELEASE}.only_used_pages"
    if isinstance(view.plan, PlanError):
        report.missing(Missing(path, "The pages in use are unknown, for the plan fails.", "Filter the release."))
        return
    if view.plan is None or view.plan.page_count >= view.geometry.pages:
        return
    used, pages = view.plan.page_count, view.geometry.pages
    if not answer:
        message = f"The task uses {used} of {pages} pages, and it isn't said whether the launcher releases only those."
        report.missing(Missing(path, message, "Answer yes or no."))
        return
    report.add(
        path,
        f"The task uses {used} of {pages} pages, but the launcher releases all: the loader's prefix has released "
        f"the other {pages - used} already, so they flip twice.",
        "Filter the release by the pages in use (task_uses_page).",
        used=used,
        pages=pages,
    )


def never_fired(total: int, stages: int) -> tuple[int, int]:
    """First and last of the stages that `total` iterations over a ring of more `stages` don't visit.

    For them the storer's last use (total - 1 - stage) / stages + 1 is 1 in C, which truncates towards zero, where 0 is
    right (house-style section 2).
    """
    return max(total, 0), stages - 1


@spec_rule(
    "R35",
    severity=ERROR,
    title="Stages that a short task never visits",
    source="house-style section 2 (the storer's last use); the exemplar's section 4",
    formula="storer per stage: min(iterations) >= STAGES, for (T-1-s)/S+1 is wrong below; or never-visited stages are "
    "released",
    inputs=("roles.release", "roles.stages", "granularity[].iterations", "granularity[].active_low",
            "granularity[].active_high"),
)  # fmt: skip
def r35(view: SpecView, report: Reporter, context: Context) -> None:
    if not has_roles(view, report):
        return
    release = view.doc["roles"]["release"]
    owners = _need_owners(view, report)
    owns = STORER in owners
    if not owns and release["alternative"] != STORER:
        if owners:
            report.skip("No storer releases pages per stage.")
        return
    if release["unvisited_stages"] == "yes" or not has_rows(view, report):
        return
    stages = view.field("roles.stages")
    if isinstance(stages, int) and stages < 1:
        stages = Missing("roles.stages", f"{stages} stages make no ring.", "Write at least 1.")
    if isinstance(stages, Missing):
        _report_missing(report, stages, owns)
        return
    for row in view.tasks:
        found = iterations(view, row)
        if isinstance(found, Missing):
            _report_missing(report, found, owns)
        elif found.low < stages:
            _report_short(report, row, found, stages, owns)


def _report_missing(report: Reporter, missing: Missing, owns: bool) -> None:
    """An input that only the alternative owner needs warns; it doesn't block the owner that is wired."""
    if owns:
        report.missing(missing)
    else:
        message = f"The storer, the documented alternative owner of page release, can't be judged: {missing.message}"
        report.add(missing.path, message, missing.fix, severity=WARNING, alternative=True)


def _report_short(report: Reporter, row: Row, found: Iterations, stages: int, owns: bool) -> None:
    """Report a task with fewer iterations than stages; where the storer is only the alternative, as a warning."""
    short = {active: total for active, total in (found.by_active or {}).items() if total < stages}
    if short:
        said = f"{row.label()}: {row.source['iterations']} gives {_counts(short)}"
    else:
        said = f"{row.label()} has {found.low} iterations"
    who = "The storer" if owns else "This concerns the storer, the documented alternative owner of page release. It"
    first, last = never_fired(found.low, stages)
    shown = f"{first} to {last}" if first < last else f"{first}"
    report.add(
        f"{row.path}.iterations",
        f"{said}, fewer than the {stages} stages. {who} counts (T-1-s)/S+1 uses of a stage, and C truncates that to 1 "
        f"for stages that never fire ({shown} at T = {found.low}): their pages are never released.",
        "Release never-visited stages explicitly" + ("." if owns else " before the storer becomes the owner."),
        severity="" if owns else WARNING,
        owner=STORER,
        alternative=not owns,
        stages=stages,
        iterations=list(short.values()) or [found.low],
        active=list(short),
        never_fired=[first, last],
    )


def _counts(by_active: Mapping[int, int]) -> str:
    """The numbers of iterations as a sentence has them; of many, the first and the last."""
    given = [f"{total} at active = {active}" for active, total in by_active.items()]
    return " and ".join(given) if len(given) < 3 else f"{given[0]} up to {given[-1]}"


RELEASE_RULES: tuple[Rule, ...] = (r32, r33, r35)
