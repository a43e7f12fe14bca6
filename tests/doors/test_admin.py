"""The admin: guarded models are read, users are managed by administrators, its sign-in is watched like the other."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import Group
from django.urls import reverse

from tests import factories as f
from v2kb.core.models import Activity, User

pytestmark = pytest.mark.django_db

# What has a form here, and why that is no way around a service.
WRITABLE = {
    "core.User": "users are managed here; each change leaves an activity line",
    "evidence.Lever": "its form calls the services on levers",
    "evidence.Term": "its form calls the services on terms",
    "axes.AccessAttempt": "deleting one lets a locked-out user try again; no domain data",
    "axes.AccessFailureLog": "a log of the sign-in guard; no domain data",
    "axes.AccessLog": "a log of the sign-in guard; no domain data",
}
OURS = ("kernels", "evidence", "references")
READ_ONLY = sorted(
    (m._meta.label for m in admin.site._registry if m._meta.label not in WRITABLE), key=lambda label: label.lower()
)


def url(model, page, *args):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


@pytest.fixture
def everyman(client):
    """A client of a superuser on the staff who has every role."""
    user = User.objects.create_user("allof", password=f.PASSWORD, is_staff=True, is_superuser=True)
    user.groups.set(Group.objects.all())
    client.force_login(user)
    return client


def test_every_model_of_kernels_is_shown_and_neither_roles_nor_tokens_have_a_form():
    shown = {model._meta.label for model in admin.site._registry}
    assert {model._meta.label for model in apps.get_app_config("kernels").get_models()} <= shown
    assert "core.Activity" in shown
    assert shown.isdisjoint({"auth.Group", "knox.AuthToken", "sessions.Session"})
    assert {label.split(".")[0] for label in shown} <= {*OURS, "core", "axes"}


@pytest.mark.parametrize("label", READ_ONLY)
def test_nobody_adds_changes_or_deletes(world, document, everyman, label):
    model = apps.get_model(label)
    listing = everyman.get(url(model, "changelist"))
    assert listing.status_code == 200
    assert b"delete_selected" not in listing.content
    assert everyman.get(url(model, "add")).status_code == 403
    assert everyman.post(url(model, "add"), {}).status_code == 403
    rows = list(model.objects.order_by("pk").values())
    if label.startswith("kernels."):
        assert rows, f"the world of this test has no {label}"
    for row in rows[:1]:
        assert everyman.get(url(model, "change", row["id"])).status_code == 200
        data = {name: str(value) for name, value in row.items()}
        assert everyman.post(url(model, "change", row["id"]), data).status_code == 403
        assert everyman.post(url(model, "delete", row["id"]), {"post": "yes"}).status_code == 403
    ids = [row["id"] for row in rows]
    everyman.post(url(model, "changelist"), {"action": "delete_selected", "_selected_action": ids, "post": "yes"})
    assert list(model.objects.order_by("pk").values()) == rows


def test_secrets_are_not_shown(world, everyman):
    job = everyman.get(url(apps.get_model("kernels.Run"), "change", world.run.pk)).content.decode()
    assert world.run.job["seed_secret"] not in job
    attempt = world.run.attempt_rows.get()
    page = everyman.get(url(apps.get_model("kernels.RunAttempt"), "change", attempt.pk)).content.decode()
    assert attempt.key_hash not in page


def test_what_somebody_drafts_is_not_shown(world, everyman):
    model = apps.get_model("kernels.SpecDraft")
    draft = model.objects.first()
    model.objects.filter(pk=draft.pk).update(content={**draft.content, "summary": "half a thought"})
    for page in (url(model, "changelist"), url(model, "change", draft.pk)):
        shown = everyman.get(page).content.decode()
        assert draft.user.username in shown
        assert "half a thought" not in shown


def test_the_admin_is_for_staff(client, make_user):
    client.force_login(make_user("ann", "administrator", "designer"))
    assert client.get(reverse("admin:index")).status_code == 302
    assert client.get(reverse("admin:kernels_op_changelist")).status_code == 302


@pytest.fixture
def administrator(client, make_user):
    user = make_user("ada", "administrator", is_staff=True)
    client.force_login(user)
    return client


def form_of(user, **changes):
    fields = {
        "username": user.username, "first_name": user.first_name, "last_name": user.last_name, "email": user.email,
        "engine_name": user.engine_name, "time_zone": user.time_zone, "is_active": "on" if user.is_active else "",
        "is_staff": "on" if user.is_staff else "", "groups": [group.pk for group in user.groups.all()],
    }  # fmt: skip
    return {name: value for name, value in {**fields, **changes}.items() if value not in ("", None)}


def test_an_administrator_gives_roles_and_the_log_says_so(administrator, make_user):
    bob = make_user("bob", "viewer")
    groups = [Group.objects.get(name="designer").pk]
    answer = administrator.post(url(User, "change", bob.pk), form_of(bob, groups=groups, is_superuser="on"))
    assert answer.status_code == 302, answer.content.decode()[:3000]
    bob.refresh_from_db()
    assert [group.name for group in bob.groups.all()] == ["designer"]
    assert not bob.is_superuser
    line = Activity.objects.latest("id")
    assert (line.verb, line.channel, line.user.username) == ("core.edit_user", "admin", "ada")
    assert (line.before["roles"], line.after["roles"]) == (["viewer"], ["designer"])


@pytest.mark.parametrize("lost", ["role", "is_active", "is_staff"])
def test_the_last_administrator_keeps_role_and_standing(administrator, lost):
    boss = User.objects.get(username="ada")
    data = form_of(boss)
    data["is_staff"] = "on"
    data["groups"] = [] if lost == "role" else [Group.objects.get(name="administrator").pk]
    data.pop(lost, None)
    page = administrator.post(url(User, "change", boss.pk), data)
    assert "ada is the only administrator who can sign in here. Make another active user" in page.text
    boss.refresh_from_db()
    assert (boss.is_active, boss.is_staff, boss.groups.filter(name="administrator").exists()) == (True, True, True)
    second = User.objects.create_user("second", password=f.PASSWORD, is_staff=True)
    second.groups.add(Group.objects.get(name="administrator"))
    assert administrator.post(url(User, "change", boss.pk), data).status_code == 302
    assert not User.objects.filter(pk=boss.pk, is_active=True, is_staff=True, groups__name="administrator").exists()


def test_the_list_of_users_shows_and_filters_roles(administrator, make_user):
    make_user("dora", "designer", "validator")
    page = administrator.get(url(User, "changelist")).text
    assert "designer, validator" in page
    assert "By role" in page
    designers = Group.objects.get(name="designer").pk
    page = administrator.get(url(User, "changelist"), {"groups__id__exact": designers}).text
    assert ("dora" in page, "1 user" in page) == (True, True)


def test_a_message_with_a_link_is_whole_on_the_next_page_of_the_site(administrator, make_user):
    user = make_user("dora")
    assert administrator.post(url(User, "change", user.pk), form_of(user)).status_code == 302
    page = administrator.get("/evidence/").text
    assert 'data-announce="The user “dora” was changed successfully."' in page
    assert '<a href="' in page.split("data-announce=")[1].split("</li>")[0]


def test_an_administrator_makes_a_user_with_a_one_time_password(administrator):
    data = {
        "username": "new",
        "password1": "a-long-phrase-9",
        "password2": "a-long-phrase-9",
        "usable_password": "true",
    }
    answer = administrator.post(url(User, "add"), {**data, "groups": [Group.objects.get(name="viewer").pk]})
    assert answer.status_code == 302, answer.content.decode()[:3000]
    user = User.objects.get(username="new")
    assert user.must_change_password
    assert user.check_password("a-long-phrase-9")
    assert Activity.objects.latest("id").summary == "user new made"


def test_an_issued_password_is_for_one_sign_in(administrator, make_user):
    bob = make_user("bob", "viewer")
    data = {
        "password1": "another-phrase-7",
        "password2": "another-phrase-7",
        "usable_password": "true",
        "set-password": "1",
    }
    assert administrator.post(reverse("admin:auth_user_password_change", args=[bob.pk]), data).status_code == 302
    bob.refresh_from_db()
    assert bob.must_change_password
    assert bob.check_password("another-phrase-7")
    assert Activity.objects.latest("id").verb == "core.issue_password"


def test_an_issued_password_is_not_taken_as_ones_own(client, make_user):
    bob = make_user("bob", "viewer")
    User.objects.filter(pk=bob.pk).update(must_change_password=True)
    client.force_login(bob)
    old = "pass-bob-phrase"
    same = {"old_password": old, "new_password1": old, "new_password2": old}
    page = client.post(reverse("password_change"), same)
    assert b"Choose another password than the old one." in page.content
    bob.refresh_from_db()
    assert bob.must_change_password
    own = {**same, "new_password1": "my-own-phrase-4", "new_password2": "my-own-phrase-4"}
    assert client.post(reverse("password_change"), own).status_code == 302
    bob.refresh_from_db()
    assert not bob.must_change_password


def test_no_cache_between_keeps_what_one_user_sees(client, make_user):
    client.force_login(make_user("bob", "viewer"))
    for address in ("/", "/api/v1/me/", "/health/", "/nothing/"):
        assert client.get(address)["Cache-Control"] == "private, no-cache", address
    assert "no-store" in client.get(reverse("login"))["Cache-Control"]


def test_nobody_deletes_a_user(administrator, make_user):
    bob = make_user("bob")
    assert administrator.post(url(User, "delete", bob.pk), {"post": "yes"}).status_code == 403
    assert User.objects.filter(pk=bob.pk).exists()


def test_a_superuser_without_the_role_manages_nobody(client, roleless, make_user):
    bob = make_user("bob")
    client.force_login(roleless.user)
    assert client.get(url(User, "changelist")).status_code == 403
    for page in (
        url(User, "change", bob.pk),
        url(User, "add"),
        reverse("admin:auth_user_password_change", args=[bob.pk]),
    ):
        assert client.post(page, form_of(bob, is_staff="on")).status_code == 403
    bob.refresh_from_db()
    assert not bob.is_staff
    assert not Activity.objects.exists()


def test_too_many_wrong_passwords_lock_the_admins_door_too(client, make_user):
    make_user("ada", "administrator", is_staff=True)
    door = reverse("admin:login")
    codes = [client.post(door, {"username": "ada", "password": f"wrong {n}"}).status_code for n in range(9)]
    assert codes[0] == 200
    assert codes[-1] == 429
    assert client.post(door, {"username": "ada", "password": "pass-ada-phrase"}).status_code == 429
    assert client.post(reverse("login"), {"username": "ada", "password": "pass-ada-phrase"}).status_code == 429
    assert client.get(reverse("admin:index")).status_code == 302


@pytest.mark.parametrize("name", ["admin:index", "admin:kernels_op_changelist"])
def test_a_one_time_password_opens_no_page_of_the_admin(client, make_user, name):
    client.force_login(make_user("ada", "administrator", is_staff=True, must_change_password=True))
    answer = client.get(reverse(name))
    assert (answer.status_code, answer["Location"]) == (302, reverse("password_change"))


def test_a_one_time_password_opens_no_rest_either(client, make_user):
    client.force_login(make_user("ada", "designer", must_change_password=True))
    answer = client.get("/api/v1/")
    assert (answer.status_code, answer.json()["code"]) == (403, "core.one_time_password")
