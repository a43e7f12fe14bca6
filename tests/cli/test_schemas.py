"""What `--json` writes keeps to the committed schemas: a field that comes or goes is a change for every reader."""

import json

import jsonschema
import pytest

from tests.cli.test_judging import samples
from tests.cli.test_reading import ROOT
from tests.rules.test_spec_markdown import SPEC
from tests.rules.test_task_graph import chain, grouped
from tests.services.test_kernels_judging import INCONCLUSIVE, WIN
from tests.starter_data import STARTER

pytestmark = pytest.mark.django_db
SCHEMAS = ROOT / "docs" / "cli-schemas"
W13 = STARTER / "specs" / "w13-pipeline.json"
BAR = ("--predict", "5%", "--kill", "3%")
ASKED = {
    "check": [["check", "spec.md"], ["check", str(W13)], ["check", "refused.json"], ["check", "empty.md"]],
    "gate": [["gate", "spec.md"], ["gate", str(W13)], ["gate", "refused.json"]],
    "plan": [["plan", "spec.md"], ["plan", str(W13)], ["plan", "refused.json"], ["plan", "unsized.json"]],
    "plan-task-graph": [["plan", "graph.json"], ["plan", "said.json"]],
    "wavequant": [["wavequant", "--items", "7168", "--tasks", "136", "--old", "4", "--new", "7"]],
    "judge": [
        ["judge", "anchor.csv", "win.csv", *BAR],
        ["judge", "anchor.csv", "unclear.csv", *BAR],
        ["judge", "anchor.csv", "short.csv", *BAR],
        ["judge", "anchor.csv", "win.csv", "--predict", "5us", "--kill", "3us"],
    ],
    "signature": [["signature", "hang"]],
    "prior": [["prior", "producer", "--scope", "M=1"], ["prior", "pipelnie", "--no-receipt"]],
    "show": [["show", "D3"], ["show", "U1"]],
    "lever": [["lever", "split-k"], ["lever", "warp-spec producer"]],
    "rule": [["rule"], ["rule", "R12"], ["rule", "R63"], ["rule", "AL4"]],
    "doc": [["doc", "house rules §3"], ["doc", "ring"]],
    "error": [["check", "/nowhere"], ["show", "D404"], ["judge", "empty.md", "empty.md", *BAR]],
}  # fmt: skip


@pytest.fixture
def files(repository):
    refused, unsized = (json.loads(W13.read_text()) for _ in range(2))
    refused["smem"]["regions"][1] |= {"size_bytes": "300000", "page_count": "-1"}
    unsized["smem"]["regions"][0]["size_bytes"] = ""
    said = chain()
    said["all_tasks"][2] |= {"planned_smem_used_pages": "none", "planned_smem_page_regions": []}
    said["all_tasks"][3]["smem_regions"] = grouped(11)
    for name, value in {
        "spec.md": SPEC, "empty.md": "", "refused.json": refused, "unsized.json": unsized, "graph.json": chain(),
        "said.json": said, "anchor.csv": samples(WIN[0]), "win.csv": samples(WIN[1]),
        "unclear.csv": samples(INCONCLUSIVE[1]), "short.csv": samples(WIN[1][:2]),
    }.items():  # fmt: skip
        (repository / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


@pytest.mark.parametrize("name", ASKED)
def test_json_keeps_to_its_schema(v2kb, files, name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    for arguments in ASKED[name]:
        said = v2kb(*arguments, "--json")
        jsonschema.validate(json.loads(said.out), schema)


@pytest.mark.parametrize("name", ASKED)
def test_a_schema_names_every_field_that_it_allows(name):
    """Nothing may be added to a document without its schema."""
    open_objects = []

    def walk(schema: dict, path: str) -> None:
        if "properties" in schema and schema.get("additionalProperties") is not False:
            open_objects.append(path)
        for key, part in schema.get("properties", {}).items():
            walk(part, f"{path}.{key}")
        if "items" in schema:
            walk(schema["items"], f"{path}[]")

    walk(json.loads((SCHEMAS / f"{name}.json").read_text()), name)
    assert open_objects == []
