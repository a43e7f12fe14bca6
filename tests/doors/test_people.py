"""Users in the admin: curators see them and give working roles, administrators manage them."""

import re

import pytest
from django.contrib.auth.models import Group
from django.urls import reverse

from v2kb.core.models import Activity, User

pytestmark = pytest.mark.django_db

LIST = reverse("admin:core_user_changelist")


def page(user: User, name: str = "change") -> str:
    return reverse(f"admin:core_user_{name}", args=[user.pk])


def button(user: User) -> str:
    return reverse("admin:core_user_do", args=[user.pk, "roles"])


def ticked(html: str) -> set[str]:
    """The roles that a page with the form shows ticked."""
    boxes = re.findall(r'<input type="checkbox" name="roles"[^>]*>', html)
    return {re.search(r'value="(\w+)"', box)[1] for box in boxes if " checked" in box}


def roles_of(user: User) -> set[str]:
    return set(user.groups.values_list("name", flat=True))


def test_a_curator_sees_users_and_changes_nothing_but_roles(staff, make_user):
    client = staff("curator")
    bob = make_user("bob", "viewer", "reviewer_performance", email="bob@example.org")
    shown = client.get(LIST).text
    assert ("bob" in shown, "Add user" in shown) == (True, False)
    shown = client.get(page(bob)).text
    assert "reviewer_performance, viewer" in shown
    assert button(bob) in shown
    assert "Administrators manage users here." in shown
    assert not any(secret in shown for secret in (bob.password, "algorithm", bob.email, 'name="_save"'))
    data = {"username": "rob", "is_active": "on", "is_staff": "on", "groups": [Group.objects.get(name="curator").pk]}
    assert client.post(page(bob), data).status_code == 403
    assert client.get(reverse("admin:core_user_add")).status_code == 403
    assert client.post(reverse("admin:core_user_add"), {"username": "new"}).status_code == 403
    password = reverse("admin:auth_user_password_change", args=[bob.pk])
    assert client.get(password).status_code == 403
    assert client.post(password, {"password1": "a-phrase-9-x", "password2": "a-phrase-9-x"}).status_code == 403
    assert client.post(page(bob, "delete"), {"post": "yes"}).status_code == 403
    before = bob.password
    bob.refresh_from_db()
    assert (bob.username, bob.is_staff, bob.password == before) == ("bob", False, True)
    assert not Activity.objects.exists()


def test_a_curator_gives_working_roles_and_the_others_stay(staff, make_user):
    client = staff("curator")
    bob = make_user("bob", "viewer", "reviewer_performance")
    shown = client.get(button(bob)).text
    assert "Give and take roles of bob" in shown
    assert all(f'value="{role}"' in shown for role in ("viewer", "designer", "implementer", "validator"))
    assert 'value="curator"' not in shown
    assert ticked(shown) == {"viewer"}
    sent = client.post(button(bob), {"roles": ["designer", "validator"], "reason": "joins the team"}, follow=True)
    assert "The roles of bob are changed." in sent.text
    assert roles_of(bob) == {"designer", "validator", "reviewer_performance"}
    line = Activity.objects.latest("id")
    assert (line.verb, line.channel, line.object_id) == ("core.change_roles", "admin", str(bob.pk))
    assert line.before["roles"] == ["reviewer_performance", "viewer"]
    assert line.after["roles"] == ["designer", "reviewer_performance", "validator"]
    assert "designer given, validator given, viewer taken: joins the team" in line.summary
    for data, said in (
        ({"roles": ["designer", "validator"], "reason": "again"}, "bob has these roles already."),
        ({"roles": ["viewer"], "reason": " "}, "This field is required."),
        ({"roles": ["curator"], "reason": "a second one"}, "curator is not one of the available choices"),
    ):
        refused = client.post(button(bob), data)
        assert (refused.status_code, said in refused.text) == (422, True), refused.text
        assert data["reason"].strip() in refused.text
        assert ticked(refused.text) == {*data["roles"]} - {"curator"}
    assert roles_of(bob) == {"designer", "validator", "reviewer_performance"}


@pytest.mark.parametrize(
    "roles", [(), ("viewer",), ("designer", "validator"), ("operator",), ("reviewer_correctness",)]
)
def test_who_may_not_change_roles_in_the_admin(staff, make_user, roles):
    bob = make_user("bob", "viewer")
    client = staff(*roles)
    for address in (LIST, page(bob), button(bob)):
        assert client.get(address).status_code in (302, 403, 404)
    assert client.post(button(bob), {"roles": ["designer"], "reason": "x"}).status_code in (302, 403, 404)
    assert roles_of(bob) == {"viewer"}


def test_a_curator_changes_neither_their_own_roles_nor_those_of_an_administrator(staff, make_user):
    client = staff("curator")
    for user in (User.objects.get(username="staff-curator"), make_user("ada", "administrator", "viewer")):
        before = roles_of(user)
        assert button(user) not in client.get(page(user)).text
        assert client.post(button(user), {"roles": ["designer"], "reason": "x"}).status_code == 422
        assert client.post(button(user), {"roles": [], "reason": "x"}).status_code == 422
        assert roles_of(user) == before
    client.force_login(make_user("cleo", "curator"))
    assert client.get(LIST).status_code == 302  # no staff


def test_an_administrator_gives_any_role_with_the_button_too(staff, make_user):
    client, bob = staff("administrator"), make_user("bob", "viewer")
    assert button(bob) in client.get(page(bob)).text
    assert ticked(client.get(button(bob)).text) == {"viewer"}
    assert client.post(button(bob), {"roles": ["curator", "operator"], "reason": "new duty"}).status_code == 302
    assert roles_of(bob) == {"curator", "operator"}
    own = User.objects.get(username="staff-administrator")
    refused = client.post(button(own), {"roles": ["viewer"], "reason": "I leave"})
    assert refused.status_code == 422
    assert "is the only administrator who can sign in here. Make another active user" in refused.text
    assert roles_of(own) == {"administrator"}


def test_the_history_of_a_user_is_their_activity(staff, make_user):
    client, bob = staff("curator"), make_user("bob", "viewer")
    client.post(button(bob), {"roles": ["designer"], "reason": "joins"})
    assert "designer given" in client.get(page(bob, "history"), follow=True).text


def test_a_user_who_is_no_longer_there_is_not_found(staff):
    client = staff("curator")
    address = reverse("admin:core_user_do", args=[10**6, "roles"])
    assert client.post(address, {"roles": ["viewer"], "reason": "x"}).status_code == 404
