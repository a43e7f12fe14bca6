"""Pages of a row's life: the queue, conflict statements, many at once, revert, merge, compare, bounds, watching."""

import copy
import re

import pytest
from django.test import Client
from django.utils import timezone

from evidence.models import EvidenceRow, Flag, Proposal, RowSubscription
from evidence.services import accept_proposal, clear_flag, confirm_flag, flag_row, propose_change, supersede_row
from evidence.services.claims import claim_proposal
from evidence.services.merging import propose_merge
from evidence.services.watching import watch_row
from tests import factories as f

pytestmark = pytest.mark.django_db
QUEUE = "/evidence/proposals/"


@pytest.fixture
def row(db):
    return f.evidence_row()


def client_of(name: str, *roles: str) -> Client:
    client = Client()
    client.force_login(f.actor(name, *roles).user)
    return client


@pytest.fixture
def curator(db):
    return client_of("cleo", "curator")


@pytest.fixture
def designer(db):
    return client_of("ines", "designer")


@pytest.fixture
def viewer(db):
    return client_of("vera", "viewer")


def propose(row: EvidenceRow, name: str = "ines", **changes) -> Proposal:
    row.refresh_from_db()
    content = {**copy.deepcopy(row.head.content), **changes}
    actor = f.actor(name, "designer")
    return propose_change(actor, row, base_hash=row.head.content_hash, content=content, reason=f"from {name}")


def text(response) -> str:
    return response.content.decode()


# --- the queue ----------------------------------------------------------------------------------------------------


def test_the_queue_filters_by_kind_and_counts(row, curator, viewer):
    dead = f.evidence_row(f.DEAD)
    propose(row, mechanism="clearer")
    propose(dead, cause_class="abandoned")
    page = text(curator.get(QUEUE))
    for option in ("all (2)", "wording only (1)", "change (1)"):
        assert option in page
    only = text(curator.get(f"{QUEUE}?kind=wording"))
    assert f"/evidence/rows/{row.code}/" in only
    assert f"/evidence/rows/{dead.code}/" not in only
    assert "0 of 2 acceptances" in text(curator.get(f"{QUEUE}?kind=change"))
    assert "No such proposal" in text(curator.get(f"{QUEUE}?kind=merge"))
    assert text(curator.get(f"{QUEUE}?kind=nonsense&state=nonsense")).count("data-row>") == 2
    seen = text(viewer.get(QUEUE))
    assert 'data-line-key="' not in seen
    assert 'name="ids"' not in seen


def test_each_line_says_what_it_would_reopen(row, curator):
    f.op()
    spec = f.approved_revision(row).spec
    propose(row, scope={"arch": ["cpu"]})
    page = text(curator.get(QUEUE))
    assert f"{spec.code}, C1" in page
    assert page.count(">reopens<") >= 1
    detail = text(curator.get(Proposal.objects.latest("id").get_absolute_url()))
    assert "The scope changed" in detail


def test_deciding_in_the_queue_goes_back_to_it_as_it_was_filtered(row, curator):
    proposal = propose(row, mechanism="clearer")
    data = {"conflict": "none", "queue": "kind=wording&state=open"}
    response = curator.post(f"{QUEUE}{proposal.pk}/accept/", data)
    assert (response.status_code, response.url) == (302, f"{QUEUE}?kind=wording&state=open")
    other = propose(row, mechanism="clearer still")
    response = curator.post(f"{QUEUE}{other.pk}/reject/", {"reason": "no", "queue": ""})
    assert response.url == QUEUE
    followed = curator.post(
        f"{QUEUE}{propose(row, mechanism='x').pk}/accept/", data, headers={"HX-Request": "true"}, follow=True
    )
    assert text(followed).strip().startswith('<div class="stack" id="proposal-list">')
    assert f"Accepted: {row.code} is at revision 3." in text(followed)


def test_a_claim_shows_and_goes(row, curator):
    proposal = propose(row, mechanism="clearer")
    carl = client_of("carl", "curator")
    assert curator.post(f"{QUEUE}{proposal.pk}/claim/", {"queue": ""}).url == QUEUE
    assert "claimed by you" in text(curator.get(QUEUE))
    assert "cleo looks at it" in text(carl.get(QUEUE))
    assert "cleo looks at" in text(carl.get(proposal.get_absolute_url()))
    refused = carl.post(f"{QUEUE}{proposal.pk}/claim/", {"queue": ""}, follow=True)
    assert "cleo looks at proposal" in text(refused)
    curator.post(f"{QUEUE}{proposal.pk}/claim/", {"action": "release"})
    assert "looks at it" not in text(carl.get(QUEUE))
    assert client_of("vera", "viewer").post(f"{QUEUE}{proposal.pk}/claim/").status_code == 403


