"""Curators, one for services and one for pages."""

import pytest
from django.test import Client


@pytest.fixture
def cleo(make_actor):
    return make_actor("cleo", "curator")


@pytest.fixture
def cara(make_user):
    client = Client()
    client.force_login(make_user("cara", "curator"))
    return client
