"""The experiment history: lines are appended, corrected by new lines, never changed; links lead both ways."""

import pytest
from django.db import DatabaseError, transaction
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from evidence import history
from evidence.models import ExperimentEntry, ExperimentLink
from evidence.services import accept_proposal, add_entry, correct_entry, propose_change
from tests.evidence.sample import changed, load_sample
from v2kb.core.errors import Conflict, Forbidden, Missing, Refusal
from v2kb.core.models import Activity
from v2kb.rules.experiments import FIELDS, VERDICTS, entry_hash, read_entry, split_links

pytestmark = pytest.mark.django_db

ENTRY = {
    "on": "2026-07-03", "env": "B200, driver 570", "verdict": "NULL", "why": "Flat within the noise.",
    "trace": "outputs/split_k_0703/", "commit": "ac3d9736", "lever": "", "links": [],
}  # fmt: skip


@pytest.fixture
def dora(make_actor):
    return make_actor("dora", "designer")


def entry(**changes):
    return {**ENTRY, **changes}


def test_who_may_write(make_actor):
    with pytest.raises(Forbidden):
        add_entry(make_actor("vera", "viewer"), entry=entry())
    for role in ("designer", "implementer", "validator", "curator"):
        add_entry(make_actor(f"u-{role}", role), entry=entry(env=role))
    assert ExperimentEntry.objects.count() == 4


def test_a_line_and_its_links(dora, system):
    load_sample(system)
    made = add_entry(dora, entry=entry(lever="split-k", links=["row:D2", "row:d1"]))
    assert (made.verdict, made.lever.slug, made.author) == ("NULL", "split-k", dora.user)
    assert [str(link) for link in made.links.all()] == ["row:D1", "row:D2"]
    assert history.linked_entries("row", "D2") == [made]
    assert Activity.objects.filter(verb="evidence.add_entry").count() == 1
    for links, code in (
        (["row:D99"], "evidence.no_link"),
        (["run:nothing"], "evidence.no_link"),
        (["x"], "evidence.entry"),
    ):
        with pytest.raises(Refusal) as refused:
            add_entry(dora, entry=entry(links=links))
        assert (refused.value.code, refused.value.field) == (code, "links")
    with pytest.raises(Refusal) as refused:
        add_entry(dora, entry=entry(lever="nothing"))
    assert (refused.value.code, refused.value.field) == ("evidence.no_lever", "lever")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"on": "July"}, "on"),
        ({"on": ""}, "on"),
        ({"env": " "}, "env"),
        ({"why": ""}, "why"),
        ({"why": "x" * 1001}, "why"),
        ({"why": "a\x00b"}, "why"),
        ({"why": 5}, "why"),
        ({"verdict": "DEAD"}, "verdict"),
        ({"commit": "two words"}, "commit"),
        ({"links": "row:D1"}, "links"),
        ({"extra": "x"}, "extra"),
    ],
)
def test_what_no_line_can_say(dora, changes, field):
    with pytest.raises(Refusal) as refused:
        add_entry(dora, entry=entry(**changes))
    assert field in [problem["field"] for problem in refused.value.problems]
    assert not ExperimentEntry.objects.exists()


def test_the_same_claim_is_not_written_twice(dora):
    first = add_entry(dora, entry=entry())
    with pytest.raises(Conflict) as refused:
        add_entry(dora, entry=entry(why=" Flat  within the\nnoise. "))
    assert (refused.value.code, refused.value.facts) == ("evidence.entry_exists", {"entry": first.pk})


def test_a_correction_is_a_new_line_that_names_the_prior_claim(dora):
    first = add_entry(dora, entry=entry())
    with pytest.raises(Refusal) as refused:
        correct_entry(dora, first.pk, entry=entry())
    assert refused.value.code == "evidence.no_change"
    second = correct_entry(dora, first.pk, entry=entry(verdict="REGRESS"))
    with pytest.raises(Conflict) as refused:
        correct_entry(dora, first.pk, entry=entry(verdict="WIN"))
    assert refused.value.facts == {"entry": second.pk}
    third = correct_entry(dora, second.pk, entry=entry())
    assert history.chain_of(history.get_entry(second.pk)) == [first, second, third]
    current = history.list_entries(history.EntryFilter(current=True))
    assert list(current) == [third]
    with pytest.raises(Missing):
        correct_entry(dora, 10**30, entry=entry())


def test_the_database_refuses_to_change_a_line(dora, system):
    load_sample(system)
    made = add_entry(dora, entry=entry(links=["row:D1"]))
    for act in (
        lambda: ExperimentEntry.objects.filter(pk=made.pk).update(verdict="WIN"),
        lambda: ExperimentLink.objects.all().delete(),
        lambda: ExperimentLink.objects.update(target="D2"),
    ):
        with pytest.raises(DatabaseError), transaction.atomic():
            act()


