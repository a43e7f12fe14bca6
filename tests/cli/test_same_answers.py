"""A check and a gate in a repository are what the app says of the same documents over the same data, byte for byte."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from evidence.models import EvidenceRow
from evidence.services import accept_proposal, propose_change
from evidence.services.flags import confirm_flag, flag_row
from kernels.models import Op, Spec
from kernels.selectors.gate import evidence_snapshot
from kernels.selectors.snapshot import snapshot_text
from kernels.services.posting import post_spec
from kernels.services.specs import pin_citations
from kernels.starter import load_starter
from tests import factories as f
from tests.rules.spec_examples import grouped_gemm_spec, norm_spec
from tests.rules.test_spec_markdown import SPEC
from tests.starter_data import STARTER
from v2kb.rules.antiloop import evaluate
from v2kb.rules.spec_document import normalise
from v2kb.rules.spec_markdown.writing import write_markdown

pytestmark = pytest.mark.django_db
SPECS = {path.stem: json.loads(path.read_text()) for path in sorted((STARTER / "specs").glob("*.json"))}
TEMPLATES = {path.stem: json.loads(path.read_text()) for path in sorted((STARTER / "templates").glob("*.json"))}


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, tmp_path_factory):
    """The starter data with a newer revision of a row and a confirmed flag, and its snapshot in a folder."""
    folder: Path = tmp_path_factory.mktemp("world")
    (folder / ".v2kb").mkdir()
    with django_db_blocker.unblock(), transaction.atomic():
        load_starter()
        row = EvidenceRow.objects.get(code="W1")
        changed = {**row.head.content, "bound": "Another bound."}
        proposal = propose_change(
            f.designer(), row, base_hash=row.head.content_hash, content=changed, reason="measured again"
        )
        accept_proposal(f.curator(), proposal.pk)
        confirm_flag(f.curator(), flag_row(f.designer(), "D6", reason="The trace is of another build.").pk)
        (folder / ".v2kb" / "snapshot.jsonl").write_text("".join(snapshot_text()), encoding="utf-8")
        yield folder
        transaction.set_rollback(True)


@pytest.fixture
def repository(world, caches, monkeypatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(caches))
    monkeypatch.delenv("V2KB_DIR", raising=False)
    monkeypatch.chdir(world)
    return world


def in_queue(document: dict[str, Any]) -> dict[str, Any]:
    """The document with the newest starter spec before it on its SM."""
    other = Spec.objects.order_by("-pk").first().code
    return {**document, "smem": {**document["smem"], "queue": [other, "this", other]}}


DOCUMENTS = {
    "markdown": lambda: SPEC,
    "a norm": lambda: write_markdown(norm_spec()),
    "a ring": lambda: json.dumps(grouped_gemm_spec()),
    "a starter spec": lambda: write_markdown(SPECS["w13-pipeline"]),
    "in a queue": lambda: json.dumps(in_queue(SPECS["w13-pipeline"])),
    "unreadable": lambda: '{"a": ',
    **{name: (lambda name=name: json.dumps(TEMPLATES[name])) for name in TEMPLATES},
}


@pytest.mark.parametrize("what", DOCUMENTS)
def test_check_is_that_of_rest(v2kb, repository, what):
    text = DOCUMENTS[what]()
    (repository / "spec").write_text(text, encoding="utf-8")
    client = Client()
    client.force_login(f.designer().user)
    theirs = client.post("/api/v1/specs/check-file/", {"text": text}, "application/json").json()
    ours = v2kb("check", "spec", "--json")
    assert ours.out == json.dumps(theirs, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert ours.code == theirs["exit_code"]


def gate_of_the_app(document: dict[str, Any], slugs: list[str]) -> dict[str, Any]:
    """What the web's gate preview says of the draft that a file begins, with the context that a file has."""
    ops = [Op.objects.get(slug=slug) for slug in slugs]
    spec = post_spec(f.designer(), title="T", ops=ops, content=document)
    draft = {**spec.drafts.get().content, "title": document["title"]}
    pinned = pin_citations(draft)
    context = {"authors": [], "new_mechanism_marks": [], "today": timezone.localdate().isoformat()}
    return evaluate(pinned, evidence_snapshot(pinned), context).as_document()


def cited(document: dict[str, Any], code: str, revision: str) -> dict[str, Any]:
    """The document whose first choice cites one row, at a revision."""
    return resting_on(document, {"kind": "evidence", "code": code, "revision": revision})


def resting_on(document: dict[str, Any], citation: dict[str, str]) -> dict[str, Any]:
    """The document whose first choice has this citation alone."""
    document = json.loads(json.dumps(document))
    document["choices"][0]["citations"] = [{"stance": "supports", **citation}]
    return document


def section(name: str) -> dict[str, str]:
    """A citation of a section of the house rules, by its anchor or number."""
    return {"kind": "section", "document": "kernel-house-rules", "anchor": name, "revision": "HEAD"}


def older(code: str) -> str:
    """The hash of a row's first revision."""
    return EvidenceRow.objects.get(code=code).revisions.order_by("number").first().content_hash


GATED = {
    "as it is": lambda document: document,
    "an alias of a lever": lambda document: {
        **document, "choices": [{**document["choices"][0], "lever": "Warp Spec Producer"}, *document["choices"][1:]]
    },
    "a row that isn't there": lambda document: cited(document, "D404", ""),
    "a revision that isn't there": lambda document: cited(document, "D3", "0" * 64),
    "an older revision": lambda document: cited(document, "W1", older("W1")),
    "a flagged row": lambda document: cited(document, "D6", ""),
    "the head": lambda document: cited(document, "D3", "HEAD"),
    "a section by its anchor": lambda document: resting_on(document, section("roles")),
    "a section by its number": lambda document: resting_on(document, section("§3")),
    "a section that isn't there": lambda document: resting_on(document, section("§99")),
    "no choice": lambda document: {**document, "choices": []},
}  # fmt: skip


@pytest.mark.parametrize("change", GATED)
@pytest.mark.parametrize("name", SPECS)
def test_the_gate_is_that_of_the_web(v2kb, repository, name, change):
    changed = GATED[change](SPECS[name])
    slugs = [op["op"] for op in changed["ops"]]
    (repository / "spec.json").write_text(json.dumps(changed), encoding="utf-8")
    document, _ = normalise(changed)
    theirs = gate_of_the_app(document, slugs)
    ours = v2kb("gate", "spec.json", "--json", *(f"--op={slug}" for slug in slugs))
    assert ours.out == json.dumps(theirs, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    assert ours.code == (0 if theirs["passed"] else 2)


def test_a_confirmed_flag_and_an_older_revision_block_offline_too(v2kb, repository):
    for changed, rule in (
        (cited(SPECS["w13-pipeline"], "D6", ""), "AL1"),
        (GATED["an older revision"](SPECS["w13-pipeline"]), "AL2"),
    ):
        (repository / "spec.json").write_text(json.dumps(changed), encoding="utf-8")
        lines = json.loads(v2kb("gate", "spec.json", "--json").out)["lines"]
        (line,) = (line for line in lines if line["rule"] == rule and line["choice"] == "C1")
        assert line["status"] == "UNSATISFIED", line
