from django.conf import settings
from django.db import models
from django.urls import reverse


class Proposal(models.Model):
    """A wanted change of one row (or a new row): the content it should have, and why."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        ACCEPTED = "accepted", "accepted"
        REJECTED = "rejected", "rejected"
        WITHDRAWN = "withdrawn", "withdrawn"
        SUPERSEDED = "superseded", "superseded"

    class Origin(models.TextChoices):
        PERSON = "person", "a person"
        RUN = "run", "a judged run"

    class Kind(models.TextChoices):
        """What a curator has before them; the first that fits."""

        MERGE = "merge", "merge"
        REVERT = "revert", "revert"
        RUN = "run", "run receipt"
        NEW = "new", "new row"
        IMPORT = "import", "import"
        WORDING = "wording", "wording only"
        CHANGE = "change", "change"

    row = models.ForeignKey("evidence.EvidenceRow", null=True, on_delete=models.PROTECT, related_name="proposals")
    base = models.ForeignKey("evidence.EvidenceRevision", null=True, on_delete=models.PROTECT, related_name="+")
    content = models.JSONField()
    reason = models.TextField()
    state = models.CharField(max_length=12, choices=State, default=State.OPEN, db_index=True)
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.PERSON)
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.CHANGE, db_index=True)
    reverts_to = models.ForeignKey(
        "evidence.EvidenceRevision",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The earlier revision whose content this brings back.",
    )
    merges = models.ForeignKey(
        "evidence.EvidenceRevision",
        null=True,
        on_delete=models.PROTECT,
        related_name="+",
        help_text="The head of the row that this takes into its own.",
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="proposals")
    replaces = models.OneToOneField(
        "self",
        null=True,
        on_delete=models.PROTECT,
        related_name="replaced_by",
        help_text="The proposal that this one revises.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["row", "author"],
                condition=models.Q(state="open", origin="person", row__isnull=False),
                name="one_open_proposal_per_row_and_author",
            ),
            models.UniqueConstraint(
                fields=["row"], condition=models.Q(state="open", origin="run"), name="one_open_run_proposal_per_row"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["draft", "open", "accepted", "rejected", "withdrawn", "superseded"]),
                name="proposal_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"proposal {self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("evidence:proposal_detail", args=[self.pk])


class ProposalDecision(models.Model):
    """One curator's acceptance, rejection or recusal. Never changes; a WIN <-> DEAD change needs two acceptances.

    `conflict` is what an acceptor declared; empty where they stated that they have no conflict.
    """

    class Decision(models.TextChoices):
        ACCEPT = "accept", "accept"
        REJECT = "reject", "reject"
        RECUSE = "recuse", "recuse"

    proposal = models.ForeignKey(Proposal, on_delete=models.PROTECT, related_name="decisions")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    decision = models.CharField(max_length=8, choices=Decision)
    reason = models.TextField(blank=True)
    conflict = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["proposal", "user"], name="one_decision_per_user")]


class ProposalClaim(models.Model):
    """Who looks at a proposal until when, so that two curators don't do the same. It stops nobody from deciding."""

    proposal = models.OneToOneField(Proposal, on_delete=models.PROTECT, related_name="claim")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.proposal} claimed"
