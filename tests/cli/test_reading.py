"""Reading a snapshot in a repository: prior, show, lever, rule, doc, and what is wrong with words or file."""

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import as_schema
from v2kb.cli.commands import show
from v2kb.cli.index import cache_folder
from v2kb.cli.main import main
from v2kb.rules.canonical import content_hash
from v2kb.rules.snapshot import read_snapshot, sealed

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db


def test_prior_shows_three_lanes_says_what_blocks_and_keeps_a_receipt(v2kb, repository):
    said = v2kb("prior", "producer warp", "--lever", "warp-spec producer", "--scope", "M=1,arch=sm_100")
    assert said.code == 2
    lines = said.out.splitlines()
    assert "block this design" in lines[0]
    assert [line.split()[0] for line in lines if not line.startswith(" ")][1] == "DEAD"
    assert "BLOCKS: cause: mechanism refuted" in said.out
    assert "found by" in said.out
    (receipt,) = (repository / ".v2kb" / "receipts").iterdir()
    kept = json.loads(receipt.read_text())
    assert kept["content"]["search"]["scope"]["m"] == "1"
    assert receipt.stem == content_hash(kept["content"])[:16]
    assert kept["content"]["rows"][0]["blocks"]


@pytest.mark.parametrize("query", ["kernel", "M=1", "the", "decode", "a"])
def test_prior_takes_forty_lines_at_most(v2kb, query):
    assert len(v2kb("prior", query, "--no-receipt").out.splitlines()) <= 40
    assert v2kb("prior", query, "--no-receipt", "--all").out.count("\n") >= v2kb("prior", query).out.count("\n") - 1


def test_prior_answers_where_its_receipt_cannot_be_written(v2kb, repository):
    (repository / ".v2kb" / "receipts").touch()
    said = v2kb("prior", "producer warp", "--json")
    assert (said.code, json.loads(said.out)["receipt"]) == (2, "")
    assert "The receipt can't be written" in said.err
    assert said.out == v2kb("prior", "producer warp", "--json", "--no-receipt").out


def test_prior_ends_by_what_it_found(v2kb):
    assert v2kb("prior", "tensor memory ring", "--scope", "arch=sm_90", "--no-receipt").code in (0, 1)
    assert v2kb("prior", "qqqqzzzz", "--no-receipt").code == 0
    assert "Nothing is known of it" in v2kb("prior", "qqqqzzzz", "--no-receipt").out


def test_prior_for_a_prompt_names_what_to_cite(v2kb):
    said = v2kb("prior", "split-k", "--lever", "split-k", "--format", "prompt")
    show = json.loads(v2kb("show", "D9", "--json").out)
    assert f"DEAD D9@{show['head_hash'][:12]}" in said.out
    assert "must cite that row" in said.out


def test_prior_as_json_is_what_a_receipt_holds(v2kb):
    document = json.loads(v2kb("prior", "ring", "--json", "--no-receipt").out)
    assert {"rows", "search", "snapshot", "left_out", "corrections", "receipt"} == document.keys()
    assert {"code", "content_hash", "blocks", "found_by"} <= document["rows"][0].keys()


def test_prior_says_that_a_comparison_is_a_field(v2kb):
    assert "M>=16 was read as m:>=16." in v2kb("prior", "ring M>=16", "--no-receipt").out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["prior"], "Nothing was asked for"),
        (["prior", "verdict:maybe"], "verdict:maybe\n        ^"),
        (["prior", "x", "--lever", "no such lever"], "There is no lever no such lever."),
        (["prior", "x", "--scope", "colour=red"], "names no dimension"),
        (["prior", "x", "--scope", "M=many"], "--scope:"),
        (["show", "D99"], "There is no row D99."),
        (["lever", "warp-spec produce"], "Did you mean: "),
        (["lever", "qqqq"], "v2kb prior"),
        (["rule", "R99"], "There is no rule R99."),
        (["doc", "qqqqq"], "No section fits"),
        (["doc", "house rules §99"], "has no section 99. It has §1, §2"),
        (["doc", "house-style §3"], "No document is called 'house-style'. The snapshot has "),
    ],
)
def test_what_cannot_be_answered_says_why_and_ends_with_3(v2kb, arguments, says):
    said = v2kb(*arguments)
    assert (said.code, said.out) == (3, "")
    assert said.err.startswith(f"v2kb {arguments[0]}: ")
    assert says in said.err


def test_a_row_is_shown_whole_in_any_spelling_of_its_code(v2kb):
    said = v2kb("show", "d-3")
    for part in ("D3  DEAD", "Mechanism", "Not checked", "Tried", "Sources", "blocks", "cite      D3@"):
        assert part in said.out
    assert said.code == 0


def test_a_lever_shows_its_family_and_rows(v2kb):
    said = v2kb("lever", "WarpSpec Producer")
    assert "above     Load-side latency hiding" in said.out
    assert "D3    DEAD" in said.out
    assert {row["code"] for row in json.loads(v2kb("lever", "dma warp", "--json").out)["rows"]} == {"D1", "D3"}


def test_rules_of_specs_and_of_the_gate(v2kb):
    assert "Claimed ranges" in v2kb("rule", "r12").out
    assert v2kb("rule", "AL4").out.startswith("AL4")
    listed = [line.split()[0] for line in v2kb("rule").out.splitlines()]
    assert {"R01", "R63", "R79", "AL1"} <= set(listed)
    assert "AL4" in v2kb("rule", "R63").out.partition("judged by")[2].splitlines()[0]
    documents = json.loads(v2kb("rule", "--json").out)
    assert {type(rule["version"]) for rule in documents} == {int}
    assert len({frozenset(rule) for rule in documents}) == 1


