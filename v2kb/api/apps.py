from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "v2kb.api"
    label = "api"
    verbose_name = "REST API"
