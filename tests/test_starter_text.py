"""The starter data: its parts refer to parts that exist, and its text is not copied from its sources."""

import ast
import json
import re

import pytest

from tests.starter_data import (
    EVIDENCE_CODES,
    ROOT,
    STARTER,
    VERDICTS,
    cells_of,
    evidence_rows,
    load,
    op_paths,
    our_rows,
    starter_files,
)
from v2kb.rules.evidence import CAUSE_CLASSES, check_revision
from v2kb.rules.names import lever_key
from v2kb.rules.number_reading import parse_numbers
from v2kb.rules.scope import DIMENSIONS, scope_problems

CORPUS = ROOT.parent / "shared" / "corpus"
EVIDENCE_SOURCE = CORPUS / "references" / "m1-decode-evidence.md"
WINDOW = 8
MIN_PLAIN_WORDS = 5
TABLE_HEADER = re.compile(r"^\|.*\|\n\|[-| :]+\|$", re.M)
WORD = re.compile(r"[A-Za-z0-9_]+(?:[.'/:_-]+[A-Za-z0-9_]+)*")
PLAIN_WORD = re.compile(r"[a-z]{2,}(?:['-][a-z]+)*")
NUMBER = re.compile(r"(?<![A-Za-z0-9_])\d+(?:\.\d+)?")
HEX_ID = re.compile(r"\b(?=[0-9a-f]*[a-f])[0-9a-f]{8}\b")
REFERENCE_PATH = re.compile(r"\.claude/skills/v2-kernel-writing/([\w./-]+\.md)")

needs_corpus = pytest.mark.skipif(not CORPUS.is_dir(), reason="the source documents are not beside this checkout")


