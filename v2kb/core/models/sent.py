from django.conf import settings
from django.db import models


class SentWrite(models.Model):
    """A write that a program sent with a key of its own, and the answer: sent again, it is answered and not done again.

    `digest` is the hash of method, address and body.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    key = models.CharField(max_length=80)
    digest = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField()
    answer = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="sent_write_key")]
        indexes = [models.Index(fields=["at"])]

    def __str__(self) -> str:
        return f"{self.user} {self.key}"
