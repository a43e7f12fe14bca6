"""REST of kernels, their content-addressed versions and files."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Prefetch
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
    extend_schema_serializer,
)
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from kernels.filtersets import KernelFilter
from kernels.models import Kernel, KernelVersion, Op, Spec, VersionFile
from kernels.selectors.ladder import ladder_of
from kernels.services import kernels
from v2kb.core.actor import actor_from_request
from v2kb.core.rest import AS_TEXT, NUMBER, SLUG, Input, Named, Text, find, read
from v2kb.wire.bundle import MAX_BUNDLE_FILES, MAX_PATH

SLUG_OF_KERNEL = OpenApiParameter("slug", str, OpenApiParameter.PATH, description="Name of the kernel.")
NUMBER_OF_VERSION = OpenApiParameter("number", int, OpenApiParameter.PATH, description="Number of the version.")


@extend_schema_serializer(component_name="OpKernel")
class KernelSerializer(serializers.ModelSerializer):
    """An implementation of an op."""

    op = serializers.CharField(source="op.slug")
    spec = serializers.CharField(source="spec.code", default="")
    newest_version = serializers.SerializerMethodField()
    created_by = serializers.CharField(source="created_by.username", default="")

    class Meta:
        model = Kernel
        fields = ["slug", "title", "op", "basis", "spec", "newest_version", "created_by", "created_at", "archived_at"]

    def get_newest_version(self, kernel: Kernel) -> int | None:
        return max((version.number for version in kernel.versions.all()), default=None)


class FileSerializer(serializers.Serializer):
    """A file of a version; its content has an address of its own."""

    path = serializers.CharField()
    sha256 = serializers.CharField(source="blob.sha256")
    size_bytes = serializers.IntegerField(source="blob.size_bytes")


class VersionSerializer(serializers.ModelSerializer):
    """One immutable set of files with an entry."""

    kernel = serializers.CharField(source="kernel.slug")
    author = serializers.CharField(source="author.username", default="")
    spec_revision = serializers.IntegerField(source="spec_revision.number", default=None, allow_null=True)
    files = FileSerializer(many=True)

    class Meta:
        model = KernelVersion
        fields = [
            "kernel", "number", "digest", "language", "entry", "note", "spec_revision", "author", "created_at", "files",
        ]  # fmt: skip


class RungSerializer(serializers.Serializer):
    """Where the version stands on one rung of the validation ladder."""

    rung = serializers.CharField(source="rung.id")
    title = serializers.CharField(source="rung.title")
    bar = serializers.CharField(source="rung.bar")
    status = serializers.CharField()
    reason = serializers.CharField()


class VersionDetail(VersionSerializer):
    """A version with its ladder."""

    ladder = serializers.SerializerMethodField()

    class Meta:
        model = KernelVersion
        fields = [*VersionSerializer.Meta.fields, "ladder"]

    @extend_schema_field(RungSerializer(many=True))
    def get_ladder(self, version: KernelVersion) -> list[dict[str, Any]]:
        return RungSerializer(ladder_of(version), many=True).data


class NewKernel(Input):
    """A kernel; the basis "spec" needs an approved spec."""

    slug = serializers.SlugField(max_length=80)
    title = Text(max_length=200)
    op = Named(slug_field="slug", queryset=Op.objects.filter(archived_at__isnull=True))
    basis = serializers.ChoiceField(choices=Kernel.Basis.choices)
    spec = Named(
        slug_field="code", queryset=Spec.objects.filter(archived_at__isnull=True), required=False, allow_null=True
    )


@extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}, "minProperties": 1})
class Files(serializers.Field):
    """Text of each file by its relative path."""

    default_error_messages = {
        "shape": "This must be an object that maps paths to texts.",
        "count": f"A version has 1 to {MAX_BUNDLE_FILES} files.",
    }

    def to_internal_value(self, data: Any) -> dict[str, bytes]:
        if not isinstance(data, Mapping) or not all(isinstance(text, str) for text in data.values()):
            self.fail("shape")
        if not 1 <= len(data) <= MAX_BUNDLE_FILES:
            self.fail("count")
        return {path: text.encode() for path, text in data.items()}


class NewVersion(Input):
    """A version as JSON."""

    files = Files()
    entry = Text(max_length=200, default="kernel.py:run")
    language = serializers.ChoiceField(choices=KernelVersion.Language.choices, default="python")
    note = Text(max_length=4000, default="", allow_blank=True)


class UploadedVersion(Input):
    """A version as a form: one `files` part per file, and where names alone do not do, one `paths` part each."""

    files = serializers.ListField(child=serializers.FileField(allow_empty_file=True), max_length=MAX_BUNDLE_FILES)
    paths = serializers.ListField(child=Text(max_length=MAX_PATH), required=False, max_length=MAX_BUNDLE_FILES)
    entry = Text(max_length=200, default="kernel.py:run")
    language = serializers.ChoiceField(choices=KernelVersion.Language.choices, default="python")
    note = Text(max_length=4000, default="", allow_blank=True)

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        """Replace the uploads by path -> content."""
        uploads, paths = data["files"], data.pop("paths", None) or [file.name for file in data["files"]]
        if len(paths) != len(uploads):
            raise serializers.ValidationError({"paths": f"There are {len(uploads)} files and {len(paths)} paths."})
        if len(set(paths)) != len(paths):
            raise serializers.ValidationError({"paths": "Two files have the same path."})
        data["files"] = {path: file.read() for path, file in zip(paths, uploads, strict=True)}
        return data


def kernel_of(slug: str) -> Kernel:
    """The kernel of this name. Raises Missing kernel.none."""
    return find(Kernel.objects.select_related("op__head", "spec"), "kernel.none", f"kernel {slug}", slug=slug)


def version_of(kernel: Kernel, number: int) -> KernelVersion:
    """A version of a kernel. Raises Missing kernel.no_version."""
    found = KernelVersion.objects.filter(kernel=kernel).select_related("author", "spec_revision")
    version = find(found, "kernel.no_version", f"version {number} of {kernel.slug}", number=number)
    version.kernel = kernel
    return version


class KernelViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet):
    """Kernels by name, archived ones too."""

    queryset = Kernel.objects.select_related("op", "spec", "created_by").prefetch_related("versions").order_by("slug")
    serializer_class = KernelSerializer
    filterset_class = KernelFilter
    lookup_field = "slug"
    lookup_value_regex = SLUG

    @extend_schema(request=NewKernel, responses={201: KernelSerializer})
    def create(self, request: Request) -> Response:
        """Add a kernel under an op."""
        kernel = kernels.create_kernel(actor_from_request(request, "api"), **read(NewKernel, request))
        return Response(KernelSerializer(kernel).data, status=201)


@extend_schema(parameters=[SLUG_OF_KERNEL])
class VersionViewSet(mixins.ListModelMixin, viewsets.GenericViewSet):
    """Versions of a kernel, newest first."""

    queryset = (
        KernelVersion.objects.select_related("kernel", "author", "spec_revision")
        .prefetch_related(Prefetch("files", VersionFile.objects.select_related("blob").defer("blob__content")))
        .order_by("-number")
    )
    serializer_class = VersionSerializer
    lookup_field = "number"
    lookup_value_regex = NUMBER

    def get_queryset(self):
        return self.queryset.filter(kernel=kernel_of(self.kwargs["slug"]))

    @extend_schema(responses=VersionDetail, parameters=[NUMBER_OF_VERSION])
    def retrieve(self, request: Request, slug: str, number: str) -> Response:
        """A version with its files and its ladder."""
        return Response(VersionDetail(version_of(kernel_of(slug), int(number))).data)

    @extend_schema(
        request={"application/json": NewVersion, "multipart/form-data": UploadedVersion},
        responses={201: VersionSerializer},
    )
    def create(self, request: Request, slug: str) -> Response:
        """Add a version. Files that are a version already are refused with its number."""
        kernel = kernel_of(slug)
        sent = read(UploadedVersion if _is_form(request) else NewVersion, request)
        version = kernels.add_version(actor_from_request(request, "api"), kernel=kernel, **sent)
        return Response(VersionSerializer(version).data, status=201)

    @extend_schema(
        responses={(200, "text/plain"): OpenApiResponse(str, description="The file as it was sent.")},
        parameters=[
            NUMBER_OF_VERSION,
            OpenApiParameter("path", str, OpenApiParameter.PATH, description="Path of the file, such as kernel.py."),
        ],
        filters=False,
    )
    @action(
        detail=True,
        url_path=r"files/(?P<path>[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,199})",
        renderer_classes=AS_TEXT,
        pagination_class=None,
    )
    def file(self, request: Request, slug: str, number: str, path: str) -> Response:
        """The content of one file."""
        version = version_of(kernel_of(slug), int(number))
        found = VersionFile.objects.filter(version=version).select_related("blob")
        file = find(found, "kernel.no_file", f"file {path} in {version}", path=path)
        return Response(bytes(file.blob.content).decode("utf-8"), content_type="text/plain; charset=utf-8")


def _is_form(request: Request) -> bool:
    return request.content_type.partition(";")[0].strip().lower() == "multipart/form-data"