def strings(value):
    """Every string inside a JSON value, keys left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def words(text):
    """Lower-case words of a text in order; header rows of tables, whose form is fixed, are left out."""
    return [word.lower() for word in WORD.findall(TABLE_HEADER.sub("", text))]


def windows(sequence):
    """Runs of eight words of which at least five are plain words rather than ids, numbers or paths."""
    for start in range(len(sequence) - WINDOW + 1):
        run = tuple(sequence[start : start + WINDOW])
        if sum(bool(PLAIN_WORD.fullmatch(word)) for word in run) >= MIN_PLAIN_WORDS:
            yield run


def copied_runs(text, source_runs):
    return sorted({" ".join(run) for run in windows(words(text)) if run in source_runs})


@pytest.fixture(scope="module")
def source_runs():
    texts = [path.read_text(encoding="utf-8") for path in sorted(CORPUS.rglob("*.md"))]
    assert texts, "the folder of source documents is empty"
    return {run for text in texts for run in windows(words(text))}


@pytest.fixture(scope="module")
def levers():
    return load(STARTER / "levers.json")


def same_signs(text):
    """One spelling for micro and minus signs."""
    return text.replace("μ", "µ").replace("–", "-").replace("−", "-")


# --- text ---


@needs_corpus
@pytest.mark.parametrize("path", starter_files(".md") + starter_files(".py"), ids=lambda path: path.name)
def test_no_sentence_of_the_sources_in_texts(path, source_runs):
    assert copied_runs(path.read_text(encoding="utf-8"), source_runs) == []


@needs_corpus
@pytest.mark.parametrize("path", starter_files(".json"), ids=lambda path: path.name)
def test_no_sentence_of_the_sources_in_data(path, source_runs):
    assert {text: runs for text in strings(load(path)) if (runs := copied_runs(text, source_runs))} == {}


@needs_corpus
def test_a_copied_sentence_would_be_found(source_runs):
    source = EVIDENCE_SOURCE.read_text(encoding="utf-8")
    sentence = next(line for line in source.splitlines() if line.startswith("| D8 |")).split("|")[4]
    assert copied_runs(f"We write that {sentence} and go on.", source_runs)


@needs_corpus
def test_referenced_source_documents_exist():
    texts = [path.read_text(encoding="utf-8") for path in starter_files(".md") + starter_files(".json")]
    names = {name for text in texts for name in REFERENCE_PATH.findall(text)}
    assert names
    assert [name for name in sorted(names) if not (CORPUS / name).is_file()] == []


@needs_corpus
@pytest.mark.parametrize("code", EVIDENCE_CODES)
def test_every_figure_of_a_source_row_is_in_ours(code):
    source = same_signs(evidence_rows(EVIDENCE_SOURCE)[code])
    ours = same_signs(our_rows()[code])
    assert set(NUMBER.findall(source)) - set(NUMBER.findall(ours)) == set()
    assert set(HEX_ID.findall(source)) - set(HEX_ID.findall(ours)) == set()


@needs_corpus
@pytest.mark.parametrize("code", EVIDENCE_CODES)
def test_typed_numbers_are_quoted_from_the_source_row(code, levers):
    source = same_signs(evidence_rows(EVIDENCE_SOURCE)[code])
    assert [n["text"] for n in levers["rows"][code]["numbers"] if same_signs(n["text"]) not in source] == []


# --- references between the parts ---


def test_tables_hold_the_expected_rows():
    evidence = evidence_rows(STARTER / "documents" / "decode-evidence-map.md")
    assert sorted(evidence) == sorted(EVIDENCE_CODES)
    assert list(evidence_rows(STARTER / "documents" / "cpu-probe-map.md")) == ["U4"]


def test_evidence_map_has_rules_contract_and_gaps():
    text = (STARTER / "documents" / "decode-evidence-map.md").read_text(encoding="utf-8")
    sections = dict(part.split("\n", 1) for part in re.split(r"^## ", text, flags=re.M)[1:])
    bullets = {title: len(re.findall(r"^(?:- |\d+\. )", body, re.M)) for title, body in sections.items()}
    assert bullets["4. Measurement rules for every performance claim"] == 7
    assert bullets["5. The anti-loop contract"] == 4
    assert bullets["Known gaps"] == 2


def test_catalogue_names_its_snapshot_and_when_to_copy_each_family():
    text = (STARTER / "documents" / "upstream-catalogue.md").read_text(encoding="utf-8")
    assert re.search(r"^# .* ([\w-]+)/(\w+) @ ([0-9a-f]{8}) \(studied \d{4}-\d\d-\d\d\)$", text, re.M)
    families = re.split(r"^## \d+\. Family ([A-E]) — ", text, flags=re.M)[1:]
    assert families[0::2] == list("ABCDE")
    assert all("\nWhen to copy: " in body for body in families[1::2])


def test_a_name_stands_for_one_lever_only(levers):
    owners = {}
    for lever in levers["levers"]:
        own = {lever_key(lever["name"]), lever_key(lever["slug"])}
        aliases = [lever_key(alias) for alias in lever["aliases"]]
        assert len(set(aliases)) == len(aliases), f"{lever['slug']} has one alias in two spellings"
        assert not own & set(aliases), f"{lever['slug']} repeats its own name as an alias"
        for key in own | set(aliases):
            owners.setdefault(key, []).append(lever["slug"])
    assert "" not in owners
    assert {key: slugs for key, slugs in owners.items() if len(slugs) > 1} == {}
    assert all(lever["description"] and lever["aliases"] for lever in levers["levers"])


def test_parents_come_before_their_kinds(levers):
    seen = {""}
    for lever in levers["levers"]:
        assert lever["parent"] in seen, f"{lever['slug']} stands before its parent"
        seen.add(lever["slug"])
    assert len(seen) == len(levers["levers"]) + 1


def test_typing_covers_exactly_the_rows_of_the_tables(levers):
    assert sorted(levers["rows"]) == sorted(our_rows())


def number_cell(code, rows):
    """The cell that holds a row's own numbers: the second, or for an open cell its bound."""
    return cells_of(code, rows)[2 if code.startswith("U") else 1]


def figures(numbers):
    return {(n["value"], n["low"], n["high"], n["unit"]) for n in numbers if n["readable"]}


