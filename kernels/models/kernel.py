from django.conf import settings
from django.db import models
from django.urls import reverse


class Kernel(models.Model):
    """An implementation of an op: under an approved spec, or adopted, exploratory, or made to capture an anchor."""

    class Basis(models.TextChoices):
        SPEC = "spec", "an approved spec"
        ADOPTED = "adopted", "adopted (existed before)"
        EXPLORATORY = "exploratory", "exploratory"
        ANCHOR = "anchor", "anchor capture"

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    op = models.ForeignKey("kernels.Op", on_delete=models.PROTECT, related_name="kernels")
    spec = models.ForeignKey("kernels.Spec", null=True, blank=True, on_delete=models.PROTECT, related_name="kernels")
    basis = models.CharField(max_length=12, choices=Basis)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["slug"]
        constraints = [
            models.CheckConstraint(
                condition=(models.Q(basis="spec") & models.Q(spec__isnull=False))
                | (~models.Q(basis="spec") & models.Q(spec__isnull=True)),
                name="kernel_spec_matches_basis",
            )
        ]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("kernels:kernel_detail", args=[self.slug])


class FileBlob(models.Model):
    """File content, kept once under its sha256. Never changes."""

    sha256 = models.CharField(max_length=64, unique=True)
    size_bytes = models.PositiveIntegerField()
    content = models.BinaryField()


class KernelVersion(models.Model):
    """One content-addressed set of a kernel's files. Never changes."""

    class Language(models.TextChoices):
        PYTHON = "python", "Python / torch"

    kernel = models.ForeignKey(Kernel, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    digest = models.CharField(max_length=64, db_index=True)
    language = models.CharField(max_length=10, choices=Language)
    entry = models.CharField(max_length=200)
    note = models.TextField(blank=True)
    spec_revision = models.ForeignKey(
        "kernels.SpecRevision", null=True, on_delete=models.PROTECT, related_name="versions"
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["kernel", "number"], name="kernel_version_number"),
            models.UniqueConstraint(fields=["kernel", "digest"], name="kernel_version_digest"),
        ]

    def __str__(self) -> str:
        return f"{self.kernel.slug} v{self.number}"


class VersionFile(models.Model):
    """A path of a version and the blob it holds."""

    version = models.ForeignKey(KernelVersion, on_delete=models.PROTECT, related_name="files")
    path = models.CharField(max_length=200)
    blob = models.ForeignKey(FileBlob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        ordering = ["path"]
        constraints = [models.UniqueConstraint(fields=["version", "path"], name="version_file_path")]
