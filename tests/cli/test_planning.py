"""The planner in a terminal: a spec with its queue, a task graph with the queues of its workers; R65; signatures."""

import json

import pytest

from tests.rules.test_spec_markdown import SPEC
from tests.rules.test_task_graph import chain, graph
from tests.starter_data import STARTER
from v2kb.cli.main import main
from v2kb.rules.page_map import queue_map
from v2kb.rules.snapshot import read_snapshot, sealed
from v2kb.rules.task_graph import plan_graph, read_task_graph

pytestmark = pytest.mark.django_db
W13 = STARTER / "specs" / "w13-pipeline.json"


@pytest.fixture
def file(repository):
    def write(value: object, name: str = "task_graph.json") -> str:
        (repository / name).write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return name

    return write


def test_a_spec_shows_pages_queue_and_what_it_says_itself(v2kb, file):
    said = v2kb("plan", file(SPEC, "spec.md"))
    line = SPEC.split("\n").index("| — total | 5 regions | **69,648 B** | | | 5 pages | ok |") + 1
    assert "69,648 of 224,256 B in 5 of 14 pages" in said.out
    assert "  page  4  AUX 4,112 B; 12,272 B free" in said.out
    assert f"spec.md:{line}: checked: The total of 69,648 B agrees with the rows." in said.out


def test_a_guessed_queue_warns_and_a_stated_one_is_followed(v2kb, file):
    document = json.loads(W13.read_text())
    document["smem"]["queue"] = []
    guessed = v2kb("plan", file(document, "spec.json"))
    assert (guessed.code, "W3 ends 5,120 B past capacity" in guessed.out) == (1, True)
    assert "guessed: the same task until the order of pages comes back" in guessed.out
    document["smem"]["queue"] = ["this", "this"]
    stated = v2kb("plan", file(document, "spec.json"))
    assert (stated.code, "Queue of the SM: 2 tasks\n" in stated.out) == (2, True)
    document["smem"]["queue"] = ["this", "S404"]
    unknown = v2kb("plan", file(document, "spec.json"))
    assert (unknown.code, "S404 is not a spec that is known here." in unknown.out) == (2, True)


def test_a_spec_of_the_snapshot_stands_in_the_queue(v2kb, file, repository):
    document = json.loads(W13.read_text())
    _, lines = read_snapshot((repository / ".v2kb" / "snapshot.jsonl").read_text())
    codes = [line["code"] for line in lines["spec"] if "W13" in line["title"]]
    document["smem"]["queue"] = [codes[0], "this"]
    plan = json.loads(v2kb("plan", file(document, "spec.json"), "--json").out)
    assert [task["name"] for task in plan["queue"]] == [codes[0], "this"]
    assert plan["peak_pages"] == 10


def test_a_plan_that_is_refused_shows_what_was_placed(v2kb, file):
    document = json.loads(W13.read_text())
    document["smem"]["regions"][0]["size_bytes"] = "300000"
    document["smem"]["regions"][0]["page_count"] = "-1"
    said = v2kb("plan", file(document, "spec.json"))
    assert (said.code, said.out.startswith("REFUSED  ")) == (2, True)
    assert "not placed" in said.out


def test_a_task_graph_follows_each_queue(v2kb, file):
    said = v2kb("plan", file(chain()), "--worker", "0")
    assert said.code == 2
    assert "worker 0, place 2: A2 of task 4 (type 245) ends 1,024 B past capacity" in said.out
    assert "worker 0, place 2: A3 of task 4 (type 245) ends 5,120 B past capacity" in said.out
    assert "Queue of worker 0: 3 tasks" in said.out
    assert "The file says nothing of a plan of its own." in said.out


