"""REST, read only: documents, revisions' sections, snapshots, families, kernels, guidelines."""

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import BaseRouter

from references import selectors
from references.filtersets import DocumentFilter, FamilyFilter, GuidelineFilter, KernelFilter, SectionFilter
from references.models import Document, DocumentRevision, Family, Guideline, Section, UpstreamKernel, UpstreamSnapshot
from v2kb.core.errors import Missing


class FrontMatterSerializer(serializers.Serializer):
    """A name that stands above a document's text, with its values."""

    name = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())


@extend_schema_serializer(component_name="DocumentRevision")
class RevisionSerializer(serializers.ModelSerializer):
    """A revision without its text."""

    imported_by = serializers.CharField(source="imported_by.username", default="", read_only=True)
    front_matter = FrontMatterSerializer(many=True, read_only=True)

    class Meta:
        model = DocumentRevision
        fields = ["number", "title", "front_matter", "content_hash", "source", "imported_by", "imported_at"]


class DocumentSerializer(serializers.ModelSerializer):
    """A document with its head; its text is in the sections."""

    head = RevisionSerializer(read_only=True)
    section_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Document
        fields = ["slug", "title", "path", "archived_at", "head", "section_count"]


class SectionSerializer(serializers.ModelSerializer):
    """A section with its markdown, its blocks, and what a citation of it needs."""

    document = serializers.CharField(source="revision.document.slug", read_only=True)
    revision = serializers.CharField(source="revision.content_hash", read_only=True)
    revision_number = serializers.IntegerField(source="revision.number", read_only=True)
    parent = serializers.CharField(source="parent.anchor", default="", read_only=True)
    blocks = serializers.ListField(child=serializers.DictField(), read_only=True)

    class Meta:
        model = Section
        fields = [
            "id", "document", "revision", "revision_number", "anchor", "number", "title", "level", "parent", "order",
            "first_line", "last_line", "content_hash", "text", "blocks",
        ]  # fmt: skip


class FamilySerializer(serializers.ModelSerializer):
    """A kernel pattern, A to E."""

    class Meta:
        model = Family
        fields = ["id", "snapshot", "letter", "title", "idiom", "when_to_copy", "anchor"]


class KernelSerializer(serializers.ModelSerializer):
    """One kernel of a snapshot's inventory."""

    files = serializers.ListField(child=serializers.CharField(), read_only=True)
    task_ids = serializers.ListField(child=serializers.IntegerField(), read_only=True)
    arities = serializers.ListField(child=serializers.ListField(child=serializers.IntegerField()), read_only=True)

    class Meta:
        model = UpstreamKernel
        fields = ["id", "snapshot", "order", "name", "family", "files", "task_type", "task_ids", "arities", "note"]


class SnapshotSerializer(serializers.ModelSerializer):
    """An upstream snapshot; its families and kernels have addresses of their own."""

    document = serializers.CharField(source="document_revision.document.slug", read_only=True)
    revision = serializers.CharField(source="document_revision.content_hash", read_only=True)
    kernel_count = serializers.IntegerField(read_only=True)
    family_count = serializers.IntegerField(read_only=True)
    unread = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = UpstreamSnapshot
        fields = [
            "id", "repository", "branch", "commit", "studied_on", "merge_base", "document", "revision", "kernel_count",
            "family_count", "unread",
        ]  # fmt: skip


class GuidelineSerializer(serializers.ModelSerializer):
    """A measurement rule, contract step or known gap."""

    document = serializers.CharField(source="document.slug", read_only=True)

    class Meta:
        model = Guideline
        fields = ["id", "document", "kind", "number", "title", "text", "anchor"]


