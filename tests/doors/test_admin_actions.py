"""The admin's forms and buttons call the services: same rights, same refusals, same activity."""

import pytest
from django.urls import reverse

from evidence.models import EvidenceRow, Flag, Lever, Proposal, Term
from evidence.services import archive_lever, create_lever, flag_row, propose_change
from evidence.services.terms import add_term
from references.models import Family, UpstreamSnapshot
from tests import factories as f
from v2kb.core.models import Activity, User

pytestmark = pytest.mark.django_db


def page(obj, name="change"):
    opts = obj._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_{name}", args=[obj.pk] if name == "change" else [])


def do(obj, action):
    opts = obj._meta
    return reverse(f"admin:{opts.app_label}_{opts.model_name}_do", args=[obj.pk, action])


def names_of(obj):
    """What the page's list of names sends along."""
    ids = list(obj.aliases.values_list("pk", flat=True))
    listed = {f"aliases-{place}-id": pk for place, pk in enumerate(ids)}
    return {"aliases-TOTAL_FORMS": len(ids), "aliases-INITIAL_FORMS": len(ids), **listed}


@pytest.fixture
def lever():
    return create_lever(f.curator(), name="Split-K", aliases=["K splitting"])


def test_a_curator_adds_and_changes_a_lever(staff):
    client = staff("curator")
    parent = create_lever(f.curator(), name="Splits")
    data = {
        "name": "Split-K",
        "slug": "",
        "description": "Cut K.",
        "parent": parent.pk,
        "aliases": "K cut\n\nslice K\n",
    }
    assert client.post(page(Lever, "add"), data).status_code == 302
    made = Lever.objects.get(slug="split-k")
    assert (made.parent, {alias.name for alias in made.aliases.all()}) == (
        parent,
        {"Split-K", "K cut", "slice K"},
    )
    changed = {"name": "Split-K", "description": "Cut K in parts.", "parent": "", **names_of(made)}
    assert client.post(page(made), changed).status_code == 302
    made.refresh_from_db()
    assert (made.parent, made.description) == (None, "Cut K in parts.")
    line = Activity.objects.latest("id")
    assert (line.verb, line.channel) == ("evidence.edit_lever", "admin")
    answer = client.post(page(Lever, "add"), {**data, "name": "splitK"})
    assert b"is a name of the lever split-k already" in answer.content
    assert Lever.objects.count() == 2


def test_names_come_and_go_by_buttons(staff, lever):
    client = staff("curator")
    shown = client.get(page(lever)).content.decode()
    for action in ("add-alias", "remove-alias", "merge", "archive"):
        assert do(lever, action) in shown
    assert do(lever, "restore") not in shown
    assert client.post(do(lever, "add-alias"), {"alias": "stream K"}).status_code == 302
    assert client.post(do(lever, "remove-alias"), {"alias": "K splitting"}).status_code == 302
    assert {alias.name for alias in lever.aliases.all()} == {"Split-K", "stream K"}
    again = client.post(do(lever, "add-alias"), {"alias": "Stream-K"})
    assert (again.status_code, b"has this name already" in again.content) == (422, True)


def test_levers_are_archived_restored_and_merged(staff, lever):
    client = staff("curator")
    asked = client.get(do(lever, "archive")).content.decode()
    assert "Archive Split-K?" in asked
    assert "Its page and names stay" in asked
    assert client.post(do(lever, "archive"), {"reason": ""}).status_code == 422
    assert client.post(do(lever, "archive"), {"reason": "unused"}).status_code == 302
    lever.refresh_from_db()
    assert lever.archived_at
    assert client.post(do(lever, "restore")).status_code == 302
    other = create_lever(f.curator(), name="Cut of K")
    done = client.post(do(lever, "merge"), {"into": other.slug, "reason": "one technique"}, follow=True)
    assert "Split-K is merged." in done.content.decode()
    lever.refresh_from_db()
    assert lever.merged_into == other
    shown = done.content.decode()
    assert not any(do(lever, action) in shown for action in ("add-alias", "merge", "archive", "restore"))
    assert client.post(page(lever), {"name": "Split-K 2"}).status_code == 403
    assert do(lever, "unmerge") in shown
    own = client.post(do(lever, "unmerge"), {"reason": "two techniques"})
    assert own.status_code == 403
    mira = f.actor("mira", "curator").user
    User.objects.filter(pk=mira.pk).update(is_staff=True)
    client.force_login(mira)
    done = client.post(do(lever, "unmerge"), {"reason": "two techniques"}, follow=True)
    assert "The merge of Split-K is undone." in done.content.decode()
    lever.refresh_from_db()
    assert (lever.merged_into, lever.archived_at) == (None, None)


