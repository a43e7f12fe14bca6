from django.db import models
from django.urls import reverse


class UpstreamSnapshot(models.Model):
    """An upstream repository as it stood at one commit, as a catalogue document describes it."""

    repository = models.CharField(max_length=200)
    branch = models.CharField(max_length=120)
    commit = models.CharField(max_length=40)
    studied_on = models.DateField(null=True)
    merge_base = models.CharField(max_length=40, blank=True)
    document_revision = models.ForeignKey(
        "references.DocumentRevision", on_delete=models.PROTECT, related_name="snapshots"
    )
    unread = models.JSONField(
        default=list, help_text="What the catalogue says and the importer could not read, with lines."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-studied_on", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["repository", "branch", "commit", "document_revision"], name="snapshot_once_per_revision"
            )
        ]

    def __str__(self) -> str:
        return f"{self.repository} {self.branch} @ {self.commit}"

    def get_absolute_url(self) -> str:
        return reverse("references:snapshot_detail", args=[self.pk])


class Family(models.Model):
    """A kernel pattern of a snapshot: A pipeline to E helper."""

    snapshot = models.ForeignKey(UpstreamSnapshot, on_delete=models.CASCADE, related_name="families")
    letter = models.CharField(max_length=1)
    title = models.CharField(max_length=200)
    idiom = models.CharField(max_length=120, blank=True)
    when_to_copy = models.TextField(blank=True)
    anchor = models.CharField(max_length=160, blank=True)

    class Meta:
        ordering = ["letter"]
        verbose_name_plural = "families"
        constraints = [models.UniqueConstraint(fields=["snapshot", "letter"], name="family_letter")]

    def __str__(self) -> str:
        return f"{self.letter} {self.title}"


class UpstreamKernel(models.Model):
    """One line of a snapshot's inventory."""

    snapshot = models.ForeignKey(UpstreamSnapshot, on_delete=models.CASCADE, related_name="kernels")
    order = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)
    family = models.CharField(max_length=1, blank=True)
    files = models.JSONField(default=list)
    task_type = models.CharField(max_length=300, blank=True)
    task_ids = models.JSONField(default=list)
    arities = models.JSONField(default=list, help_text="Pairs of inputs and outputs.")
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["order"]

    def __str__(self) -> str:
        return self.name