def test_accepting_what_another_looks_at_asks_for_a_confirmation_and_a_named_conflict_says_why_it_counts(row, curator):
    proposal = propose(row, mechanism="clearer")
    assert 'name="over_claim"' not in text(curator.get(proposal.get_absolute_url()))
    carl = client_of("carl", "curator")
    claim_proposal(f.actor("cleo", "curator"), proposal.pk)
    for page in (QUEUE, proposal.get_absolute_url()):
        assert 'name="over_claim" required' in text(carl.get(page))
    said = {"conflict": "named", "conflict_text": "I own the machine."}
    refused = carl.post(f"{QUEUE}{proposal.pk}/accept/", said)
    assert (refused.status_code, "confirm that you know of it" in text(refused)) == (409, True)
    assert carl.post(f"{QUEUE}{proposal.pk}/accept/", said | {"over_claim": "on"}).status_code == 302
    assert 'I own the machine. <span class="muted">It counts:' in text(carl.get(proposal.get_absolute_url()))


@pytest.mark.parametrize(
    "data",
    [{}, {"conflict": ""}, {"conflict": "named"}, {"conflict": "named", "conflict_text": " "},
     {"conflict": "none", "conflict_text": "I own the machine."}],
)  # fmt: skip
def test_an_acceptance_without_a_conflict_statement_is_refused(row, curator, data):
    proposal = propose(row, mechanism="clearer")
    response = curator.post(f"{QUEUE}{proposal.pk}/accept/", data)
    assert response.status_code == 422
    assert "evidence.conflict_missing" in text(response)
    proposal.refresh_from_db()
    assert proposal.state == "open"


def test_a_named_conflict_is_shown_with_the_decision(row, curator, viewer):
    proposal = propose(row, mechanism="clearer")
    curator.post(f"{QUEUE}{proposal.pk}/accept/", {"conflict": "named", "conflict_text": "I own the machine."})
    other = propose(row, mechanism="clearer still")
    curator.post(f"{QUEUE}{other.pk}/accept/", {"conflict": "none"})
    assert "names a conflict of interest: I own the machine." in text(viewer.get(proposal.get_absolute_url()))
    assert "states no conflict of interest" in text(viewer.get(other.get_absolute_url()))


def test_standing_aside(row, curator, viewer):
    proposal = propose(row, mechanism="clearer")
    url = f"{QUEUE}{proposal.pk}/recuse/"
    assert viewer.post(url, {"reason": "x"}).status_code == 403
    assert curator.post(url, {"reason": ""}).status_code == 422
    assert curator.post(url, {"reason": "My student's."}).status_code == 302
    page = text(curator.get(proposal.get_absolute_url()))
    assert "stands aside" in page
    assert "My student&#x27;s." in page
    assert ">Accept</button>" not in page
    assert "yours to decide" not in text(curator.get(QUEUE))
    assert text(curator.get("/")).count("Decide the proposal") == 0


# --- many at once -------------------------------------------------------------------------------------------------


def test_many_are_previewed_then_accepted_with_an_answer_each(row, curator):
    rows = [f.evidence_row(title=f"Row {n}") for n in range(3)]
    proposals = [propose(each, mechanism="clearer") for each in rows]
    own = propose(row, "cleo", mechanism="mine")
    claim_proposal(f.actor("carl", "curator"), proposals[2].pk)
    chosen = text(curator.get(f"{QUEUE}?kind=wording&choose=all"))
    boxes = re.findall(r'name="ids"[^>]* checked>', chosen)
    assert len(boxes) == 2, "neither one's own nor a claimed one"
    ids = [each.pk for each in (*proposals, own)]
    preview = curator.post(f"{QUEUE}bulk/", {"ids": ids, "queue": "kind=wording"})
    page = text(preview)
    assert (preview.status_code, page.count('name="ids"')) == (200, 2)
    assert re.findall(r"What (proposal \d+) changes", page) == [str(each) for each in (*proposals, own)]
    assert page.count("<ins>clearer</ins>") == 3
    assert "evidence.own_proposal" in page
    assert "evidence.claimed" in page
    assert Proposal.objects.filter(state="open").count() == 4
    missing = curator.post(f"{QUEUE}bulk/", {"ids": ids, "confirm": "1"})
    assert missing.status_code == 422
    assert Proposal.objects.filter(state="open").count() == 4
    done = text(curator.post(f"{QUEUE}bulk/", {"ids": ids, "confirm": "1", "conflict": "none"}))
    assert done.count("refused") >= 2
    assert "<ins>" not in done
    assert Proposal.objects.filter(state="accepted", pk__in=ids).count() == 2


