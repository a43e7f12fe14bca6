"""Links between imported files lead to what was imported of them, and are never dead."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from references import presenters
from references.importers.anchors import heading_slugs
from references.importers.archive import Files
from references.importers.documents import import_documents
from references.models import Document
from references.selectors import sections_of
from v2kb.core.markdown import links_looked_up_once, render, render_inline

pytestmark = pytest.mark.django_db

HOUSE = "# House\n\n## 4. SMEM plan\n\nPages.\n\n## Re-init & `owner`\n\nWho.\n\n## Notes\n\n## Notes\n\nb\n"
PAGE = "/references/documents/house/"


@pytest.fixture
def imported(system):
    texts = [("docs/refs/house.md", HOUSE), ("docs/SKILL.md", "# Skill\n\nText.\n"), ("alone.md", "# Alone\n\nText.\n")]
    import_documents(system, files=Files(texts=texts))


def hrefs(html):
    return re.findall(r'<a href="([^"]*)"', html)


@pytest.mark.parametrize(
    ("link", "base", "url"),
    [
        ("house.md", "docs/refs/other.md", PAGE),
        ("./house.md", "docs/refs/other.md", PAGE),
        ("refs/house.md", "docs/SKILL.md", PAGE),
        ("../refs/house.md#smem-plan", "docs/apps/spec.md", PAGE + "s/smem-plan/"),
        ("/docs/refs/house.md", "docs/refs/other.md", PAGE),
        ("../SKILL.md", "docs/refs/other.md", "/references/documents/skill/"),
        ("house.md?raw=true", "docs/refs/other.md", PAGE),
        ("house.md#4-smem-plan", "docs/refs/other.md", PAGE + "s/smem-plan/"),
        ("house.md#4", "docs/refs/other.md", PAGE + "s/smem-plan/"),
        ("house.md#re-init--owner", "docs/refs/other.md", PAGE + "s/re-init-owner/"),
        ("house.md#notes-1", "docs/refs/other.md", PAGE + "s/notes--house/"),
        ("house.md#nowhere", "docs/refs/other.md", PAGE),
        ("#4-smem-plan", "docs/refs/house.md", PAGE + "s/smem-plan/"),
        # Folders are lost where a file is sent alone.
        ("../../refs/house.md", "spec.md", PAGE),
        ("house.md", "other.md", PAGE),
        ("refs/house.md#smem-plan", "", PAGE + "s/smem-plan/"),
        ("deep/alone.md", "docs/SKILL.md", "/references/documents/alone/"),
    ],
)
def test_a_link_to_a_file_leads_to_its_document_or_section(imported, link, base, url):
    html = render(f"see [the *rules*]({link}).", base=base)
    anchors = {section.title: section.anchor for section in sections_of(Document.objects.get(slug="house").head)}
    assert anchors["SMEM plan"] == "smem-plan"
    assert hrefs(html) in ([url], [url.replace("notes--house", "notes-2")])
    assert "the <em>rules</em>" in html
    assert "not imported" not in html


@pytest.mark.parametrize(
    ("link", "base"),
    [
        ("missing.md", "docs/refs/other.md"),
        ("missing.md#smem-plan", ""),
        ("other/house.md", "docs/refs/other.md"),
        ("../../../etc/passwd", "docs/refs/other.md"),
        ("run.py", "docs/SKILL.md"),
        ("/no/such/file.md", "docs/SKILL.md"),
        ("..", "docs/refs/other.md"),
        ("a%00b.md", "docs/refs/other.md"),
        ("#place", "never-imported.md"),
    ],
)
def test_a_link_to_what_was_not_imported_is_text_with_a_hint(imported, link, base):
    html = render(f"see [the *rules*]({link}).", base=base)
    assert hrefs(html) == []
    assert 'the <em>rules</em> <span class="fine">(not imported)</span></span>.' in html


@pytest.mark.parametrize(
    ("link", "base"),
    [
        ("https://example.org/house.md", "docs/SKILL.md"),
        ("mailto:a@example.org", "docs/SKILL.md"),
        ("/evidence/rows/D1/", ""),
        ("#place", ""),
        ("?page=2", ""),
    ],
)
def test_other_links_stay_as_they_are(imported, link, base):
    assert hrefs(render(f"[x]({link})", base=base)) == [link]


def test_two_documents_of_one_name_are_not_mixed_up(system):
    texts = [("a/readme.md", "# A\n\nText.\n"), ("b/readme.md", "# B\n\nText.\n")]
    import_documents(system, files=Files(texts=texts))
    assert hrefs(render("[x](readme.md)", base="b/x.md")) == ["/references/documents/b-readme/"]
    assert "not imported" in render("[x](readme.md)", base="c/x.md")
    assert "not imported" in render("[x](readme.md)")


def test_pictures_are_words_with_a_hint_or_a_link(imported):
    assert render_inline("![a plot](plot.png)", base="docs/SKILL.md") == (
        'a plot <span class="fine">(not imported)</span>'
    )
    assert hrefs(render("![a plot](https://example.org/p.png)")) == ["https://example.org/p.png"]
    nested = render("[![a plot](https://example.org/p.png)](house.md)", base="docs/refs/other.md")
    assert (hrefs(nested), "a plot</a>" in nested) == ([PAGE], True)


def test_links_of_apps_are_none_in_code_and_the_inner_of_two_links_wins(imported):
    html = render("`[[doc:house]]` and [about [[doc:house]]](https://example.org)\n\n    [[doc:house]]\n")
    assert hrefs(html) == [PAGE]
    assert "<code>[[doc:house]]</code>" in html
    assert "<pre><code>[[doc:house]]" in html


@pytest.mark.parametrize("hostile", ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "vbscript:x"])
def test_hostile_links_are_no_links(imported, hostile):
    for written in (f"[x]({hostile})", f"![x]({hostile})", f"[x][1]\n\n[1]: {hostile}", f"<{hostile}>"):
        assert "href" not in render(written, base="docs/SKILL.md")


def test_titles_with_signs_of_markdown_stay_one_label(system):
    import_documents(system, files=Files(texts=[("odd.md", "# A ] *b* <i>\n\nText.\n")]))
    assert "A ] *b* &lt;i&gt;</a>" in render("[[doc:odd]]")


def test_links_of_many_sections_are_looked_up_together(imported):
    def queries(count):
        lines = [f"[x](house.md#smem-plan) [y](f{n}.md) [[doc:skill]] [[doc:none-{n}]]\n" for n in range(count)]
        sections = sections_of(Document.objects.get(slug="house").head)
        sections[0].text = "".join(lines)
        sections[0].blocks = [{"kind": "paragraph", "start_line": 1, "end_line": count}]
        sections[0].first_line = 1
        with links_looked_up_once(), CaptureQueriesContext(connection) as captured:
            presenters.parts_of_sections(sections[:1], "docs/refs/house.md")
        return len(captured)

    assert queries(1) == queries(20) == 3


def test_slugs_of_headings_as_hosts_make_them():
    headings = [("", "House rules — the idiom"), ("2.1", "A & b_c"), ("", "Notes"), ("", "Notes"), ("4", "日本")]
    assert heading_slugs(headings) == ["house-rules--the-idiom", "21-a--b_c", "notes", "notes-1", "4-日本"]
