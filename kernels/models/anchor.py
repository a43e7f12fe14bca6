from django.db import models


class Anchor(models.Model):
    """A measured number that candidates are compared with. UNVERIFIED may be planned with, never judged with."""

    class State(models.TextChoices):
        UNVERIFIED = "UNVERIFIED", "UNVERIFIED"
        PINNED = "PINNED", "PINNED"
        STALE = "STALE", "STALE"

    name = models.SlugField(max_length=80, unique=True)
    op = models.ForeignKey("kernels.Op", on_delete=models.PROTECT, related_name="anchors")
    version = models.ForeignKey("kernels.KernelVersion", null=True, on_delete=models.PROTECT, related_name="anchors")
    metric = models.CharField(max_length=40, default="time_us")
    method = models.CharField(max_length=300)
    state = models.CharField(max_length=12, choices=State, default=State.UNVERIFIED)
    machine = models.CharField(max_length=300, blank=True, help_text="Fingerprint of the machine it was captured on.")
    values = models.JSONField(default=dict, help_text="Workload -> median in nanoseconds, spread and number of runs.")
    capture = models.ForeignKey("kernels.Run", null=True, on_delete=models.PROTECT, related_name="captured_anchors")
    captured_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(state="PINNED") | models.Q(capture__isnull=False, version__isnull=False),
                name="pinned_anchor_has_capture",
            )
        ]

    def __str__(self) -> str:
        return self.name
