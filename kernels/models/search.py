from django.conf import settings
from django.db import models


class SearchReceipt(models.Model):
    """What a designer looked for before designing, what was found, and what they decided of each hit. Never changes.

    `content` holds the search and the rows in order with their hashes; `change` is the EvidenceChange it was run at.
    """

    spec = models.ForeignKey("kernels.Spec", on_delete=models.PROTECT, related_name="receipts")
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    change = models.BigIntegerField(help_text="High-water mark of the evidence.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"search {self.pk} of {self.spec.code}"
