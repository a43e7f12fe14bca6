from django.apps import AppConfig
from django.core import checks
from django.db.models.signals import post_migrate


class CoreConfig(AppConfig):
    name = "v2kb.core"
    label = "core"
    verbose_name = "Users and activity"

    def ready(self) -> None:
        # The Celery app must exist before any task is sent, else tasks go to a default broker.
        from v2kb.celery import app  # noqa: F401
        from v2kb.core import guard_list  # noqa: F401
        from v2kb.core.checks import GUARDS_TAG, guards_are_in_place
        from v2kb.core.guards.install import install_guards
        from v2kb.core.search.install import install_search
        from v2kb.core.setup import create_roles

        # A deployment check, so that `migrate` itself, which mends the guards, is not stopped by it.
        checks.register(guards_are_in_place, GUARDS_TAG, deploy=True)
        post_migrate.connect(install_guards, sender=self, dispatch_uid="v2kb.guards")
        post_migrate.connect(install_search, sender=self, dispatch_uid="v2kb.search")
        post_migrate.connect(create_roles, sender=self, dispatch_uid="v2kb.roles")
