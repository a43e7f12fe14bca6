from django.conf import settings
from django.db import models


class RowBounds(models.Model):
    """What a row was measured on. When the world has moved past one of these, the row is flagged by the system."""

    row = models.OneToOneField("evidence.EvidenceRow", on_delete=models.PROTECT, related_name="bounds")
    baseline = models.CharField(max_length=80, blank=True, help_text="Commit of the baseline.")
    driver = models.CharField(max_length=80, blank=True, help_text="Driver version of the machine.")
    snapshot = models.ForeignKey(
        "references.UpstreamSnapshot", null=True, on_delete=models.PROTECT, related_name="+", help_text="Upstream."
    )
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "row bounds"

    def __str__(self) -> str:
        return f"bounds of {self.row}"


class RowSubscription(models.Model):
    """A person watches a row; their home shows what happened to it after `seen_at`."""

    row = models.ForeignKey("evidence.EvidenceRow", on_delete=models.PROTECT, related_name="subscriptions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="row_subscriptions")
    seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["row", "user"], name="one_subscription_per_row_and_user")]

    def __str__(self) -> str:
        return f"{self.user} watches {self.row}"
