"""Template tags of the design system. docs/design-system.md has an example of each."""

from datetime import date, datetime

from django import template
from django.urls import NoReverseMatch, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.text import slugify

from v2kb.core.markdown import render as render_markdown
from v2kb.core.ui import maps
from v2kb.core.ui.charts import chart_parts, unit_note
from v2kb.core.ui.diffs import line_diff
from v2kb.core.ui.icons import icon_svg
from v2kb.core.ui.numbers import EMPTY, num_html, num_text, precise_text, to_decimal, unit_label
from v2kb.core.ui.problems import problems_of
from v2kb.core.ui.states import look
from v2kb.rules.smem import DEFAULT_GEOMETRY, Geometry

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """Inline SVG icon; with a label it is announced, without it is decoration."""
    return icon_svg(name, label)


@register.simple_tag
def state(value, kind: str = "", label: str = "") -> SafeString:
    """State chip: glyph, word and tone of any word of the vocabulary; `kind` settles double meanings."""
    seen = look(value, kind)
    return format_html('<span class="chip tone-{}">{}{}</span>', seen.tone, icon_svg(seen.icon), label or seen.label)


@register.simple_tag
def verdict(value) -> SafeString:
    """Verdict badge of an evidence row, a history line or a judgement (DEAD, WIN, UNTESTED, NULL ...)."""
    seen = look(value)
    return format_html('<span class="verdict tone-{}">{}{}</span>', seen.tone, icon_svg(seen.icon), seen.label.upper())


@register.simple_tag
def num(value, decimals=None, unit: str = "", signed: bool = False) -> SafeString:
    """A number with tabular figures; in `td.n` columns line up on the decimal point. None shows a dash."""
    return num_html(value, decimals, unit, signed)


@register.simple_tag
def num_plain(value, decimals=None, unit: str = "", signed: bool = False) -> str:
    """The same number as plain text for a sentence or an attribute."""
    return num_text(value, decimals, unit, signed)


@register.filter
def precise(value) -> str:
    """A cosine or an error with the digits that decide: 0.99895, 1 - 3.10e-15, 3.110e-8; a dash for none."""
    return precise_text(value)


@register.simple_tag
def change(percent, direction: str = "lower", decimals: int = 1) -> SafeString:
    """A change in percent with its sign, coloured and worded better or worse by the metric's direction."""
    number = to_decimal(percent)
    if number is None:
        return EMPTY
    shown = num_html(number, decimals, "percent", signed=True)
    if number == 0 or direction not in ("lower", "higher"):
        return shown
    word = "better" if (number < 0) == (direction == "lower") else "worse"
    return format_html('<span class="{}">{}<span class="visually-hidden"> {}</span></span>', word, shown, word)


@register.simple_tag
def when(value, style: str = "full") -> SafeString:
    """A stored UTC time in the viewer's zone with the zone named; style "short" leaves out the year."""
    if not value:
        return EMPTY
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return format_html("{}", value)
    if not isinstance(value, datetime):
        return day(value)
    local = timezone.localtime(value) if timezone.is_aware(value) else value
    pattern = "%-d %b, %H:%M %Z" if style == "short" else "%-d %b %Y, %H:%M %Z"
    stamp = value.isoformat(timespec="seconds")
    return format_html('<time class="nowrap" datetime="{}">{}</time>', stamp, local.strftime(pattern).strip())


@register.simple_tag
def day(value) -> SafeString:
    """A date stays a date: no zone, no shift."""
    if not value:
        return EMPTY
    if isinstance(value, date):
        return format_html(
            '<time class="nowrap" datetime="{}">{}</time>', value.isoformat(), value.strftime("%-d %b %Y")
        )
    return format_html('<time class="nowrap">{}</time>', value)


@register.simple_tag(takes_context=True)
def qs(context, **changes) -> str:
    """The current query string with some keys replaced (None or "" removes one); `page` falls away."""
    params = context["request"].GET.copy()
    params.pop("part", None)
    if "page" not in changes:
        params.pop("page", None)
    for key, value in changes.items():
        if value in (None, ""):
            params.pop(key, None)
        else:
            params[key] = str(value)
    text = params.urlencode()
    return f"?{text}" if text else "?"


