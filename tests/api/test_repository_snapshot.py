"""The snapshot for repositories over HTTP: compressed, conditional, and the same but for its date."""

import gzip

import pytest

from tests import factories as f
from v2kb.rules.snapshot import read_head, read_snapshot

pytestmark = pytest.mark.django_db
PATH = "/repository-snapshot/"


@pytest.fixture
def api(api_of):
    f.evidence_row()
    return api_of(f.actor("vera", "viewer").user)


def test_it_is_compressed_for_who_takes_that(api):
    plain = api.send("GET", PATH)
    packed = api.send("GET", PATH, **{"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.content) < len(plain.content)
    assert (
        read_snapshot(gzip.decompress(packed.content).decode())[0].sha256
        == read_snapshot(plain.content.decode())[0].sha256
    )


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_what_one_has_is_not_sent_again_until_something_changes(api, encoding):
    first = api.send("GET", PATH, **{"Accept-Encoding": encoding})
    known = {"If-None-Match": first.headers["ETag"], "Accept-Encoding": encoding}
    again = api.send("GET", PATH, **known)
    assert (again.status_code, again.content) == (304, b"")
    f.evidence_row(lever="another", title="Another")
    changed = api.send("GET", PATH, **known)
    assert changed.status_code == 200
    assert changed.headers["ETag"] != first.headers["ETag"]


def test_the_tag_can_be_made_from_the_file(api):
    response = api.send("GET", PATH)
    assert response.headers["ETag"] == read_head(response.content.decode().partition("\n")[0]).etag