def test_many_of_several_kinds_or_none_are_refused(row, curator, viewer):
    one, other = propose(row, mechanism="clearer"), propose(f.evidence_row(f.DEAD), cause_class="flat")
    response = curator.post(f"{QUEUE}bulk/", {"ids": [one.pk, other.pk]})
    assert response.status_code == 422
    assert "evidence.bulk_kinds" in text(response)
    for ids in ([], ["x"], list(range(60))):
        assert curator.post(f"{QUEUE}bulk/", {"ids": ids}).status_code in (404, 422)
    assert viewer.post(f"{QUEUE}bulk/", {"ids": [one.pk]}).status_code == 403
    assert curator.get(f"{QUEUE}bulk/").status_code == 405


# --- going back, taking in, comparing -----------------------------------------------------------------------------


def test_a_revert_begins_at_the_revision_and_is_shown_as_one(row, designer, curator, viewer):
    accept_proposal(f.actor("carl", "curator"), propose(row, bound="other").pk)
    page = text(designer.get(row.get_absolute_url()))
    url = f"/evidence/rows/{row.code}/revert/1/"
    assert f'href="{url}"' in page
    assert url not in text(viewer.get(row.get_absolute_url()))
    assert viewer.get(url).status_code == 403
    assert "wording only" in text(designer.get(url))
    assert designer.post(url, {"reason": " "}).status_code == 422
    response = designer.post(url, {"reason": "it was right"})
    assert response.status_code == 302
    detail = text(curator.get(response.url))
    assert "A revert:" in detail
    assert "back to revision 1" in text(curator.get(QUEUE))
    curator.post(f"{response.url}accept/", {"conflict": "none"})
    after = text(viewer.get(row.get_absolute_url()))
    assert "(revert to revision 1)" in after
    assert designer.post(url, {"reason": "again"}).status_code == 422
    assert designer.get(f"/evidence/rows/{row.code}/revert/9/").status_code == 404


def test_a_merged_row_says_where_it_went_and_takes_no_more(row, designer, curator, viewer):
    taken = f.evidence_row(title="The twin")
    url = f"/evidence/rows/{row.code}/merge/"
    assert viewer.get(url).status_code == 403
    assert designer.post(url, {"taken": "X99", "reason": "x"}).status_code == 404
    assert designer.post(url, {"taken": row.code, "reason": "x"}).status_code == 422
    response = designer.post(url, {"taken": taken.code.lower(), "reason": "twins"})
    assert response.status_code == 302
    assert "A merge:" in text(curator.get(response.url))
    curator.post(f"{response.url}accept/", {"conflict": "none"})
    page = text(designer.get(taken.get_absolute_url()))
    assert f"merged into {row.code}" in page
    assert f'Merged into <a href="{row.get_absolute_url()}"' in page
    assert "Propose a change" not in page
    assert curator.post(f"/evidence/rows/{taken.code}/restore/").status_code == 409
    assert "lineage-box" in text(viewer.get(row.get_absolute_url()))
    assert taken.code not in text(viewer.get("/evidence/?view=table"))


