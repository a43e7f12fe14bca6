"""A plan of shared memory in lines: pages with what lies on them, tasks of a queue, peaks, differences."""

from collections.abc import Mapping, Sequence
from typing import Any

from v2kb.cli.terminal import Terminal
from v2kb.rules.spec_check import finding_line

MOST = 20


def spec_text(terminal: Terminal, file: str, plan: Mapping[str, Any]) -> None:
    """The page map of a spec's task on a fresh SM, its queue, and what the rules and the file say."""
    pages = plan["map"]
    if pages["error"]:
        terminal.line(f"{terminal.style('REFUSED', 'red')}  {pages['error']['message']} [{pages['error']['path']}]")
    if pages["page_count"] is not None:
        taken = f"{pages['total_bytes']:,} of {pages['capacity_bytes']:,} B"
        terminal.line(terminal.style(f"{taken} in {pages['page_count']} of {len(pages['pages'])} pages", "bold"))
    for page in pages["pages"]:
        if page["parts"]:
            _page(terminal, page)
    for region in pages["unplaced"]:
        size = "?" if region["size_bytes"] is None else f"{region['size_bytes']:,}"
        terminal.line(f"  not placed  {region['name']} {size} B")
    if plan["queue"]:
        guessed = ", guessed: the same task until the order of pages comes back" if plan["guessed"] else ""
        terminal.line(terminal.style(f"Queue of the SM: {_tasks(len(plan['queue']))}{guessed}", "bold"))
        _queue(terminal, plan["queue"])
        terminal.line(f"  peak {plan['peak_pages']} pages, highest byte {plan['high_byte']:,}")
    for finding in plan["findings"]:
        terminal.line(finding_line(file, finding))
    for compared in plan["compared"]:
        terminal.line(f"{file}:{compared['first']}: {compared['state']}: {compared['why']}")


def graph_text(terminal: Terminal, plan: Mapping[str, Any], *, worker: int | None, everything: bool) -> None:
    """The shapes of tasks with their pages, the workers, and what differs from the file's own plan."""
    most = 10**9 if everything else MOST
    terminal.line(terminal.style(
        f"{plan['tasks']:,} tasks in {len(plan['shapes'])} shapes over {len(plan['workers'])} workers; "
        f"{plan['pages']} pages of {plan['page_bytes']:,} B, capacity {plan['capacity_bytes']:,} B", "bold"
    ))  # fmt: skip
    for shape in plan["shapes"]:
        _shape(terminal, shape)
    if worker is not None:
        chosen = plan["workers"][worker]
        terminal.line(terminal.style(f"Queue of worker {worker}: {_tasks(len(chosen['tasks']))}", "bold"))
        _queue(terminal, [plan["placings"][task["placing"]] | {"name": task["name"]} for task in chosen["tasks"]])
    if not plan["workers"]:
        terminal.line("The file has no v2_worker_task_queues, so that no order of tasks could be followed.")
    else:
        peaks = [one["peak_pages"] for one in plan["workers"]]
        top = peaks.index(max(peaks))
        high = max(one["high_byte"] for one in plan["workers"])
        terminal.line(f"Peak {max(peaks)} pages (worker {top}), highest byte {high:,}.")
    _listed(terminal, most, "regions past the capacity", [
        f"worker {one['worker']}, place {one['place']}: {one['region']} of {one['task']} ends "
        f"{one['overrun_bytes']:,} B past capacity" for one in plan["overruns"]
    ])  # fmt: skip
    if not plan["says_a_plan"]:
        terminal.line("The file says nothing of a plan of its own.")
    elif not plan["differences"]:
        terminal.line("What the file says of its plan agrees with the planner.")
    _listed(terminal, most, "differences from what the file says", [
        f"{one['path']}: the file says {one['said']}; the planner gives {one['planned']}" for one in plan["differences"]
    ])  # fmt: skip
    if plan["not_compared"]:
        terminal.line(f"Not compared, their form isn't published: {', '.join(plan['not_compared'])}.")


def _page(terminal: Terminal, page: Mapping[str, Any]) -> None:
    parts = ", ".join(
        f"{part['name']}{' (goes on)' if part['continued'] else ''} {part['bytes']:,} B"
        + (f" at {part['offset_bytes']:,}" if part["offset_bytes"] else "")
        for part in page["parts"]
    )
    physical = "" if page["physical"] in (None, page["page"]) else f" (physical {page['physical']})"
    terminal.line(f"  page {page['page']:>2}{physical}  {parts}; {page['slack_bytes']:,} B free")


def _queue(terminal: Terminal, tasks: Sequence[Mapping[str, Any]]) -> None:
    for place, task in enumerate(tasks):
        pages = "; ".join(
            f"{region['name']} {_pages(region['pages'])}" for region in task["regions"] if region["pages"]
        )
        terminal.line(f"  {place:>3}  {task['name']}: highest byte {task['high_byte']:,}; {pages or 'no pages'}")
        for region in task["regions"]:
            if region["overrun_bytes"]:
                said = f"{region['name']} ends {region['overrun_bytes']:,} B past capacity"
                terminal.line(f"       {terminal.style(said, 'red')}")


def _shape(terminal: Terminal, shape: Mapping[str, Any]) -> None:
    many = f"{shape['tasks']:,} tasks, first " if shape["tasks"] > 1 else ""
    pages = terminal.style("REFUSED", "red") if shape["refused"] else f"{shape['page_count']} pages"
    terminal.line(f"{many}{shape['first_task']}: {shape['total_bytes']:,} B, {pages} {shape['refused']}".rstrip())
    for region in shape["regions"]:
        if region["page_count"]:
            pages = _pages(range(region["page"], region["page"] + region["page_count"]))
            at = f" at {region['offset_bytes']:,}" if region["packed"] else ""
            terminal.line(f"  {region['name']}: {region['size_bytes']:,} B on {pages}{at}")


def _tasks(count: int) -> str:
    return f"{count:,} task{'' if count == 1 else 's'}"


def _pages(pages: Sequence[int]) -> str:
    return f"page {pages[0]}" if len(pages) == 1 else f"pages {pages[0]}-{pages[-1]}"


def _listed(terminal: Terminal, most: int, what: str, lines: Sequence[str]) -> None:
    if lines:
        terminal.line(terminal.style(f"{len(lines):,} {what}", "bold"))
    for line in lines[:most]:
        terminal.line(f"  {line}")
    if len(lines) > most:
        terminal.line(f"  … {len(lines) - most:,} more with --all")
