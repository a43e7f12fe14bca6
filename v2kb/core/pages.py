"""The frame's own pages: password change and health."""

from typing import Any

from django.contrib.auth import views as auth_views
from django.contrib.auth.forms import PasswordChangeForm
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse_lazy
from django.views import defaults

from v2kb.core.actor import actor_from_request
from v2kb.core.health import health_report
from v2kb.core.middleware import answer_refusal
from v2kb.core.services import password_changed
from v2kb.core.uploads import refusal_of_unread


class NewPasswordForm(PasswordChangeForm):
    """A password that somebody else issued is not taken again as one's own."""

    def clean(self) -> dict[str, Any]:
        """The cleaned fields. Adds an error where the new password is the old one."""
        cleaned = super().clean()
        new = self.cleaned_data.get("new_password1")
        if new and new == self.cleaned_data.get("old_password"):
            self.add_error("new_password1", ValidationError("Choose another password than the old one.", "same"))
        return cleaned


class PasswordChange(auth_views.PasswordChangeView):
    """Change one's own password; a one-time password is spent by this."""

    form_class = NewPasswordForm
    success_url = reverse_lazy("home")

    def form_valid(self, form) -> HttpResponse:
        response = super().form_valid(form)
        password_changed(actor_from_request(self.request))
        return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What the framework refused to read: coded where the body was too much, else the page for bad requests."""
    refusal = refusal_of_unread(exception) if isinstance(exception, SuspiciousOperation) else None
    return answer_refusal(request, refusal) if refusal else defaults.bad_request(request, exception)


def health(request: HttpRequest) -> HttpResponse:
    """Whether the database answers, its guards are in place, the broker can be reached and workers are alive.

    JSON for machines (`Accept: application/json`), a page for people. 503 when something needed is down. Anonymous
    callers learn only "ok" or "failing"; details are for signed-in users.
    """
    try:
        connection.ensure_connection()
        report = health_report()
    except DatabaseError:
        report = [{"name": "database", "ok": False, "needed": True, "detail": "The database does not answer."}]
    failing = any(not line["ok"] and line["needed"] for line in report)
    status = 503 if failing else 200
    if "text/html" not in request.headers.get("Accept", "") or not request.user.is_authenticated:
        body = {"status": "failing" if failing else "ok"}
        if request.user.is_authenticated:
            body["checks"] = report
        return JsonResponse(body, status=status)
    return render(request, "core/health.html", {"report": report, "failing": failing}, status=status)
