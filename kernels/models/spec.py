from django.conf import settings
from django.db import models
from django.urls import reverse


class Spec(models.Model):
    """The Stage-1 design of one or several ops that share a file pair. States are derived from rows, never set."""

    code = models.CharField(max_length=20, unique=True, help_text="S1, S2, ... issued by the server.")
    title = models.CharField(max_length=200)
    head = models.OneToOneField("SpecRevision", null=True, on_delete=models.PROTECT, related_name="head_of")
    ops = models.ManyToManyField("kernels.Op", through="SpecOp", related_name="specs")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="specs")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.code} {self.title}"

    def get_absolute_url(self) -> str:
        return reverse("kernels:spec_detail", args=[self.code])


class SpecOp(models.Model):
    """An op that the newest revision of a spec covers."""

    spec = models.ForeignKey(Spec, on_delete=models.CASCADE)
    op = models.ForeignKey("kernels.Op", on_delete=models.PROTECT)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["spec", "op"], name="spec_op_once")]


class SpecDraft(models.Model):
    """The mutable draft of one user: saved while typing, compared and set by `version`."""

    spec = models.ForeignKey(Spec, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    base = models.ForeignKey("SpecRevision", null=True, on_delete=models.PROTECT, related_name="+")
    content = models.JSONField()
    version = models.PositiveIntegerField(default=1)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["spec", "user"], name="one_draft_per_spec_and_user")]


class SpecRevision(models.Model):
    """One revision of a spec. Never changes; `content` is the canonical, hashed document."""

    spec = models.ForeignKey(Spec, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64, db_index=True)
    checks = models.JSONField(default=dict, help_text="Summary and findings of the spec rules when it was saved.")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["spec", "number"], name="spec_revision_number")]

    def __str__(self) -> str:
        return f"{self.spec.code} r{self.number}"


class Citation(models.Model):
    """What a choice of one revision rests on; drawn from its content, so that "who cites this" is one query."""

    class Kind(models.TextChoices):
        EVIDENCE = "evidence", "evidence"
        SECTION = "section", "section"
        CODE = "code", "code"

    revision = models.ForeignKey(SpecRevision, on_delete=models.PROTECT, related_name="citations")
    choice_id = models.CharField(max_length=20)
    kind = models.CharField(max_length=10, choices=Kind)
    stance = models.CharField(max_length=12)
    evidence = models.ForeignKey(
        "evidence.EvidenceRevision", null=True, on_delete=models.PROTECT, related_name="citations"
    )
    section = models.ForeignKey("references.Section", null=True, on_delete=models.PROTECT, related_name="citations")
    target = models.CharField(max_length=400, help_text="Row code, document and anchor, or code location.")

    class Meta:
        ordering = ["id"]
