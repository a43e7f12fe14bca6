from django.db import models


class RowVector(models.Model):
    """What a row means, as the encoder read it: unit float16 values, little-endian. Derived, so it may be rewritten.

    `change` is the EvidenceChange of the facts that were read; `text_hash` spares encoding the same words again.
    """

    row = models.OneToOneField("evidence.EvidenceRow", primary_key=True, on_delete=models.CASCADE, related_name="+")
    change = models.BigIntegerField(db_index=True)
    model = models.CharField(max_length=60)
    text_hash = models.CharField(max_length=64)
    vector = models.BinaryField(max_length=2048)
