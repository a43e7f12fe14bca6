from django.conf import settings
from django.db import models


class Submission(models.Model):
    """A revision was handed in for review. Never changes."""

    revision = models.OneToOneField("kernels.SpecRevision", on_delete=models.PROTECT, related_name="submission")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class Aspect(models.TextChoices):
    CORRECTNESS = "correctness", "correctness"
    PERFORMANCE = "performance", "performance"
    CURATION = "curation", "curation"


class Position(models.Model):
    """A reviewer's position on one revision. Never changes; the newest of a user and aspect counts."""

    class Kind(models.TextChoices):
        APPROVE = "approve", "approve"
        NO_OBJECTION = "no_objection", "no objection"
        DISCUSS = "discuss", "discuss"
        RECUSE = "recuse", "recuse"

    revision = models.ForeignKey("kernels.SpecRevision", on_delete=models.PROTECT, related_name="positions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    aspect = models.CharField(max_length=12, choices=Aspect)
    position = models.CharField(max_length=14, choices=Kind)
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class Comment(models.Model):
    """A comment on a choice, or on a whole section, of one revision. Never changes."""

    revision = models.ForeignKey("kernels.SpecRevision", on_delete=models.PROTECT, related_name="comments")
    place = models.CharField(max_length=40, help_text="A choice id such as C1, or a section name such as smem.")
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="replies")
    quote = models.TextField(blank=True)
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]


class MechanismMark(models.Model):
    """A curator's signature: the mechanism of this choice, at this hash, is new against the dead rows it meets."""

    revision = models.ForeignKey("kernels.SpecRevision", on_delete=models.PROTECT, related_name="mechanism_marks")
    choice_id = models.CharField(max_length=20)
    choice_hash = models.CharField(max_length=64)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["revision", "choice_id", "user"], name="one_mark_per_choice_and_user")
        ]


class GateResult(models.Model):
    """What the anti-loop gate said of one revision, with everything it looked at. Never changes."""

    revision = models.ForeignKey("kernels.SpecRevision", on_delete=models.PROTECT, related_name="gate_results")
    revision_hash = models.CharField(max_length=64)
    passed = models.BooleanField()
    lines = models.JSONField()
    inputs = models.JSONField()
    gate_version = models.CharField(max_length=40)
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]


class Approval(models.Model):
    """A revision is approved to build. The database accepts it only with a passing gate result of the same hash."""

    revision = models.OneToOneField("kernels.SpecRevision", on_delete=models.PROTECT, related_name="approval")
    revision_hash = models.CharField(max_length=64)
    gate_result = models.ForeignKey(GateResult, on_delete=models.PROTECT, related_name="+")
    approver = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)


class PreRegistration(models.Model):
    """A choice's prediction and kill threshold, sealed by the server's clock when its revision was approved."""

    revision = models.ForeignKey("kernels.SpecRevision", on_delete=models.PROTECT, related_name="preregistrations")
    choice_id = models.CharField(max_length=20)
    choice_hash = models.CharField(max_length=64)
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    sealed_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["revision", "choice_id"], name="one_preregistration_per_choice")]

    def __str__(self) -> str:
        return f"{self.revision} {self.choice_id}"
