"""Middleware: request ids, sign-in by default, refusals as answers."""

import uuid
from collections.abc import Callable

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse

from v2kb.core.errors import Refusal

GetResponse = Callable[[HttpRequest], HttpResponse]

# Doors that sign in by themselves (tokens, run keys) or need no one.
OPEN_PREFIXES = ("/static/", "/api/", "/worker/", "/admin/", "/health/")
OPEN_NAMES = frozenset({"login", "logout", "help"})


class RequestIdMiddleware:
    """Gives each request an id that its activity lines carry."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = uuid.uuid4().hex
        response = self.get_response(request)
        response["X-Request-ID"] = request.request_id
        return response


class SignInMiddleware:
    """Every page needs a signed-in user, unless it says otherwise; a one-time password must be changed first."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(OPEN_PREFIXES):
            return self.get_response(request)
        try:
            name = resolve(request.path_info).view_name
        except Resolver404:
            name = ""
        if name in OPEN_NAMES:
            return self.get_response(request)
        if not request.user.is_authenticated:
            if request.htmx:
                response = HttpResponse(status=204)
                response["HX-Redirect"] = f"{reverse('login')}?next={request.htmx.current_url_abs_path or '/'}"
                return response
            return redirect_to_login(request.get_full_path(), reverse("login"))
        if request.user.must_change_password and name not in ("password_change", "password_change_done"):
            return redirect("password_change")
        return self.get_response(request)


class RefusalMiddleware:
    """A refusal that no view caught becomes an answer with its status, code and fix, never a 500."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not isinstance(error, Refusal):
            return None
        if request.path.startswith(("/api/", "/worker/")) or "application/json" in request.headers.get("Accept", ""):
            return JsonResponse(error.as_document(), status=error.status)
        template = f"errors/{error.status}.html" if error.status in (403, 404, 409) else "errors/refusal.html"
        return render(request, template, {"refusal": error}, status=error.status)
