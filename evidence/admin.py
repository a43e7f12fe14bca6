"""Evidence in the admin: everything can be read; the vocabulary is edited, and rows are archived, by the services."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest

from evidence.admin_actions import (
    FLAG_ACTIONS,
    LEVER_ACTIONS,
    ROW_ACTIONS,
    TERM_ACTIONS,
)
from evidence.models import (
    CodeSeries,
    EvidenceRevision,
    EvidenceRow,
    ExperimentEntry,
    Flag,
    ImportJob,
    ImportMapping,
    Lever,
    LeverAlias,
    Proposal,
    ProposalClaim,
    ProposalDecision,
    RowBounds,
    RowSubscription,
    RunReceipt,
    Supersession,
    Term,
    TermAlias,
)
from evidence.policies import may_curate, may_edit_levers
from evidence.selectors import other_names
from evidence.services import create_lever, edit_lever
from evidence.services.terms import add_term, edit_term
from v2kb.core.actor import Actor
from v2kb.core.guarded_admin import NamedValues, ReadOnlyAdmin, ServiceAdmin, ServiceForm
from v2kb.rules.vocabulary import CLOSED_WHY, OPEN

MAX_NAMES = 3
PROPOSED = "What a row says changes through proposals that curators accept; no one changes it here."
DECIDED = "It was written by a decision on the site and never changes."


class _Lines(forms.CharField):
    """A list, one entry per line."""

    widget = forms.Textarea

    def clean(self, value: Any) -> list[str]:
        """The lines without those that are empty."""
        return [line.strip() for line in super().clean(value).splitlines() if line.strip()]


class NamesInline(admin.TabularInline):
    """Other names: they are added and taken away with the buttons above."""

    fields = readonly_fields = ["name", "normalised"]
    model = LeverAlias
    extra = 0
    can_delete = False
    verbose_name_plural = "other names"

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class TermNamesInline(NamesInline):
    fields = readonly_fields = ["word", "built_in"]
    model = TermAlias


class StandingFilter(admin.SimpleListFilter):
    """In use, archived, or merged."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("use", "in use"), ("archived", "archived"), ("merged", "merged into another")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        wanted = {
            "use": Q(archived_at__isnull=True),
            "archived": Q(archived_at__isnull=False, merged_into__isnull=True),
            "merged": Q(merged_into__isnull=False),
        }
        return queryset.filter(wanted[self.value()]) if self.value() in wanted else queryset


class ArchivedFilter(admin.SimpleListFilter):
    """In use or archived."""

    title = "standing"
    parameter_name = "standing"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("use", "in use"), ("archived", "archived")]

    def queryset(self, request: HttpRequest, queryset: QuerySet) -> QuerySet:
        return (
            queryset.filter(archived_at__isnull=self.value() == "use")
            if self.value() in ("use", "archived")
            else queryset
        )


class LeverForm(ServiceForm):
    aliases = _Lines(label="Other names", required=False, max_length=20_000, help_text="Other names, one per line.")

    class Meta:
        model = Lever
        fields = ["name", "slug", "description", "parent"]
        help_texts = {
            "slug": "Made from the name when left empty; it never changes.",
            "parent": "DEAD rows of the levers above count for this one too.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "slug" in self.fields:
            self.fields["slug"].required = False
        if "parent" in self.fields:
            self.fields["parent"].queryset = Lever.objects.filter(archived_at__isnull=True).exclude(pk=self.instance.pk)

    def call(self) -> Lever:
        """Run the service with the form's values."""
        data = self.cleaned_data
        parent = data["parent"].slug if data.get("parent") else ""
        values = {"name": data.get("name", ""), "description": data.get("description", ""), "parent": parent}
        if self.instance.pk:
            return edit_lever(self.actor, Lever.objects.get(pk=self.instance.pk).slug, **values)
        return create_lever(self.actor, slug=data.get("slug", ""), aliases=data.get("aliases", []), **values)


@admin.register(Lever)
class LeverAdmin(ServiceAdmin):
    form = LeverForm
    list_display = ["name", "slug", "parent", "names", "live_rows", "merged_into", "archived_at"]
    list_select_related = ["parent", "merged_into"]
    list_filter = [StandingFilter, ("parent", admin.RelatedOnlyFieldListFilter)]
    search_fields = ["name", "slug", "aliases__name", "aliases__normalised"]
    search_help_text = "Any of its names."
    inlines = [NamesInline]
    object_actions = LEVER_ACTIONS

    def may_edit(self, actor: Actor) -> bool:
        return may_edit_levers(actor)

    def has_change_permission(self, request: HttpRequest, obj: Lever | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.merged_into_id is None)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Lever]:
        live = Q(revisions__head_of__isnull=False, revisions__head_of__archived_at__isnull=True)
        levers = super().get_queryset(request).prefetch_related("aliases")
        return levers.annotate(row_count=Count("revisions", filter=live, distinct=True))

    def get_readonly_fields(self, request: HttpRequest, obj: Lever | None = None) -> list[str]:
        return ["slug", "merged_into", "archived_at"] if obj else []

    def get_fields(self, request: HttpRequest, obj: Lever | None = None) -> list[str]:
        own = ["name", "slug", "description", "parent"]
        return [*own, "merged_into", "archived_at"] if obj else [*own, "aliases"]

    @admin.display(description="other names")
    def names(self, lever: Lever) -> str:
        names = [alias.name for alias in other_names(lever)]
        more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        return ", ".join(names[:MAX_NAMES]) + more

    @admin.display(description="live rows", ordering="row_count")
    def live_rows(self, lever: Lever) -> int:
        return lever.row_count


