"""Pages of levers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from evidence import history, selectors
from evidence.cards import cards_of
from evidence.forms import AliasForm, LeverForm
from evidence.hooks import rests_on
from evidence.models import Lever
from evidence.policies import may_curate, may_edit_levers, may_propose, may_write_history, require_lever_editor
from evidence.search import Hit
from evidence.search.facets import none_of
from evidence.services import (
    add_alias,
    archive_lever,
    create_lever,
    edit_lever,
    merge_levers,
    remove_alias,
    restore_lever,
    unmerge_levers,
)
from evidence.views.shared import act
from v2kb.core.activity import activity_of
from v2kb.core.actor import Actor, actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.registry import panels_of
from v2kb.core.views import page_of, render_part_or_page, submit


@require_GET
def lever_list(request: HttpRequest) -> HttpResponse:
    """Levers with their other names and rows; a query looks in all names."""
    query = request.GET.get("q", "")[:200].strip()
    shown = request.GET.get("archived", "")
    archived = shown == "1"
    page = page_of(request, selectors.list_levers(archived=archived, query=query))
    for lever in page.object_list:
        lever.other_names = selectors.other_names(lever)
    context = {
        "page": page,
        "query": query,
        "archived": archived,
        "unread": [none_of("Which levers", shown, ["1"])] if shown not in ("", "1") else [],
        "may_edit": may_edit_levers(actor_from_request(request)),
    }
    return render_part_or_page(request, "evidence/lever_list.html", context, part="list")


@require_GET
def lever_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """One lever: names, place in the vocabulary, its rows."""
    return _page(request, selectors.get_lever(slug))


def _page(
    request: HttpRequest,
    lever: Lever,
    *,
    refusal: Refusal | None = None,
    alias_form: AliasForm | None = None,
    status: int = 200,
) -> HttpResponse:
    actor = actor_from_request(request)
    rows = selectors.rows_of_lever(lever)
    experiments = list(history.list_entries(history.EntryFilter(lever=lever.slug))[: history.MAX_PANEL + 1])
    may_merge = may_curate(actor) and lever.merged_into_id is None
    merge = selectors.merge_of(lever) if may_curate(actor) and lever.merged_into_id else None
    context = {
        "lever": lever,
        "may_merge": may_merge,
        "merge": merge,
        "may_unmerge": merge is not None and merge.user_id != request.user.pk,
        "other_levers": selectors.list_levers().exclude(pk=lever.pk) if may_merge else [],
        "other_names": selectors.other_names(lever),
        "children": [child for child in lever.children.all() if not child.archived_at],
        "cards": cards_of([Hit(row) for row in rows]),
        "activity": list(activity_of(lever, 20)),
        "panels": panels_of(request, lever),
        "moves": history.verdict_moves(lever),
        "standing": [(word, rows) for word, rows in history.standing_of(lever).items() if rows],
        "resting": rests_on(lever.slug),
        "experiments": experiments[: history.MAX_PANEL],
        "more_experiments": len(experiments) > history.MAX_PANEL,
        "may_write": may_write_history(actor),
        "may_edit": may_edit_levers(actor) and lever.merged_into_id is None,
        "standing_for": selectors.standing_lever(lever),
        "may_propose": may_propose(actor),
        "alias_form": alias_form or AliasForm(),
        "refusal": refusal,
    }
    return render(request, "evidence/lever_detail.html", context, status=status)


@require_http_methods(["GET", "POST"])
def lever_new(request: HttpRequest) -> HttpResponse:
    """Add a lever."""
    actor = actor_from_request(request)
    require_lever_editor(actor)
    initial = {"name": request.GET.get("name", "")[:200]}
    form = LeverForm(request.POST) if request.method == "POST" else LeverForm(initial=initial)
    if request.method == "POST":
        lever = submit(form, lambda data: create_lever(actor, **data))
        if lever is not None:
            return redirect(lever)
    return render(
        request, "evidence/lever_form.html", {"form": form, "lever": None}, status=422 if form.errors else 200
    )


@require_http_methods(["GET", "POST"])
def lever_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Change a lever's name, description and parent."""
    actor = actor_from_request(request)
    require_lever_editor(actor)
    lever = selectors.get_lever(slug)
    initial = {
        "name": lever.name,
        "description": lever.description,
        "parent": lever.parent.slug if lever.parent else "",
    }
    form = LeverForm(request.POST, lever=lever) if request.method == "POST" else LeverForm(initial=initial, lever=lever)
    if request.method == "POST" and submit(form, lambda data: edit_lever(actor, slug, **data)) is not None:
        return redirect(lever)
    context = {"form": form, "lever": lever}
    return render(request, "evidence/lever_form.html", context, status=422 if form.errors else 200)


@require_POST
def alias_add(request: HttpRequest, slug: str) -> HttpResponse:
    """Give the lever another name."""
    lever, form = selectors.get_lever(slug), AliasForm(request.POST)
    actor = actor_from_request(request)
    if submit(form, lambda data: add_alias(actor, slug, data["alias"])) is None:
        return _page(request, lever, alias_form=form, status=422)
    return redirect(lever)


@require_POST
def alias_remove(request: HttpRequest, slug: str) -> HttpResponse:
    """Take a name away."""
    alias = request.POST.get("alias", "")[:200]
    return _act(request, slug, lambda actor: remove_alias(actor, slug, alias), "The name is taken away.")


@require_POST
def lever_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """Take the lever off the lists."""
    reason = request.POST.get("reason", "")[:4000]
    return _act(request, slug, lambda actor: archive_lever(actor, slug, reason=reason), "The lever is archived.")


@require_POST
def lever_merge(request: HttpRequest, slug: str) -> HttpResponse:
    """Merge the lever into another one."""
    reason, name = request.POST.get("reason", "")[:4000], request.POST.get("into", "")[:200]

    def merge(actor: Actor) -> Lever:
        found = selectors.resolve_lever(name)
        return merge_levers(actor, slug, into=found.slug if found else name, reason=reason)

    return _act(request, slug, merge, "The levers are merged.")


@require_POST
def lever_unmerge(request: HttpRequest, slug: str) -> HttpResponse:
    """Undo the merge of the lever."""
    reason = request.POST.get("reason", "")[:4000]
    return _act(request, slug, lambda actor: unmerge_levers(actor, slug, reason=reason), "The merge is undone.")


@require_POST
def lever_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Put the lever back on the lists."""
    return _act(request, slug, lambda actor: restore_lever(actor, slug), "The lever is back on the lists.")


def _act(request: HttpRequest, slug: str, call, done: str) -> HttpResponse:
    lever = selectors.get_lever(slug)

    def again(refusal: Refusal) -> HttpResponse:
        return _page(request, selectors.get_lever(slug), refusal=refusal, status=refusal.status)

    return act(request, lambda: call(actor_from_request(request)), done=done, to=lever.get_absolute_url(), again=again)
