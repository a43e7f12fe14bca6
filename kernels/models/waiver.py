from django.conf import settings
from django.db import models


class FindingWaiver(models.Model):
    """Why a finding of the spec rules may stand. Never changes; it ends when the rule finds something else."""

    spec = models.ForeignKey("kernels.Spec", on_delete=models.PROTECT, related_name="waivers")
    rule = models.CharField(max_length=20)
    path = models.CharField(max_length=160)
    message = models.TextField(help_text="The finding's words. Other words are another finding.")
    reason = models.TextField()
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    asked_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.spec.code} {self.rule} at {self.path}"


class WaiverAnswer(models.Model):
    """What came of a waiver. Never changes; the newest answer counts."""

    class Kind(models.TextChoices):
        AGREED = "agreed", "agreed"
        REFUSED = "refused", "refused"
        WITHDRAWN = "withdrawn", "withdrawn"

    waiver = models.ForeignKey(FindingWaiver, on_delete=models.PROTECT, related_name="answers")
    kind = models.CharField(max_length=10, choices=Kind)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    note = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
