"""Markdown to safe HTML, with links that the apps resolve: [[D3]], [[doc:house-rules#smem]], [x](other.md#smem)."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from posixpath import dirname, join, normpath
from urllib.parse import unquote

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.tasklists import tasklists_plugin

from v2kb.core.registry import LINKS

Found = tuple[str, str] | None

FILE = "file"
NOT_IMPORTED = "not imported"
_LINK = re.compile(r"\[\[([A-Za-z]+:)?([^\]\[|]{1,200})\]\]")
_HREF = re.compile(r"\]\(\s*<?([^\s<>()]+)|^ {0,3}\[[^\]\[]+\]:\s*<?(\S+)", re.MULTILINE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\?")
_TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "input", "li", "ol", "p",
    "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "code": {"class"},
    "input": {"type", "checked", "disabled", "class"},
    "li": {"class"},
    "ol": {"start"},
    "span": {"class", "title"},
    "ul": {"class"},
}
_SCHEMES = {"http", "https", "mailto"}

_found: ContextVar[dict[tuple[str, str], Found] | None] = ContextVar("found_links", default=None)


@contextmanager
def links_looked_up_once() -> Iterator[None]:
    """Within this block, such as one request, each link is looked up once however often it is written."""
    token = _found.set({})
    try:
        yield
    finally:
        _found.reset(token)


def remember(kind: str, found: Mapping[str, Found]) -> None:
    """Keep what was looked up beforehand, for this block of `links_looked_up_once`; nothing outside of one."""
    known = _found.get()
    if known is not None:
        known.update({(kind, target): one for target, one in found.items()})


def links_in(text: str, base: str = "") -> set[tuple[str, str]]:
    """(kind, target) of the links that `text` may hold, to look them up beforehand. `base` as for `render`."""
    written = {((match[1] or "code:")[:-1], match[2].strip()) for match in _LINK.finditer(text)}
    files = (file_target(match[1] or match[2], base) for match in _HREF.finditer(text))
    return written | {(FILE, target) for target in files if target}


def file_target(href: str, base: str) -> str | None:
    """The file that a link in the file `base` means, as a path from the top of the import with its "#place".

    None where the link leads elsewhere: to another site, or, in a text that is no file (`base` is empty), to a place
    of the page or an address of this site.
    """
    if _SCHEME.match(href) or (not base and href.startswith(("#", "/"))):
        return None
    path, _, place = unquote(href).partition("#")
    path = path.partition("?")[0].replace("\\", "/")
    whole = normpath(join("/", dirname(base), path) if path else join("/", base)).lstrip("/")
    return f"{whole}#{place}" if place else whole


def _look_up(kind: str, target: str) -> Found:
    resolver = LINKS.get(kind)
    if resolver is None:
        return None
    known = _found.get()
    if known is None:
        return resolver(target)
    if (kind, target) not in known:
        known[kind, target] = resolver(target)
    return known[kind, target]


def _app_link(state: StateInline, silent: bool) -> bool:
    """Inline rule: [[kind:target]] as a link, or as code where there is no such thing. Code is left alone."""
    match = _LINK.match(state.src, state.pos)
    if match is None:
        return False
    if not silent:
        target = match[2].strip()
        found = _look_up((match[1] or "code:")[:-1], target)
        if found is None:
            state.push("code_inline", "code", 0).content = target
        else:
            opened = state.push("link_open", "a", 1)
            opened.attrs, opened.meta = {"href": found[0]}, {"app": True}
            state.push("text", "", 0).content = found[1]
            state.push("link_close", "a", -1)
    state.pos = match.end()
    return True


def _file_links(state: StateCore) -> None:
    """Core rule: links to files lead to what was imported of them; others, and pictures, stay as text with a hint."""
    base = state.env.get("base", "")
    for block in state.tokens:
        if block.type == "inline" and block.children:
            block.children = list(_with_file_links(block.children, base))


def _with_file_links(tokens: list[Token], base: str) -> Iterator[Token]:
    closing: list[Token] = []
    for token in tokens:
        if token.type == "image":
            yield from _picture(token, base, is_inside_link=bool(closing))
        elif token.type == "link_open":
            opened, closing = _opened(token, base)
            yield opened
        elif token.type == "link_close":
            yield from closing
            closing = []
        else:
            yield token


def _opened(link: Token, base: str) -> tuple[Token, list[Token]]:
    """What opens instead of a link, and what closes it. A link that an app wrote leads to an address of this site."""
    href = str(link.attrs["href"])
    target = None if link.meta.get("app") else file_target(href, base)
    if target is None:
        return link, [Token("link_close", "a", -1)]
    if found := _look_up(FILE, target):
        link.attrs["href"] = found[0]
        return link, [Token("link_close", "a", -1)]
    return Token("span_open", "span", 1, attrs={"title": unquote(href)}), [*_hint(), Token("span_close", "span", -1)]


def _hint() -> list[Token]:
    return [
        Token("text", "", 0, content=" "),
        Token("span_open", "span", 1, attrs={"class": "fine"}),
        Token("text", "", 0, content=f"({NOT_IMPORTED})"),
        Token("span_close", "span", -1),
    ]


def _picture(image: Token, base: str, *, is_inside_link: bool) -> Iterator[Token]:
    """Pictures are not shown: one of another site becomes a link to it, one of the import its words and a hint."""
    source = str(image.attrs["src"])
    words = Token("text", "", 0, content=image.content or unquote(source))
    if is_inside_link:
        yield words
    elif file_target(source, base) is None:
        yield Token("link_open", "a", 1, attrs={"href": source})
        yield words
        yield Token("link_close", "a", -1)
    else:
        yield words
        yield from _hint()


_MARKDOWN = (
    MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]).use(tasklists_plugin)
)
_MARKDOWN.inline.ruler.before("link", "app_link", _app_link)
_MARKDOWN.core.ruler.after("inline", "file_links", _file_links)


def render(text: str, *, base: str = "") -> SafeString:
    """Return `text` as sanitised HTML. Raw HTML in it is shown as text; only http, https and mailto links stay.

    `base` is the path of the file that the text comes from: relative links in it are relative to that file.
    """
    html = _MARKDOWN.render(text or "", {"base": base})
    clean = nh3.clean(
        html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES, link_rel="noopener noreferrer nofollow"
    )
    return mark_safe(clean.replace("<input ", '<input aria-label="item" '))


def render_inline(text: str, *, base: str = "") -> SafeString:
    """One line of markdown without a paragraph round it, for table cells. `base` as for `render`."""
    html = _MARKDOWN.renderInline(text or "", {"base": base})
    return mark_safe(nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES))
