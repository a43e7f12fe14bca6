from django.conf import settings
from django.db import models


class UploadDraft(models.Model):
    """Uploaded files between the preview and the import; its owner's alone, and gone a day later."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    source = models.CharField(max_length=300, blank=True)
    packed = models.BinaryField(help_text="The texts, skipped and refused files as compressed JSON.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"upload {self.pk}"