class TermForm(ServiceForm):
    aliases = _Lines(
        label="Also written", required=False, max_length=4000, help_text="Other ways to write it, one per line."
    )

    class Meta:
        model = Term
        fields = ["kind", "word", "note"]
        help_texts = {
            "kind": "An added cause class blocks in full: the rules know no milder reading of it.",
            "word": "As contents write it: sm_120, fp6, register_pressure. It never changes.",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "kind" in self.fields:
            kinds = [(kind, label) for kind, label in Term.Kind.choices if kind in OPEN]
            self.fields["kind"].choices = [("", "Pick a kind"), *kinds]

    def call(self) -> Term:
        """Run the service with the form's values."""
        if self.instance.pk:
            return edit_term(self.actor, self.instance.pk, note=self.cleaned_data.get("note", ""))
        return add_term(self.actor, **self.cleaned_data)


@admin.register(Term)
class TermAdmin(ServiceAdmin):
    form = TermForm
    list_display = ["word", "kind", "names", "note", "built_in", "archived_at"]
    list_filter = ["kind", "built_in", ArchivedFilter]
    search_fields = ["word", "aliases__word", "note"]
    search_help_text = "A word, another way to write it, or words of its note."
    inlines = [TermNamesInline]
    object_actions = TERM_ACTIONS
    why_read_only = (
        "Built-in terms are part of the program and rules depend on what they mean; other names can be added to them. "
        + " ".join(CLOSED_WHY.values())
    )

    def may_edit(self, actor: Actor) -> bool:
        return may_edit_levers(actor)

    def has_change_permission(self, request: HttpRequest, obj: Term | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or not obj.built_in)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Term]:
        return super().get_queryset(request).prefetch_related("aliases")

    def get_readonly_fields(self, request: HttpRequest, obj: Term | None = None) -> list[str]:
        return ["kind", "word", "built_in", "archived_at"] if obj else []

    def get_fields(self, request: HttpRequest, obj: Term | None = None) -> list[str]:
        return ["kind", "word", "note", "built_in", "archived_at"] if obj else ["kind", "word", "note", "aliases"]

    @admin.display(description="also written")
    def names(self, term: Term) -> str:
        return ", ".join(alias.word for alias in term.aliases.all())


@admin.register(EvidenceRow)
class EvidenceRowAdmin(ReadOnlyAdmin):
    list_display = ["code", "verdict", "title", "lever", "blocking", "archived_at"]
    list_select_related = ["head__lever"]
    list_filter = ["head__verdict", ("head__blocking", NamedValues), ArchivedFilter]
    search_fields = ["code", "head__title", "head__lever__name"]
    fields = readonly_fields = ["code", "verdict", "title", "lever", "blocking", "head", "archived_at"]
    object_actions = ROW_ACTIONS
    why_read_only = PROPOSED

    @admin.display(ordering="head__verdict")
    def verdict(self, row: EvidenceRow) -> str:
        return row.head.verdict if row.head else ""

    @admin.display(ordering="head__title")
    def title(self, row: EvidenceRow) -> str:
        return row.head.title if row.head else ""

    @admin.display(ordering="head__lever__name")
    def lever(self, row: EvidenceRow) -> str:
        return row.head.lever.name if row.head else ""

    @admin.display(ordering="head__blocking", description="blocks")
    def blocking(self, row: EvidenceRow) -> str:
        return row.head.blocking if row.head else ""


