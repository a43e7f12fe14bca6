"""The field's own Stage-1 spec: what the reader places, what it leaves, and that its findings follow."""

import re
from pathlib import Path

import pytest

from v2kb.rules.spec_markdown.reading import read_markdown
from v2kb.rules.spec_markdown.writing import write_markdown
from v2kb.rules.spec_rules import spec_report
from v2kb.rules.spec_view import SpecView

EXEMPLAR = Path(__file__).parents[3] / "shared" / "corpus" / "applications" / "ffn_item1_spec.md"

pytestmark = pytest.mark.skipif(not EXEMPLAR.exists(), reason="the corpus is not at hand")


@pytest.fixture(scope="module")
def text():
    return EXEMPLAR.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def reading(text):
    return read_markdown(text)


@pytest.fixture(scope="module")
def doc(reading):
    assert reading.problems == ()
    return reading.document


def test_totals(doc):
    totals = spec_report(doc).totals
    assert totals == {"smem_bytes": 155_664, "regions": 9, "smem_pages": 10, "semaphores": 30, "tasks": 124}


def test_contract_and_symbols(doc):
    assert [op["name"] for op in doc["ops"]] == ["W13 routed", "W13 shared", "W2 (+shared dn)"]
    expected = {
        "HIDDEN": "7168", "W13_N": "1024", "W2_K": "512", "W2_N": "7168", "GRP": "128", "KG1": "56", "KG2": "4",
        "MAX_ACTIVE": "8", "E_LOCAL": "128", "SH_GU_N": "512", "SH_DN_K": "256", "META_INTS": "24", "STAGES": "8",
    }  # fmt: skip
    assert doc["symbols"].items() >= expected.items()
    assert (doc["engine"]["family"], doc["engine"]["m"], doc["engine"]["tile_m"]) == ("A", "1", "128")


def test_memory(doc):
    rows = [(r["name"], r["ordinal"], r["slots"], r["size_bytes"], r["page_count"]) for r in doc["smem"]["regions"]]
    assert rows == [("W_", "0", "STAGES", "16384", "1"), ("BSF", "STAGES", "1", "STAGES*3072 + 16", "2")]
    slices = [
        (s["name"], s["offset_bytes"], s["size_bytes"], s["alignment"]) for s in doc["smem"]["regions"][1]["slices"]
    ]
    assert slices == [
        ("B", "s*3072", "2048", "1024"),
        ("SFA", "s*3072 + 2048", "512", "1024"),
        ("SFB", "s*3072 + 2560", "512", "128"),
        ("taddr", "STAGES*3072", "16", "1"),
    ]
    assert [(c["symbol"], c["low"], c["high"]) for c in doc["claims"]] == [("STAGES", "8", "12")]
    tmem = [(o["name"], o["slots"], o["columns"], o["start"]) for o in doc["tmem"]["objects"]]
    assert tmem == [("ACC", "2", "16", "0"), ("SFA", "1", "4", "32"), ("SFB", "1", "4", "36")]
    assert (doc["tmem"]["alloc_columns"], doc["tmem"]["address_cached"], doc["tmem"]["published_by"]) == (
        "64", "yes", "tmem_ready")  # fmt: skip


def test_semaphores(doc):
    columns = ("name", "ordinal", "slots", "count", "producer", "consumer", "reinit_owner")
    assert [tuple(row[c] for c in columns) for row in doc["sems"]["rows"]] == [
        ("W_tma", "0", "STAGES", "1", "loader", "mma", "loader"),
        ("B_sf", "STAGES", "STAGES", "1", "loader", "mma", "loader"),
        ("mma", "2*STAGES", "STAGES", "1", "mma", "loader", "loader"),
        ("mainloop", "3*STAGES", "2", "1", "mma", "consumer", "mma"),
        ("epilogue", "3*STAGES + 2", "2", "4*32", "consumer", "mma", "mma"),
        ("tmem_ready", "3*STAGES + 4", "1", "1", "mma", "consumer", "none"),
        ("consumer_done", "3*STAGES + 5", "1", "4*32", "consumer", "mma", "none"),
    ]
    assert all(row["reinit_order"] for row in doc["sems"]["rows"])
    assert not any(row["proof"] for row in doc["sems"]["rows"])
    assert doc["sems"]["num_op_sems"] == "30"


def test_roles_and_release(doc):
    assert [(r["role"], r["dependency"]) for r in doc["roles"]["rows"]] == [
        ("loader", "inline"), ("mma", "codegen"), ("consumer", "codegen"), ("storer", "")]  # fmt: skip
    assert all(r["duty"] and r["inactive"] and r["waits_when_inactive"] == "no" for r in doc["roles"]["rows"])
    assert doc["roles"]["release"]["owners"] == ["launcher", "storer"]
    view = SpecView(doc)
    release = view.doc["roles"]["release"]
    assert (release["owners"], release["alternative"], release["only_used_pages"]) == (["launcher"], "storer", "yes")
    assert view.doc["roles"]["rows"][3]["empty"]


