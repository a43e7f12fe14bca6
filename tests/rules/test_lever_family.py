"""Families of levers: a merge adds matches and takes none away, in whatever order levers are merged."""

from hypothesis import given, settings
from hypothesis import strategies as st

from v2kb.rules.antiloop_facts import Snapshot
from v2kb.rules.lever_family import Families

SLUGS = tuple("abcdefg")


def test_a_merged_lever_brings_what_stood_above_it():
    families = Families({"taken": "above", "child": "into"}, {"taken": "into"})
    assert families.survivor("taken") == "into"
    assert families.merged_with(["into"]) == families.merged_with(["taken"]) == {"into", "taken"}
    assert families.above(["child"]) == {"child", "into", "taken", "above"}
    assert families.below(["above"]) == {"above", "taken", "into", "child"}
    assert families.above(["above"]) == {"above"}


def test_merges_are_followed_to_their_end():
    families = Families({}, {"a": "b", "b": "c"})
    assert families.survivor("a") == families.survivor("c") == "c"
    assert families.merged_with(["a"]) == {"a", "b", "c"}


@st.composite
def vocabularies(draw):
    """Levers, each below an earlier one or none, and pairs to merge in turn."""
    parents = {slug: draw(st.sampled_from(("", *SLUGS[:place]))) for place, slug in enumerate(SLUGS)}
    pairs = draw(st.lists(st.tuples(st.sampled_from(SLUGS), st.sampled_from(SLUGS)), max_size=4))
    return parents, pairs


def merge(levers, taken, into):
    """What the service does to the vocabulary, or nothing where it refuses."""
    if taken == into or levers[taken]["merged_into"] or levers[into]["merged_into"]:
        return
    if levers[into]["parent"] == taken:
        levers[into]["parent"] = levers[taken]["parent"]
    above, seen = levers[into]["parent"], set()
    while above and above not in seen:
        if above == taken:
            return
        seen.add(above)
        above = levers[above]["parent"]
    for slug, lever in levers.items():
        if lever["parent"] == taken and slug != into:
            lever["parent"] = into
    levers[into]["aliases"] += levers[taken]["aliases"]
    levers[taken]["aliases"] = []
    levers[taken]["merged_into"] = into


def matches(levers, scope):
    """Name -> codes of the DEAD rows that count against a choice of this lever."""
    rows = {
        f"D{place}": {
            "head_hash": slug,
            "revisions": {
                slug: {"verdict": "DEAD", "lever": slug, "scope": {"arch": ["sm_100"]}, "cause_class": "flat"}
            },
        }
        for place, slug in enumerate(SLUGS)
    }
    snapshot = Snapshot({"rows": rows, "levers": levers})
    names = [*SLUGS, *(f"{slug} by another name" for slug in SLUGS)]
    found = {name: snapshot.dead_matches(snapshot.levers_named(name), scope) for name in names}
    return {name: {match.row.code for match in dead if match.counts} for name, dead in found.items()}


@settings(deadline=None, max_examples=60)
@given(vocabularies())
def test_no_merge_takes_a_dead_row_off_any_lever(drawn):
    parents, pairs = drawn
    levers = {
        slug: {"name": slug, "aliases": [f"{slug} by another name"], "parent": parents[slug], "merged_into": ""}
        for slug in SLUGS
    }
    for taken, into in pairs:
        before, was_merged = matches(levers, {}), bool(levers[taken]["merged_into"] or levers[into]["merged_into"])
        merge(levers, taken, into)
        after = matches(levers, {})
        for name, codes in before.items():
            assert codes <= after[name]
        if levers[taken]["merged_into"] == into and not was_merged:
            assert after[taken] == after[into] == before[taken] | before[into]
