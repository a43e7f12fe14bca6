"""`manage.py check_spec FILE ...`: what the spec rules say of markdown or JSON files, line by line."""

import json
import sys
from pathlib import Path

from django.core.management import BaseCommand
from django.db import DatabaseError, connection

from kernels.selectors.checks import report_of
from v2kb.rules.spec_check import CLEAR, UNREADABLE, FileCheck, check_file, finding_line
from v2kb.rules.spec_markdown.blocks import MAX_BYTES
from v2kb.rules.spec_rules import SpecReport, spec_report


class Command(BaseCommand):
    help = (
        "Check specs in files against the spec rules. Ends with 0 when nothing is found but information, "
        "1 with warnings, 2 with errors or missing inputs, 3 when a file can't be read; of several with the worst."
    )
    requires_system_checks = ()

    def add_arguments(self, parser) -> None:
        parser.add_argument(
            "files", nargs="+", metavar="file", help="A spec in markdown or JSON; - reads standard input."
        )
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--placements", action="store_true", help="Also say what became of each line.")

    def handle(self, *args, files: list[str], format: str, placements: bool, **options) -> None:
        self._has_database = connection.vendor != "sqlite" or Path(connection.settings_dict["NAME"]).exists()
        if not self._has_database:
            self._say_no_database("There is no database")
        checks = {file: check_file(text, self._report) for file in files if (text := self._text(file)) is not None}
        if format == "json" and checks:
            said = [{"file": file, **check.as_document()} for file, check in checks.items()]
            self.stdout.write(json.dumps(said if len(files) > 1 else said[0], indent=1, ensure_ascii=False))
        for file, check in checks.items() if format == "text" else ():
            self._write(file, check, placements)
        unread = UNREADABLE if len(checks) < len(set(files)) else CLEAR
        raise SystemExit(max([unread, *(check.exit_code for check in checks.values())]))

    def _text(self, file: str) -> str | None:
        try:
            if file == "-":
                data = sys.stdin.buffer.read(MAX_BYTES + 1)
            else:
                with Path(file).open("rb") as source:
                    data = source.read(MAX_BYTES + 1)
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.stderr.write(f"{file}: this is no text in UTF-8 (byte {error.start:,}).")
        except OSError as error:
            self.stderr.write(f"{file}: {error.strerror or error}.")
        return None

    def _report(self, document) -> SpecReport:
        """With the contracts and rows of the database where there is one."""
        if not self._has_database:
            return spec_report(document)
        try:
            return report_of(document)
        except DatabaseError:
            self._say_no_database("The database can't be read")
            return spec_report(document)

    def _say_no_database(self, why: str) -> None:
        self.stderr.write(f"{why}: contracts, rows and other specs are left out.")

    def _write(self, file: str, check: FileCheck, placements: bool) -> None:
        if check.reading.unreadable:
            self.stderr.write(check.why_unreadable(file))
            return
        for finding in check.findings:
            self.stdout.write(finding_line(file, finding))
        for line in check.placement_lines(file) if placements else ():
            self.stdout.write(line)
        self.stdout.write(check.totals_line(file))
        self.stdout.write(check.sentence())
