"""Evidence in the admin: everything can be read; levers are edited through the same services as on the site."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from evidence.models import (
    CodeSeries,
    EvidenceRevision,
    EvidenceRow,
    Flag,
    Lever,
    LeverAlias,
    Proposal,
    ProposalClaim,
    ProposalDecision,
    RowBounds,
    RowSubscription,
    RunReceipt,
    Supersession,
)
from evidence.policies import may_edit_levers
from evidence.services import create_lever, edit_lever
from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.admin import ReadOnlyAdmin
from v2kb.core.errors import Refusal


class LeverForm(forms.ModelForm):
    """Tries the service before anything is saved, so that its refusals stand at their fields."""

    actor: Actor

    class Meta:
        model = Lever
        fields = ["name", "slug", "description", "parent"]

    def call(self) -> Lever:
        """Run the service with the form's values."""
        data = self.cleaned_data
        parent = data["parent"].slug if data.get("parent") else ""
        values = {"name": data.get("name", ""), "description": data.get("description", ""), "parent": parent}
        if self.instance.pk:
            return edit_lever(self.actor, Lever.objects.get(pk=self.instance.pk).slug, **values)
        return create_lever(self.actor, slug=data.get("slug", ""), **values)

    def clean(self) -> dict[str, Any]:
        """Ask the service, and undo what it did."""
        data = super().clean()
        if self.errors:
            return data
        try:
            with transaction.atomic():
                self.call()
                transaction.set_rollback(True)
        except Refusal as refusal:
            field = refusal.field if refusal.field in self.fields else None
            self.add_error(field, ValidationError(f"{refusal.message} {refusal.fix or ''}".strip(), code=refusal.code))
        return data


class AliasInline(admin.TabularInline):
    """Aliases are added and removed on the lever's page."""

    model = LeverAlias
    fields = readonly_fields = ["name", "normalised"]
    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Lever)
class LeverAdmin(ReadOnlyAdmin):
    form = LeverForm
    list_display = ["name", "slug", "parent", "archived_at"]
    list_select_related = ["parent"]
    search_fields = ["name", "slug", "aliases__name"]
    inlines = [AliasInline]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and may_edit_levers(actor_from_request(request, "admin"))

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_add_permission(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Lever | None = None) -> list[str]:
        return ["slug"] if obj else []

    def get_form(self, request: HttpRequest, obj: Lever | None = None, change: bool = False, **kwargs: Any) -> type:
        form = super().get_form(request, obj, change, **kwargs)
        form.actor = actor_from_request(request, "admin")
        return form

    def save_model(self, request: HttpRequest, obj: Lever, form: LeverForm, change: bool) -> None:
        obj.pk = form.call().pk


@admin.register(EvidenceRow)
class EvidenceRowAdmin(ReadOnlyAdmin):
    list_display = ["code", "head", "archived_at"]
    list_select_related = ["head__row"]
    search_fields = ["code", "head__title"]


@admin.register(EvidenceRevision)
class EvidenceRevisionAdmin(ReadOnlyAdmin):
    list_display = ["row", "number", "verdict", "title", "blocking", "author", "created_at"]
    list_filter = ["verdict", "blocking"]
    list_select_related = ["row", "author"]
    search_fields = ["row__code", "title", "content_hash"]


@admin.register(Proposal)
class ProposalAdmin(ReadOnlyAdmin):
    list_display = ["id", "row", "state", "origin", "author", "created_at"]
    list_filter = ["state", "origin"]
    list_select_related = ["row", "author"]


@admin.register(ProposalDecision)
class ProposalDecisionAdmin(ReadOnlyAdmin):
    list_display = ["proposal", "user", "decision", "at"]
    list_select_related = ["proposal", "user"]


@admin.register(RunReceipt)
class RunReceiptAdmin(ReadOnlyAdmin):
    list_display = ["run_id", "row", "judgement", "grade", "created_at"]
    list_select_related = ["row"]


@admin.register(Supersession)
class SupersessionAdmin(ReadOnlyAdmin):
    list_display = ["newer", "kind", "older", "author", "created_at"]
    list_select_related = ["newer", "older", "author"]


@admin.register(Flag)
class FlagAdmin(ReadOnlyAdmin):
    list_display = ["row", "raised_by", "raised_at", "confirmed_at", "cleared_at"]
    list_select_related = ["row", "raised_by"]


@admin.register(CodeSeries)
class CodeSeriesAdmin(ReadOnlyAdmin):
    list_display = ["prefix", "last"]


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
