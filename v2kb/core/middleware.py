"""Middleware: request ids, sign-in by default, refusals as answers."""

import uuid
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlsplit, urlunsplit

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import SuspiciousOperation
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import redirect, render
from django.urls import Resolver404, resolve, reverse

from v2kb.core.errors import Forbidden, Refusal
from v2kb.core.guards.errors import refusal_from_database
from v2kb.core.markdown import links_looked_up_once
from v2kb.core.uploads import refusal_of_body
from v2kb.core.values import NUL

GetResponse = Callable[[HttpRequest], HttpResponse]

# Doors that sign in by themselves (tokens, run keys) or need no one.
OPEN_PREFIXES = ("/static/", "/api/", "/worker/", "/admin/", "/health/")
OPEN_NAMES = frozenset({"login", "logout", "help"})
MAX_SHOWN_BYTES = 1 << 20
"""Of a form that was sent signed out: what is larger is not read."""
ERROR_PAGES = (403, 404, 409, 413)


def is_for_program(request: HttpRequest) -> bool:
    """Whether a program asks, which reads JSON and no page."""
    return request.path.startswith(("/api/", "/worker/")) or "application/json" in request.headers.get("Accept", "")


def answer_refusal(request: HttpRequest, error: Refusal) -> HttpResponse:
    """A refusal as a document for programs, as a page for people, with its status."""
    if is_for_program(request):
        return JsonResponse(error.as_document(), status=error.status)
    template = f"errors/{error.status}.html" if error.status in ERROR_PAGES else "errors/refusal.html"
    return render(request, template, {"refusal": error}, status=error.status)


class BodyLimitMiddleware:
    """Refuses a body that is larger than its view takes before anything reads it; stands before the CSRF check.

    The door for workers bounds its bodies itself.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable, args: tuple, kwargs: dict) -> HttpResponse | None:
        if request.path.startswith("/worker/"):
            return None
        refusal = refusal_of_body(request, view)
        return answer_refusal(request, refusal) if refusal else None


class RequestIdMiddleware:
    """Gives each request an id that its activity lines carry, and a memory of the links it looked up.

    What is shown to one user is kept by no cache but their browser's, which asks again each time.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.request_id = uuid.uuid4().hex
        with links_looked_up_once():
            response = self.get_response(request)
        response["X-Request-ID"] = request.request_id
        if not response.has_header("Cache-Control"):  # static files are answered before this middleware
            response["Cache-Control"] = "private, no-cache"
        return response


def _form_page(request: HttpRequest) -> str:
    """The page of this site on which the form stood that was sent; "" where it came from elsewhere."""
    came_from = urlsplit(request.headers.get("Referer", ""))
    is_ours = came_from.netloc == request.get_host()
    return urlunsplit(("", "", came_from.path, came_from.query, "")) if is_ours else ""


def _typed(request: HttpRequest) -> list[tuple[str, str]]:
    """(name, text) of what was typed into a form, without passwords; nothing of a large body, or one that can't be
    read.
    """
    try:
        if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_SHOWN_BYTES:
            return []
        sent = request.POST.lists()
    except (ValueError, SuspiciousOperation, MultiPartParserError, UnreadablePostError):
        return []
    secret = ("csrfmiddlewaretoken", "password")
    typed = [(name, text) for name, values in sent for text in values if text.strip()]
    return [(name.replace("_", " "), text) for name, text in typed if not any(word in name for word in secret)]


class SignInMiddleware:
    """Every page needs a signed-in user, unless it says otherwise; a one-time password must be changed first."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path.startswith(("/admin/", "/api/")) and self._must_change_password(request):
            return self._ask_for_password(request)
        if request.path.startswith(OPEN_PREFIXES):
            return self.get_response(request)
        try:
            name = resolve(request.path_info).view_name
        except Resolver404:
            name = ""
        if name in OPEN_NAMES:
            return self.get_response(request)
        if not request.user.is_authenticated:
            if request.htmx and request.method not in ("GET", "HEAD"):
                return self._signed_out(request)  # leaving the page would lose what was typed
            if request.htmx:
                response = HttpResponse(status=204)
                response["HX-Redirect"] = f"{reverse('login')}?next={request.htmx.current_url_abs_path or '/'}"
                return response
            if request.method not in ("GET", "HEAD"):
                return self._sign_in_first(request)
            return redirect_to_login(request.get_full_path(), reverse("login"))
        if request.user.must_change_password and name not in ("password_change", "password_change_done"):
            return redirect("password_change")
        return self.get_response(request)

    @staticmethod
    def _sign_in_first(request: HttpRequest) -> HttpResponse:
        """The sign-in page in answer to a form: it leads back to the form's page, and shows what came from there."""
        page = _form_page(request)
        typed = _typed(request) if page else []
        context = {"form": AuthenticationForm(), "next": page or reverse("home"), "is_unsent": True, "unsent": typed}
        return render(request, "registration/login.html", context, status=401)

    @staticmethod
    def _signed_out(request: HttpRequest) -> HttpResponse:
        refusal = Refusal(
            "core.signed_out",
            "You are signed out; nothing was stored.",
            fix="What you typed is still on the page. Sign in in another tab, then send it again.",
            status=401,
        )
        return render(request, "htmx/problem.html", {"refusal": refusal}, status=refusal.status)

    @staticmethod
    def _must_change_password(request: HttpRequest) -> bool:
        return request.user.is_authenticated and request.user.must_change_password

    @staticmethod
    def _ask_for_password(request: HttpRequest) -> HttpResponse:
        """A one-time password opens no other door before it was changed."""
        if request.path.startswith("/admin/"):
            return redirect("password_change")
        refusal = Forbidden(
            "core.one_time_password",
            "This password is for one sign-in on the page.",
            fix="Sign in there and choose your own first.",
        )
        return JsonResponse(refusal.as_document(), status=refusal.status)


class MethodMiddleware:
    """An address that only a form sends to, opened as a page, says so and leads to the page above it.

    Programs get the bare 405 with `Allow`.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code != 405 or request.method != "GET" or is_for_program(request):
            return response
        page = render(request, "errors/405.html", {"page_above": _page_above(request.path_info)}, status=405)
        page["Allow"] = response["Allow"]
        return page


def _page_above(path: str) -> str:
    """The nearest address above this one that exists."""
    while path := path.rstrip("/").rpartition("/")[0]:
        with suppress(Resolver404):
            resolve(f"{path}/")
            return f"{path}/"
    return reverse("home")


class RefusalMiddleware:
    """A refusal that no view caught becomes an answer with its status, code and fix, never a 500.

    So does an address with a NUL byte, which PostgreSQL can't look up (no view sees one in its query), and what the
    database itself refused.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        query = request.META.get("QUERY_STRING", "")
        if NUL in request.path_info or NUL in query or "%00" in query:
            refusal = Refusal("core.bad_address", "The address holds a NUL byte.", status=400)
            return answer_refusal(request, refusal)
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        refusal = refusal_from_database(error) if isinstance(error, DatabaseError) else error
        return answer_refusal(request, refusal) if isinstance(refusal, Refusal) else None
