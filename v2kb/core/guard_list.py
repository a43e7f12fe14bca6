"""Guards of core's own tables."""

from v2kb.core.guards import Immutable, register

register(Immutable("core_activity"))
