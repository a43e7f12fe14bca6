"""`manage.py check_spec FILE`: what the spec rules say of a markdown or JSON file, line by line."""

import json
import sys
from pathlib import Path

from django.core.management import BaseCommand
from django.db import DatabaseError

from kernels.selectors.checks import report_of
from v2kb.rules.spec_check import UNREADABLE, FileCheck, check_file, finding_line
from v2kb.rules.spec_markdown.blocks import MAX_BYTES
from v2kb.rules.spec_rules import SpecReport, spec_report


class Command(BaseCommand):
    help = (
        "Check a spec in a file against the spec rules. Ends with 0 when nothing is found but information, "
        "1 with warnings, 2 with errors or missing inputs, 3 when the file can't be read."
    )
    requires_system_checks = ()

    def add_arguments(self, parser) -> None:
        parser.add_argument("file", help="A spec in markdown or JSON; - reads standard input.")
        parser.add_argument("--format", choices=("text", "json"), default="text")
        parser.add_argument("--placements", action="store_true", help="Also say what became of each line.")

    def handle(self, *args, file: str, format: str, placements: bool, **options) -> None:
        text = self._text(file)
        check = check_file(text, self._report)
        if format == "json":
            self.stdout.write(json.dumps({"file": file, **check.as_document()}, indent=1, ensure_ascii=False))
        else:
            self._write(file, check, placements)
        raise SystemExit(check.exit_code)

    def _text(self, file: str) -> str:
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
        raise SystemExit(UNREADABLE)

    def _report(self, document) -> SpecReport:
        """With the contracts and rows of the database where there is one."""
        try:
            return report_of(document)
        except DatabaseError:
            self.stderr.write("The database can't be read: contracts, rows and other specs are left out.")
            return spec_report(document)

    def _write(self, file: str, check: FileCheck, placements: bool) -> None:
        if check.reading.unreadable:
            self.stderr.write(check.why_unreadable(file))
            return
        for finding in check.findings:
            self.stdout.write(finding_line(file, finding))
        for line in check.placement_lines(file) if placements else ():
            self.stdout.write(line)
        self.stdout.write(check.sentence())
