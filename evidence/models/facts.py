import uuid

from django.db import models


class EvidenceChange(models.Model):
    """One change of the evidence: its id is the high-water mark that search receipts and caches name.

    Written under the lock of the activity log, so that ids are in the order of commits. `stamp` tells one database's
    change 7 from another's (after a restore, say).
    """

    stamp = models.UUIDField(default=uuid.uuid4)
    at = models.DateTimeField(auto_now_add=True)


class RowFacts(models.Model):
    """What lists filter and count by: a narrow copy of a row's head and standing, small enough to hold for all rows.

    Several values are joined by commas, none is empty. `change` names the EvidenceChange that wrote it.
    """

    row = models.OneToOneField("evidence.EvidenceRow", primary_key=True, on_delete=models.CASCADE, related_name="facts")
    change = models.BigIntegerField(db_index=True)
    code = models.CharField(max_length=20)
    archived = models.BooleanField()
    verdict = models.CharField(max_length=10)
    lever = models.ForeignKey("evidence.Lever", on_delete=models.PROTECT, related_name="+")
    cause = models.CharField(max_length=40, blank=True)
    blocking = models.CharField(max_length=10, blank=True)
    arch = models.TextField(blank=True)
    dtype = models.TextField(blank=True)
    op = models.TextField(blank=True)
    envelope = models.TextField(blank=True)
    sharding = models.TextField(blank=True)
    baseline = models.TextField(blank=True)
    m = models.TextField(blank=True, help_text="Ranges, as are batch and grid.")
    batch = models.TextField(blank=True)
    grid = models.TextField(blank=True)
    tier = models.CharField(max_length=20, blank=True)
    state = models.CharField(max_length=120, blank=True)
    delta_low = models.FloatField(null=True, help_text="Lower end of its percentages.")
    delta_high = models.FloatField(null=True, help_text="Upper end of its percentages.")
    measured = models.IntegerField(null=True, help_text="Day as an ordinal.")