@pytest.mark.parametrize(
    "what", ["house rules §3", "kernel-house-rules #roles", "house-rules section 3", "one owner of page release"]
)
def test_a_section_is_found_by_number_anchor_or_words(v2kb, what):
    found = json.loads(v2kb("doc", what, "--json").out)
    assert (found[0]["document"], found[0]["anchor"]) == ("kernel-house-rules", "roles")


# --- the file ---


def test_without_a_repository_it_says_how_to_begin(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("V2KB_DIR", raising=False)
    assert main(["show", "D3"]) == 3
    assert "v2kb init" in capsys.readouterr().err


def test_a_repository_is_found_from_a_folder_inside(v2kb, repository, monkeypatch):
    (repository / "a" / "b").mkdir(parents=True)
    monkeypatch.chdir(repository / "a" / "b")
    assert v2kb("show", "D3").code == 0


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda text: text.replace('"verdict":"DEAD"', '"verdict":"WIN"', 1), "its hash differs"),
        (lambda text: "", "first line"),
        (lambda text: text.replace('"format":1', '"format":9', 1), "format 9"),
    ],
)
def test_a_snapshot_that_was_changed_is_refused_even_when_its_index_is_at_hand(v2kb, repository, damage, says):
    assert v2kb("show", "D3").code == 0
    path = repository / ".v2kb" / "snapshot.jsonl"
    path.write_text(damage(path.read_text()))
    said = v2kb("show", "D3")
    assert (said.code, says in said.err) == (3, True), said.err


def test_a_missing_snapshot_says_to_sync(v2kb, repository):
    (repository / ".v2kb" / "snapshot.jsonl").unlink()
    assert "v2kb sync" in v2kb("show", "D3").err


def test_an_old_snapshot_answers_and_ends_with_4(v2kb, repository):
    path = repository / ".v2kb" / "snapshot.jsonl"
    head, lines = read_snapshot(path.read_text())
    old = (datetime.now(UTC) - timedelta(days=15)).isoformat(timespec="seconds")
    path.write_text(
        "".join(sealed([line for kind in lines.values() for line in kind], made_at=old, change=head.change))
    )
    said = v2kb("show", "D3")
    assert (said.code, "D3  DEAD" in said.out) == (4, True)
    assert "15 days old" in v2kb("prior", "qqqqzzzz", "--no-receipt").out
    (repository / ".v2kb" / "config.toml").write_text("stale_after_days = 30\n")
    assert v2kb("show", "D3").code == 0


@pytest.mark.parametrize("config", ["stale_after_days = 0", "stale_after_days = true", "server = ", "\x00"])
def test_a_configuration_that_cannot_be_read_is_said(v2kb, repository, config):
    (repository / ".v2kb" / "config.toml").write_text(config)
    said = v2kb("show", "D3")
    assert (said.code, "config.toml" in said.err) == (3, True)


def test_the_cache_keeps_few_indexes(v2kb, caches):
    v2kb("show", "D3")
    assert 1 <= len(list(cache_folder().glob("*.sqlite"))) <= 4
    assert not list(cache_folder().glob("*.tmp"))


# --- the process ---


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess:
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run([sys.executable, "-m", "v2kb.cli", *arguments], capture_output=True, text=True, env=env)


def test_a_pipe_gets_no_colour_and_may_close_early(repository):
    assert "\033" not in process("show", "D3").stdout
    shell = f"{sys.executable} -m v2kb.cli rule | head -1"
    piped = subprocess.run(
        ["bash", "-c", shell], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert (len(piped.stdout.splitlines()), piped.stderr) == (1, "")


def test_start_up_loads_neither_django_nor_numpy_nor_pydantic(repository):
    code = (
        "import sys; from v2kb.cli.main import main; main(sys.argv[1:]);"
        "print(sorted({'django', 'numpy', 'torch', 'pydantic', 'rapidfuzz'} & sys.modules.keys()), file=sys.stderr)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    for arguments in (["show", "D3"], ["prior", "producer warp"], ["rule", "R12"], ["lever", "split-k"]):
        done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env)
        assert done.stderr.splitlines()[-1] == "[]", arguments


@pytest.mark.parametrize(
    "arguments",
    [
        ["shw", "D3"],
        ["show"],
        ["show", "D3", "--colour"],
        [],
        ["run", "mine", "--version", "-1"],
        ["run", "mine", "--rounds", "0"],
        ["judge", "a", "b", "--predict", "5%", "--kill", "3%", "--tick", "1e3"],
        ["judge", "a", "b", "--predict", "5%", "--kill", "3%", "--min-launches", "9" * 5000],
    ],
)
def test_arguments_that_cannot_be_read_end_with_3_and_not_as_if_a_rule_blocked(arguments, capsys):
    assert main(arguments) == 3
    assert "usage: v2kb" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["show"], ["nosuch"], [], ["prior", "x", "--colour"], ["check", "--jso"]])
def test_arguments_that_cannot_be_read_are_a_document_too(arguments, capsys):
    assert main([*arguments, "--json"]) == 3
    assert "usage: v2kb" in as_schema("error", capsys.readouterr().out)["error"]["fix"]


def test_a_fault_of_ours_does_not_end_as_a_warning(monkeypatch, v2kb):
    monkeypatch.setattr(show, "exact_codes", lambda _: {}["code"])
    said = v2kb("show", "D3", "--json")
    assert (said.code, "v2kb is at fault: KeyError" in said.err, "Traceback" in said.err) == (3, True, True)
    assert as_schema("error", said.out)


def test_help_names_every_command_and_gives_an_example_of_each():
    listed = process("--help").stdout
    for command in ("prior", "show", "lever", "rule", "doc"):
        assert f"\n    {command} " in listed
        assert f"Example: v2kb {command} " in process(command, "--help").stdout
