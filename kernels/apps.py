from django.apps import AppConfig


class KernelsConfig(AppConfig):
    name = "kernels"
    verbose_name = "Ops, specs, kernels and runs"

    def ready(self) -> None:
        from kernels import guards  # noqa: F401
        from kernels.registration import register_hooks

        register_hooks()
