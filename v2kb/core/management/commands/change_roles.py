"""`manage.py change_roles NAME ROLE ... --reason WHY`: the roles that a user has from now on."""

from django.core.management import BaseCommand, CommandError

from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.roles import ROLES
from v2kb.core.services import change_roles


class Command(BaseCommand):
    help = f"Give a user these roles and take all others. Roles: {', '.join(ROLES)}."

    def add_arguments(self, parser) -> None:
        parser.add_argument("username")
        parser.add_argument("roles", nargs="*", metavar="role")
        parser.add_argument("--reason", required=True, help="why; the activity log keeps it")

    def handle(self, *args, username: str, roles: list[str], reason: str, **options) -> None:
        try:
            change_roles(Actor.system("cli", "change_roles"), username, roles, reason)
        except Refusal as refusal:
            raise CommandError(f"{refusal.message} {refusal.fix or ''} ({refusal.code})") from refusal
        self.stdout.write(f"{username}: {', '.join(sorted(roles)) or 'no role'}")