def test_a_refusal_of_the_service_stands_on_the_page(staff, lever):
    client = staff("curator")
    gone = create_lever(f.curator(), name="Gone")
    archive_lever(f.curator(), "gone", reason="unused")
    answer = client.post(do(lever, "merge"), {"into": gone.slug, "reason": "twin"})
    assert answer.status_code == 422
    row = f.evidence_row(f.DEAD, lever="split-k")
    answer = client.post(do(row, "archive"), {"reason": "old"})
    assert answer.status_code == 422
    assert f"{row.code} blocks re-proposals of its lever." in answer.content.decode()
    row.refresh_from_db()
    assert row.archived_at is None


def test_terms_are_added_noted_archived_and_named(staff):
    client = staff("curator")
    data = {"kind": "arch", "word": "SM 120", "note": "", "aliases": "rtx5090"}
    assert client.post(page(Term, "add"), data).status_code == 302
    term = Term.objects.get(word="sm_120")
    assert client.post(page(term), {"note": "Consumer parts.", **names_of(term)}).status_code == 302
    assert client.post(do(term, "add-alias"), {"alias": "GB202"}).status_code == 302
    assert client.post(do(term, "remove-alias"), {"alias": "rtx5090"}).status_code == 302
    assert client.post(do(term, "archive"), {"reason": "a typo"}).status_code == 302
    term.refresh_from_db()
    assert (term.note, [alias.word for alias in term.aliases.all()]) == ("Consumer parts.", ["gb202"])
    assert term.archived_at
    assert client.post(do(term, "restore")).status_code == 302
    twice = client.post(page(Term, "add"), {**data, "word": "B200", "aliases": ""})
    assert "B200 means the architecture sm_100 already." in twice.content.decode()


def test_the_kind_of_a_term_is_chosen_and_not_taken_for_granted(staff):
    client, address = staff("curator"), reverse("admin:evidence_term_add")
    assert '<option value="" selected>Pick a kind</option>' in client.get(address).text
    refused = client.post(address, {"kind": "", "word": "sm_120", "note": "", "aliases": ""})
    assert "This field is required." in refused.text
    assert not Term.objects.filter(word="sm_120").exists()


def test_built_in_terms_and_units_say_why_they_stay(staff):
    client = staff("curator")
    flat, unit = Term.objects.get(word="flat"), Term.objects.get(word="us")
    shown = client.get(page(flat)).content.decode()
    assert "rules depend on what they mean" in shown
    assert do(flat, "add-alias") in shown
    assert do(flat, "archive") not in shown
    assert client.post(page(flat), {"note": "does not block"}).status_code == 403
    shown = client.get(page(unit)).content.decode()
    assert "how its numbers are converted and compared is part of the program" in shown
    assert do(unit, "archive") not in shown
    assert client.post(page(unit), {"note": "a foot"}).status_code == 403
    assert client.post(page(Term, "add"), {"kind": "unit", "word": "furlong"}).status_code == 200
    assert not Term.objects.filter(built_in=False).exists()


@pytest.mark.parametrize(("role", "sees"), [("curator", True), ("designer", False)])
def test_a_family_leads_to_the_import_of_its_catalogue(staff, document, role, sees):
    client = staff(role)
    snapshot = UpstreamSnapshot.objects.create(repository="r", commit="1234567", document_revision=document.head)
    family = Family.objects.create(snapshot=snapshot, letter="A", title="Pipeline")
    link = f'<a href="{reverse("references:document_import")}">Import the catalogue again</a>'
    for address in (reverse("admin:references_family_changelist"), page(family)):
        assert (link in client.get(address).text) is sees
    assert client.get(reverse("references:document_import")).status_code == (200 if sees else 403)


def test_a_unit_is_given_and_loses_another_spelling_by_buttons(staff):
    client, unit = staff("curator"), Term.objects.get(kind="unit", word="us")
    assert do(unit, "remove-alias") not in client.get(page(unit)).text
    assert "stored numbers stay as they are" in client.get(do(unit, "add-alias")).text
    refused = client.post(do(unit, "add-alias"), {"alias": "10us"})
    assert (refused.status_code, "would be taken for part of a number" in refused.text) == (422, True)
    assert client.post(do(unit, "add-alias"), {"alias": "usec"}).status_code == 302
    assert "usec" in client.get(page(unit)).text
    assert client.post(do(unit, "remove-alias"), {"alias": "usec"}).status_code == 302
    assert not unit.aliases.exists()