def test_tasks(doc):
    columns = ("task", "type", "num_tasks", "listed", "iterations", "active_low", "active_high", "can_be_inactive")
    assert [tuple(row[c] for c in columns) for row in doc["granularity"]] == [
        ("W13 routed", "W13", "8*8", "64", "56", "", "", "yes"),
        ("W13 shared", "W13", "512/BLOCK_M", "4", "56", "", "", "no"),
        ("W2", "W2", "56", "56", "4*active+2", "0", "8", "no"),
    ]
    assert all(row["task_offset"] and not row["grid_barrier"] for row in doc["granularity"])


def test_choices(doc):
    polarities = [choice["polarity"] for choice in doc["choices"]]
    assert polarities == [
        "adopts",
        "avoids",
        "adopts",
        "adopts",
        "avoids",
        "adopts",
        "adopts",
        "adopts",
        "keeps",
        "adopts",
        "defers",
    ]
    cited = [[c["code"] for c in choice["citations"] if c["kind"] == "evidence"] for choice in doc["choices"]]
    assert cited[:5] == [["U3", "W5", "U2"], ["D6", "W1"], ["U2"], ["W4"], ["W3", "D4"]]
    assert cited[8] == ["D3", "D5", "D8", "D9"]
    assert [a["code"] for a in doc["choices"][0]["acknowledged"]] == ["D2", "D3", "D4"]
    assert [(c["document"], c["anchor"]) for c in doc["choices"][9]["citations"]] == [("m1-decode-evidence", "§4")]


def test_prediction(doc):
    told = doc["choices"][0]["prediction"]
    assert [(b["what"], b["low"], b["high"], b["unit"]) for b in told["bands"]] == [
        ("W13(routed+shared) body", "12", "20", "us"), ("W2 body", "6", "12", "us")]  # fmt: skip
    assert (told["row"], told["tier"], told["kill_percent"], told["park_percent"]) == ("U3", "1", "5", "5")
    assert told["kill_event"].startswith("protocol hang")
    assert told["anchor"] == "Phase-1 chain body"


def test_gates_wiring_and_log(doc):
    assert [gate["rung"] for gate in doc["gates"]] == ["G1", "G2", "G3", "G4", "G5", "G8", "G0", "G9"]
    tasks = [(t["enum"], t["inputs"], t["outputs"], t["id"]) for t in doc["wiring"]["tasks"]]
    assert tasks == [("TASK_DSV3_FFN_W13_PIPE_V2", "5", "1", ""), ("TASK_DSV3_FFN_W2_PIPE_V2", "9", "1", "")]
    assert [t["id"] for t in SpecView(doc).doc["wiring"]["tasks"]] == ["356", "357"]
    assert (doc["wiring"]["flag"], doc["wiring"]["default_off"]) == ("MPK_DSV3_V2_FFN_PIPE", "yes")
    assert [r["verdict"] for r in doc["reviews"]["rows"]] == ["SOUND"] * 3 + ["FLAWED"] * 2
    assert {(r["engine"], r["thread"]) for r in doc["reviews"]["rows"]} == {("Codex", "019f668e")}
    assert [a["answer"] for a in doc["self_audit"]] == ["yes"] * 7 + ["n/a"]
    assert [p["name"] for p in doc["scale_packs"]] == ["w13_scale", "wgu_scale", "w2_scale", "wdn_scale"]


def test_questions(doc):
    blocks = [(q["id"], q["blocks"], q["state"]) for q in doc["open_questions"]]
    assert blocks == [
        ("Q1", "verdict", "OPEN"), ("Q2", "stage-2", "OPEN"), ("Q3", "stage-2", "OPEN"), ("Q4", "stage-3", "OPEN"),
        ("Q5", "stage-2", "OPEN"), ("Q6", "stage-2", "OPEN"),
    ]  # fmt: skip
    states = [q["state"] for q in SpecView(doc).doc["open_questions"]]
    assert states == ["OPEN", "RESOLVED", "RESOLVED", "RESOLVED", "RESOLVED", "FROZEN"]


def test_nothing_is_dropped(text, reading):
    """Every line is accounted for, and each word of a line that was not read in full stands in a note."""
    kept = "\n".join(reading.document["notes"].values())
    lines = text.split("\n")
    states = {}
    for p in reading.placements:
        states.update(dict.fromkeys(range(p.first, p.last + 1), p.state) if p.state not in ("checked", "doubt") else {})
    for number, line in enumerate(lines, 1):
        if not line.strip() or re.match(r"#|---$", line):
            continue
        assert states.get(number) in ("read", "partly", "text"), (number, line)
        if states[number] != "read":
            assert line.strip() in kept, (number, line)


def test_findings_stand_at_their_lines(text, reading):
    lines = text.split("\n")
    found = {(f.rule, f.path): reading.line_of(f.path) for f in spec_report(reading.document).findings}
    assert "STAGES can grow to 12" in lines[found["R12", "claims[0]"] - 1]
    assert "controller init only" in lines[found["R25", "sems.rows[6].reinit_owner"] - 1]


def test_round_trip(doc):
    again = read_markdown(write_markdown(doc))
    assert again.document == doc
    assert all(p.state == "read" for p in again.placements)
