from django.conf import settings
from django.db import models


class Activity(models.Model):
    """One line of the append-only log: who did what, through which door, with what before and after.

    Each line holds the hash of the line before it, so that a removed or altered line shows.
    """

    at = models.DateTimeField()
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    actor_name = models.CharField(max_length=150)
    actor_kind = models.CharField(max_length=10)
    channel = models.CharField(max_length=10)
    roles = models.JSONField(default=list)
    request_id = models.CharField(max_length=64)
    verb = models.CharField(max_length=80)
    object_type = models.CharField(max_length=60)
    object_id = models.CharField(max_length=80)
    object_label = models.CharField(max_length=200)
    summary = models.TextField()
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    rule_version = models.CharField(max_length=60, blank=True)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "activity"
        indexes = [
            models.Index(fields=["object_type", "object_id", "-id"]),
            models.Index(fields=["user", "-id"]),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor_name}: {self.summary}"


class ActivityHead(models.Model):
    """The single row that writers lock, so that the chain of hashes stays one line."""

    hash = models.CharField(max_length=64, blank=True)
