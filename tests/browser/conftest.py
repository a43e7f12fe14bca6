"""Chromium of the system, a signed-in page, and a page that fails on unexpected console errors."""

import os
import shutil

import pytest
from django.conf import settings
from django.test import Client

CHROMIUM = os.environ.get("V2KB_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    """Everything here is a browser test, and is skipped where there is no Chromium."""
    for item in items:
        if "/browser/" in str(item.path):
            item.add_marker(pytest.mark.browser)
            if not CHROMIUM:
                item.add_marker(pytest.mark.skip(reason="Chromium is not installed (apt-get install chromium)"))


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args):
    """Start the system's Chromium, not a downloaded one."""
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": FLAGS}


@pytest.fixture
def console_errors(page):
    """What the page complained about, filled as it happens."""
    found: list[str] = []
    page.on("console", lambda message: found.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.fixture
def sign_in(live_server, context, make_user):
    """sign_in("dora", "designer") -> the user, signed in within the browser's context."""

    def sign(username: str, *roles: str, **fields):
        user = make_user(username, *roles, must_change_password=False, **fields)
        client = Client()
        client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        cookie = client.cookies[settings.SESSION_COOKIE_NAME]
        context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie.value, "url": live_server.url}])
        return user

    return sign
