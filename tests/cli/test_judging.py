"""The verdict over samples in CSV: that of the app for the same samples; what is wrong with a file names its line."""

import json
from pathlib import Path

import pytest

from kernels.selectors.samples import samples_csv
from tests.services.test_kernels_judging import INCONCLUSIVE, KILLED, NULL, REGRESS, WIN, Loop
from v2kb.cli.main import main

pytestmark = pytest.mark.django_db
# What a verdict says of the samples alone: all but the gates and what is known of the run.
OF_THE_SAMPLES = (
    "judgement", "against_prediction", "disposition", "disposition_reason", "rounds_to_settle", "thresholds",
    "case_judgements", "estimate", "cases", "anchor_text", "candidate_text",
)  # fmt: skip
BAR = ("--predict", "5%", "--kill", "3%")
VECTORS = {"WIN": WIN, "NULL": NULL, "REGRESS": REGRESS, "KILLED": KILLED, "INCONCLUSIVE": INCONCLUSIVE}
ENDS = {"WIN": 0, "NULL": 2, "REGRESS": 2, "KILLED": 2, "INCONCLUSIVE": 1}


@pytest.fixture
def judge(tmp_path, monkeypatch, capsys):
    """judge(anchor's CSV, candidate's CSV, *arguments) -> (exit code, output, errors)."""
    monkeypatch.chdir(tmp_path)

    def run(anchor: str | bytes, candidate: str | bytes, *arguments: str) -> tuple[int, str, str]:
        for name, text in (("anchor.csv", anchor), ("candidate.csv", candidate)):
            Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
        capsys.readouterr()
        code = main(["judge", "anchor.csv", "candidate.csv", *(arguments or BAR)])
        return code, *capsys.readouterr()

    return run


def samples(medians_ns: list[int], launches: int = 40, column: str = "time_ns", scale: int = 1) -> str:
    lines = [f"round,{column}"]
    for number, median in enumerate(medians_ns):
        lines += [f"{number},{(median + launch - launches // 2) / scale:.9g}" for launch in range(launches + 1)]
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("name", VECTORS)
def test_it_is_the_judgement_of_the_app(judge, name):
    vector = VECTORS[name]
    run = Loop(rounds=len(vector[0])).run(*vector)
    judged = run.judgements.get().content
    both = samples_csv(run.result.content)
    said = judged["registration"]
    tick = run.result.content["environment"].get("timer_tick_ns", "")
    code, out, _ = judge(
        both, both, "--predict", f"{said['gain_percent']}%", "--kill", f"{said['kill_percent']}%",
        "--delta", f"{said['delta_percent']}%", "--json", *(["--tick", tick] if tick else []),
    )  # fmt: skip
    document = json.loads(out)
    assert {part: document[part] for part in OF_THE_SAMPLES} == {part: judged[part] for part in OF_THE_SAMPLES}
    assert (document["judgement"], code) == (name, ENDS[name])


@pytest.mark.parametrize("name", VECTORS)
def test_two_files_and_other_units_give_the_same(judge, name):
    anchor, candidate = VECTORS[name]
    code, out, _ = judge(samples(anchor), samples(candidate), *BAR, "--json")
    micro = judge(
        samples(anchor, column="time_us", scale=1000), samples(candidate, column="time_us", scale=1000), *BAR, "--json"
    )
    assert (json.loads(out)["judgement"], code) == (name, ENDS[name])
    assert micro == (code, out, "")


def test_it_says_what_it_did_not_look_at(judge):
    code, out, _ = judge(samples(WIN[0]), samples(WIN[1]))
    assert out.startswith("provisional: only samples were judged")
    assert "candidate is 5.8% faster than the anchor" in out
    assert "Not looked at: whether outputs are right" in out
    assert code == 0


