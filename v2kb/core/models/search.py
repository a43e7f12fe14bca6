from django.db import models


class SearchEntry(models.Model):
    """What the search knows of one thing, as words that `v2kb.rules.search_words` reads.

    The id holds the kind and the thing's own id (`v2kb.core.search.entries`), so that one kind is one range of ids. The
    full-text index over these columns lives in the database and follows every change by itself.
    """

    id = models.BigIntegerField(primary_key=True)
    title = models.TextField()
    body = models.TextField()
    whole = models.TextField()


class SearchWord(models.Model):
    """A word without figures that some entry holds or held: what a misspelt word is compared with."""

    word = models.CharField(max_length=64, unique=True)
