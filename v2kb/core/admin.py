"""Admin: administrators manage users, curators their working roles; activity is read; nothing else has a form."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from knox.models import AuthToken

from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.guarded_admin import DOOR, ActionForm, ObjectAction, ReadOnlyAdmin
from v2kb.core.models import Activity, User
from v2kb.core.policies import has_role, roles_to_give
from v2kb.core.roles import ROLES, WORKING_ROLES
from v2kb.core.services import (
    MAX_REASON_CHARS,
    change_roles,
    note_password_issued,
    note_user_edit,
    refuse_last_administrator,
    user_facts,
)

# A group is a role, and a token speaks for its user: both change through services only.
admin.site.unregister(Group)
admin.site.unregister(AuthToken)


@admin.register(Activity)
class ActivityAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor_name", "summary", "object_label", "verb", "channel"]
    list_filter = ["channel", "actor_kind", "object_type"]
    search_fields = ["actor_name", "object_label", "summary", "request_id"]
    date_hierarchy = "at"
    why_read_only = "Each change leaves a line here; the lines are chained by their hashes and never change."

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """An object's page links to the lines about it."""
        return lookup in ("object_type", "object_id") or super().lookup_allowed(lookup, value, request)


READ_FIELDSETS = [
    (None, {"fields": ["username", "first_name", "last_name", "engine_name", "time_zone"]}),
    ("Roles", {"fields": ["is_active", "is_staff", "roles"], "description": "Inactive users can't sign in."}),
    ("Dates", {"fields": ["last_login", "date_joined"]}),
]


class RoleFilter(admin.RelatedFieldListFilter):
    """Groups by the name that people know them by."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = "role"


class PeopleForm(UserChangeForm):
    """Refuses at its field what would leave the site without an administrator."""

    def clean(self) -> dict[str, Any]:
        data = super().clean()
        if self.errors or "groups" not in data:
            return data
        before = user_facts(User.objects.get(pk=self.instance.pk))
        roles = [group.name for group in data["groups"]]
        try:
            refuse_last_administrator(
                self.instance, before, {"active": data["is_active"], "staff": data["is_staff"], "roles": roles}
            )
        except Refusal as refusal:
            self.add_error("groups", ValidationError(f"{refusal.message} {refusal.fix}", code=refusal.code))
        return data


class RolesForm(ActionForm):
    """The roles that this actor may give, those that the user has ticked; and why."""

    roles = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    reason = forms.CharField(max_length=MAX_REASON_CHARS, widget=forms.Textarea({"rows": 3}), help_text="It is kept.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        offered = roles_to_give(self.actor, self.obj)
        has = set(self.obj.groups.values_list("name", flat=True))
        self.fields["roles"].choices = [(role, f"{role}: {ROLES[role]}") for role in offered]
        self.fields["roles"].initial = [role for role in offered if role in has]
        self.others = has.difference(offered)

    def clean(self) -> dict[str, Any]:
        """Roles that are not offered stay."""
        data = super().clean()
        return data | {"roles": [*data.get("roles", []), *self.others]}


ROLES_ACTION = ObjectAction(
    "roles",
    "Roles",
    "Give and take roles of {}",
    "The user has the ticked roles from now on, and keeps those that are not listed. Administrators change every role; "
    f"curators only {', '.join(WORKING_ROLES)}, and neither their own nor those of administrators.",
    "The roles of {} are changed.",
    lambda actor, user, data: change_roles(actor, user.username, data["roles"], data["reason"]),
    lambda actor, user: bool(roles_to_give(actor, user)),
    RolesForm,
)


@admin.register(User)
class PeopleAdmin(ReadOnlyAdmin, UserAdmin):
    """Users and their roles. Administrators manage them, curators see them and give working roles with the button;
    being a superuser is not enough, and gives nothing here.
    """

    form = PeopleForm
    list_display = ["username", "first_name", "last_name", "engine_name", "roles", "is_active", "is_staff"]
    list_filter = ["is_active", "is_staff", ("groups", RoleFilter)]
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    object_actions = (ROLES_ACTION,)
    why_read_only = (
        f"Administrators manage users here. Curators give and take the roles {', '.join(WORKING_ROLES)} with the "
        "button on a user's page. Nobody deletes a user: what they did stays under the name."
    )
    fieldsets = [
        (None, {"fields": ["username", "password", "must_change_password"]}),
        ("About", {"fields": ["first_name", "last_name", "email", "engine_name", "time_zone"]}),
        ("Roles", {"fields": ["is_active", "is_staff", "groups"], "description": "Inactive users can't sign in."}),
        ("Dates", {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (None, {"fields": ["username", "usable_password", "password1", "password2"]}),
        ("About", {"fields": ["first_name", "last_name", "engine_name"]}),
        ("Roles", {"fields": ["is_staff", "groups"]}),
    ]

    def _is_staff_with(self, request: HttpRequest, *roles: str) -> bool:
        return super().has_view_permission(request) and has_role(actor_from_request(request, DOOR), *roles)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._is_staff_with(request, "administrator", "curator")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._is_staff_with(request, "administrator")

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self.has_add_permission(request)

    def get_fieldsets(self, request: HttpRequest, obj: User | None = None) -> list:
        """Who only reads sees roles by their names, and nothing of the password."""
        if self.has_change_permission(request, obj):
            return super().get_fieldsets(request, obj)
        return READ_FIELDSETS

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> list[str]:
        return [*super().get_readonly_fields(request, obj), "roles"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description="roles")
    def roles(self, user: User) -> str:
        return ", ".join(sorted(group.name for group in user.groups.all())) or "none"

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> forms.Field:
        """There are nine roles: one box each."""
        return super().formfield_for_manytomany(
            db_field, request, **{**kwargs, "widget": forms.CheckboxSelectMultiple, "help_text": ""}
        )

    def get_form(self, request: HttpRequest, obj: User | None = None, **kwargs: Any) -> type[forms.ModelForm]:
        form = super().get_form(request, obj, **kwargs)
        if "groups" in form.base_fields:
            form.base_fields["groups"].label = "Roles"
        return form

    def save_model(self, request: HttpRequest, obj: User, form: forms.Form, change: bool) -> None:
        """Remember what the user was; the password of a new user is good for one sign-in."""
        form.before = user_facts(User.objects.get(pk=obj.pk)) if change else None
        if not change:
            obj.must_change_password = True
        super().save_model(request, obj, form, change)

    def save_related(self, request: HttpRequest, form: forms.Form, formsets: Any, change: bool) -> None:
        """The view's transaction ends with the activity line, or not at all."""
        super().save_related(request, form, formsets, change)
        note_user_edit(actor_from_request(request, DOOR), user=form.instance, before=form.before)

    @transaction.atomic
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> Any:
        return super().user_change_password(request, id, form_url)

    def log_change(self, request: HttpRequest, obj: User, message: Any) -> Any:
        """The page that sets a password alone ends here; what it sets for others is good for one sign-in."""
        if request.resolver_match.url_name == "auth_user_password_change":
            note_password_issued(actor_from_request(request, DOOR), user=obj)
        return super().log_change(request, obj, message)
