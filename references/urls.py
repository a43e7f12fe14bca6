"""Addresses of the reference pages."""

from django.urls import path

from references.views import documents, guidelines, imports, snapshots

app_name = "references"

urlpatterns = [
    path("", documents.document_list, name="document_list"),
    path("documents/<slug:slug>/", documents.document_detail, name="document_detail"),
    path("documents/<slug:slug>/archive/", documents.document_archive, name="document_archive"),
    path("documents/<slug:slug>/restore/", documents.document_restore, name="document_restore"),
    path("documents/<slug:slug>/r<int:number>/", documents.document_detail, name="document_revision"),
    path("documents/<slug:slug>/r<int:number>/<str:anchor>/", documents.section_detail, name="section_of_revision"),
    path("documents/<slug:slug>/s/<str:anchor>/", documents.section_detail, name="section_detail"),
    path("import/", imports.document_import, name="document_import"),
    path("import/<int:pk>/", imports.import_preview, name="import_preview"),
    path("import/<int:pk>/discard/", imports.import_discard, name="import_discard"),
    path("snapshots/", snapshots.snapshot_list, name="snapshot_list"),
    path("snapshots/<int:pk>/", snapshots.snapshot_detail, name="snapshot_detail"),
    path("guidelines/", guidelines.guideline_list, name="guideline_list"),
]
