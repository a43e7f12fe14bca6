"""What the database refuses of this app's tables."""

from v2kb.core.guards import Immutable, head_moves_forward, register

register(
    Immutable("references_documentrevision"),
    Immutable("references_section"),
    head_moves_forward("references_document", "references_documentrevision", "document_id"),
)
