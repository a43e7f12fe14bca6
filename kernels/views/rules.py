"""The list of the spec rules: what each asks, of which fields, and where it comes from."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from v2kb.rules.rule_list import rule_documents


@require_GET
def rule_list(request: HttpRequest) -> HttpResponse:
    """All rules in the order of their ids; the address of one is #R12."""
    return render(request, "kernels/rule_list.html", {"rules": rule_documents()})
