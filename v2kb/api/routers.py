"""How view sets of all apps get their addresses."""

from rest_framework.routers import SimpleRouter
from rest_framework.viewsets import ViewSetMixin

from v2kb.api.keyed import KeyedWrites
from v2kb.api.parameters import DeclaredParameters


class Router(SimpleRouter):
    """Registers view sets so that every POST takes the key, and every GET only the parameters that it declares."""

    def register(self, prefix: str, viewset: type[ViewSetMixin], basename: str) -> None:
        named = {"__doc__": viewset.__doc__, "__module__": viewset.__module__}
        bases = (KeyedWrites, DeclaredParameters, viewset)
        super().register(prefix, type(viewset.__name__, bases, named), basename)
