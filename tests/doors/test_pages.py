"""Every page of kernels that writes: who is turned away, by which method, and that nothing is left behind."""

import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from kernels.models import SearchReceipt
from kernels.op_forms import initial_of
from kernels.urls import urlpatterns
from tests import factories as f
from v2kb.core.models import Activity

pytestmark = pytest.mark.django_db

# name -> (arguments, data that a designer could send, answer to a viewer)
WRITES = {
    "op_new": (lambda w: [], lambda w: {**initial_of(w.op.head.content), "slug": "another"}, 403),
    "op_edit": (lambda w: [w.op.slug], lambda w: initial_of(w.op.head.content) | {"title": "Other"}, 403),
    "op_stop": (lambda w: [w.op.slug], {"codes": "U1", "reason": "enough"}, 403),
    "spec_new": (lambda w: [], {"title": "New", "ops": "rmsnorm-cpu"}, 403),
    "spec_import": (lambda w: [], {"text": "# New", "ops": "rmsnorm-cpu", "action": "create"}, 403),
    "spec_search": (lambda w: [], {"q": "norm", "title": "New", "ops": "rmsnorm-cpu"}, 403),
    "spec_edit_start": (lambda w: [w.spec.code], {"version": "1", "title": "Other"}, 403),
    "spec_edit": (lambda w: [w.spec.code, "overview"], {"version": "1", "title": "Other"}, 403),
    "spec_edit_choice": (lambda w: [w.spec.code, "C1"], {"version": "1", "title": "Other"}, 403),
    "spec_finish": (lambda w: [w.spec.code], {"version": "1", "action": "submit"}, 403),
    "spec_rebase": (lambda w: [w.spec.code], {}, 403),
    "spec_discard": (lambda w: [w.spec.code], {}, 403),
    "spec_gate_store": (lambda w: [w.spec.code, 1], {}, 302),
    "spec_submit": (lambda w: [w.spec.code, 1], {}, 403),
    "spec_comment": (lambda w: [w.spec.code, 1], {"place": "C1", "text": "A question"}, 302),
    "spec_position": (lambda w: [w.spec.code, 1], {"aspect": "correctness", "position": "approve"}, 403),
    "spec_sign": (lambda w: [w.spec.code, 1], {"choice_id": "C1", "reason": "new"}, 403),
    "spec_close": (lambda w: [w.spec.code, 1], {}, 403),
    "spec_search_bring": (lambda w: [w.spec.code, SearchReceipt.objects.get(spec=w.spec).pk], {}, 403),
    "spec_waiver_ask": (lambda w: [w.spec.code], {"rule": "R40", "path": "granularity[0].listed", "reason": "r"}, 403),
    "spec_waiver_answer": (lambda w: [w.spec.code, w.waiver.pk], {"answer": "agreed"}, 403),
    "kernel_new": (lambda w: [], {"slug": "k", "title": "K", "op": "rmsnorm-cpu", "basis": "exploratory"}, 403),
    "version_new": (lambda w: [w.kernel.slug], {"entry": "kernel.py:run", "source": "def run(x): return x"}, 403),
    "anchor_new": (lambda w: [w.op.slug], {"name": "other", "method": "m"}, 403),
    "anchor_stale": (lambda w: [w.anchor.name], {"reason": "new driver"}, 403),
    "run_new": (
        lambda w: [w.op.slug],
        lambda w: {"kind": "validate", "rounds": "5", "launches": "30", "version": w.version.pk},
        403,
    ),
    "run_cancel": (lambda w: [w.queued.public_id], {}, 403),
}
POST_ONLY = {
    "spec_gate_store", "spec_submit", "spec_comment", "spec_position", "spec_sign", "spec_close", "run_cancel",
    "spec_search_bring", "spec_waiver_ask", "spec_waiver_answer",
}  # fmt: skip
REDIRECTS_A_GET = {"spec_rebase", "spec_discard", "anchor_stale"}
READS = {
    "spec_list", "spec_detail", "spec_revision", "spec_gate", "spec_diff", "spec_export", "op_list", "op_detail",
    "family_questions", "kernel_list", "kernel_detail", "version_detail", "anchor_list", "run_list", "run_detail",
    "run_live", "worker_list", "calculator_list", "calculator", "spec_sweep", "spec_draft_sweep",
    "rule_list",
}  # fmt: skip


def everything() -> dict[str, list]:
    """All rows of kernels, and the length of the log."""
    models = apps.get_app_config("kernels").get_models()
    rows = {model._meta.label: list(model.objects.order_by("pk").values()) for model in models}
    return {**rows, "activity": Activity.objects.count()}


@pytest.fixture
def target(world, request):
    """URL, data, and what a viewer gets."""
    arguments, data, answer = WRITES[request.param]
    data = data(world) if callable(data) else data
    return request.param, reverse(f"kernels:{request.param}", args=arguments(world)), data, answer


every_page = pytest.mark.parametrize("target", sorted(WRITES), indirect=True)


def test_every_address_of_kernels_is_in_a_table_here():
    assert {pattern.name for pattern in urlpatterns} == set(WRITES) | READS
    assert set(WRITES) >= POST_ONLY | REDIRECTS_A_GET


@every_page
def test_who_writes_and_how(target, client, make_user):
    """Anonymous, a viewer, the wrong method and a form without token: each is turned away and writes nothing."""
    name, url, data, answer = target
    before = everything()
    anonymous = client.post(url, data)
    assert anonymous.status_code == 401
    assert "data-sign-in" in anonymous.content.decode()
    assert everything() == before

    strict = Client(enforce_csrf_checks=True)
    strict.force_login(f.designer().user)
    assert strict.post(url, data).status_code == 403
    assert everything() == before

    client.force_login(f.designer().user)
    got = client.get(url, data)
    assert got.status_code == (405 if name in POST_ONLY else 302 if name in REDIRECTS_A_GET else 200)
    assert client.put(url, data).status_code in (200, 302, 405)
    assert client.delete(url).status_code in (200, 302, 405)
    assert everything() == before

    viewer = make_user("vera", "viewer")
    client.force_login(viewer)
    assert client.post(url, data).status_code == answer
    if answer == 403:
        assert everything() == before
    else:
        assert Activity.objects.latest("id").user == viewer


@every_page
def test_a_superuser_without_roles_writes_nothing(target, client, roleless):
    _, url, data, answer = target
    before = everything()
    client.force_login(roleless.user)
    assert client.post(url, data).status_code == answer
    assert answer == 302 or everything() == before


@pytest.mark.parametrize("name", sorted(READS))
def test_pages_that_read_write_nothing_whatever_is_posted(world, client, name):
    arguments = {
        "spec_detail": [world.spec.code], "spec_revision": [world.spec.code, 1], "spec_gate": [world.spec.code, 1],
        "spec_diff": [world.spec.code, 1, 1], "spec_export": [world.spec.code, 1, "md"], "op_detail": [world.op.slug],
        "kernel_detail": [world.kernel.slug],
        "version_detail": [world.kernel.slug, 1], "run_detail": [world.run.public_id],
        "run_live": [world.run.public_id], "calculator": ["task-count"],
        "spec_sweep": [world.spec.code, 1], "spec_draft_sweep": [world.spec.code],
    }  # fmt: skip
    url = reverse(f"kernels:{name}", args=arguments.get(name, []))
    before = everything()
    client.force_login(f.designer().user)
    assert client.post(url, {"title": "Other", "state": "approved"}).status_code in (200, 286, 405)
    assert client.get(url).status_code in (200, 286)
    assert everything() == before