def _reverse(viewname: str) -> str:
    try:
        return reverse(viewname)
    except NoReverseMatch:
        return ""


@register.simple_tag(takes_context=True)
def area(context, viewname: str, label: str, match: str = "", key: str = "") -> SafeString:
    """One entry of the top bar; empty where its page does not exist.

    `match` is a comma list of URL-name prefixes ("kernels:op_") that mark the entry as the current area.
    """
    href = _reverse(viewname)
    if not href:
        return SafeString("")
    found = getattr(context.get("request"), "resolver_match", None)
    name = found.view_name if found else ""
    here = any(name == m or (m and m[-1] in ":_" and name.startswith(m)) for m in (match or viewname).split(","))
    current = SafeString(' aria-current="page"' if name == viewname else ' aria-current="true"') if here else ""
    go = format_html(' data-go="{}"', key) if key else ""
    return format_html('<li><a href="{}"{}{}>{}</a></li>', href, current, go, label)


@register.simple_tag
def crumbs(*pairs) -> SafeString:
    """Breadcrumbs from alternating label and URL; the last label needs no URL."""
    items = [(pairs[i], pairs[i + 1] if i + 1 < len(pairs) else "") for i in range(0, len(pairs), 2)]
    rows = [
        format_html('<a href="{}">{}</a>', url, label)
        if url
        else format_html('<span aria-current="page">{}</span>', label)
        for label, url in items
    ]
    body = format_html_join("", "<li>{}</li>", ((row,) for row in rows))
    return format_html('<nav class="crumbs" aria-label="Breadcrumbs"><ol>{}</ol></nav>', body)


@register.simple_tag
def tab(label: str, url: str, active: bool = False, count=None) -> SafeString:
    """One tab link inside `<nav class="tabs" aria-label="...">`."""
    here = SafeString(' aria-current="page"') if active else ""
    tail = "" if count is None else format_html(' <span class="count">{}</span>', count)
    return format_html('<a href="{}"{}>{}{}</a>', url, here, label, tail)


@register.inclusion_tag("components/field.html")
def field(bound) -> dict:
    """A bound form field: label, help, control, errors, all tied together for readers."""
    kind = getattr(bound.field.widget, "input_type", "")
    return {"bound": bound, "is_check": kind == "checkbox" and not bound.use_fieldset}


@register.inclusion_tag("components/form_fields.html")
def form_fields(form) -> dict:
    """All fields of a form in order, hidden ones too."""
    return {"form": form}


@register.inclusion_tag("components/error_summary.html")
def error_summary(form=None, refusal=None, formset=None, title: str = "") -> dict:
    """What is wrong, where, which rule and what to do; nothing at all when nothing is wrong."""
    problems = problems_of(form, refusal, formset)
    count = len(problems)
    said = title or ("There is a problem" if count == 1 else f"There are {count} problems")
    return {"problems": problems, "title": said}


@register.inclusion_tag("components/confirm.html", takes_context=True)
def confirm(context, id: str, label: str, ask: str, lost: str, action: str = "", of: str = "", **how) -> dict:
    """A button that destroys something: it asks first, says what is lost, and works without JavaScript.

    `action` is where its own form posts; without one it stands inside a form, which it sends. `of` is what it is about:
    it takes the place of "%s" in `ask`, and readers hear it after the label. `how`: `key` makes the id unique in a
    list; `reason` labels a required field `reason`; `yes` and `no` are the buttons in the dialog, `name` and `value`
    go with `yes`; `tone` and `small` say how the first button looks; `line_key` is its key in a list; with `target`
    htmx swaps that element.
    """
    looks = {"tone": "danger", "small": True, "no": "Keep it"}
    id = f"{id}-{slugify(how['key'])}" if "key" in how else id
    asked = {"id": id, "label": label, "ask": ask.replace("%s", of), "lost": lost, "action": action, "of": of}
    return {**looks, **how, **asked, "csrf_token": context.get("csrf_token")}


@register.inclusion_tag("components/pager.html", takes_context=True)
def pager(context, page, label: str = "Pages") -> dict:
    """Which lines are shown of how many, and links to the other pages; keeps the rest of the query string."""
    numbers = list(page.paginator.get_elided_page_range(page.number, on_each_side=1, on_ends=1)) if page else []
    return {"page": page, "numbers": numbers, "label": label, "request": context["request"]}