def test_rows_and_flags_change_by_buttons_and_proposals_on_their_page(staff):
    client = staff("curator")
    row = f.evidence_row()
    own = flag_row(f.actor("staff-curator"), row.code, reason="my own doubt")
    assert do(own, "confirm") not in client.get(page(own)).content.decode()
    assert client.post(do(own, "confirm")).status_code != 302
    assert not Flag.objects.get(pk=own.pk).confirmed_at
    assert client.post(do(own, "clear"), {"reason": "found it"}).status_code == 302
    flag = flag_row(f.designer(), row.code, reason="The driver moved.")
    assert client.post(do(flag, "confirm")).status_code == 302
    assert client.post(do(flag, "clear"), {"reason": "measured again"}).status_code == 302
    flag = Flag.objects.get(pk=flag.pk)
    assert flag.confirmed_at
    assert flag.cleared_at
    assert do(flag, "clear") not in client.get(page(flag)).content.decode()
    content = {**row.head.content, "bound": "Half."}
    made = propose_change(f.designer(), row, base_hash=row.head.content_hash, content=content, reason="measured")
    shown = client.get(page(made)).content.decode()
    assert f'<a href="{made.get_absolute_url()}">Accept or reject on its page</a>' in shown
    Proposal.objects.filter(pk=made.pk).update(state="withdrawn")
    assert "Accept or reject" not in client.get(page(made)).content.decode()
    assert client.post(do(row, "archive"), {"reason": "a twin"}).status_code == 302
    assert EvidenceRow.objects.get(pk=row.pk).archived_at
    assert client.post(do(row, "restore")).status_code == 302
    assert not EvidenceRow.objects.get(pk=row.pk).archived_at


@pytest.mark.parametrize("roles", [(), ("viewer",), ("designer",)])
def test_staff_without_the_role_sees_no_button_and_gets_no_service(staff, lever, roles):
    row = f.evidence_row(lever="split-k")
    flag = flag_row(f.designer(), row.code, reason="doubt")
    term = add_term(f.curator(), kind="arch", word="sm_120", aliases=["rtx5090"])
    unit = Term.objects.get(kind="unit", word="us")
    client = staff(*roles)
    before = Activity.objects.count()
    for obj, action, data in (
        (lever, "add-alias", {"alias": "x y"}),
        (lever, "remove-alias", {"alias": "K splitting"}),
        (lever, "merge", {"into": "split-k", "reason": "x"}),
        (lever, "archive", {"reason": "x"}),
        (term, "archive", {"reason": "x"}),
        (term, "add-alias", {"alias": "x"}),
        (unit, "add-alias", {"alias": "usec"}),
        (row, "archive", {"reason": "x"}),
        (flag, "confirm", {}),
        (flag, "clear", {"reason": "x"}),
    ):
        assert do(obj, action) not in client.get(page(obj)).content.decode()
        assert client.post(do(obj, action), data).status_code in (403, 422), (obj, action)
    for model in (Lever, Term):
        assert client.get(page(model, "add")).status_code == 403
    assert Activity.objects.count() == before


def test_the_dialog_of_a_flag_lists_the_specs_that_go_back(staff):
    client, row = staff("curator"), f.evidence_row()
    flag = flag_row(f.designer(), row.code, reason="The driver moved.")
    assert "No approved spec would notice." in client.get(do(flag, "confirm")).content.decode()
    f.op()
    spec = f.approved_revision(row).spec
    shown = client.get(do(flag, "confirm")).content.decode()
    assert f'<strong>reopens</strong>: <a href="{spec.get_absolute_url()}' in shown
    assert 'class="effects"' not in client.get(do(flag, "clear")).content.decode()


def test_buttons_are_for_staff_and_unknown_ones_are_not_found(staff, client, make_user, lever):
    client.force_login(make_user("nora", "curator"))
    assert client.post(do(lever, "archive"), {"reason": "x"}).status_code == 302
    lever.refresh_from_db()
    assert lever.archived_at is None
    client = staff("curator")
    assert client.get(do(lever, "explode")).status_code == 404
    assert client.get(reverse("admin:evidence_lever_do", args=[10**6, "archive"])).status_code in (302, 404)


def test_history_is_the_activity_of_the_object(staff, lever):
    client = staff("curator")
    answer = client.get(reverse("admin:evidence_lever_history", args=[lever.pk]), follow=True)
    assert "lever split-k added" in answer.content.decode()
    create_lever(f.curator(), name="Another")
    shown = client.get(answer.request["PATH_INFO"] + "?" + answer.request["QUERY_STRING"]).content.decode()
    assert "lever another added" not in shown


def test_lists_can_be_searched_and_filtered_and_say_why_they_are_read_only(staff, lever):
    client = staff("curator")
    create_lever(f.curator(), name="Another")
    levers = reverse("admin:evidence_lever_changelist")
    found = client.get(f"{levers}?q=K+splitting").content.decode()
    assert "Split-K" in found
    assert "Another" not in found.partition("result_list")[2]
    for standing, shown in (("use", True), ("archived", False), ("merged", False)):
        page_of = client.get(f"{levers}?standing={standing}").content.decode()
        assert ("Split-K" in page_of.partition("result_list")[2]) is shown
    terms = client.get(reverse("admin:evidence_term_changelist") + "?kind__exact=unit").content.decode()
    assert "TFLOPS" in terms
    families = client.get(reverse("admin:references_family_changelist")).content.decode()
    assert "replaced with its next import" in families
