from django.conf import settings
from django.db import models


class RunReceipt(models.Model):
    """A finished run that says something about a row. The run is named by its public id and result hash."""

    row = models.ForeignKey("evidence.EvidenceRow", null=True, on_delete=models.PROTECT, related_name="receipts")
    proposal = models.ForeignKey("evidence.Proposal", null=True, on_delete=models.PROTECT, related_name="receipts")
    run_id = models.CharField(max_length=40)
    result_hash = models.CharField(max_length=64)
    judgement = models.CharField(max_length=14, blank=True)
    grade = models.CharField(max_length=14)
    sentence = models.TextField()
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+", help_text="Who sent the run."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(fields=["row", "run_id", "result_hash"], name="one_receipt_per_run_and_row")
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.judgement}"
