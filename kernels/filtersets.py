"""Filters of the lists."""

import django_filters as filters
from django.db.models import Q, QuerySet

from kernels.models import Anchor, Kernel, Op, Run, Spec, Worker
from kernels.selectors.specs import spec_statuses
from kernels.selectors.workers import alive_since
from v2kb.broker import RUN_QUEUES
from v2kb.rules.op_contract import TARGETS
from v2kb.rules.scope import ENVELOPES
from v2kb.rules.spec_words import FAMILIES
from v2kb.rules.states import SPEC_STATES
from v2kb.wire.outcomes import RUN_OUTCOMES

QUEUES = [(queue, queue) for queue in RUN_QUEUES]


def _same(values: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(value, value) for value in values]


class ArchivedFilter(filters.BooleanFilter):
    """Archived things alone, or those that are not."""

    def __init__(self) -> None:
        super().__init__(field_name="archived_at", lookup_expr="isnull", exclude=True, label="Archived")


class OpFilter(filters.FilterSet):
    """Ops by words and by their newest contract."""

    q = filters.CharFilter(method="by_words", label="Words of name or title", max_length=200)
    family = filters.ChoiceFilter(field_name="head__family", choices=_same(FAMILIES), label="Family")
    envelope = filters.ChoiceFilter(field_name="head__envelope", choices=_same(ENVELOPES), label="Envelope")
    target = filters.ChoiceFilter(field_name="head__target", choices=_same(TARGETS), label="Target card")
    stopped = filters.BooleanFilter(method="by_stop", label="Stopped at stage 0")
    archived = ArchivedFilter()

    class Meta:
        model = Op
        fields = ["q", "family", "envelope", "target", "stopped", "archived"]

    def by_words(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        return queryset.filter(Q(slug__icontains=value) | Q(title__icontains=value))

    def by_stop(self, queryset: QuerySet, name: str, value: bool) -> QuerySet:
        return queryset.filter(stopped=value)


class SpecFilter(filters.FilterSet):
    """Specs by words, op, creator and derived state."""

    q = filters.CharFilter(method="by_words", label="Code, or words of the title", max_length=200)
    op = filters.CharFilter(field_name="ops__slug", label="Name of an op", max_length=80)
    created_by = filters.CharFilter(field_name="created_by__username", label="User name", max_length=150)
    state = filters.ChoiceFilter(method="by_state", choices=_same(SPEC_STATES), label="Derived state")
    archived = ArchivedFilter()

    class Meta:
        model = Spec
        fields = ["q", "op", "created_by", "state", "archived"]

    def by_words(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        return queryset.filter(Q(code__iexact=value) | Q(title__icontains=value))

    def by_state(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        statuses = spec_statuses(queryset.select_related(None).prefetch_related(None))
        return queryset.filter(pk__in=[pk for pk, status in statuses.items() if status.state == value])


class KernelFilter(filters.FilterSet):
    """Kernels by words, op, spec and basis."""

    q = filters.CharFilter(method="by_words", label="Words of name or title", max_length=200)
    op = filters.CharFilter(field_name="op__slug", label="Name of an op", max_length=80)
    spec = filters.CharFilter(field_name="spec__code", label="Code of a spec", max_length=20)
    basis = filters.ChoiceFilter(choices=Kernel.Basis.choices, label="Basis")
    archived = ArchivedFilter()

    class Meta:
        model = Kernel
        fields = ["q", "op", "spec", "basis", "archived"]

    def by_words(self, queryset: QuerySet, name: str, value: str) -> QuerySet:
        return queryset.filter(Q(slug__icontains=value) | Q(title__icontains=value))


class AnchorFilter(filters.FilterSet):
    """Anchors by op and state."""

    op = filters.CharFilter(field_name="op__slug", label="Name of an op", max_length=80)
    state = filters.ChoiceFilter(choices=Anchor.State.choices, label="State")

    class Meta:
        model = Anchor
        fields = ["op", "state"]


class RunFilter(filters.FilterSet):
    """Runs by what they are, where they stand, and what they run."""

    kind = filters.ChoiceFilter(choices=Run.Kind.choices, label="Kind")
    state = filters.MultipleChoiceFilter(choices=Run.State.choices, label="State; give it several times for several")
    outcome = filters.ChoiceFilter(choices=_same(RUN_OUTCOMES), label="Outcome")
    queue = filters.ChoiceFilter(choices=QUEUES, label="Queue")
    op = filters.CharFilter(field_name="op__slug", label="Name of an op", max_length=80)
    kernel = filters.CharFilter(field_name="version__kernel__slug", label="Name of a kernel", max_length=80)
    anchor = filters.CharFilter(field_name="anchor__name", label="Name of an anchor", max_length=80)
    submitted_by = filters.CharFilter(field_name="submitted_by__username", label="User name", max_length=150)

    class Meta:
        model = Run
        fields = ["kind", "state", "outcome", "queue", "op", "kernel", "anchor", "submitted_by"]


class WorkerFilter(filters.FilterSet):
    """Workers by queue, and those heard of lately."""

    queue = filters.ChoiceFilter(choices=QUEUES, label="Queue")
    alive = filters.BooleanFilter(method="by_life", label="Heard of in the last half minute")

    class Meta:
        model = Worker
        fields = ["queue", "alive"]

    def by_life(self, queryset: QuerySet, name: str, value: bool) -> QuerySet:
        heard = {"last_seen__gt": alive_since()}
        return queryset.filter(**heard) if value else queryset.exclude(**heard)
