"""manage.py import_references PATH [--dry-run] [--as USER] [--source TEXT]"""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from references.importers.archive import ArchiveRefused, read_folder
from references.importers.documents import ImportLine, import_documents
from v2kb.core.errors import Refusal
from v2kb.core.management.who import actor_named
from v2kb.rules.words import counted


class Command(BaseCommand):
    help = "Import a folder, a zip or one file of markdown as reference documents."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="a folder, a .zip or an .md file")
        parser.add_argument("--dry-run", action="store_true", help="show what would happen and write nothing")
        parser.add_argument(
            "--as", dest="username", default="", help="the user who imports; without it, the system does"
        )
        parser.add_argument("--source", default="", help="where the texts come from, with their licence")

    def handle(self, *, path: Path, dry_run: bool, username: str, source: str, **_: object) -> None:
        try:
            files = read_folder(path)
            actor = actor_named(username, "import_references")
            report = import_documents(actor, files=files, source=source, dry_run=dry_run)
        except ArchiveRefused as error:
            raise CommandError(f"{error.message} {error.fix} ({error.code})") from error
        except Refusal as error:
            raise CommandError(f"{error.message} {error.fix or ''} ({error.code})") from error
        for line in report.lines:
            self._write_line(line)
        self.stdout.write(f"{'Would be' if dry_run else 'Done'}: {report.summary}")

    def _write_line(self, line: ImportLine) -> None:
        name = f" as {line.slug}, {counted(line.sections, 'section')}" if line.sections else ""
        reason = f": {line.message} {line.fix}".rstrip() if line.message else ""
        self.stdout.write(f"{line.state:<10} {line.path}{name}{reason}")
        for note in line.notes:
            self.stdout.write(f"           {note}")
        for unread in line.unread:
            self.stdout.write(f"           not read: {unread}")
