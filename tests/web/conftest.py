"""What tests of pages share."""

import pytest
from django.test import Client

from kernels.models import Kernel
from kernels.services.runs import submit_run
from kernels.services.specs import open_draft, submit_spec
from tests import factories as f


@pytest.fixture
def forms_world(client):
    """A spec in review, a pinned anchor, a kernel, a queued run; the client is the designer."""
    row, op = f.evidence_row(), f.op()
    revision = f.saved_revision(f.spec_content(row))
    submit_spec(f.designer(), revision=revision)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="mine", basis=Kernel.Basis.EXPLORATORY)
    run = submit_run(f.designer(), kind="validate", version=version)
    open_draft(f.designer(), spec=revision.spec)
    client.force_login(f.designer().user)
    return {"row": row, "op": op, "spec": revision.spec, "revision": revision, "anchor": anchor, "version": version,
            "run": run}  # fmt: skip


@pytest.fixture
def sign_in(make_user):
    """sign_in("dora", "designer") -> a client."""

    def make(username: str, *roles: str) -> Client:
        client = Client()
        client.force_login(make_user(username, *roles))
        return client

    return make


@pytest.fixture
def viewer(sign_in):
    return sign_in("vita", "viewer")


@pytest.fixture
def designer(sign_in):
    return sign_in("ines", "designer")


@pytest.fixture
def curator(sign_in):
    return sign_in("cleo", "curator")
