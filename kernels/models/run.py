from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Worker(models.Model):
    """A run worker, as its own heartbeat describes it."""

    name = models.CharField(max_length=120, unique=True)
    queue = models.CharField(max_length=40)
    facts = models.JSONField(default=dict, help_text="Card, driver, torch, python, sandbox level, harness hash.")
    first_seen = models.DateTimeField(auto_now_add=True)
    last_seen = models.DateTimeField()

    class Meta:
        ordering = ["queue", "name"]

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """A validate, perf or anchor-capture job. Its state moves by conditional update only."""

    class Kind(models.TextChoices):
        VALIDATE = "validate", "validate"
        PERF = "perf", "perf"
        CAPTURE = "capture", "anchor capture"

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        CLAIMED = "claimed", "claimed"
        RUNNING = "running", "running"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    public_id = models.CharField(max_length=40, unique=True)
    kind = models.CharField(max_length=10, choices=Kind)
    op = models.ForeignKey("kernels.Op", on_delete=models.PROTECT, related_name="runs")
    contract = models.ForeignKey("kernels.OpContract", on_delete=models.PROTECT, related_name="+")
    version = models.ForeignKey("kernels.KernelVersion", on_delete=models.PROTECT, related_name="runs")
    anchor = models.ForeignKey("kernels.Anchor", null=True, on_delete=models.PROTECT, related_name="runs")
    anchor_version = models.ForeignKey("kernels.KernelVersion", null=True, on_delete=models.PROTECT, related_name="+")
    preregistration = models.ForeignKey(
        "kernels.PreRegistration", null=True, on_delete=models.PROTECT, related_name="runs"
    )
    queue = models.CharField(max_length=40)
    job = models.JSONField(help_text="The job as it is sent to a worker.")
    state = models.CharField(max_length=10, choices=State, default=State.QUEUED, db_index=True)
    outcome = models.CharField(max_length=20, blank=True)
    message = models.TextField(blank=True)
    fence = models.PositiveIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_expires_at = models.DateTimeField(null=True)
    sent_at = models.DateTimeField(null=True)
    cancel_requested_at = models.DateTimeField(null=True)
    progress_done = models.PositiveIntegerField(default=0)
    progress_total = models.PositiveIntegerField(default=0)
    progress_phase = models.CharField(max_length=80, blank=True)
    idempotency_key = models.CharField(max_length=80, blank=True)
    submitted_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="runs")
    submitted_at = models.DateTimeField(auto_now_add=True)
    claimed_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["queued", "claimed", "running", "finished", "cancelled"]),
                name="run_state_known",
            ),
            models.CheckConstraint(condition=~Q(state="finished") | ~Q(outcome=""), name="finished_run_has_outcome"),
            models.CheckConstraint(condition=Q(attempts__lte=2), name="run_two_attempts_at_most"),
            models.UniqueConstraint(
                fields=["submitted_by", "idempotency_key"],
                condition=~Q(idempotency_key=""),
                name="run_idempotency_key",
            ),
        ]

    def __str__(self) -> str:
        return self.public_id

    def get_absolute_url(self) -> str:
        return reverse("kernels:run_detail", args=[self.public_id])

    @property
    def is_over(self) -> bool:
        return self.state in (self.State.FINISHED, self.State.CANCELLED)


class RunAttempt(models.Model):
    """One attempt of a run: its key (only the hash is kept) and who claimed it."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="attempt_rows")
    number = models.PositiveSmallIntegerField()
    key_hash = models.CharField(max_length=64, unique=True)
    key_expires_at = models.DateTimeField()
    fence = models.PositiveIntegerField(null=True)
    worker = models.ForeignKey(Worker, null=True, on_delete=models.PROTECT, related_name="attempts")
    claimed_at = models.DateTimeField(null=True)
    last_ping_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    ended_why = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="run_attempt_number")]


class RunLog(models.Model):
    """A piece of a run's log, in the order in which the worker sent it."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="log_chunks")
    fence = models.PositiveIntegerField()
    seq = models.PositiveIntegerField()
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["fence", "seq"]
        constraints = [models.UniqueConstraint(fields=["run", "fence", "seq"], name="run_log_once")]


class RunResult(models.Model):
    """What the worker measured: cases, samples in order, environment. Never changes."""

    run = models.OneToOneField(Run, on_delete=models.PROTECT, related_name="result")
    fence = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)


class Judgement(models.Model):
    """What the rules said of a finished perf session. A recomputed judgement is a new row."""

    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="judgements")
    judgement = models.CharField(max_length=14)
    disposition = models.CharField(max_length=8)
    grade = models.CharField(max_length=14)
    tier = models.PositiveSmallIntegerField()
    sentence = models.TextField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64)
    rule_version = models.CharField(max_length=40)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.run.public_id} {self.judgement}"
