from references.models.document import Document, DocumentRevision, Section
from references.models.guideline import Guideline
from references.models.upload import UploadDraft
from references.models.upstream import Family, UpstreamKernel, UpstreamSnapshot

__all__ = [
    "Document",
    "DocumentRevision",
    "Family",
    "Guideline",
    "Section",
    "UploadDraft",
    "UpstreamKernel",
    "UpstreamSnapshot",
]
