from django.apps import AppConfig


class ReferencesConfig(AppConfig):
    name = "references"
    verbose_name = "References"

    def ready(self) -> None:
        from references import guards, indexing, links  # noqa: F401

        links.register()
        indexing.register()
