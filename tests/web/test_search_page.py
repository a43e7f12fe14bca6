"""The search over everything: groups, why, marks, queries with fields, queries that can't be read, any text at all."""

import html
import re

import pytest
from django.urls import reverse
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evidence.services import add_entry
from kernels.models import Kernel, Spec
from references.importers.archive import Files
from references.importers.documents import import_documents
from tests import factories as f
from tests.references.test_catalogue import PROSE

pytestmark = pytest.mark.django_db

ODD = ["%", "_", "'", '"', '""', "'; DROP TABLE core_searchentry; --", "a AND NOT (b", "NEAR(a b)", "title:x", "^a*",
       "-", "--", "-a", "a:b", "verdict:", "verdict:zzz", "delta:>x", "x" * 600, "é ß Ω 中文 𞤀 🙂", "\\", "a\\'b",
       "1" * 70, "f" * 70, "$$", "<b>", "D" * 30 + "1", "a -b -c", "::", '"' + "a" * 70 + '"', "²³½", "\u202e",
       "ſ K"]  # fmt: skip
ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.lists(
        st.sampled_from([*'":%-_.*()<>=&|!~/\\', "AND", "NOT", "verdict", "cp.async", "d1", "→"]), max_size=12
    ).map("".join),
)


@pytest.fixture
def signed_in(client):
    """A signed-in client, with something of most kinds."""
    row, op = f.evidence_row(title="Loader warp of zebras", mechanism="Waits for cp.async."), f.op()
    f.saved_revision(f.spec_content(row, rationale="Reads zebras once."))
    f.kernel_version(op, slug="zebra-norm", basis=Kernel.Basis.EXPLORATORY)
    text = "# Zebras\n\n## Care\n\nA zebra needs <b>grass</b>.\n"
    import_documents(f.curator(), files=Files(texts=[("zebras.md", text)]))
    client.force_login(f.designer().user)
    return client


def page(client, text: str, status: int = 200) -> str:
    response = client.get(reverse("search"), {"q": text})
    assert response.status_code == status, text
    return response.content.decode()


def groups(shown: str) -> list[str]:
    return re.findall(r'<h2 id="g-(\w+)">', shown)


def test_hits_of_every_kind_are_grouped_with_why_and_marks(signed_in):
    shown = page(signed_in, "zebra")
    assert groups(shown) == ["evidence", "specs", "kernels", "sections"]
    assert '<span class="tag">words in its title</span>' in shown
    assert "<mark>zebra</mark>" in shown
    assert "needs &lt;b&gt;grass" in shown, "what people wrote is text, not markup"


def test_what_is_named_exactly_comes_first(signed_in):
    assert groups(page(signed_in, "zebra-norm"))[0] == "kernels"
    row = f.evidence_row(title="Another")
    assert groups(page(signed_in, row.code))[0] == "evidence"
    assert "the code" in page(signed_in, row.code)


def test_an_experiment_that_is_named_exactly_comes_first(signed_in):
    line = {"on": "2026-07-03", "env": "B200", "verdict": "NULL", "why": "A zebra.", "commit": "ac3d9736"}
    made = add_entry(f.designer(), entry=line)
    assert groups(page(signed_in, "ac3d973"))[0] == "experiments"
    assert groups(page(signed_in, f"experiment {made.pk} zebra"))[0] == "experiments"
    assert groups(page(signed_in, "zebra")) == ["evidence", "specs", "kernels", "experiments", "sections"]


def test_a_kind_that_is_named_comes_first_with_what_has_that_name(signed_in):
    import_documents(f.curator(), files=Files(texts=[("catalogue.md", PROSE)]))
    row = f.evidence_row(lever="zebra-stripes", title="The spec S1 of a family, a run and a lever")
    spec = Spec.objects.get()
    for text, group, first in (
        ("family A", "families", "Family A"),
        ("Family  b", "families", "Family B"),
        (f"spec {spec.code}", "specs", spec.code),
        (f"row {row.code.lower()}", "evidence", row.code),
        ("lever zebra stripes", "levers", "Zebra stripes"),
        ("kernel zebra-norm", "kernels", "zebra-norm"),
    ):
        shown = page(signed_in, text)
        assert groups(shown)[0] == group, text
        hit = re.search(r"<li data-row>.*?<a [^>]*>(.*?)</a>", shown, re.DOTALL)[1]
        assert re.sub(r"<[^>]*>", "", hit).lower().startswith(first.lower()), text


def test_the_word_for_a_kind_within_a_sentence_names_nothing(signed_in):
    assert groups(page(signed_in, "spec zebras once"))[0] == "specs"
    assert groups(page(signed_in, "section loader warp"))[0] == "evidence"


def test_guesses_come_after_full_answers(signed_in):
    assert groups(page(signed_in, "zebra grass"))[0] == "sections"


def test_fields_are_of_rows_and_the_page_says_so(signed_in):
    shown = page(signed_in, "zebra verdict:dead,win,untested")
    assert groups(shown) == ["evidence"]
    assert "only rows are shown" in shown
    assert "only rows are shown" not in page(signed_in, "zebra")


@pytest.mark.parametrize(
    ("text", "at"), [("colour:red", 0), ("zebra verdict:", 14), ('a "phrase', 2), ("delta:>x", 6), ("x" * 501, 500)]
)
def test_a_query_that_cannot_be_read_shows_where(signed_in, text, at):
    shown = html.unescape(page(signed_in, text, status=422))
    assert f'<pre class="caret">{text}\n{" " * at}^</pre>' in shown
    assert groups(shown) == []
    assert "Nothing matches" not in shown


def test_a_comparison_is_of_the_scope_of_rows_and_words_elsewhere(signed_in):
    wide = f.evidence_row(title="Wide tiles", scope={"m": "16..64"})
    f.evidence_row(title="Narrow tiles", scope={"m": "16"})
    texts = [("wide.md", "# Tiles\n\n## Wide\n\nFor M≥17 alone.\n\n## Narrow\n\nFor M=17 alone.\n")]
    import_documents(f.curator(), files=Files(texts=texts))
    shown = page(signed_in, "M >= 17")
    assert groups(shown) == ["evidence", "sections"]
    assert "For evidence rows M &gt;= 17 is read as m:&gt;=17." in shown
    assert wide.code in shown
    assert "Narrow" not in shown


def test_nothing_typed_and_nothing_found(signed_in):
    assert "Type what you look for" in page(signed_in, "")
    assert "Nothing matches" in page(signed_in, "giraffe")


def test_only_for_people_who_signed_in(client):
    assert client.get(reverse("search"), {"q": "x"}).status_code == 302


@pytest.mark.parametrize("text", ODD, ids=ascii)
def test_odd_text_is_never_a_fault(signed_in, text):
    for name in ("search", "evidence:row_list"):
        assert signed_in.get(reverse(name), {"q": text}).status_code in (200, 422), name
    assert signed_in.get("/api/v1/evidence/", {"q": text}).status_code in (200, 422)


@example('"')
@example("\x00")
@example("\ud800")
@given(text=ANY_TEXT)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_is_never_a_fault(signed_in, text):
    sent = {"q": text.encode("utf-8", "surrogatepass")}
    for address in (reverse("search"), reverse("evidence:row_list"), "/api/v1/evidence/"):
        assert signed_in.get(address, sent).status_code in (200, 400, 422), (address, text)


def test_hits_that_are_rows_show_their_verdict(signed_in):
    row = page(signed_in, "loader warp of zebras").split('<h2 id="g-evidence">')[1].split("</li>")[0]
    assert re.search(r'<span class="verdict tone-\w+">.*?UNTESTED</span> <a data-open', row, re.S)
