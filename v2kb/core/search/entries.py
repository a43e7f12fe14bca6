"""Putting things into the search index, and taking them out."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from itertools import islice
from typing import TypeVar

from v2kb.core.models.search import SearchEntry, SearchWord
from v2kb.rules.search_words import document_words

T = TypeVar("T")
KIND_BITS = 40
MIN_WORD_CHARS = 4
BATCH = 500


class Kind(IntEnum):
    """What a search entry stands for. Numbers are stored: never change one. EVERYTHING is for asking alone."""

    EVERYTHING = 0
    ROW = 1
    SECTION = 2
    FAMILY = 3
    OP = 4
    SPEC = 5
    KERNEL = 6
    RUN = 7
    LEVER = 8
    EXPERIMENT = 9

    def entry_id(self, object_id: int) -> int:
        """The id of the entry for the thing with this id."""
        return (self << KIND_BITS) + object_id

    @property
    def ids(self) -> tuple[int, int]:
        """The first and last entry id of this kind."""
        last = max(Kind) if self is Kind.EVERYTHING else self
        return self.entry_id(0), last.entry_id((1 << KIND_BITS) - 1)


@dataclass(frozen=True, slots=True)
class Document:
    """One thing as people wrote it: `title` counts more than `text`."""

    kind: Kind
    object_id: int
    title: str
    text: str


def put(documents: Iterable[Document]) -> None:
    """Store or replace the entries of these things, in batches, in the caller's transaction."""
    for batch in batched(documents, BATCH):
        _put(batch)


def _put(documents: list[Document]) -> None:
    entries = [entry_of(document) for document in documents]
    SearchEntry.objects.bulk_create(
        entries, update_conflicts=True, unique_fields=["id"], update_fields=["title", "body", "whole"]
    )
    known = {word for entry in entries for word in words_of(entry)}
    SearchWord.objects.bulk_create([SearchWord(word=word) for word in sorted(known)], ignore_conflicts=True)


def words_of(entry: SearchEntry) -> set[str]:
    """The words of an entry that a misspelt one is compared with."""
    words = set(f"{entry.title} {entry.body} {entry.whole}".split())
    return {word for word in words if len(word) >= MIN_WORD_CHARS and not any(sign.isdigit() for sign in word)}


def entry_of(document: Document) -> SearchEntry:
    """What the index stores of a document."""
    title, title_wholes = document_words(document.title)
    body, body_wholes = document_words(document.text)
    entry_id = document.kind.entry_id(document.object_id)
    return SearchEntry(id=entry_id, title=title, body=body, whole=f"{title_wholes} {body_wholes}".strip())


def drop(kind: Kind, object_ids: Iterable[int]) -> None:
    """Take these things out of the index, in batches."""
    for ids in batched([kind.entry_id(object_id) for object_id in object_ids], BATCH):
        SearchEntry.objects.filter(pk__in=ids).delete()


def batched(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` things, in their order."""
    rest = iter(things)
    while batch := list(islice(rest, size)):
        yield batch
