"""Calculators: small sums of a design without a spec. A page's address holds all that was typed."""

from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from kernels.calculators.forms import FORMS
from kernels.calculators.screen import screen
from kernels.calculators.typed import example_of, typed_in


def calculator_list(request: HttpRequest) -> HttpResponse:
    """The calculators, each with its worked example."""
    found = [{"form": form, "example": example_of(form)} for form in FORMS.values()]
    return render(request, "kernels/calculators/list.html", {"calculators": found})


def calculator(request: HttpRequest, name: str) -> HttpResponse:
    """One calculator. htmx gets the answer and what is wrong per field; the address follows what is typed."""
    form = FORMS.get(name)
    if form is None:
        raise Http404
    typed = typed_in(form, request.GET)
    more = request.GET.get("more", "")
    if request.htmx and not request.htmx.boosted and not request.htmx.history_restore_request:
        response = render(request, "kernels/calculators/detail.html#said", screen(form, typed))
        response["HX-Replace-Url"] = typed.address()
    elif not more and set(typed.address().partition("?")[2].split("&")) != set(_query(request).split("&")):
        return redirect(typed.address())
    else:
        context = {**screen(form, typed, more=more), "example": example_of(form), "others": FORMS.values()}
        response = render(request, "kernels/calculators/detail.html", context)
    response["Vary"] = "HX-Request"
    return response


def _query(request: HttpRequest) -> str:
    return urlencode(list(request.GET.items()))