def test_a_merge_that_lifts_a_block_says_so_and_asks_for_two(curator):
    """D8 of one lever taken into D9 of another: nothing would block designs of the first any more."""
    row, other = f.evidence_row(f.DEAD), f.evidence_row(f.DEAD, title="Of another lever", lever="split-k")
    merge = propose_merge(f.actor("ines", "designer"), into=row.code, taken=other.code, reason="twins")
    warning = f"{other.code} blocks designs that adopt split k; {row.code} will not block all of them."
    for address in (merge.get_absolute_url(), QUEUE):
        assert warning in text(curator.get(address)), address
    first = text(curator.post(f"{QUEUE}{merge.pk}/accept/", {"conflict": "none"}, follow=True))
    assert "Your acceptance is stored. Another curator must accept too." in first
    carl = client_of("carl", "curator")
    assert "once a second curator accepts it too" not in text(carl.get(merge.get_absolute_url()))
    same = f.evidence_row(f.DEAD, title="Of the same lever", lever="split-k")
    twin = propose_merge(f.actor("ines", "designer"), into=same.code, taken=other.code, reason="twins")
    assert "will not block all of them" not in text(curator.get(twin.get_absolute_url()))


def test_a_citation_of_a_merged_row_still_resolves_and_says_where_it_went(row, viewer):
    f.op()
    spec = f.approved_revision(row).spec
    other = f.evidence_row(title="The row that stays")
    assert "merged into" not in text(viewer.get(spec.get_absolute_url()))
    merge = propose_merge(f.actor("ines", "designer"), into=other.code, taken=row.code, reason="twins")
    accept_proposal(f.actor("cleo", "curator"), merge.pk)
    page = text(viewer.get(spec.get_absolute_url()))
    assert f"merged into {other.code}" in page
    assert f'href="{row.get_absolute_url()}"' in page
    assert f'href="{other.get_absolute_url()}"' in page


def test_any_two_revisions_are_compared(row, viewer, designer):
    for bound in ("second", "third"):
        accept_proposal(f.actor("carl", "curator"), propose(row, bound=bound).pk)
    url = f"/evidence/rows/{row.code}/compare/"
    page = text(viewer.get(url))
    assert "<del>second</del>" in page
    assert "<ins>third</ins>" in page
    page = text(viewer.get(f"{url}?old=3&new=1"))
    assert "<del>third</del>" in page
    assert "Revert to revision" not in page
    assert "Revert to revision 1" in text(designer.get(f"{url}?old=1&new=3"))
    for bad in ("old=9", "old=x", "new=0", "old=99999999999999999999"):
        assert viewer.get(f"{url}?{bad}").status_code == 404, bad


def test_lineage_has_a_drawing_and_the_same_in_words(row, viewer):
    newer = f.evidence_row(title="Newer")
    assert "lineage-box" not in text(viewer.get(row.get_absolute_url()))
    supersede_row(f.curator(), newer=newer.code, older=row.code, kind="narrows", reason="only M=1")
    for each in (row, newer):
        page = text(viewer.get(each.get_absolute_url()))
        assert page.count("lineage-box") == 2
        assert ">narrowed by</text>" in page, "the word is read along the arrow, from the older row"
        assert "only M=1" in page
        assert "style=" not in page


# --- bounds, watching, over time ----------------------------------------------------------------------------------


def test_bounds_are_recorded_on_the_row(row, designer, viewer):
    url = f"/evidence/rows/{row.code}/bounds/"
    assert viewer.post(url, {"driver": "570.1"}).status_code == 403
    assert designer.post(url, {"driver": "x" * 81}).status_code == 422
    assert designer.post(url, {"snapshot": "987"}).status_code == 422
    assert designer.post(url, {"driver": "570.1", "baseline": "f624d75a"}).status_code == 302
    page = text(viewer.get(row.get_absolute_url()))
    assert "570.1" in page
    assert "f624d75a" in page
    Flag.objects.create(row=row, reason="driver moved", cause="driver 570.1 580.2")
    assert "the system, by a recorded bound" in text(viewer.get(row.get_absolute_url()))


def test_watching_shows_news_on_the_home_page(row, viewer, curator):
    url = f"/evidence/rows/{row.code}/watch/"
    assert "Rows you watch" not in text(viewer.get("/"))
    assert viewer.post(url).status_code == 302
    assert "Watched" in text(viewer.get(row.get_absolute_url()))
    assert "nothing new since" in text(viewer.get("/"))
    accept_proposal(f.actor("cleo"), propose(row, bound="less").pk)
    page = text(viewer.get("/"))
    assert "2 new" in page
    assert "from ines" in page
    assert viewer.post("/evidence/watched/seen/").status_code == 302
    assert "nothing new since" in text(viewer.get("/"))
    assert viewer.post(url, {"action": "unwatch"}).status_code == 302
    assert not RowSubscription.objects.exists()
    assert Client().post(url).status_code == 401
    assert not RowSubscription.objects.exists()


