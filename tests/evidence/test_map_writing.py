"""The map that is written again: unedited lines to the letter, edited cells renewed, and reading it changes nothing."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence import exports
from evidence.importers.load import load_map, plan_map
from evidence.importers.map_tables import find_tables
from evidence.importers.map_writing import MapRow, as_read, cells_of, codes_in, escaped, table_line, write_map
from evidence.models import EvidenceRow, Proposal
from evidence.services import accept_proposal, archive_row, propose_change, propose_row
from references.importers.markdown import parse_markdown
from references.importers.tables import split_row
from tests.evidence.sample import MAP, changed, load_sample
from tests.starter_data import STARTER
from v2kb.rules.evidence import UNTESTED, VERDICTS

NOTE = [{"kind": "note", "text": "a; b", "document": "", "anchor": ""}]


def cells(text: str) -> list[list[list[str]]]:
    """The cells of all tables of a map."""
    return [[row.cells for row in table.table.rows] for table in find_tables(parse_markdown(text).sections).tables]


def states(text: str, name: str = "probe-map.md") -> dict[str, list[str]]:
    plan = plan_map(name=name, data=text.encode())
    assert not plan.problems
    found: dict[str, list[str]] = {}
    for row in plan.fit:
        found.setdefault(row.state, []).append(row.row.code)
    return found


@pytest.fixture
def edit(make_actor, system):
    """edit("D1", mechanism="x"): changes a row as two curators would."""

    def change(code: str, **fields) -> None:
        row = EvidenceRow.objects.select_related("head").get(code=code)
        content = changed(row.head.content, **fields)
        proposal = propose_change(
            make_actor("dora", "designer"), row, base_hash=row.head.content_hash, content=content, reason="r"
        )
        accept(proposal, make_actor)

    return change


def accept(proposal: Proposal, make_actor) -> None:
    for name in ("carl", "cora"):
        proposal.refresh_from_db()
        if proposal.state == "open":
            accept_proposal(make_actor(name, "curator"), proposal.pk)
    proposal.refresh_from_db()
    assert proposal.state == "accepted"


@pytest.mark.django_db
class TestOverStoredRows:
    def test_an_unedited_map_is_written_to_the_letter(self, system):
        load_sample(system)
        assert exports.export_map("probe-map") == MAP
        assert states(MAP) == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}

    def test_an_edited_cell_is_renewed_and_the_others_stay(self, system, edit):
        load_sample(system)
        edit("D1", mechanism="Takes a | MAC slot\nand a barrier")
        text = exports.export_map("probe-map")
        old, new = MAP.splitlines(), text.splitlines()
        line = (
            "| D1 | Loader warp in the fused GEMV (warp-spec producer) | DEAD, killed 3× (+67%, +17% regressions) "
            "| Takes a \\| MAC slot<br>and a barrier | 2026-07-03 `note_warps` |"
        )
        assert [one for one in new if one not in old] == [line]
        assert states(text) == states(MAP) == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}

    @pytest.mark.parametrize(
        ("cell", "note", "figure", "source"),
        [
            ("2026-06-29; section 1 of the source", "flat again", "flat again", None),
            ("2026-06-29 final; section 1", "flat again; final", "flat again", None),
            ("2026-06-29 final; section 1", "final", "DEAD: final", "2026-06-29; section 1"),
            ("2026-06-29 final; section 1", "flat again", "flat again", "2026-06-29; section 1"),
            ("2026-06-27/29; section 1", "flat again; 2026-06-27/29", "flat again", None),
        ],
    )
    def test_a_note_that_is_edited_leaves_the_source_cell(self, system, edit, cell, note, figure, source):
        text = MAP.replace("2026-07-03 `note_warps`", cell)
        assert text != MAP
        load_sample(system, text)
        edit("D1", measured_note=note)
        written = exports.export_map("probe-map")
        (new,) = [line for line in written.splitlines() if line not in text.splitlines()]
        assert split_row(new, 5)[2::2] == [figure, source or cell]
        assert states(written) == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}

    def test_sources_that_are_added_stand_behind_those_of_the_cell(self, system, edit):
        load_sample(system)
        head = EvidenceRow.objects.get(code="D1").head.content
        edit("D1", sources=[*head["sources"], *NOTE], measured_note="flat")
        text = exports.export_map("probe-map")
        (new,) = [line for line in text.splitlines() if line not in MAP.splitlines()]
        assert split_row(new, 5)[2::2] == ["flat", "2026-07-03 `note_warps`; a, b"]
        assert states(text) == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}

    @pytest.mark.parametrize("document", [[], [{"kind": "document", "text": "Else", "document": "else", "anchor": ""}]])
    def test_a_document_that_is_no_source_any_more_touches_no_cell_and_stays_away(
        self, system, edit, make_actor, document
    ):
        load_sample(system)
        left = [one for one in EvidenceRow.objects.get(code="D1").head.content["sources"] if one["kind"] == "note"]
        edit("D1", sources=[*left, *document])
        assert exports.export_map("probe-map") == MAP
        assert states(MAP) == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}
        load_sample(make_actor("cleo", "curator"), MAP.replace("+67%", "+76%"))
        assert Proposal.objects.get(state="open").content["sources"] == [*left, *document]

    @pytest.mark.parametrize("more", [[], NOTE])
    def test_a_source_that_a_typing_file_said_otherwise_stays_in_its_cell(self, system, edit, more):
        path = STARTER / "documents" / "decode-evidence-map.md"
        load_map(system, name=path.name, data=path.read_bytes(), typing=(STARTER / "levers.json").read_bytes())
        head = EvidenceRow.objects.get(code="D8").head.content
        assert all(source["kind"] == "document" for source in head["sources"])
        edit("D8", sources=[*head["sources"], *more], measured_note="flat from 1 to 4 CTAs per SM")
        text = exports.export_map("decode-evidence-map")
        (new,) = [line for line in text.splitlines() if line not in path.read_text().splitlines()]
        cell = "2026-06-29; section 1 of the source"
        assert split_row(new, 5)[-1] == (f"{cell}; a, b" if more else cell)
        assert set(states(text, path.name)) == {"unchanged"}

    def test_a_changed_cell_of_an_old_file_proposes_that_change_alone(self, system, edit, make_actor):
        load_sample(system)
        edit("D1", mechanism="Edited here")
        load_sample(make_actor("cleo", "curator"), MAP.replace("+67%", "+76%"))
        content = Proposal.objects.get(state="open").content
        assert (content["mechanism"], "+76%" in content["measured_note"]) == ("Edited here", True)

    def test_a_row_whose_verdict_moved_goes_to_its_table(self, system, edit):
        load_sample(system)
        edit("W1", verdict="UNTESTED", bound="to 6 us", numbers=[], mechanism="Measured with a broken harness")
        text = exports.export_map("probe-map")
        assert codes_in(text) == ["D1", "D2", "D10", "W2", "U1", "W1"]
        assert "| W2 | Coarse barrier | ties the chain | Fences once | 2026-07-03; acd86f8a; note_fold |" in text
        assert states(text) == {"unchanged": ["D1", "D2", "D10", "W2", "U1", "W1"]}

    def test_new_rows_come_to_the_end_of_their_table_and_archived_ones_go(self, system, make_actor):
        load_sample(system)
        content = changed(
            EvidenceRow.objects.get(code="W1").head.content, title="Later", measured_note="-3%", sources=NOTE
        )
        proposal = propose_row(make_actor("dora", "designer"), content=content, reason="found")
        accept(proposal, make_actor)
        archive_row(make_actor("cleo", "curator"), "W2", reason="a twin")
        text = exports.export_map("probe-map")
        assert codes_in(text) == ["D1", "D2", "D10", "W1", "W3", "U1"]
        assert states(text) == {"unchanged": ["D1", "D2", "D10", "W1", "W3", "U1"]}

    def test_without_a_document_all_rows_make_a_map(self, system, edit):
        load_sample(system)
        edit("D10", measured_note="no better", cause_class="flat", not_checked="x", scope={"m": "1"}, approaches=["a"])
        text = exports.export_map()
        assert codes_in(text) == ["D1", "D2", "D10", "W1", "W2", "U1"]
        assert "| DEAD: no better |" in text
        assert states(text, "other.md") == {"unchanged": ["D1", "D2", "D10", "W1", "W2", "U1"]}

    def test_the_starter_map(self, system):
        path = next((STARTER / "documents").rglob("*evidence*.md"))
        self.goes_round(system, path.name, path.read_text())

    def test_the_team_map_of_the_corpus(self, system, corpus):
        path = corpus / "references" / "m1-decode-evidence.md"
        self.goes_round(system, path.name, path.read_text())

    def goes_round(self, system, name, text):
        plan = load_map(system, name=name, data=text.encode(), skip_unreadable=True)
        written = exports.export_map(plan.slug)
        assert cells(written) == cells(text)
        assert written == text
        again = plan_map(name=name, data=written.encode())
        assert {row.state for row in again.fit} == {"unchanged"}
        fresh = exports.export_map()
        assert {row.state for row in plan_map(name="fresh.md", data=fresh.encode()).fit} == {"unchanged"}


texts = st.text(
    st.characters(blacklist_categories=["Cs", "Cc"], whitelist_characters="\n|\\`<>*#-=+"), max_size=40
).map(str.strip)
contents = st.fixed_dictionaries(
    {
        "title": texts.filter(bool),
        "verdict": st.sampled_from(VERDICTS),
        "mechanism": texts,
        "bound": texts,
        "measured_on": st.dates().map(str) | st.just(""),
        "measured_note": texts,
        "numbers": st.just([]),
        "sources": st.lists(
            st.fixed_dictionaries({"kind": st.sampled_from(["note", "commit", "run"]), "text": texts}), max_size=3
        ),
    }
)


@given(contents)
def test_a_written_row_has_its_cells(content):
    written = cells_of(content)
    line = table_line(["X1", *written.values()])
    assert "\n" not in line
    assert split_row(line, len(written) + 1) == ["X1", *map(as_read, written.values())]
    assert len(written) == (3 if content["verdict"] == UNTESTED else 4)


@given(texts)
def test_a_cell_is_read_back(text):
    once = as_read(text)
    assert as_read(once) == once or "&#124;" in escaped(once) or "<br>" in once


@settings(max_examples=50)
@given(st.lists(contents, max_size=4), st.booleans())
def test_a_written_map_is_stable(made, edited):
    rows = {f"{c['verdict'][0]}{n}": MapRow(f"{c['verdict'][0]}{n}", c, c) for n, c in enumerate(made, start=1)}
    text = write_map("", rows)
    assert sorted(codes_in(text)) == sorted(rows)
    assert write_map(text, rows) == text
    if edited and rows:
        code, row = next(iter(rows.items()))
        moved = MapRow(code, {**row.content, "bound": "new bound", "mechanism": "new mechanism"}, row.content)
        renewed = write_map(text, rows | {code: moved})
        assert len(renewed.splitlines()) == len(text.splitlines())
        assert re.search("new mechanism", renewed)