class DocumentViewSet(viewsets.ReadOnlyModelViewSet):
    """Documents, archived ones too; `?archived=false` leaves those out."""

    queryset = selectors.list_documents().order_by("slug")
    serializer_class = DocumentSerializer
    filterset_class = DocumentFilter
    lookup_field = "slug"
    lookup_value_regex = "[-a-zA-Z0-9_]+"

    @extend_schema(responses=RevisionSerializer(many=True), filters=False)
    @action(detail=True, pagination_class=None, filterset_class=None)
    def revisions(self, request: Request, slug: str) -> Response:
        """All revisions of a document, newest first."""
        revisions = selectors.revisions_of(selectors.get_document(slug))
        return Response(RevisionSerializer(revisions, many=True).data)

    @extend_schema(
        responses=SectionSerializer,
        parameters=[OpenApiParameter("revision", str, description="Content hash of a revision; the head without it.")],
        filters=False,
    )
    @action(detail=True, url_path=r"sections/(?P<anchor>[^/]{1,200})", pagination_class=None, filterset_class=None)
    def section(self, request: Request, slug: str, anchor: str) -> Response:
        """The section that a citation names."""
        document = selectors.get_document(slug)
        revision = document.head
        wanted = request.query_params.get("revision", "")[:64]
        if wanted and wanted != revision.content_hash:
            revision = document.revisions.filter(content_hash=wanted).order_by("-number").first()
            if revision is None:
                raise Missing("references.no_revision", f"{slug} has no such revision.", fix="List its revisions.")
        revision.document = document
        section = selectors.get_section(revision, anchor)
        section.revision = revision
        return Response(SectionSerializer(section).data)


class SectionViewSet(viewsets.ReadOnlyModelViewSet):
    """Sections of the documents' heads; `?revision=HASH` gives those of another revision."""

    queryset = Section.objects.select_related("revision__document", "parent").defer(
        "revision__text", "parent__text", "parent__blocks"
    ).order_by("revision__document__slug", "revision_id", "order")  # fmt: skip
    serializer_class = SectionSerializer
    filterset_class = SectionFilter

    def get_object(self) -> Section:
        """Any section by id, whatever its revision."""
        section = self.queryset.filter(pk=_key(self.kwargs["pk"])).first()
        if section is None:
            raise Missing("references.no_section", "There is no such section.", fix="List the sections of a document.")
        return section


class SnapshotViewSet(viewsets.ReadOnlyModelViewSet):
    """Upstream snapshots."""

    queryset = selectors.list_snapshots()
    serializer_class = SnapshotSerializer
    lookup_value_regex = r"\d{1,18}"


class FamilyViewSet(viewsets.ReadOnlyModelViewSet):
    """Families of kernels; `?current=true` gives those of the newest snapshot."""

    queryset = Family.objects.order_by("-snapshot_id", "letter")
    serializer_class = FamilySerializer
    filterset_class = FamilyFilter
    lookup_value_regex = r"\d{1,18}"


class KernelViewSet(viewsets.ReadOnlyModelViewSet):
    """Upstream kernels."""

    queryset = UpstreamKernel.objects.order_by("-snapshot_id", "order")
    serializer_class = KernelSerializer
    filterset_class = KernelFilter
    lookup_value_regex = r"\d{1,18}"


class GuidelineViewSet(viewsets.ReadOnlyModelViewSet):
    """Measurement rules, contract steps and known gaps."""

    queryset = selectors.list_guidelines()
    serializer_class = GuidelineSerializer
    filterset_class = GuidelineFilter
    lookup_value_regex = r"\d{1,18}"


def _key(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) <= 18 else 0


def register(router: BaseRouter) -> None:
    """Add this app's addresses to the site's router."""
    router.register("documents", DocumentViewSet, basename="document")
    router.register("sections", SectionViewSet, basename="section")
    router.register("snapshots", SnapshotViewSet, basename="snapshot")
    router.register("families", FamilyViewSet, basename="family")
    router.register("upstream-kernels", KernelViewSet, basename="upstream-kernel")
    router.register("guidelines", GuidelineViewSet, basename="guideline")
