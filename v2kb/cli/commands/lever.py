"""A lever: its names, what stands above and below it, and all rows that count for it."""

import argparse
import difflib

from v2kb.cli.board import Design, board_of
from v2kb.cli.checkout import find_checkout, read_ended
from v2kb.cli.exits import CliError
from v2kb.cli.index import Index
from v2kb.cli.terminal import Terminal
from v2kb.rules.names import lever_key

EXAMPLE = 'v2kb lever "warp-spec producer"'
NEAR = 5


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", help="name, other name or slug, in any spelling")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    checkout = find_checkout()
    index = checkout.index()
    slug = index.lever_named(read.name)
    if slug is None:
        near = near_levers(index, read.name)
        fix = f"Did you mean: {'; '.join(near)}?" if near else "`v2kb prior` finds rows by words."
        raise CliError(f"There is no lever {read.name}.", fix)
    lever = index.line("lever", slug) or {}
    families = index.families
    rows = board_of(index, Design(levers=(slug,))).rows
    family = {
        "above": sorted(families.above([slug]) - families.merged_with([slug])),
        "below": sorted(families.below([slug]) - families.merged_with([slug])),
        "merged": sorted(families.merged_with([slug]) - {slug}),
    }
    if terminal.json:
        shown = [{"why": row.why, "blocks": row.standing.blocks, **row.row} for row in rows]
        terminal.document({"lever": lever, **family, "rows": shown})
    else:
        terminal.line(terminal.style(f"{lever['name']}  ({slug})", "bold"))
        if lever["description"]:
            terminal.wrapped(lever["description"])
        others = [name for name in lever["aliases"] if lever_key(name) != lever_key(lever["name"])]
        said = {"also": others} | {name: [index.lever_names[one] for one in found] for name, found in family.items()}
        for name, values in said.items():
            if values:
                terminal.fact(name, "; ".join(values))
        for row in rows:
            blocks = terminal.style("  BLOCKS", "red") if row.standing.blocks else ""
            title = terminal.cut(row.row["content"]["title"], 24)
            terminal.line(f"  {row.row['code']:<5} {row.verdict:<8} {title}{blocks}")
        if not rows:
            terminal.line("  No row counts for it.")
    return read_ended(checkout, index, terminal)


def near_levers(index: Index, name: str) -> list[str]:
    """Names of levers that look like this one, nearest first."""
    names = {lever_key(known): known for lever in index.levers for known in (lever["name"], *lever["aliases"])}
    return [names[key] for key in difflib.get_close_matches(lever_key(name), names, NEAR, 0.6)]