def test_differences_from_the_file_are_said_with_their_paths(v2kb, file):
    value = graph([[2]])
    value["all_tasks"][2] |= {"planned_smem_used_page_count": 13, "planned_smem_page_regions": []}
    said = v2kb("plan", file(value))
    assert said.code == 1
    assert "all_tasks[2].planned_smem_used_page_count: the file says 13; the planner gives 14" in said.out
    assert "Not compared, their form isn't published: planned_smem_page_regions." in said.out
    value["all_tasks"][2]["planned_smem_used_page_count"] = 14
    agreed = v2kb("plan", file(value))
    assert (agreed.code, "agrees with the planner" in agreed.out) == (0, True)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda g: g.update(all_tasks={}), "task_graph.json: all_tasks: It must be a list."),
        (lambda g: g["all_tasks"].append(7), "all_tasks[7]: A task is a set of fields."),
        (lambda g: g["v2_worker_task_queues"][0].append(99), "v2_worker_task_queues[0][3]: 99 is no index"),
        (lambda g: g["all_tasks"][2]["smem_regions"][1].pop("size"), "all_tasks[2].smem_regions[1].size: A region"),
        (lambda g: g["all_tasks"][2]["smem_regions"][0].update(size="big"), "smem_regions[0].size: big is no whole"),
        (lambda g: g["all_tasks"][2]["smem_regions"][0].update(can_pack=1), "can_pack: 1 is neither true nor false."),
        (lambda g: g.update(v2_smem_config={"num_pages": 10**9}), "v2_smem_config.num_pages: 1000000000 is out"),
        (lambda g: g.update(v2_smem_config=[1]), "v2_smem_config: It is no set of fields."),
    ],
)  # fmt: skip
def test_a_task_graph_that_is_wrong_is_named_by_its_path(v2kb, file, change, says):
    value = chain()
    change(value)
    said = v2kb("plan", file(value))
    assert (said.code, said.out) == (3, "")
    assert says in said.err


def test_each_way_to_lie_on_an_sm_stands_in_the_document_once(v2kb, file):
    queues = [[2, 3, 4, 0] * 50, [3, 3, 1] * 50]
    plan = json.loads(v2kb("plan", file(graph(queues)), "--json").out)
    ways = [json.dumps(way, sort_keys=True) for way in plan["placings"]]
    assert len(set(ways)) == len(ways) < 20
    made = plan_graph(read_task_graph(graph(queues)))
    for worker, tasks in zip(plan["workers"], made.workers, strict=True):
        lies = [plan["placings"][task["placing"]] for task in worker["tasks"]]
        whole = [{**way, "name": task["name"]} for way, task in zip(lies, worker["tasks"], strict=True)]
        assert [{name: task[name] for name in task if name != "shape"} for task in whole] == queue_map(tasks)
        assert [len(plan["shapes"][way["shape"]]["regions"]) for way in lies] == [len(task.regions) for task in tasks]


def test_there_is_no_such_worker(v2kb, file):
    assert "There is no worker 9." in v2kb("plan", file(chain()), "--worker", "9").err


def test_wave_quantisation(capsys):
    asked = ["wavequant", "--items", "7168", "--tasks", "136", "--old", "4", "--new"]
    assert main([*asked, "7"]) == 0
    assert "14 trips with 4 warps and 8 with 7. A trip is saved" in capsys.readouterr().out
    assert main([*asked, "4"]) == 2
    assert "A tie, so a regression is predicted." in capsys.readouterr().out
    assert main([*asked, "x"]) == 3
    assert "--new: x has no value" in capsys.readouterr().err


def test_signatures_best_first_with_the_section_to_cite(v2kb):
    said = v2kb("signature", "iter 0 fine, iter 1 hangs")
    assert said.out.splitlines()[0] == "Iteration 0 runs, iteration 1 hangs"
    assert "First move: look for a counter that is set to zero in every step" in said.out
    assert "cite validation-ladder#reading-a-failure §2" in said.out
    assert v2kb("signature", "garbage on 8 ranks").out.startswith("Garbage with several ranks")
    none = v2kb("signature", "qqqq")
    assert (none.code, "Nothing fits" in none.err) == (3, True)


def test_signatures_of_every_document_of_the_snapshot(v2kb, repository):
    path = repository / ".v2kb" / "snapshot.jsonl"
    head, lines = read_snapshot(path.read_text())
    section = next(line for line in lines["section"] if line["document"] == "measuring")
    section["text"] = "**Signature: fans howl ⇒ the card throttles.** Cool it."
    every = [line for kind in lines.values() for line in kind]
    path.write_text("".join(sealed(every, made_at=head.made_at, change=head.change)))
    (found, *_) = json.loads(v2kb("signature", "the fans are howling", "--json").out)
    assert found["symptom"] == "fans howl"
    assert found["said"] == {"Cause": "the card throttles.", "Note": "Cool it."}
    assert found["cite"] == f"measuring#{section['anchor']}"
