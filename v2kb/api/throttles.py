"""Limits of requests. Counters of a user live in the process: a read must not write to the database."""

from django.core.cache import caches
from rest_framework.throttling import SimpleRateThrottle, UserRateThrottle


class UserThrottle(UserRateThrottle):
    """Requests of one user (or one address) to one web process."""

    cache = caches["process"]


class TokenThrottle(SimpleRateThrottle):
    """Attempts to make a token from one address, over all web processes, signed in or not."""

    scope = "token"

    def get_cache_key(self, request, view) -> str:
        return self.cache_format % {"scope": self.scope, "ident": self.get_ident(request)}
