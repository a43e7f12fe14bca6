"""`manage.py reindex`: bring the search index and the facts of rows up to date with what is stored."""

from django.core.management import BaseCommand

from v2kb.core.search.install import rebuild_full_text
from v2kb.core.search.upkeep import rebuild, rebuild_words


class Command(BaseCommand):
    help = "Build the search index and the facts of rows anew, in batches. What is right already stays as it is."

    def handle(self, *args, **options) -> None:
        for tally in rebuild():
            self.stdout.write(f"{tally.name}: {tally.total}, {tally.written} written, {tally.removed} taken out")
        known, gone = rebuild_words()
        self.stdout.write(f"words: {known}, {gone} taken out")
        rebuild_full_text()
        self.stdout.write("The search index is up to date.")
