"""Admin: everything of references is read-only here; documents change through imports."""

from django.contrib import admin

from references.models import Document, DocumentRevision, Family, Guideline, Section, UpstreamKernel, UpstreamSnapshot
from v2kb.core.admin import ReadOnlyAdmin


@admin.register(Document)
class DocumentAdmin(ReadOnlyAdmin):
    list_display = ["slug", "title", "archived_at"]
    search_fields = ["slug", "title"]


@admin.register(DocumentRevision)
class DocumentRevisionAdmin(ReadOnlyAdmin):
    list_display = ["document", "number", "content_hash", "imported_by", "imported_at"]
    list_select_related = ["document", "imported_by"]
    search_fields = ["document__slug", "content_hash"]


@admin.register(Section)
class SectionAdmin(ReadOnlyAdmin):
    list_display = ["revision", "number", "title", "anchor"]
    list_select_related = ["revision__document"]
    search_fields = ["title", "anchor"]


@admin.register(UpstreamSnapshot)
class UpstreamSnapshotAdmin(ReadOnlyAdmin):
    list_display = ["repository", "branch", "commit", "studied_on"]


@admin.register(Family)
class FamilyAdmin(ReadOnlyAdmin):
    list_display = ["letter", "title", "idiom", "snapshot"]
    list_select_related = ["snapshot"]


@admin.register(UpstreamKernel)
class UpstreamKernelAdmin(ReadOnlyAdmin):
    list_display = ["name", "family", "task_type", "snapshot"]
    list_filter = ["family"]
    list_select_related = ["snapshot"]


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    list_display = ["title", "kind", "document", "number"]
    list_filter = ["kind"]
    list_select_related = ["document"]
