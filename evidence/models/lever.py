from django.db import models
from django.urls import reverse


class Lever(models.Model):
    """A technique that a design may apply. Choices pick from this vocabulary; aliases close the door on renaming."""

    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200, unique=True)
    description = models.TextField(blank=True)
    parent = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="children")
    # A merged lever is archived and stays where it was: its rows, and those above it, count for the other one too.
    merged_into = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged")
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(merged_into__isnull=True) | models.Q(archived_at__isnull=False),
                name="merged_lever_is_archived",
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("evidence:lever_detail", args=[self.slug])


class LeverAlias(models.Model):
    """Another way to write a lever's name. `normalised` is unique over all levers."""

    lever = models.ForeignKey(Lever, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=200)
    normalised = models.CharField(max_length=200, unique=True)

    class Meta:
        ordering = ["name"]
        verbose_name_plural = "lever aliases"

    def __str__(self) -> str:
        return self.name
