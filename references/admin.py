"""Admin: everything of references is read-only here; documents change through imports."""

from django.contrib import admin
from django.urls import reverse

from references.models import Document, DocumentRevision, Family, Guideline, Section, UpstreamKernel, UpstreamSnapshot
from references.policies import may_import
from v2kb.core.actor import Actor
from v2kb.core.guarded_admin import ReadOnlyAdmin

IMPORTED = "It comes from imported documents and changes with the next import."


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["slug", "title", "archived_at"]
    list_filter = [("archived_at", admin.EmptyFieldListFilter)]
    search_fields = ["slug", "title"]
    why_read_only = IMPORTED


@admin.register(DocumentRevision)
class DocumentRevisionAdmin(ReadOnlyAdmin):
    list_display = ["document", "number", "content_hash", "imported_by", "imported_at"]
    list_select_related = ["document", "imported_by"]
    search_fields = ["document__slug", "content_hash"]
    why_read_only = IMPORTED


@admin.register(Section)
class SectionAdmin(ReadOnlyAdmin):
    list_display = ["revision", "number", "title", "anchor"]
    list_select_related = ["revision__document"]
    search_fields = ["title", "anchor"]
    why_read_only = IMPORTED


@admin.register(UpstreamSnapshot)
class UpstreamSnapshotAdmin(ReadOnlyAdmin):
    list_display = ["repository", "branch", "commit", "studied_on"]
    search_fields = ["repository", "branch", "commit"]
    why_read_only = IMPORTED


@admin.register(Family)
class FamilyAdmin(ReadOnlyAdmin):
    list_display = ["letter", "title", "idiom", "snapshot"]
    list_filter = ["letter", "snapshot"]
    list_select_related = ["snapshot"]
    search_fields = ["title", "idiom", "when_to_copy"]
    why_read_only = (
        "Families are read from the catalogue of an upstream snapshot and replaced with its next import; their letters "
        "are those of the decision tree, which is code. Change the catalogue and import it again."
    )

    def list_links(self, actor: Actor) -> list[tuple[str, str]]:
        return [("Import the catalogue again", reverse("references:document_import"))] if may_import(actor) else []

    def object_links(self, actor: Actor, obj: Family) -> list[tuple[str, str]]:
        return self.list_links(actor)


@admin.register(UpstreamKernel)
class UpstreamKernelAdmin(ReadOnlyAdmin):
    list_display = ["name", "family", "task_type", "snapshot"]
    list_filter = ["family"]
    list_select_related = ["snapshot"]
    search_fields = ["name", "task_type"]
    why_read_only = IMPORTED


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    list_display = ["title", "kind", "document", "number"]
    list_filter = ["kind"]
    list_select_related = ["document"]
    search_fields = ["title"]
    why_read_only = IMPORTED
