"""A dispatcher on the broker under test: V2KB_TEST_BROKER_URL, by default the embedded one."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from celery.signals import before_task_publish

from tests.dispatch.harness import BROKER_URL, Dispatcher


def pytest_collection_modifyitems(items):
    """Everything here is a dispatch test."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.dispatch)


@pytest.fixture
def connect(monkeypatch, settings, live_server):
    """connect(dispatcher): the application sends through this dispatcher, and its messages name the live server."""
    noted: list[Dispatcher] = []

    def use(dispatcher: Dispatcher) -> Dispatcher:
        settings.BASE_URL = live_server.url
        monkeypatch.setattr("v2kb.core.jobs.app", dispatcher.sender)
        before_task_publish.connect(dispatcher.note_sent, weak=False)
        noted.append(dispatcher)
        return dispatcher

    yield use
    for dispatcher in noted:
        before_task_publish.disconnect(dispatcher.note_sent)


@pytest.fixture
def dispatcher(connect, live_server, tmp_path) -> Iterator[Dispatcher]:
    """A dispatcher of one test, without workers; they end with the test."""
    made = connect(Dispatcher(BROKER_URL, tmp_path, live_server.url))
    yield made
    made.stop()