def test_gates_that_samples_answer_make_it_invalid(judge):
    assert "40 launches" not in judge(samples(WIN[0]), samples(WIN[1]))[1]
    code, out, _ = judge(samples(WIN[0], 8), samples(WIN[1], 8))
    assert (code, "INVALID, first failed gate rounds: Round 0 of all has a run with 9 launches" in out) == (2, True)
    assert judge(samples(WIN[0], 8), samples(WIN[1], 8), *BAR, "--min-launches", "1")[0] == 0
    assert "has 2 rounds" in judge(samples(WIN[0][:2]), samples(WIN[1][:2]))[1]
    assert "registered were 5" in judge(samples(WIN[0]), samples(WIN[1]), *BAR, "--rounds", "5")[1]
    assert "Round 2 has no run of the candidate." in judge(samples(WIN[0]), samples(WIN[1][:2]))[1]


def test_thresholds_may_be_ranges_and_times(judge):
    code, out, _ = judge(samples(WIN[0]), samples(WIN[1]), "--predict", "5-8%", "--kill", "3%")
    assert (code, "prediction 5% to 8%" in out) == (0, True)
    code, out, _ = judge(samples(WIN[0]), samples(WIN[1]), "--predict", "5us", "--kill", "3000ns")
    assert (code, "registered bar 3000 ns, prediction 5000 ns" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--predict", "2%", "--kill", "3%"), '"Kill below (%)" is 3, which is not below "Predicted gain (%)", 2.'),
        (("--predict", "fast", "--kill", "3%"), "--predict: 'fast' is no amount."),
        (("--predict", "5%", "--kill", "3-4%"), "--kill: '3-4%' is no amount."),
        (("--predict", "5%", "--kill", "3%", "--delta", "1us"), "--delta: '1us' must be in percent."),
        (("--predict", "5%", "--kill", "3%", "--rounds", "two"), '"Rounds" must be a whole number'),
        (("--predict", "1.2.3%", "--kill", "3%"), "--predict: '1.2.3%' is no amount."),
    ],
)
def test_options_that_are_wrong_are_named(judge, arguments, says):
    code, out, err = judge(samples(WIN[0]), samples(WIN[1]), *arguments)
    assert (code, out, says in err) == (3, "", True), err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "anchor.csv: there is nothing in it."),
        ("round,time_ns\n", "anchor.csv: there is no line below the header."),
        ("time_ns\n5\n", 'anchor.csv:1: there is no column "round"; found time_ns.'),
        ("round,ms\n0,5\n", "anchor.csv:1: no column holds a time; found round, ms."),
        ("round,time_ns,time_us\n", "anchor.csv:1: 2 columns hold a time"),
        ("round,time_ns,round\n", "anchor.csv:1: a column stands there twice"),
        ("round,time_ns\n0,5\n\n0,five\n", 'anchor.csv:4: column time_ns: "five" is no time above 0.'),
        ("round,time_ns\n0,-5\n", 'anchor.csv:2: column time_ns: "-5" is no time above 0.'),
        ("round,time_us\n0,0.0001\n", 'anchor.csv:2: column time_us: "0.0001" is no time above 0.'),
        ("round,time_ns\n0,nan\n", 'anchor.csv:2: column time_ns: "nan" is no time above 0.'),
        ("round,time_ns\n0,1e99\n", 'anchor.csv:2: column time_ns: "1e99" is no time above 0.'),
        ("round,time_ns\nfirst,5\n", 'anchor.csv:2: column round: "first" is no whole number'),
        ("round,time_ns,position\n0,5,x\n", 'anchor.csv:2: column position: "x" is no whole number'),
        ("round,time_ns\n0,5,7\n", "anchor.csv:2: 3 cells under 2 columns."),
        ('round,time_ns\n0,"5\n', "anchor.csv:2: this is no CSV"),
        ("round,time_ns,side\n0,5,candidate\n", "none of its 1 lines is of the side anchor."),
        (b"\xff\xfe", "anchor.csv: this is no text in UTF-8 (byte 0)."),
    ],
)
def test_a_file_that_is_wrong_is_named_with_line_and_column(judge, text, says):
    code, out, err = judge(text, samples(WIN[1]))
    assert (code, out) == (3, "")
    assert says in err
