from django.db import models


class Guideline(models.Model):
    """A measurement rule, a step of the anti-loop contract, or a known gap, as a document states it."""

    class Kind(models.TextChoices):
        MEASUREMENT_RULE = "measurement_rule", "measurement rule"
        CONTRACT_STEP = "contract_step", "contract step"
        KNOWN_GAP = "known_gap", "known gap"

    document = models.ForeignKey("references.Document", on_delete=models.PROTECT, related_name="guidelines")
    kind = models.CharField(max_length=20, choices=Kind)
    number = models.PositiveSmallIntegerField()
    title = models.CharField(max_length=300)
    text = models.TextField()
    anchor = models.CharField(max_length=160)
    content_hash = models.CharField(max_length=64)

    class Meta:
        ordering = ["kind", "document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "kind", "number"], name="guideline_number")]

    def __str__(self) -> str:
        return self.title
