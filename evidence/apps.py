from django.apps import AppConfig
from django.db.models.signals import post_migrate


class EvidenceConfig(AppConfig):
    name = "evidence"
    verbose_name = "Evidence"

    def ready(self) -> None:
        from evidence import guards, registration  # noqa: F401
        from evidence.setup import create_terms

        registration.register()
        post_migrate.connect(create_terms, sender=self, dispatch_uid="v2kb.terms")
