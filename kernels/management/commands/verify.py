"""`manage.py verify`: recompute what is stored, and say what does not hold."""

from django.core.management import BaseCommand

from kernels.selectors.verify import faults


class Command(BaseCommand):
    help = (
        "Recompute every content hash, stored gate result and search entry and walk the activity chain. "
        "Ends with 1 and a list when something stored does not hold."
    )

    def handle(self, *args, **options) -> None:
        count = 0
        for fault in faults():
            count += 1
            self.stdout.write(str(fault))
        if count:
            self.stderr.write(f"{count} stored things do not hold.")
            raise SystemExit(1)
        self.stdout.write("Everything stored holds.")
