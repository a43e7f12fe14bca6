"""Markdown to safe HTML, with links that the apps resolve: [[D3]], [[doc:house-rules#smem]]."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from mdit_py_plugins.tasklists import tasklists_plugin

from v2kb.core.registry import LINKS

_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]).use(tasklists_plugin)
)
_LINK = re.compile(r"\[\[([A-Za-z]+:)?([^\]\[|]{1,200})\]\]")
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "code": {"class"},
    "input": {"type", "checked", "disabled", "class"},
    "li": {"class"},
    "ol": {"start"},
    "ul": {"class"},
}


_found: ContextVar[dict[tuple[str, str], tuple[str, str] | None] | None] = ContextVar("found_links", default=None)


@contextmanager
def links_looked_up_once() -> Iterator[None]:
    """Within this block, such as one request, each link is looked up once however often it is written."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def _look_up(kind: str, target: str) -> tuple[str, str] | None:
    resolver = LINKS.get(kind)
    if resolver is None:
        return None
    known = _found.get()
    if known is None:
        return resolver(target)
    if (kind, target) not in known:
        known[kind, target] = resolver(target)
    return known[kind, target]


def _resolve(match: re.Match[str]) -> str:
    kind, target = (match.group(1) or "code:")[:-1], match.group(2).strip()
    found = _look_up(kind, target)
    if found is None:
        return f"`{target}`"
    url, label = found
    return f"[{label}]({url})"


def render(text: str) -> SafeString:
    """Return `text` as sanitised HTML. Raw HTML in it is shown as text; only http, https and mailto links stay."""
    html = _MARKDOWN.render(_LINK.sub(_resolve, text or ""))
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )
    return mark_safe(clean.replace("<input ", '<input aria-label="item" '))


def render_inline(text: str) -> SafeString:
    """One line of markdown without a paragraph round it, for table cells."""
    html = _MARKDOWN.renderInline(_LINK.sub(_resolve, text or ""))
    return mark_safe(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes={"http", "https", "mailto"}))


def plain(text: str) -> str:
    """`text` escaped for HTML, line breaks kept."""
    return mark_safe(escape(text).replace("\n", "<br>"))
