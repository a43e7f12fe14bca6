"""The admin's base classes: data is read there, and changes through buttons and forms that call the services."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.text import capfirst

from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.errors import Refusal

DOOR = "admin"


@dataclass(frozen=True)
class ObjectAction:
    """A button on an object's page: it leads to a page that says what happens and asks, which calls a service.

    `call` gets the actor, the object and the form's values; `form` gets `obj` and `actor`. `shown` says
    whether this actor sees the button on this object; the service asks again. `{}` in `ask` and `done` is the object.
    `effects` tells what it does to other things: {"title", "url", "effect", "sentences"} each.
    """

    name: str
    label: str
    ask: str
    says: str
    done: str
    call: Callable[[Actor, Any, dict[str, Any]], Any]
    shown: Callable[[Actor, Any], bool]
    form: type["ActionForm"] | None = None
    destroys: bool = False
    effects: Callable[[Any], list[dict[str, Any]]] | None = None


class ActionForm(forms.Form):
    """What an action needs to know. `obj` is what it is about, `actor` who fills it in."""

    def __init__(self, *args: Any, obj: models.Model, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.obj, self.actor = obj, actor

    def refuse(self, refusal: Refusal) -> None:
        """Put a refusal at its field."""
        field = refusal.field if refusal.field in self.fields else None
        self.add_error(field, ValidationError(f"{refusal.message} {refusal.fix or ''}".strip(), code=refusal.code))


class ReasonForm(ActionForm):
    """A reason that must be given."""

    reason = forms.CharField(max_length=4000, widget=forms.Textarea({"rows": 3}), help_text="It is kept and shown.")


class NamedValues(admin.AllValuesFieldListFilter):
    """The values of a column as a filter; an empty one is called none."""

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        """The links, each with words."""
        for choice in super().choices(changelist):
            yield choice | {"display": choice["display"] or "none"}


class ReadOnlyAdmin(admin.ModelAdmin):
    """Lists and shows to staff; nobody adds, changes or deletes here, superusers neither.

    `why_read_only` is said on its pages. `object_actions` are the buttons on an object's page.
    """

    change_form_template = "admin/guarded_change_form.html"
    change_list_template = "admin/guarded_change_list.html"
    list_per_page = 50
    why_read_only = ""
    object_actions: tuple[ObjectAction, ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, with why nothing can be changed here."""
        own = {
            "why_read_only": self.why_read_only,
            "title": capfirst(self.opts.verbose_name_plural),
            "list_links": self.list_links(actor_from_request(request, DOOR)),
        }
        return super().changelist_view(request, {**own, **(extra_context or {})})

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """The object's page, with the buttons of what this person may do to it."""
        obj = kwargs.get("obj")
        context |= {"why_read_only": self.why_read_only}
        if obj is not None:
            actor = actor_from_request(request, DOOR)
            context["object_actions"] = [
                {"label": action.label, "destroys": action.destroys, "url": self._url("do", obj.pk, action.name)}
                for action in self.object_actions
                if action.shown(actor, obj)
            ]
            context["object_actions"] += [{"label": label, "url": url} for label, url in self.object_links(actor, obj)]
            context["activity_url"] = activity_url(obj)
        return super().render_change_form(request, context, *args, **kwargs)

    def list_links(self, actor: Actor) -> list[tuple[str, str]]:
        """(label, address) of where the things of the list are made on the site."""
        return []

    def object_links(self, actor: Actor, obj: Any) -> list[tuple[str, str]]:
        """(label, address) of what is done to the object on the site, where more stands beside it."""
        return []

    def history_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        """What happened to the object is in the activity log."""
        obj = self.get_object(request, object_id)
        if obj is None or not self.has_view_permission(request, obj):
            raise Http404
        return redirect(activity_url(obj))

    def get_urls(self) -> list:
        """The pages of the buttons stand beside those of the admin."""
        name = f"{self.opts.app_label}_{self.opts.model_name}_do"
        own = path("<path:object_id>/do/<slug:action>/", self.admin_site.admin_view(self.do_view), name=name)
        return [own, *super().get_urls()]

    def do_view(self, request: HttpRequest, object_id: str, action: str) -> HttpResponse:
        """Say what the action does and ask; on POST call its service. A refusal stands at its field."""
        obj = self.get_object(request, object_id)
        found = next((one for one in self.object_actions if one.name == action), None)
        if obj is None or found is None or not self.has_view_permission(request, obj):
            raise Http404
        actor = actor_from_request(request, DOOR)
        form = (found.form or ActionForm)(request.POST if request.method == "POST" else None, obj=obj, actor=actor)
        back = self._url("change", obj.pk)
        if form.is_bound and form.is_valid():
            try:
                found.call(actor, obj, form.cleaned_data)
            except Refusal as refusal:
                if refusal.status == 403:
                    raise
                form.refuse(refusal)
            else:
                messages.success(request, found.done.format(obj))
                return redirect(back)
        context = {
            **self.admin_site.each_context(request),
            "title": found.ask.format(obj),
            "action": found,
            "form": form,
            "effects": found.effects(obj) if found.effects else None,
            "opts": self.opts,
            "original": obj,
            "back": back,
        }
        return TemplateResponse(request, "admin/object_action.html", context, status=422 if form.errors else 200)

    def _url(self, page: str, *args: Any) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=args)


class ServiceForm(forms.ModelForm):
    """Tries its service before anything is saved, so that refusals stand at their fields."""

    actor: Actor

    def call(self) -> models.Model:
        """Run the service with the form's values, and return what it made or changed."""
        raise NotImplementedError

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


class ServiceAdmin(ReadOnlyAdmin):
    """Adds and changes through the service of its `form`, a ServiceForm, for whom `may_edit` lets."""

    def may_edit(self, actor: Actor) -> bool:
        """Whether to show the forms; the services ask again."""
        raise NotImplementedError

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request) and self.may_edit(actor_from_request(request, DOOR))

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_add_permission(request)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> type:
        form = super().get_form(request, obj, change, **kwargs)
        form.actor = actor_from_request(request, DOOR)
        return form

    def get_inlines(self, request: HttpRequest, obj: Any) -> list:
        """Nothing hangs on what is not there yet."""
        return super().get_inlines(request, obj) if obj else []

    def save_model(self, request: HttpRequest, obj: models.Model, form: ServiceForm, change: bool) -> None:
        obj.pk = form.call().pk

    def log_addition(self, request: HttpRequest, obj: models.Model, message: Any) -> None:
        """The service left its line of activity."""

    def log_change(self, request: HttpRequest, obj: models.Model, message: Any) -> None:
        """The service left its line of activity."""


def activity_url(obj: models.Model) -> str:
    """The lines of activity about an object, in the admin."""
    query = urlencode({"object_type": obj._meta.label_lower, "object_id": str(obj.pk)})
    return f"{reverse('admin:core_activity_changelist')}?{query}"
