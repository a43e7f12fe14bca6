"""Helpers that every app's views share, and the frame's own pages."""

import re
from collections.abc import Callable, Sequence
from typing import Any

from django import forms
from django.core.paginator import EmptyPage, Page, PageNotAnInteger, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from v2kb.core.errors import Refusal

PAGE_SIZE = 50


def render_part_or_page(
    request: HttpRequest, template: str, context: dict[str, Any], *, part: str, status: int = 200
) -> HttpResponse:
    """Render `template#part` for an htmx request that swaps a part, else the whole page."""
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        response = render(request, f"{template}#{part}", context, status=status)
    else:
        response = render(request, template, context, status=status)
    response["Vary"] = "HX-Request"
    return response


def page_of(request: HttpRequest, queryset: QuerySet | Sequence[Any], size: int = PAGE_SIZE) -> Page:
    """The page of `queryset`, or of a list, that `?page=` names; a wrong number gives the nearest page that exists."""
    paginator = Paginator(queryset, size)
    try:
        return paginator.page(request.GET.get("page", 1))
    except PageNotAnInteger:
        return paginator.page(1)
    except EmptyPage:
        return paginator.page(paginator.num_pages)


def chosen(request: HttpRequest, name: str, known: Sequence[str]) -> str:
    """The value of `?name=` where it is one of `known`, else the first of them; "" when there is none."""
    value = request.GET.get(name, "")
    return value if value in known else next(iter(known), "")


def add_refusal(form: forms.Form, refusal: Refusal) -> None:
    """Put a refusal into the form it came from: at its field where the form has it, else at the top.

    A problem inside a field, such as "inputs[0].dtype", goes to "inputs" and says where it is.
    """
    for problem in refusal.problems or [refusal.as_document()]:
        path = problem.get("field") or ""
        field = re.split(r"[.\[]", path, maxsplit=1)[0]
        text = problem["message"] + (f" {problem['fix']}" if problem.get("fix") else "")
        if path and (field != path or field not in form.fields):
            text = f"{path}: {text}"
        form.add_error(field if field in form.fields else None, forms.ValidationError(text, code=problem["code"]))


def submit(form: forms.Form, service: Callable[[dict[str, Any]], Any]) -> Any:
    """Call `service` with the cleaned data of a valid form. A refusal goes into the form and None is returned."""
    if not form.is_valid():
        return None
    try:
        return service(form.cleaned_data)
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        add_refusal(form, refusal)
        return None


def redirect_htmx(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect to `url`, as a whole page even when htmx asked."""
    if request.htmx:
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
        return response
    return redirect(url)
