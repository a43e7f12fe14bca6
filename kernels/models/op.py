from django.conf import settings
from django.db import models
from django.urls import reverse


class Op(models.Model):
    """An operation. What it must compute is in its immutable contracts; `head` is the newest."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    head = models.OneToOneField("OpContract", null=True, on_delete=models.PROTECT, related_name="head_of")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("kernels:op_detail", args=[self.slug])


class OpContract(models.Model):
    """One contract of an op. Never changes; `content` is the canonical, hashed document."""

    op = models.ForeignKey(Op, on_delete=models.PROTECT, related_name="contracts")
    number = models.PositiveIntegerField()
    content = models.JSONField()
    content_hash = models.CharField(max_length=64, db_index=True)
    family = models.CharField(max_length=1, blank=True)
    envelope = models.CharField(max_length=20)
    target = models.CharField(max_length=20)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["op", "number"], name="op_contract_number")]

    def __str__(self) -> str:
        return f"{self.op.slug} contract {self.number}"


class OpStop(models.Model):
    """Stage 0 ended well: the evidence says not to build this. Recorded with the rows that say so."""

    op = models.ForeignKey(Op, on_delete=models.PROTECT, related_name="stops")
    lever = models.CharField(max_length=80, blank=True)
    reason = models.TextField()
    rows = models.JSONField(default=list, help_text="Codes and revision hashes of the evidence that decided.")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
