"""The page of a run: what a reader sees first, what missed its bar, and what a run waits for."""

import re

import pytest

from kernels.models import Kernel
from kernels.services.runs import submit_run
from tests import factories as f

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client):
    """page(run) -> the page's text, as a designer sees it."""
    client.force_login(f.designer().user)

    def get(run) -> str:
        response = client.get(run.get_absolute_url())
        assert response.status_code == 200
        return response.content.decode()

    return get


def _case(output: dict, **changes) -> dict:
    case = {"workload": "small", "profile": "random", "seed": "s", "passed": False, "reason": "call 0: y is wrong"}
    output = {"name": "y", "nan_count": 0, "shape_ok": True, "dtype_ok": True, "reference_error_fp64": 1e-7, **output}
    return {**case, "outputs": [output], **changes}


def test_results_come_before_the_log_which_is_closed(page):
    op = f.op()
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.EXPLORATORY)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    text = page(run)
    order = [
        text.index(part) for part in ('id="j"', 'id="cases-h"', 'id="forest-title"', 'id="samples-title"', 'id="log"')
    ]
    assert order == sorted(order)
    assert re.search(r'<details class="fold">\s*<summary>Log', text)


def test_a_failed_case_names_its_reason_and_marks_what_missed_its_bar(page):
    version = f.kernel_version(f.op())
    run = submit_run(f.designer(), kind="validate", version=version)
    body = f.result(run, [], [], outcome="FAIL_NUMERIC", cases=[_case({"cos": 0.99895, "rel_max": 3.11e-8})])
    f.finish(run, body)
    text = page(run)
    assert 'class="n is-over" data-label="cos">0.99895<' in text
    assert 'class="n" data-label="rel_max">3.110e-8<' in text
    assert "call 0: y is wrong" in text
    assert "0 of 1 workload passed" in text
    assert re.search(r'<details class="fold" open>\s*<summary>Log', text)


def test_an_almost_perfect_cosine_is_not_called_one(page):
    version = f.kernel_version(f.op())
    run = submit_run(f.designer(), kind="validate", version=version)
    case = _case({"cos": 0.9999999999999969, "rel_max": 0.0}, passed=True, reason="")
    f.finish(run, f.result(run, [], [], cases=[case]))
    text = page(run)
    assert 'data-label="cos">1 − 3.10e-15<' in text
    assert 'data-label="rel_max">0<' in text
    assert "is-over" not in text


def test_a_queued_run_says_that_no_worker_listens(page):
    version = f.kernel_version(f.op())
    run = submit_run(f.designer(), kind="validate", version=version)
    assert "No worker listens" in page(run)
    f.claimed(run)
    run.refresh_from_db()
    assert "No worker listens" not in page(run)
