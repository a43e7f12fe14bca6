"""Pages of the experiment history: the list, one entry, adding a line, correcting one."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from evidence import history
from evidence.experiment_forms import EntryForm, initial_of
from evidence.models import ExperimentEntry
from evidence.policies import may_curate, may_write_history, require_historian
from evidence.services import add_entry, correct_entry
from v2kb.core.actor import actor_from_request
from v2kb.core.views import page_of, render_part_or_page, submit
from v2kb.rules.experiments import VERDICTS


@require_GET
def experiment_list(request: HttpRequest) -> HttpResponse:
    """One line per experiment; words, lever, environment, verdict, days and links narrow it."""
    wanted = history.EntryFilter.of_params(request.GET)
    page = page_of(request, history.list_entries(wanted))
    for entry in page.object_list:
        entry.shown_links = [history.link_shown(link) for link in entry.links.all()]
    actor = actor_from_request(request)
    context = {
        "page": page,
        "total": page.paginator.count,
        "wanted": wanted,
        "unread": history.unread_filters(request.GET),
        "narrowed": wanted != history.EntryFilter(),
        "groups": _groups(wanted),
        "may_write": may_write_history(actor),
        "may_curate": may_curate(actor),
    }
    return render_part_or_page(request, "evidence/experiment_list.html", context, part="list")


def _groups(wanted: history.EntryFilter) -> list[dict[str, Any]]:
    counts = history.verdict_counts(wanted)
    verdicts = [
        {"value": word, "label": word, "count": counts[word], "checked": word in wanted.verdicts} for word in VERDICTS
    ]
    envs = [{"value": "", "label": "any", "checked": not wanted.env}]
    envs += [{"value": env, "label": env, "checked": env == wanted.env} for env in history.environments()]
    current = {"value": "1", "label": "without corrected lines", "checked": wanted.current}
    return [
        {"name": "q", "label": "Words", "type": "text", "value": wanted.text},
        {"name": "verdict", "label": "Verdict", "type": "checkbox", "options": verdicts},
        {"name": "lever", "label": "Lever, in any spelling", "type": "text", "value": wanted.lever},
        {"name": "env", "label": "Environment", "type": "select", "options": envs},
        {"name": "since", "label": "From day", "type": "date", "value": wanted.since},
        {"name": "until", "label": "To day", "type": "date", "value": wanted.until},
        {"name": "link", "label": "Speaks of", "type": "text", "value": wanted.link},
        {"name": "current", "label": "Show", "type": "checkbox", "options": [current]},
    ]


@require_GET
def experiment_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One entry, with the claims before it and after it."""
    entry = history.get_entry(pk)
    chain = history.chain_of(entry)
    context = {
        "entry": entry,
        "links": [history.link_shown(link) for link in entry.links.all()],
        "chain": chain,
        "newest": chain[-1],
        "may_write": may_write_history(actor_from_request(request)),
    }
    return render(request, "evidence/experiment_detail.html", context)


@require_http_methods(["GET", "POST"])
def experiment_new(request: HttpRequest) -> HttpResponse:
    """Add a line."""
    actor = actor_from_request(request)
    require_historian(actor)
    given = {name: request.GET.get(name, "")[:200] for name in ("lever", "links")}
    form = EntryForm(request.POST) if request.method == "POST" else EntryForm(initial=given)
    entry = submit(form, lambda _: add_entry(actor, entry=form.entry())) if request.method == "POST" else None
    return redirect(entry) if entry else _form_page(request, form, None)


@require_http_methods(["GET", "POST"])
def experiment_correct(request: HttpRequest, pk: int) -> HttpResponse:
    """Append a line that takes the place of this one."""
    actor = actor_from_request(request)
    require_historian(actor)
    prior = history.get_entry(pk)
    form = EntryForm(request.POST) if request.method == "POST" else EntryForm(initial=initial_of(prior))
    entry = submit(form, lambda _: correct_entry(actor, pk, entry=form.entry())) if request.method == "POST" else None
    return redirect(entry) if entry else _form_page(request, form, prior)


def _form_page(request: HttpRequest, form: EntryForm, prior: ExperimentEntry | None) -> HttpResponse:
    back = prior.get_absolute_url() if prior else reverse("evidence:experiment_list")
    context = {"form": form, "prior": prior, "back": back}
    return render(request, "evidence/experiment_form.html", context, status=422 if form.errors else 200)
