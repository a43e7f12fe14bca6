"""The page of a run: what a reader sees first, what missed its bar, and what a run waits for."""

import re

import pytest
from django.urls import reverse

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


# --- one workload at a time ---

TWO = [{"name": "small", "axes": {"rows": "4"}}, {"name": "large", "axes": {"rows": "64"}}]
SMALL, LARGE = "102.000", "999.000"  # a candidate's median in us, as the tables show it


@pytest.fixture
def two_workloads():
    """A perf run over two workloads."""
    op = f.op(workloads=TWO)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.EXPLORATORY)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    body = f.result(run, [100_000] * 3, [102_000] * 3)
    more = f.result(run, [900_000] * 3, [999_000] * 3)["rounds"]
    body["rounds"] += [{**timed, "workload": "large", "position": timed["position"] + 6} for timed in more]
    return f.finish(run, body)


def _twins(text: str) -> str:
    return "".join(re.findall(r'id="(?:paired|samples|ladder)-table">.*?</table>', text, re.S)).replace(
        '<span class="frac">', ""
    )


def test_the_plots_show_the_workload_that_the_address_names(page, client, two_workloads):
    url = two_workloads.get_absolute_url()
    first, second = page(two_workloads), client.get(url, {"workload": "large"}).content.decode()
    assert SMALL in _twins(first)
    assert LARGE not in _twins(first)
    assert LARGE in _twins(second)
    assert SMALL not in _twins(second)
    assert "<option selected>large</option>" in second
    assert SMALL in _twins(client.get(url, {"workload": "no such"}).content.decode())
    part = client.get(url, {"workload": "large"}, headers={"HX-Request": "true"}).content.decode()
    assert "<h1" not in part
    assert 'id="plots"' in part
    assert LARGE in _twins(part)


def test_the_kernels_page_has_the_same_choice(page, client, two_workloads):
    url = two_workloads.version.kernel.get_absolute_url()
    assert page(two_workloads)
    text = client.get(url, {"workload": "large"}).content.decode()
    assert LARGE in _twins(text)
    assert SMALL not in _twins(text)
    assert f"{two_workloads.get_absolute_url()}?workload=large" in text
    part = client.get(url, {"workload": "large"}, headers={"HX-Request": "true"}).content.decode()
    assert 'id="times"' in part
    assert "<h1" not in part


def test_one_workload_leaves_no_choice(page):
    version = f.kernel_version(f.op(), slug="free", basis=Kernel.Basis.EXPLORATORY)
    anchor = f.pinned_anchor(version.kernel.op)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000] * 3, [102_000] * 3))
    assert 'name="workload"' not in page(run)


def test_a_round_that_lacks_a_side_pairs_with_nothing(page):
    version = f.kernel_version(f.op(), slug="free", basis=Kernel.Basis.EXPLORATORY)
    anchor = f.pinned_anchor(version.kernel.op)
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    body = f.result(run, [100_000, 200_000, 300_000], [110_000, 220_000, 330_000])
    body["rounds"] = [t for t in body["rounds"] if (t["round"], t["side"]) != (0, "anchor")]
    f.finish(run, body)
    changes = re.findall(r'data-exact="(-?[0-9.]+)"', re.search(r'id="paired-table">.*?</table>', page(run), re.S)[0])
    assert [round(float(change)) for change in changes if float(change) < 99] == [1, 2, 10, 3, 10]


def test_without_javascript_each_plot_points_at_its_open_table(page, two_workloads):
    text = page(two_workloads)
    for plot in ("paired", "samples"):
        figure = re.search(rf'<figure[^>]*data-source="{plot}-data">.*?</figure>', text, re.S)[0]
        assert f'<noscript><p>The plot is drawn with JavaScript. The <a href="#{plot}-table">' in figure
        assert '<details class="chart-twin" open>' in figure


# --- what changes while it goes ---


def test_the_state_beside_the_title_follows_the_live_part(page, client):
    run = submit_run(f.designer(), kind="validate", version=f.kernel_version(f.op()))
    text = page(run)
    assert 'id="run-state">' in text
    assert "hx-swap-oob" not in text
    f.claimed(run)
    live = client.get(reverse("kernels:run_live", args=[run.public_id]), headers={"HX-Request": "true"})
    (beside,) = re.findall(r'<span class="cluster" id="run-state" hx-swap-oob="true">.*?</span></span>', live.text)
    assert "claimed" in beside
    assert re.search(r"for \d+ s", beside)


def test_a_finished_run_says_how_long_it_took(page):
    run = submit_run(f.designer(), kind="validate", version=f.kernel_version(f.op()))
    f.finish(run, f.result(run, [], []))
    assert re.search(r'id="run-state">.*?took \d+ s', page(run))


# --- timing what has not passed validation ---


@pytest.fixture
def form(client):
    """form(version, kind="perf", **headers) -> the text of the form that sends a run of it."""
    client.force_login(f.designer().user)

    def get(version, kind="perf", **headers) -> str:
        url = reverse("kernels:run_new", args=[version.kernel.op.slug])
        return client.get(url, {"version": version.pk, "kind": kind}, headers=headers).content.decode()

    return get


def _validated(version, outcome="PASS"):
    run = submit_run(f.designer(), kind="validate", version=version)
    return f.finish(run, f.result(run, [], [], outcome=outcome))


def test_the_form_warns_of_a_version_that_was_never_validated_or_failed(form):
    version = f.kernel_version(f.op(), slug="free", basis=Kernel.Basis.EXPLORATORY)
    assert "Never validated over every workload" in form(version)
    assert "Never validated" not in form(version, "validate")
    _validated(version)
    assert "Validate it first" not in form(version)
    assert '<optgroup label="passed validation">' in form(version)
    _validated(version, "FAIL_NUMERIC")
    text = form(version)
    assert "Validation failed: numeric is FAIL. The run ended as FAIL_NUMERIC." in text
    assert "its verdict will be INVALID" in text
    assert '<optgroup label="failed validation">' in text
    part = form(version, **{"HX-Request": "true"})
    assert "Validation failed" in part
    assert "<form" not in part


def test_a_session_that_is_invalid_for_that_offers_the_validation(page):
    row, op = f.evidence_row(), f.op()
    revision = f.approved_revision(row)
    anchor = f.pinned_anchor(op)
    version = f.kernel_version(op, slug="fused", basis=Kernel.Basis.SPEC, spec=revision.spec)
    _validated(version, "FAIL_NUMERIC")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    f.finish(run, f.result(run, [100_000, 101_000, 99_500], [94_000, 95_200, 93_800]))
    text = page(run)
    assert "first failed gate ladder: Validation failed" in text
    assert ">Validate fused v1</a>" in text
    assert "they decide nothing" not in text


def test_the_page_of_an_unjudged_session_carries_the_warning(page):
    op = f.op()
    version = f.kernel_version(op, slug="free", basis=Kernel.Basis.EXPLORATORY)
    anchor = f.pinned_anchor(op)
    _validated(version, "FAIL_NUMERIC")
    run = submit_run(f.designer(), kind="perf", version=version, anchor=anchor, rounds=3)
    assert "can't be judged as it stands" in page(run)
    f.finish(run, f.result(run, [100_000] * 3, [94_000] * 3))
    text = page(run)
    assert "Validation failed" in text
    assert "they decide nothing" in text
    _validated(version)
    assert "Validation failed" in page(run), "what a later run says is not what this one stood on"