@admin.register(EvidenceRevision)
class EvidenceRevisionAdmin(ReadOnlyAdmin):
    list_display = ["row", "number", "verdict", "title", "cause_class", "blocking", "author", "created_at"]
    list_filter = ["verdict", ("blocking", NamedValues), ("cause_class", NamedValues)]
    list_select_related = ["row", "author"]
    search_fields = ["row__code", "title", "content_hash"]
    date_hierarchy = "created_at"
    why_read_only = PROPOSED


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    list_display = ["id", "row", "kind", "state", "origin", "author", "created_at"]
    list_filter = ["state", "kind", "origin"]
    list_select_related = ["row", "author"]
    search_fields = ["row__code", "reason", "author__username"]
    why_read_only = "Proposals are decided on their pages, where base, head and proposal stand side by side."

    def object_links(self, actor: Actor, obj: Proposal) -> list[tuple[str, str]]:
        is_open = obj.state == Proposal.State.OPEN and may_curate(actor)
        return [("Accept or reject on its page", obj.get_absolute_url())] if is_open else []


@admin.register(ProposalDecision)
class ProposalDecisionAdmin(ReadOnlyAdmin):
    list_display = ["proposal", "user", "decision", "at"]
    list_filter = ["decision"]
    list_select_related = ["proposal", "user"]
    search_fields = ["proposal__row__code", "user__username"]
    why_read_only = DECIDED


@admin.register(RunReceipt)
class RunReceiptAdmin(ReadOnlyAdmin):
    list_display = ["run_id", "row", "judgement", "grade", "created_at"]
    list_filter = [("judgement", NamedValues), ("grade", NamedValues)]
    list_select_related = ["row"]
    search_fields = ["run_id", "row__code"]
    why_read_only = "A judged run wrote it."


@admin.register(Supersession)
class SupersessionAdmin(ReadOnlyAdmin):
    list_display = ["newer", "kind", "older", "author", "created_at"]
    list_filter = ["kind"]
    list_select_related = ["newer", "older", "author"]
    search_fields = ["newer__code", "older__code", "reason"]
    why_read_only = DECIDED


@admin.register(Flag)
class FlagAdmin(ReadOnlyAdmin):
    list_display = ["row", "reason", "raised_by", "raised_at", "confirmed_at", "cleared_at"]
    list_filter = [("confirmed_at", admin.EmptyFieldListFilter), ("cleared_at", admin.EmptyFieldListFilter)]
    list_select_related = ["row", "raised_by"]
    search_fields = ["row__code", "reason", "raised_by__username"]
    object_actions = FLAG_ACTIONS
    why_read_only = "A flag is raised on a row's page; curators confirm or clear it with the buttons."


@admin.register(ExperimentEntry)
class ExperimentEntryAdmin(ReadOnlyAdmin):
    list_display = ["on", "env", "verdict", "why", "lever", "corrects"]
    list_filter = ["verdict", "env"]
    list_select_related = ["lever", "corrects"]
    search_fields = ["why", "env", "commit", "lever__name"]
    date_hierarchy = "on"
    why_read_only = "The history is append-only; a correction is a new line that names the earlier one."


@admin.register(ImportJob)
class ImportJobAdmin(ReadOnlyAdmin):
    list_display = ["name", "state", "format", "size", "author", "created_at"]
    list_filter = ["state", ("format", NamedValues)]
    list_select_related = ["author"]
    search_fields = ["name", "source"]
    why_read_only = "Imports are made, mapped and cancelled on the import pages."


@admin.register(ImportMapping)
class ImportMappingAdmin(ReadOnlyAdmin):
    why_read_only = "A mapping is saved with the import that used it."


@admin.register(CodeSeries)
class CodeSeriesAdmin(ReadOnlyAdmin):
    list_display = ["prefix", "last"]
    why_read_only = "Codes are issued by the server and never again."


@admin.register(ProposalClaim)
class ProposalClaimAdmin(ReadOnlyAdmin):
    list_display = ["proposal", "user", "until"]
    list_select_related = ["proposal", "user"]


@admin.register(RowBounds)
class RowBoundsAdmin(ReadOnlyAdmin):
    list_display = ["row", "baseline", "driver", "snapshot", "set_by", "set_at"]
    list_select_related = ["row", "snapshot", "set_by"]


@admin.register(RowSubscription)
class RowSubscriptionAdmin(ReadOnlyAdmin):
    list_display = ["row", "user", "seen_at"]
    list_select_related = ["row", "user"]
