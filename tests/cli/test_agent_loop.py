"""An agent goes the whole loop of docs/agents.md from a fresh repository, with nothing but the command."""

import json
import re

import pytest

from evidence.models import EvidenceRow, ExperimentEntry, Proposal
from kernels.models import Approval, Run, Spec
from kernels.services.reviews import sign_mechanism, take_position
from tests import factories as f
from tests.cli.site import ENGINE
from tests.cli.test_reading import ROOT
from v2kb.cli.main import COMMANDS
from v2kb.core.models import Activity
from v2kb.rules.spec_markdown.writing import write_markdown

pytestmark = pytest.mark.django_db(transaction=True)
KERNEL = "def run(inputs):\n    return {'y': inputs['x']}\n"


@pytest.fixture
def open_row() -> EvidenceRow:
    """What nobody has measured yet, with the anchor to measure it against."""
    f.pinned_anchor(f.op())
    return f.evidence_row(title="Fused row norm in one pass", scope={"envelope": ["cpu"], "arch": ["cpu"]})


def finished(candidate: list[int]) -> str:
    """What the worker does with the newest run."""
    run = Run.objects.latest("pk")
    anchor = [] if run.kind == "validate" else [100_000, 101_000, 99_500]
    body = f.result(run, anchor, candidate) if anchor else f.result(run, [], [], rounds=[])
    f.finish(run, body)
    return run.public_id


def test_the_loop_with_nothing_but_the_command(site, open_row):
    # what was tried
    assert site("sync").code == 0
    asked = ("prior", "norm", "--lever", open_row.head.lever.slug, "--scope", "arch=cpu", "--format", "prompt")
    prompt = site(*asked).out
    cited = re.findall(r"(?:DEAD|UNTESTED) (\w+)@\w+", prompt)
    assert set(cited) == {site.row.code, open_row.code}
    assert "[BLOCKS]" in prompt
    assert site.row.head.content["not_checked"] in site("show", site.row.code).out

    # a design that only cites the open row does not pass the gate; one that answers the dead row does
    choice = {"lever": open_row.head.lever.slug}
    design = f.spec_content(open_row, **choice)
    (site.folder / "norm_spec.md").write_text(write_markdown(design))
    assert site("check", "norm_spec.md", "--op", "rmsnorm-cpu").code in (0, 1)
    blocked = site("gate", "norm_spec.md", "--op", "rmsnorm-cpu")
    assert (blocked.code, site.row.code in blocked.out) == (2, True)
    citations = [
        *design["choices"][0]["citations"],
        {"kind": "evidence", "code": site.row.code, "revision": "HEAD", "stance": "contradicts"},
    ]
    mechanism = "It keeps the row in registers, so that there is no second pass whose loads could cost more."
    answered = f.spec_content(open_row, **choice, citations=citations, new_mechanism=mechanism)
    (site.folder / "norm_spec.md").write_text(write_markdown(answered))
    gate = site("gate", "norm_spec.md", "--op", "rmsnorm-cpu")
    assert (gate.code, "was not signed as new by anybody. 1 of 6 lines block" in gate.out) == (2, True), gate.out

    # handed in, with the search that came before it
    submitted = site("submit", "norm_spec.md", "--op", "rmsnorm-cpu")
    assert submitted.code == 0, submitted.err
    spec = Spec.objects.get()
    assert spec.receipts.get().content["rows"]
    (site.folder / "k").mkdir()
    (site.folder / "k" / "kernel.py").write_text(KERNEL)
    make = ("run", "ours", "--new-for", "rmsnorm-cpu", "--spec", spec.code, "--files", "k", "--no-wait")
    early = site(*make)
    assert (early.code, "spec_not_approved" in early.err) == (2, True)

    # people decide
    sign_mechanism(f.curator(), revision=spec.head, choice_id="C1", reason="Registers, not scratch.")
    take_position(f.reviewer(), revision=spec.head, aspect="correctness", position="approve")
    assert Approval.objects.filter(revision=spec.head).exists()

    # correctness, then the measurement
    assert site(*make).code == 0
    assert site("watch", finished([])).code == 0
    perf = site("run", "ours", "--kind", "perf", "--anchor", "naive", "--rounds", "3", "--no-wait")
    assert perf.code == 0, perf.err
    judged = site("watch", finished([90_000, 90_500, 89_800]), "--json")
    judgement = json.loads(judged.out)["judgement"]
    assert (judged.code, judgement["judgement"]) == (0, "WIN")

    # what came out
    run = Run.objects.latest("pk").public_id
    assert (
        site("record", "--verdict", "WIN", "--why", judgement["sentence"], "--env", "CPU", "--link", f"run:{run}").code
        == 0
    )
    assert ExperimentEntry.objects.get().author.engine_name == ENGINE
    assert site("propose", open_row.code, "--set", "bound=Half of it.", "--reason", f"run {run}").code == 0
    assert Proposal.objects.filter(author__username="ada", row=open_row).exists()
    assert site("sync").code == 0
    assert {line.actor_name for line in Activity.objects.filter(user__username="ada")} == {f"ada ({ENGINE})"}


def test_the_page_for_agents_names_commands_that_exist():
    page = (ROOT / "docs" / "agents.md").read_text()
    named = set(re.findall(r"^v2kb ([\w-]+)", page, re.M)) | set(re.findall(r"`v2kb ([\w-]+)", page))
    assert named <= set(COMMANDS)
    loop = page.partition("## The loop in ten commands")[2].partition("```\n")[2].partition("```")[0]
    assert len(re.findall(r"^v2kb ", loop, re.M)) == 10


def test_the_codes_that_the_page_names_are_documented():
    page, errors = ((ROOT / "docs" / name).read_text() for name in ("agents.md", "errors.md"))
    codes = set(re.findall(r"`([a-z]+\.[a-z_]+)`", page)) - {"config.toml"}
    assert codes
    assert {code for code in codes if f"| `{code}` |" not in errors} == set()
