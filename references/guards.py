"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, register

register(Immutable("references_documentrevision"), Immutable("references_section"))
