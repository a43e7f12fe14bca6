from django.conf import settings
from django.db import models
from django.urls import reverse

from v2kb.rules.experiments import LINK_KINDS, MAX_LENGTHS, VERDICTS


class ExperimentEntry(models.Model):
    """One line of the experiment history: what one experiment came to. Never changes; a correction is a new entry.

    `content_hash` is over what the line says (v2kb.rules.experiments), not over what it corrects.
    """

    on = models.DateField(db_index=True)
    env = models.CharField(max_length=MAX_LENGTHS["env"], db_index=True)
    verdict = models.CharField(max_length=8, choices=[(word, word) for word in VERDICTS], db_index=True)
    why = models.CharField(max_length=MAX_LENGTHS["why"])
    trace = models.CharField(max_length=MAX_LENGTHS["trace"], blank=True, help_text="Directory of its traces.")
    commit = models.CharField(max_length=MAX_LENGTHS["commit"], blank=True)
    lever = models.ForeignKey("evidence.Lever", null=True, on_delete=models.PROTECT, related_name="experiments")
    corrects = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="corrections")
    content_hash = models.CharField(max_length=64, db_index=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-on", "-id"]
        verbose_name_plural = "experiment entries"
        constraints = [
            models.CheckConstraint(condition=models.Q(verdict__in=VERDICTS), name="experiment_verdict_known"),
            models.UniqueConstraint(fields=["corrects"], name="experiment_corrected_once"),
        ]

    def __str__(self) -> str:
        return f"experiment {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("evidence:experiment_detail", args=[self.pk])


class ExperimentLink(models.Model):
    """What an entry speaks of: a row by its code, a kernel by its name, a run by its public id. Never changes."""

    entry = models.ForeignKey(ExperimentEntry, on_delete=models.PROTECT, related_name="links")
    kind = models.CharField(max_length=8, choices=[(kind, kind) for kind in LINK_KINDS])
    target = models.CharField(max_length=80)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["kind", "target"])]
        constraints = [models.UniqueConstraint(fields=["entry", "kind", "target"], name="experiment_link_once")]

    def __str__(self) -> str:
        return f"{self.kind}:{self.target}"