def test_filters(dora, system):
    load_sample(system)
    a = add_entry(dora, entry=entry(lever="split-k", links=["row:D2"]))
    b = add_entry(dora, entry=entry(on="2026-07-05", verdict="WIN", env="H200", why="Fences 100% once"))

    def found(**params):
        return list(history.list_entries(history.EntryFilter(**params)))

    assert found() == [b, a]
    assert found(text="fences ONCE") == [b]
    assert found(text="100% zzz") == []
    assert found(lever="splitting_K") == [a]
    assert found(env="H200") == [b]
    assert found(verdicts=("NULL", "KILLED")) == [a]
    assert (found(since="2026-07-04"), found(until="2026-07-04")) == ([b], [a])
    assert found(link="row:D2") == found(link="D2") == [a]
    assert history.verdict_counts(history.EntryFilter(verdicts=("WIN",)))["NULL"] == 1


def test_how_the_verdict_of_a_lever_moved(dora, make_actor, system):
    load_sample(system)
    cleo, carl = make_actor("cleo", "curator"), make_actor("carl", "curator")
    row = history.rows_ever_of(history.Lever.objects.get(slug="split-k")).get()
    content = changed(row.head.content, verdict="UNTESTED", bound="to 6 us", numbers=[])
    proposal = propose_change(dora, row, base_hash=row.head.content_hash, content=content, reason="harness was wrong")
    for curator in (cleo, carl):
        proposal.refresh_from_db()
        if proposal.state == "open":
            accept_proposal(curator, proposal.pk)
    lever = history.Lever.objects.get(slug="split-k")
    moves = [(move["row"].code, move["old"], move["new"]) for move in history.verdict_moves(lever)]
    assert moves == [("D2", "", "DEAD"), ("D2", "DEAD", "UNTESTED")]
    assert [row.code for row in history.standing_of(lever)["UNTESTED"]] == ["D2"]


@pytest.fixture
def ines(make_user):
    client = Client()
    client.force_login(make_user("ines", "designer"))
    return client


def test_pages(ines, dora, system):
    load_sample(system)
    assert "No experiment yet" in ines.get("/evidence/experiments/").text
    form = {**ENTRY, "lever": "split-k", "links": "D2"}
    answer = ines.post("/evidence/experiments/new/", form)
    made = ExperimentEntry.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, made.get_absolute_url())
    answer = ines.post("/evidence/experiments/new/", form | {"why": ""})
    assert (answer.status_code, "B200, driver 570" in answer.text) == (422, True)
    answer = ines.post(f"/evidence/experiments/{made.pk}/correct/", form | {"verdict": "KILLED"})
    later = ExperimentEntry.objects.get(corrects=made)
    assert "was corrected" in ines.get(made.get_absolute_url()).text
    listed = ines.get("/evidence/experiments/?verdict=KILLED&lever=split-k&since=2026-01-01&since=x").text
    assert f'corrects <a href="{made.get_absolute_url()}"' in listed
    assert later.get_absolute_url() in ines.get("/evidence/rows/D2/").text
    lever = ines.get("/evidence/levers/split-k/").text
    assert later.get_absolute_url() in lever
    assert "How the verdict moved" in lever
    assert ines.get("/evidence/experiments/999999999999999999999/").status_code == 404
    assert "No experiment fits" in ines.get("/evidence/experiments/?q=nothing-like-it").text


def test_a_viewer_reads_and_writes_nothing(dora, make_user):
    made = add_entry(dora, entry=entry())
    client = Client()
    client.force_login(make_user("vera", "viewer"))
    assert client.get(made.get_absolute_url()).status_code == 200
    for path in ("new/", f"{made.pk}/correct/"):
        assert client.post(f"/evidence/experiments/{path}", ENTRY).status_code == 403
    assert ExperimentEntry.objects.count() == 1


words = st.text(max_size=60)


@given(
    st.fixed_dictionaries(
        {
            "on": st.dates().map(str) | words,
            "env": words,
            "verdict": st.sampled_from(VERDICTS) | words,
            "why": words,
            "trace": words,
            "commit": words,
            "lever": words,
            "links": st.lists(words, max_size=4) | words,
        }
    )
)
def test_reading_is_stable(raw):
    read, problems = read_entry(raw)
    assert set(read) == set(FIELDS)
    if not problems:
        again, more = read_entry(read)
        assert (again, more) == (read, [])
        assert entry_hash(again) == entry_hash(read)


@given(st.lists(st.from_regex(r"[A-Z]{1,3}[1-9][0-9]{0,3}", fullmatch=True), max_size=5))
def test_links_are_read_back(codes):
    assert split_links(", ".join(codes)) == [f"row:{code}" for code in codes]
