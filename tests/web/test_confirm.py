"""Whatever is destroyed by a button is asked about first: every such address is behind a confirmation, nowhere bare."""

import re
from pathlib import Path

import pytest
from django.template import Context, Template
from django.urls import get_resolver

TEMPLATES = Path(__file__).resolve().parents[2] / "templates"
DESTROYS = re.compile(r"_(discard|reject|withdraw|archive|cancel|stale|remove|clear|revoke|delete)\Z")


def names() -> list[str]:
    """Names of the pages' addresses that take something away."""
    spaces = get_resolver().namespace_dict
    return sorted(
        f"{space}:{name}"
        for space in ("kernels", "evidence", "references")
        for name in spaces[space][1].reverse_dict
        if isinstance(name, str) and DESTROYS.search(name)
    )


def test_the_list_is_not_empty():
    assert {"kernels:spec_discard", "kernels:run_cancel", "evidence:proposal_reject"} <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_button_that_destroys_asks_first(name):
    pages = {path: path.read_text(encoding="utf-8") for path in TEMPLATES.rglob("*.html")}
    used = {path: text for path, text in pages.items() if re.search(rf"""["']{name}["']""", text)}
    assert used, f"no page offers {name}"
    for path, text in used.items():
        for found in re.finditer(rf"""{{% url ["']{name}["'][^%]*%}}""", text):
            variable = re.search(r" as (\w+) %}", found.group())
            assert variable, f"{path.name} posts to {name} without asking"
            asked = rf"{{% confirm [^%]*?(%s[^%]*?)?action={variable.group(1)}\b"
            assert re.search(asked, text[found.end() :]), f"{path.name} does not confirm {name}"


def test_a_confirmation_names_what_it_is_about_and_what_is_lost():
    source = (
        '{% load ui %}{% confirm "stale" "Mark stale" ask="Mark %s stale?" lost="Nothing is judged." of=of key=7 '
        'action="/x/" reason="What moved" %}'
    )
    page = Template(source).render(Context({"csrf_token": "token", "of": "<naive>"}))
    assert 'popovertarget="stale-7"' in page
    assert 'id="stale-7" popover' in page
    assert "Mark &lt;naive&gt; stale?" in page
    assert "Nothing is judged." in page
    assert 'method="post" action="/x/"' in page
    assert 'name="csrfmiddlewaretoken" value="token"' in page
    assert re.search(r'<textarea[^>]* name="reason"[^>]* required', page)


def test_inside_a_form_it_brings_none_of_its_own():
    page = Template(
        '{% load ui %}{% confirm "r" "Remove" ask="Remove?" lost="All of it." name="action" value="remove:x" %}'
    ).render(Context({"csrf_token": "token"}))
    assert "<form" not in page
    assert '<button class="btn btn-danger" type="submit" name="action" value="remove:x">Remove</button>' in page
