from django.db import models


class Term(models.Model):
    """One word of the vocabulary besides levers. `word` is how contents write it: `sm_100`, `percent`, `flat`.

    Built-in terms are those of the rules (v2kb.rules.vocabulary); curators add terms, and aliases to any.
    """

    class Kind(models.TextChoices):
        ARCH = "arch", "architecture"
        DTYPE = "dtype", "dtype"
        UNIT = "unit", "unit"
        CAUSE = "cause", "cause class"

    kind = models.CharField(max_length=10, choices=Kind.choices)
    word = models.CharField(max_length=60)
    note = models.TextField(blank=True)
    built_in = models.BooleanField(default=False)
    archived_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["kind", "word"]
        constraints = [models.UniqueConstraint(fields=["kind", "word"], name="one_term_per_word")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.word}"


class TermAlias(models.Model):
    """Another way to write a term; within a kind it means one term alone."""

    term = models.ForeignKey(Term, on_delete=models.PROTECT, related_name="aliases")
    kind = models.CharField(max_length=10, choices=Term.Kind.choices)
    word = models.CharField(max_length=60)
    built_in = models.BooleanField(default=False)

    class Meta:
        ordering = ["word"]
        verbose_name_plural = "term aliases"
        constraints = [models.UniqueConstraint(fields=["kind", "word"], name="one_meaning_per_alias")]

    def __str__(self) -> str:
        return self.word
