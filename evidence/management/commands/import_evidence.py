"""manage.py import_evidence PATH [--typing FILE] [--source TEXT] [--dry-run] [--skip-unreadable] [--as USER]"""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from evidence.importers.load import MAX_MAP_BYTES, MapPlan, load_map, try_map
from evidence.importers.typing_file import MAX_TYPING_BYTES
from v2kb.core.errors import Refusal
from v2kb.core.management.who import actor_named


class Command(BaseCommand):
    help = (
        "Import an evidence map: its DEAD, WIN and UNTESTED tables, measurement rules, contract steps and known gaps."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="the map, a markdown file")
        parser.add_argument("--typing", type=Path, help="a JSON file with levers and, per row, what no column says")
        parser.add_argument("--source", default="", help="where the map comes from, with its licence")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen and write nothing")
        parser.add_argument("--skip-unreadable", action="store_true", help="import the lines that can be read")
        parser.add_argument(
            "--as", dest="username", default="", help="the curator who imports; without it, the system does"
        )

    def handle(
        self,
        *,
        path: Path,
        typing: Path | None,
        source: str,
        dry_run: bool,
        skip_unreadable: bool,
        username: str,
        **_: object,
    ) -> None:
        data = _bytes(path)
        typed = _bytes(typing) if typing else None
        files = {"name": path.name, "data": data, "typing": typed, "source": source}
        actor = actor_named(username, "import_evidence")
        try:
            if dry_run:
                plan, refusal = try_map(actor, **files)
                self._write(plan)
                if refusal:
                    raise refusal
            else:
                self._write(load_map(actor, skip_unreadable=skip_unreadable, **files))
        except Refusal as error:
            lines = [problem["message"] + f" {problem['fix'] or ''}" for problem in error.problems]
            raise CommandError("\n".join([f"{error.message} {error.fix or ''} ({error.code})", *lines])) from error

    def _write(self, plan: MapPlan) -> None:
        for row in plan.fit:
            missing = ", ".join(problem.field for problem in row.missing)
            verdict, title = row.content["verdict"], row.content["title"]
            self.stdout.write(f"{row.state:<10} line {row.row.line:<4} {row.row.code:<5} {verdict:<9} {title}")
            for label, text in (
                ("missing", missing),
                ("not read as numbers", ", ".join(row.unreadable_numbers)),
                ("note", row.note),
            ):
                if text:
                    self.stdout.write(f"           {label}: {text}")
        for problem in plan.problems:
            self.stdout.write(f"unreadable {problem.place}: {problem.message} {problem.fix} ({problem.code})")
        for line in plan.guidelines:
            self.stdout.write(f"{line.state:<10} line {line.line:<4} {line.label} {line.number}: {line.title}")
        for note in plan.map.notes:
            self.stdout.write(f"not read   {note}")
        counts = ", ".join(f"{count} {state}" for state, count in plan.counts.items())
        done = f"Done: {plan.report.summary}" if plan.report else f"Would be: {counts}"
        self.stdout.write(done)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(max(MAX_MAP_BYTES, MAX_TYPING_BYTES) + 1)
    except OSError as error:
        raise CommandError(f"{path} can't be read: {error.strerror}.") from error
