from django.conf import settings
from django.db import models
from django.urls import reverse


class Document(models.Model):
    """An imported document. Its text lives in immutable revisions; `head` is the newest."""

    slug = models.SlugField(max_length=120, unique=True)
    title = models.CharField(max_length=300)
    path = models.CharField(
        max_length=300, blank=True, help_text="Path inside the folder or archive it was imported from."
    )
    head = models.OneToOneField("DocumentRevision", null=True, on_delete=models.PROTECT, related_name="head_of")
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("references:document_detail", args=[self.slug])


class DocumentRevision(models.Model):
    """One text of a document. Never changes."""

    document = models.ForeignKey(Document, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    title = models.CharField(max_length=300)
    text = models.TextField()
    front_matter = models.JSONField(
        default=list, help_text="Names with their values, as they stand above the text: [{name, values}]."
    )
    content_hash = models.CharField(max_length=64)
    source = models.CharField(max_length=300, blank=True, help_text="Where the text came from, with its licence.")
    imported_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="document_revision_number")]

    def __str__(self) -> str:
        return f"{self.document.slug} r{self.number}"


class Section(models.Model):
    """A heading with its own text, at a stable anchor of one revision."""

    revision = models.ForeignKey(DocumentRevision, on_delete=models.PROTECT, related_name="sections")
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    order = models.PositiveIntegerField()
    level = models.PositiveSmallIntegerField()
    number = models.CharField(max_length=20, blank=True)
    title = models.CharField(max_length=300)
    anchor = models.CharField(max_length=160)
    text = models.TextField(blank=True)
    blocks = models.JSONField(default=list, help_text="Paragraphs, tables, checklists, lists and code, in order.")
    first_line = models.PositiveIntegerField()
    last_line = models.PositiveIntegerField()
    content_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["order"]
        constraints = [models.UniqueConstraint(fields=["revision", "anchor"], name="section_anchor")]
        indexes = [models.Index(fields=["anchor"])]

    def __str__(self) -> str:
        return self.title
