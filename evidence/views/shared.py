"""What the views of this app share."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from evidence.forms import ContentForm, add_content_refusal
from v2kb.core.errors import Refusal


def act(
    request: HttpRequest,
    call: Callable[[], Any],
    *,
    done: str | Callable[[Any], str],
    to: str,
    again: Callable[[Refusal], HttpResponse],
) -> HttpResponse:
    """Do something and go to `to`; a refusal shows the page `again`, a missing right or thing its own page.

    `done` is what is said then, or makes it from what `call` returned.
    """
    try:
        result = call()
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        return again(refusal)
    messages.success(request, done if isinstance(done, str) else done(result))
    return redirect(to)


def content_form(request: HttpRequest, *, known: dict[str, Any] | None, initial: dict[str, Any]) -> ContentForm:
    """The bound form of a POST, or one filled with `initial`."""
    if request.method == "POST":
        return ContentForm(request.POST, known=known)
    return ContentForm(initial=initial, known=known)


def send_content(form: ContentForm, call: Callable[[dict[str, Any], str], Any]) -> tuple[Any, Refusal | None]:
    """Call `call(content, reason)` for a valid form. Returns (result, None), or (None, the refusal or None).

    Refusals of the content go to their fields; a conflict is returned for the page to show.
    """
    if not form.is_valid():
        return None, None
    try:
        return call(form.content(), form.cleaned_data["reason"]), None
    except Refusal as refusal:
        if refusal.status in (403, 404):
            raise
        if refusal.status == 409:
            return None, refusal
        add_content_refusal(form, refusal)
        return None, refusal


def render_form(request: HttpRequest, template: str, context: dict[str, Any], form: ContentForm) -> HttpResponse:
    """The page of a form, with 422 for errors and 409 for a conflict."""
    refusal = context.get("conflict")
    status = 409 if refusal else 422 if form.is_bound and form.errors else 200
    return render(request, template, context, status=status)