@pytest.mark.parametrize("code", [*EVIDENCE_CODES, "U4"])
def test_row_holds_all_that_its_verdict_needs(code, levers):
    row, rows = levers["rows"][code], our_rows()
    content = row | {"verdict": VERDICTS[code[0]], "mechanism": cells_of(code, rows)[2]}
    assert check_revision(content).refusals == ()
    assert row["lever"] in {lever["slug"] for lever in levers["levers"]}
    assert row["scope"]["arch"]
    assert (row["cause_class"] in CAUSE_CLASSES) == code.startswith("D")
    assert bool(row["approaches"]) == code.startswith("D")
    quoted = same_signs(rows[code])
    for number in row["numbers"]:
        text = same_signs(number["text"])
        assert text in quoted
        assert all(number[key].lstrip("-") in text for key in ("value", "low", "high") if number[key])
        assert number["direction"] in {"lower", "higher"}


@pytest.mark.parametrize("code", [*EVIDENCE_CODES, "U4"])
def test_typed_numbers_cover_what_an_import_reads(code, levers):
    read = figures(parse_numbers(number_cell(code, our_rows())))
    assert read - figures(levers["rows"][code]["numbers"]) == set()


@needs_corpus
@pytest.mark.parametrize("code", EVIDENCE_CODES)
def test_our_cell_reads_as_the_same_numbers_as_the_source(code):
    ours, source = (number_cell(code, rows) for rows in (our_rows(), evidence_rows(EVIDENCE_SOURCE)))
    assert figures(parse_numbers(ours)) == figures(parse_numbers(source))


@pytest.mark.parametrize("path", starter_files(".json"), ids=lambda path: path.name)
def test_documents_hold_no_floats(path):
    def refuse(text):
        raise AssertionError(f"{path.name} holds the float {text}; write it as a string")

    json.loads(path.read_text(encoding="utf-8"), parse_float=refuse)


@pytest.mark.parametrize("path", op_paths(), ids=lambda path: path.stem)
def test_op_contract_is_closed(path, levers):
    contract = load(path)
    symbols = {name for name, axis in contract["axes"].items() if axis.get("symbol")}
    fixed = set(contract["axes"]) - symbols
    assert set(contract["levers"]) <= {lever["slug"] for lever in levers["levers"]}
    assert set(contract["scope"]) <= set(DIMENSIONS)
    assert scope_problems(contract["scope"]) == []
    for tensor in contract["inputs"] + contract["outputs"]:
        assert set(tensor["shape"]) <= symbols | fixed
    names = [workload["name"] for workload in contract["workloads"]]
    assert len(set(names)) == len(names)
    assert all(set(workload["axes"]) == symbols for workload in contract["workloads"])
    ast.parse(contract["reference"])


@pytest.mark.parametrize("path", sorted((STARTER / "specs").glob("*.json")), ids=lambda path: path.stem)
def test_spec_refers_to_ops_levers_rows_and_workloads(path, levers):
    spec = load(path)
    ops = {op_path.stem: load(op_path) for op_path in op_paths()}
    assert all(entry["op"] in ops for entry in spec["ops"])
    workloads = {workload["name"] for entry in spec["ops"] for workload in ops[entry["op"]]["workloads"]}
    anchors = {anchor["name"] for anchor in spec["anchors"]}
    slugs = {lever["slug"] for lever in levers["levers"]}
    assert sum(choice["polarity"] == "adopts" for choice in spec["choices"]) == 1
    for choice in spec["choices"]:
        assert choice["lever"] in slugs
        assert choice["citations"]
        assert all(citation["code"] in levers["rows"] for citation in choice["citations"])
        assert scope_problems(choice["scope"]) == []
        assert (choice["prediction"] is not None) == (choice["polarity"] == "adopts")
        if choice["prediction"]:
            prediction = choice["prediction"]
            assert prediction["row"] in levers["rows"]
            assert prediction["anchor"] in anchors
            assert set(prediction["cases"]) <= workloads
            gain, kill, delta = (float(prediction[f"{name}_percent"]) for name in ("gain", "kill", "delta"))
            assert gain > kill > delta
