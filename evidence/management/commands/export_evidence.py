"""manage.py export_evidence NAME [--document SLUG] [--to PATH]"""

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from evidence import exports
from v2kb.core.errors import Refusal


class Command(BaseCommand):
    help = "Write the evidence map, the rows or the experiment history to a file or to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="map.md, rows.csv, rows.jsonl, history.md, history.csv or history.jsonl")
        parser.add_argument("--document", default="", help="the slug of the imported map that is written again")
        parser.add_argument("--to", type=Path, help="a file; without it, standard output")

    def handle(self, *, name: str, document: str, to: Path | None, **_: object) -> None:
        try:
            parts = exports.export(name, document=document)
            if to is None:
                for part in parts:
                    self.stdout.write(part, ending="")
                return
            with to.open("w", encoding="utf-8", newline="") as stream:
                stream.writelines(parts)
        except Refusal as error:
            raise CommandError(f"{error.message} {error.fix or ''} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"{to} can't be written: {error.strerror}.") from error
