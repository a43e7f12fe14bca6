"""`manage.py add_user NAME ROLE ...`: the first administrator of an installation without starter data, and others."""

import secrets

from django.core.management import BaseCommand, CommandError

from v2kb.core.actor import Actor
from v2kb.core.errors import Refusal
from v2kb.core.roles import ROLES
from v2kb.core.services import create_user


class Command(BaseCommand):
    help = f"Make a user with roles and print a one-time password. Roles: {', '.join(ROLES)}."

    def add_arguments(self, parser) -> None:
        parser.add_argument("username")
        parser.add_argument("roles", nargs="+")
        parser.add_argument("--staff", action="store_true", help="may open the admin site")
        parser.add_argument("--engine", default="", help="name of the engine, for an agent")

    def handle(self, *args, username: str, roles: list[str], staff: bool, engine: str, **options) -> None:
        password = secrets.token_urlsafe(12)
        try:
            create_user(
                Actor.system("cli", "add_user"),
                username=username,
                password=password,
                roles=roles,
                staff=staff,
                engine_name=engine,
            )
        except Refusal as refusal:
            raise CommandError(f"{refusal.message} {refusal.fix or ''} ({refusal.code})") from refusal
        self.stdout.write(f"{username}: {password} (for one sign-in; the page asks for a new one)")