@register.simple_tag(takes_context=True)
def sort_head(context, label: str, name: str, unit: str = "", numeric: bool = False) -> SafeString:
    """Table head that sorts by `?sort=name`, then `-name`; says the direction to readers."""
    now = context["request"].GET.get("sort", "")
    turned = f"-{name}" if now == name else name
    direction = {name: "ascending", f"-{name}": "descending"}.get(now, "")
    mark = icon_svg({"ascending": "sort-up", "descending": "sort-down"}.get(direction, "sort"))
    return format_html(
        '<th scope="col"{}{}><a href="{}">{}{}{}</a></th>',
        SafeString(' class="n"') if numeric else "",
        format_html(' aria-sort="{}"', direction) if direction else "",
        qs(context, sort=turned),
        label,
        format_html(' <span class="unit">{}</span>', unit_label(unit)) if unit else "",
        mark,
    )


@register.inclusion_tag("components/smem_map.html")
def smem_map(picture, title: str = "Shared memory of this task", id: str = "smem") -> dict:
    """The pages drawn to scale, from `rules.spec_rules.page_map(document)`; table twin below."""
    return {"map": maps.smem_map(picture), "title": title, "id": id}


@register.inclusion_tag("components/smem_map.html")
def smem_queue(tasks, title: str = "Shared memory over the queue", id: str = "smem-queue", of=None) -> dict:
    """Physical pages of the tasks that one SM runs in a row, from `rules.page_map.queue_map(tasks)`.

    `of` is the page map of one of the tasks where the pages are not those of the runtime.
    """
    geometry = Geometry(of["page_bytes"], len(of["pages"]), of["capacity_bytes"]) if of else DEFAULT_GEOMETRY
    return {"map": maps.smem_queue(tasks, geometry), "title": title, "id": id, "queue": True}


@register.inclusion_tag("components/sem_map.html")
def sem_map(picture, title: str = "Semaphore ordinals", id: str = "sems") -> dict:
    """The 31 semaphores, their directions and owners, from `rules.spec_rules.semaphore_map(document)`."""
    return {"map": maps.sem_map(picture), "title": title, "id": id}


@register.inclusion_tag("components/tmem_map.html")
def tmem_map(picture, title: str = "Columns of tensor memory", id: str = "tmem") -> dict:
    """The columns to scale, from `rules.spec_rules.tmem_map(document)`; table twin below."""
    return {"map": maps.tmem_map(picture), "title": title, "id": id}


@register.inclusion_tag("components/role_map.html")
def role_map(picture, title: str = "Roles and paths", id: str = "roles") -> dict:
    """What each role does on each path, from `rules.spec_rules.role_matrix(document)`; table twin below."""
    return {"map": maps.role_map(picture), "title": title, "id": id}


@register.inclusion_tag("components/layer_map.html")
def layer_map(picture, title: str = "Tasks in the layer graph", id: str = "layers") -> dict:
    """Ops, their producers and consumers and their tasks, from `rules.spec_rules.layer_graph(document, ops)`."""
    return {"map": maps.layer_map(picture), "title": title, "id": id}


@register.inclusion_tag("components/chart.html")
def chart(kind: str, data, id: str, title: str, text: str = "", open: bool = False) -> dict:
    """A plot (ladder, samples, paired, forest, counts) with its table twin; shapes are in ui/charts.py."""
    parts = chart_parts(kind, data)
    return {
        "kind": kind,
        "data": {**data, "kind": kind, "title": title},
        "id": id,
        "data_id": f"{id}-data",
        "csv_name": f"{id}.csv",
        "title": title,
        "text": text,
        "open": open,
        "short": kind in ("paired", "forest"),
        "unit_note": unit_note(kind, data),
        "twin": {"heads": parts["heads"], "rows": parts["rows"]},
        "legend": parts["legend"],
    }


@register.inclusion_tag("components/diff.html")
def text_diff(old: str, new: str, caption: str = "Changed lines") -> dict:
    """Line diff of two texts."""
    return {"lines": line_diff(old or "", new or ""), "caption": caption}


@register.simple_tag(name="markdown")
def markdown_tag(text: str) -> SafeString:
    """Sanitised HTML of markdown, with the apps' links resolved."""
    return render_markdown(text)
