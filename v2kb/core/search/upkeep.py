"""Keeping the index in step: what services changed, what `manage.py reindex` builds anew, what `verify` compares."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.db import transaction

from v2kb.core.activity import lock_log
from v2kb.core.models.search import SearchEntry, SearchWord
from v2kb.core.registry import Registry
from v2kb.core.search.entries import BATCH, Document, Kind, batched, drop, entry_of, put, words_of


@dataclass(frozen=True)
class Indexed:
    """One kind of things in the index, as its app tells.

    `all_ids`: ids of what belongs in the index. `documents`: of these ids, those that belong in it. `write` brings
    entries, and what is derived beside them, up to date; `beside` names ids among these where that other data differ.
    """

    kind: Kind
    all_ids: Callable[[], Iterable[int]]
    documents: Callable[[list[int]], list[Document]]
    write: Callable[[list[int]], None] | None = None
    beside: Callable[[list[int]], set[int]] | None = None

    def refresh(self, ids: Iterable[int]) -> None:
        """Put these things into the index, or take out those that do not belong in it; a follower's work."""
        for batch in batched(ids, BATCH):
            documents = self.documents(batch)
            put(documents)
            drop(self.kind, set(batch) - {document.object_id for document in documents})

    def differing(self, ids: list[int]) -> list[int]:
        """Which of these ids have no entry, or another one than their document gives."""
        stored = SearchEntry.objects.in_bulk([self.kind.entry_id(pk) for pk in ids])
        wrong = self.beside(ids) if self.beside else set()
        for document in self.documents(ids):
            entry = entry_of(document)
            present = stored.get(entry.pk)
            if present is None or _words(present) != _words(entry):
                wrong = wrong | {document.object_id}
        return sorted(wrong)

    def left_over(self) -> list[int]:
        """Ids that have an entry and do not belong in the index."""
        stored = SearchEntry.objects.filter(pk__range=self.kind.ids).values_list("pk", flat=True)
        first, _ = self.kind.ids
        return sorted({pk - first for pk in stored.iterator()} - set(self.all_ids()))


# name in the plural -> what is indexed of it
INDEXED: Registry[Indexed] = Registry()


@dataclass(frozen=True)
class Tally:
    """What `rebuild` found: how many things belong in the index, were written and were taken out."""

    name: str
    total: int
    written: int
    removed: int


def rebuild() -> Iterator[Tally]:
    """Bring every entry and what is derived beside it up to date, in batches; what is right already stays as it is."""
    for name, indexed in INDEXED.items():
        total = written = 0
        for ids in batched(list(indexed.all_ids()), BATCH):
            with transaction.atomic():
                lock_log()  # no service changes them meanwhile
                wrong = indexed.differing(ids)
                (indexed.write or indexed.refresh)(wrong)
            total, written = total + len(ids), written + len(wrong)
        with transaction.atomic():
            lock_log()
            surplus = indexed.left_over()
            drop(indexed.kind, surplus)
        yield Tally(name, total, written, len(surplus))


def rebuild_words() -> tuple[int, int]:
    """Make the list of known words anew from the entries. Returns how many there are and how many went away."""
    with transaction.atomic():
        lock_log()
        known: set[str] = set()
        for entry in SearchEntry.objects.iterator(chunk_size=BATCH):
            known |= words_of(entry)
        stored = dict(SearchWord.objects.values_list("word", "pk"))
        gone = [pk for word, pk in stored.items() if word not in known]
        for ids in batched(gone, BATCH):
            SearchWord.objects.filter(pk__in=ids).delete()
        missing = [SearchWord(word=word) for word in sorted(known - stored.keys())]
        SearchWord.objects.bulk_create(missing, batch_size=BATCH)
    return len(known), len(gone)


def differences() -> Iterator[tuple[str, int, str]]:
    """(name of the kind, id, what is wrong) of every entry that is missing, differs, or should not be there."""
    for name, indexed in INDEXED.items():
        for ids in batched(list(indexed.all_ids()), BATCH):
            for pk in indexed.differing(ids):
                yield name, pk, "its search entry or what is derived with it is missing or differs"
        for pk in indexed.left_over():
            yield name, pk, "it has a search entry and should have none"


def _words(entry: SearchEntry) -> tuple[str, str, str]:
    return entry.title, entry.body, entry.whole
