import datetime
import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse


class ImportMapping(models.Model):
    """How a kind of log is read: column -> field, word -> verdict. Kept for the next file with such columns."""

    name = models.CharField(max_length=100, unique=True)
    document = models.JSONField(help_text="Canonical form of evidence.importers.log_mapping.")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class ImportJob(models.Model):
    """An uploaded file on its way in. The work goes in batches, each in a transaction that also moves `cursor`."""

    class State(models.TextChoices):
        READING = "reading", "reading"
        MAPPING = "mapping", "waits for its mapping"
        CHECKING = "checking", "checking"
        CHECKED = "checked", "waits for its import"
        APPLYING = "applying", "importing"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    WORKING = (State.READING, State.CHECKING, State.APPLYING)
    OVER = (State.DONE, State.FAILED, State.CANCELLED)
    LEASE = datetime.timedelta(minutes=5)
    """How long a process keeps the job without a batch that ends."""
    MAX_TRIES = 5
    """How often it is taken up without getting further before it fails."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True)
    name = models.CharField(max_length=200, help_text="File name; a later file of this name is the same log.")
    source = models.CharField(max_length=300, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    sha256 = models.CharField(max_length=64, blank=True)
    encoding = models.CharField(max_length=20, blank=True)
    format = models.CharField(max_length=12, blank=True)
    profile = models.JSONField(default=dict, help_text="Columns, samples and words that were found.")
    mapping = models.JSONField(default=dict)
    state = models.CharField(max_length=10, choices=State, default=State.READING, db_index=True)
    cursor = models.PositiveIntegerField(default=0, help_text="Records that this phase has done.")
    total = models.PositiveIntegerField(default=0, help_text="Records of the file.")
    counts = models.JSONField(default=dict)  # lines by what happens to them, and tries since it got further
    message = models.TextField(blank=True)
    leased_until = models.DateTimeField(null=True, help_text="Until when one process works on it.")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    state__in=[
                        "reading",
                        "mapping",
                        "checking",
                        "checked",
                        "applying",
                        "done",
                        "failed",
                        "cancelled",
                    ]
                ),
                name="import_job_state_known",
            )
        ]

    def __str__(self) -> str:
        return f"import of {self.name}"

    def get_absolute_url(self) -> str:
        return reverse("evidence:import_job", args=[self.public_id])


class ImportChunk(models.Model):
    """A part of an uploaded file; gone when the job is over."""

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="chunks")
    number = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="import_chunk_number")]


class ImportLine(models.Model):
    """What the dry run found in one record of the file. `problems` holds {line, column, message, fix}."""

    class State(models.TextChoices):
        NEW = "new", "new"
        CHANGED = "changed", "changed"
        UNCHANGED = "unchanged", "unchanged"
        UNREADABLE = "unreadable", "unreadable"
        SKIPPED = "skipped", "left out"

    job = models.ForeignKey(ImportJob, on_delete=models.CASCADE, related_name="lines")
    number = models.PositiveIntegerField(help_text="Place among the records, from 1.")
    line = models.PositiveIntegerField(help_text="Line of the file, from 1.")
    kind = models.CharField(max_length=8, blank=True, help_text="row or entry")
    key = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=State)
    document = models.JSONField(default=dict, help_text="What the line says.")
    target = models.CharField(max_length=20, blank=True, help_text="Code of the row, or number of the entry.")
    problems = models.JSONField(default=list)
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="import_line_number")]
        indexes = [
            models.Index(fields=["job", "state", "number"]),
            models.Index(fields=["job", "hash"]),
            models.Index(fields=["job", "key"]),
        ]


class ImportedLine(models.Model):
    """Which row or entry a line of a log or map became: how a later file is compared with it.

    `log` is the file's name (of a map, its document), `key` what names the line in it; `content` is what the line of a
    map said of its row.
    """

    log = models.CharField(max_length=200)
    key = models.CharField(max_length=64)
    row = models.ForeignKey("evidence.EvidenceRow", null=True, on_delete=models.PROTECT, related_name="imported_lines")
    entry = models.ForeignKey(
        "evidence.ExperimentEntry", null=True, on_delete=models.PROTECT, related_name="imported_lines"
    )
    content = models.JSONField(default=dict)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["log", "key"], name="imported_line_key")]

    def __str__(self) -> str:
        return f"{self.log}: {self.key}"
