from django.conf import settings
from django.db import models
from django.urls import reverse


class SavedSearch(models.Model):
    """A search that a user wants to hear of: its query string, and the EvidenceChange up to which they have seen it."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches")
    name = models.CharField(max_length=100)
    query = models.TextField(help_text="The query string of the evidence page, in its one spelling.")
    seen = models.BigIntegerField(help_text="The newest EvidenceChange that the user has seen.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="saved_search_name_once")]
        verbose_name_plural = "saved searches"

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('evidence:row_list')}?{self.query}"
