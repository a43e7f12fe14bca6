"""Filters of the lists, the same for pages and REST."""

import django_filters as filters
from django.db.models import QuerySet

from references.importers.catalogue import FAMILY_LETTERS
from references.models import Document, Family, Guideline, Section, UpstreamKernel
from references.selectors import current_snapshot, match_documents, match_sections

FAMILY_CHOICES = [(letter, letter) for letter in FAMILY_LETTERS]


class DocumentFilter(filters.FilterSet):
    """Documents by words, and archived ones or not."""

    q = filters.CharFilter(method="by_words", label="Words", max_length=200)
    archived = filters.BooleanFilter(field_name="archived_at", lookup_expr="isnull", exclude=True, label="Archived")

    class Meta:
        model = Document
        fields = ["q", "archived"]

    def by_words(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        return match_documents(queryset, value)


class SectionFilter(filters.FilterSet):
    """Sections by document, anchor, number and words; without `revision` only those of the heads."""

    document = filters.CharFilter(field_name="revision__document__slug", label="Document's slug")
    anchor = filters.CharFilter(label="Anchor")
    number = filters.CharFilter(label="Section number")
    revision = filters.CharFilter(field_name="revision__content_hash", label="Content hash of a revision")
    q = filters.CharFilter(method="by_words", label="Words", max_length=200)

    class Meta:
        model = Section
        fields = ["document", "anchor", "number", "revision", "q"]

    def filter_queryset(self, queryset: QuerySet) -> QuerySet:
        queryset = super().filter_queryset(queryset)
        return queryset if self.form.cleaned_data.get("revision") else queryset.filter(revision__head_of__isnull=False)

    def by_words(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        return match_sections(queryset, value)


class FamilyFilter(filters.FilterSet):
    """Families by snapshot and letter, or those of the current snapshot."""

    snapshot = filters.NumberFilter(field_name="snapshot_id", label="Snapshot", min_value=1, max_value=2**53)
    letter = filters.ChoiceFilter(choices=FAMILY_CHOICES, label="Letter")
    current = filters.BooleanFilter(method="by_current", label="Of the current snapshot")

    class Meta:
        model = Family
        fields = ["snapshot", "letter", "current"]

    def by_current(self, queryset: QuerySet, name: str, value: bool) -> QuerySet:
        snapshot = current_snapshot()
        mine = {"snapshot_id": snapshot.pk if snapshot else None}
        return queryset.filter(**mine) if value else queryset.exclude(**mine)


class KernelFilter(filters.FilterSet):
    """Upstream kernels by snapshot and family."""

    snapshot = filters.NumberFilter(field_name="snapshot_id", label="Snapshot", min_value=1, max_value=2**53)
    family = filters.ChoiceFilter(choices=FAMILY_CHOICES, label="Family")

    class Meta:
        model = UpstreamKernel
        fields = ["snapshot", "family"]


class GuidelineFilter(filters.FilterSet):
    """Guidelines by kind and document."""

    kind = filters.ChoiceFilter(choices=Guideline.Kind.choices, label="Kind")
    document = filters.CharFilter(field_name="document__slug", label="Document's slug")

    class Meta:
        model = Guideline
        fields = ["kind", "document"]