def test_seen_is_for_oneself_alone(row, viewer, designer):
    watch_row(f.actor("vera"), row.code)
    watch_row(f.actor("ines"), row.code)
    before = dict(RowSubscription.objects.values_list("user__username", "seen_at"))
    viewer.post(f"/evidence/rows/{row.code}/watch/", {"action": "seen"})
    after = dict(RowSubscription.objects.values_list("user__username", "seen_at"))
    assert after["vera"] > before["vera"]
    assert after["ines"] == before["ines"]


def test_the_map_over_time_counts_what_each_row_says(row, viewer):
    assert "No row yet" not in text(viewer.get("/evidence/over-time/"))
    dead = f.evidence_row(f.DEAD)
    f.evidence_row(title="Another")
    merge = propose_merge(f.actor("ines", "designer"), into=row.code, taken=EvidenceRow.objects.get(code="U2").code,
                          reason="twins")  # fmt: skip
    accept_proposal(f.actor("cleo", "curator"), merge.pk)
    for name in ("cleo", "carl"):
        change = Proposal.objects.filter(row=dead, state="open").first() or propose(
            dead, verdict="UNTESTED", bound="open again", numbers=[]
        )
        accept_proposal(f.actor(name, "curator"), change.pk)
    counts = viewer.get("/evidence/over-time/").context["counts"]
    last = {series["name"]: series["values"][-1] for series in counts["series"]}
    assert (len(counts["days"]), last) == (1, {"DEAD": 0, "WIN": 0, "UNTESTED": 2})


def test_the_map_over_time_places_rows_on_the_day_they_were_measured(row, viewer):
    dead = f.evidence_row(f.DEAD, measured_on="2026-03-04")
    f.evidence_row(title="Of the future", measured_on="2999-01-01")
    for name in ("cleo", "carl"):
        change = Proposal.objects.filter(row=dead, state="open").first() or propose(
            dead, verdict="UNTESTED", bound="open again", numbers=[], measured_on="2026-03-05"
        )
        accept_proposal(f.actor(name, "curator"), change.pk)
    page = viewer.get("/evidence/over-time/")
    counts, today = page.context["counts"], timezone.localdate().isoformat()
    assert counts["days"] == ["2026-03-04", today], "a later revision is not placed before the one that it changes"
    assert {series["name"]: series["values"] for series in counts["series"]} == {
        "DEAD": [1, 0], "WIN": [0, 0], "UNTESTED": [0, 3]
    }  # fmt: skip
    assert (counts["measured"], counts["arrived"]) == (1, 3)
    assert "1 revision counts on the day of measuring, the other 3" in text(page)


def test_the_map_without_rows(db, viewer):
    assert "No row yet" in text(viewer.get("/evidence/over-time/"))


def test_a_flag_stands_beside_the_title(row, viewer):
    def chips() -> str:
        page = viewer.get(row.get_absolute_url()).content.decode()
        return re.sub(r"\s+", " ", page.split("</h1>")[1].split("</div>")[0])

    assert "flag" not in chips()
    flag = flag_row(f.actor("ines", "designer"), row.code, reason="other driver")
    assert "flagged" in chips()
    assert "confirmed" not in chips()
    confirm_flag(f.actor("cleo", "curator"), flag.pk)
    assert "flag confirmed" in chips()
    clear_flag(f.actor("cleo", "curator"), flag.pk, reason="measured again")
    assert "flag" not in chips()


def test_an_address_that_only_takes_forms_says_so_and_leads_on(row, viewer):
    answer = viewer.get(f"{row.get_absolute_url()}flag/")
    page = answer.content.decode()
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert "This address only takes what a form or button sends" in page
    assert f'href="{row.get_absolute_url()}">Open the page above' in page
    assert viewer.get("/evidence/watched/seen/").content.decode().count('href="/evidence/">Open') == 1
    bare = viewer.get(f"{row.get_absolute_url()}flag/", headers={"Accept": "application/json"})
    assert (bare.status_code, bare.content) == (405, b"")
    assert viewer.put(f"{row.get_absolute_url()}flag/").content == b""
