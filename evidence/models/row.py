from django.conf import settings
from django.db import models
from django.urls import reverse


class Verdict(models.TextChoices):
    DEAD = "DEAD", "DEAD"
    WIN = "WIN", "WIN"
    UNTESTED = "UNTESTED", "UNTESTED"


class CodeSeries(models.Model):
    """The last number issued for a prefix (D, W, U). Numbers are never reused."""

    prefix = models.CharField(max_length=8, unique=True)
    last = models.PositiveIntegerField(default=0)

    class Meta:
        verbose_name_plural = "code series"

    def __str__(self) -> str:
        return f"{self.prefix}{self.last}"


class EvidenceRow(models.Model):
    """What is known of a lever in a scope: a stable code and a head revision. The row itself holds no content."""

    code = models.CharField(max_length=20, unique=True)
    head = models.OneToOneField("EvidenceRevision", null=True, on_delete=models.PROTECT, related_name="head_of")
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["code"]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("evidence:row_detail", args=[self.code])


class EvidenceRevision(models.Model):
    """One accepted state of a row. Never changes. `content` is the canonical, hashed document.

    The other columns repeat parts of `content` so that lists can filter.
    """

    row = models.ForeignKey(EvidenceRow, on_delete=models.PROTECT, related_name="revisions")
    number = models.PositiveIntegerField()
    base = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    content = models.JSONField()
    content_hash = models.CharField(max_length=64, db_index=True)
    lever = models.ForeignKey("evidence.Lever", on_delete=models.PROTECT, related_name="revisions")
    title = models.CharField(max_length=300)
    verdict = models.CharField(max_length=10, choices=Verdict, db_index=True)
    cause_class = models.CharField(max_length=40, blank=True, db_index=True)
    blocking = models.CharField(max_length=10, blank=True, help_text="full, weak or empty")
    measured_on = models.DateField(null=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    proposal = models.OneToOneField("evidence.Proposal", null=True, on_delete=models.PROTECT, related_name="revision")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(fields=["row", "number"], name="evidence_revision_number"),
            models.CheckConstraint(condition=models.Q(verdict__in=Verdict.values), name="evidence_verdict_known"),
        ]

    def __str__(self) -> str:
        return f"{self.row.code} r{self.number}"


class Supersession(models.Model):
    """An edge between rows: the newer one replaces, narrows, contradicts, merges or splits the older."""

    class Kind(models.TextChoices):
        REPLACES = "replaces", "replaces"
        NARROWS = "narrows", "narrows"
        CONTRADICTS = "contradicts", "contradicts"
        MERGES = "merges", "merges"
        SPLITS = "splits", "splits"

    newer = models.ForeignKey(EvidenceRow, on_delete=models.PROTECT, related_name="supersedes")
    older = models.ForeignKey(EvidenceRow, on_delete=models.PROTECT, related_name="superseded_by")
    kind = models.CharField(max_length=12, choices=Kind)
    reason = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["newer", "older", "kind"], name="supersession_once"),
            models.CheckConstraint(condition=~models.Q(newer=models.F("older")), name="supersession_two_rows"),
        ]


class Flag(models.Model):
    """A doubt about a row. It shows at once; it blocks citations only when a curator confirms it.

    The system raises one where a recorded bound is passed; `cause` names what passed it, once per row.
    """

    row = models.ForeignKey(EvidenceRow, on_delete=models.PROTECT, related_name="flags")
    reason = models.TextField()
    cause = models.CharField(max_length=300, blank=True)
    raised_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    raised_at = models.DateTimeField(auto_now_add=True)
    confirmed_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    confirmed_at = models.DateTimeField(null=True)
    cleared_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    cleared_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-raised_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["row", "cause"], condition=~models.Q(cause=""), name="one_flag_per_row_and_cause"
            )
        ]

    def __str__(self) -> str:
        return f"flag {self.pk} on {self.row.code}"
