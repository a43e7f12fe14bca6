"""Chromium of the system, a signed-in page, and a page that fails on unexpected console errors."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import ConsoleMessage, Page, expect

from kernels.models import Worker
from kernels.starter import load_starter
from tests.browser.chromium import CHROMIUM, FLAGS
from v2kb.broker import RUN_QUEUES
from v2kb.celery import app
from v2kb.core.models import User

ROOT = Path(__file__).resolve().parent.parent.parent
# Chromium logs every expected 4xx answer as a console error.
EXPECTED = ("the server responded with a status of 4",)
NEW_PASSWORD = "a-new-phrase-of-my-own"


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


@pytest.fixture
def site(live_server, settings, transactional_db) -> str:
    """The address of a live site that holds the starter data; every one-time password is known to the tests.

    Its queues are empty: a run that an earlier test sent belongs to a site that is gone.
    """
    settings.BASE_URL = live_server.url
    with app.connection_for_write() as connection:
        for queue in RUN_QUEUES:
            connection.default_channel.queue_purge(queue)
    load_starter()
    for name in ("admin", "designer", "reviewer", "curator"):
        user = User.objects.get(username=name)
        user.set_password(f"one-time-{name}-phrase")
        user.save(update_fields=["password"])
    return live_server.url


@pytest.fixture
def worker(site: str, settings) -> Iterator[subprocess.Popen]:
    """A run worker in a process of its own, alive by its own hello."""
    command = [
        *(sys.executable, "-m", "v2kb.worker", "--app-url", site, "--queue", "cpu", "--name", "browser-worker"),
        *("--broker-url", settings.BROKER_URL, "--data-dir", str(settings.DATA_DIR)),
    ]
    environment = {**os.environ, "V2KB_WORKER_TOKEN": settings.WORKER_TOKEN}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True)
    until = time.monotonic() + 90
    while not Worker.objects.filter(name="browser-worker").exists():
        if process.poll() is not None or time.monotonic() > until:
            pytest.fail("the worker did not say hello")
        time.sleep(0.2)
    yield process
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()


@pytest.fixture
def console(page: Page) -> Iterator[list[str]]:
    """Errors that the page writes to the console; the test fails when an unexpected one is left."""
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type == "error" and not any(text in message.text for text in EXPECTED):
            errors.append(f"{message.text} ({message.location.get('url')})")

    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield errors
    assert errors == []


@pytest.fixture
def sign_in_by_form(page: Page, site: str) -> Callable[[str], None]:
    """sign_in_by_form("designer"): sign in on the page, spending the one-time password at the first time."""
    spent: set[str] = set()

    def enter(name: str) -> None:
        page.context.clear_cookies()
        page.goto(f"{site}/sign-in/")
        password = NEW_PASSWORD if name in spent else f"one-time-{name}-phrase"
        page.locator("#id_username").fill(name)
        page.locator("#id_password").fill(password)
        page.get_by_role("button", name="Sign in").click()
        if name not in spent:
            expect(page).to_have_url(f"{site}/password/")
            page.locator("#id_old_password").fill(password)
            page.locator("#id_new_password1").fill(NEW_PASSWORD)
            page.locator("#id_new_password2").fill(NEW_PASSWORD)
            page.get_by_role("button", name="Change password").click()
            spent.add(name)
        expect(page.get_by_role("heading", name="Home")).to_be_visible()

    return enter
