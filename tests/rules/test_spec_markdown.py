"""Reading a Stage-1 spec from markdown: a small spec in the usual shape, and each thing that may vary."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from v2kb.rules.spec_markdown.files import json_lines, read_file
from v2kb.rules.spec_markdown.reading import place_of, read_markdown
from v2kb.rules.spec_view import SpecView

SPEC = """# Stage-1 SPEC — Ring product

**Designer**: Ada, 2026-01-02.

**Status**: SPEC ONLY.

## 0. Op contract (M=1)

HIDDEN=512, BLOCK_M=128, ROWS=1,024/expert, MPK_FLAG=1, SEM_DEP_READY=0.

| op | math | weights | scales | out |
|---|---|---|---|---|
| Up | y = W x | w u8[8,512] | up_scale [4] | y f32[8] |

Active slots: active_count ∈ 0..8.

## 2. SMEM region plan

STAGES=4, one plan.

| region | ordinal | size | align | can_pack | page_count | contents |
|---|---|---|---|---|---|---|
| `W_0..W_3` | 0..3 | 16,384 B each | 1024 | false | 1 each | tile, TMA dst |
| `AUX` | 4 | 4,112 B | 1024 | false | 1 | {AUX} |
| — total | 5 regions | **69,648 B** | | | 5 pages | ok |

- The ring is short: STAGES can grow to 6 later.

TMEM plan:
- Layout: ACC0 [0..15], ACC1 [16..31], SF [32..35]; tcgen05.alloc 64 cols.
- Lifecycle: launcher alloc; lane 0 arrives tmem_ready; taddr cached in registers; launcher `dealloc`.

## 3. SEM ordinal table

```
// [+0 ..+3 ] W_tma_mbar (count=1, loader->launcher; TMA tx=16384B)
// [+4..+7] mma_mbar (count=1, launcher => loader, "refill ok"; tcgen05.commit-arrived)
// [+8] tail_done (count=4*32, consumer⟶launcher, TMEM no longer read)
constexpr int NUM_OP_SEMS = 9;
```

| mbar | async arriver | re-init owner at task start | placement guarantee |
|---|---|---|---|
| W_tma[0..3] | TMA | **loader**, before its first TMA | — |
| mma_mbar[0..3] | commit | **loader** (first waiter) | with W |
| tail_done | threads | controller init only (precedent) | — |

## 4. Roles

**Loader (W4)** — one thread.
1. `mbarrier_wait(mma[s], phase)`, then `mbarrier_arrive_expect_tx(W[s], 16384)`.

**Launcher (W5)** — all lanes.
1. Bounds fail → releases all pages and returns.
2. Task end: `mbarrier_wait(tail_done, 0)`. Releases its pages with `auto_consumer_finish=false`.

## 5. Granularity

- **Up**: task = n_tile ∈ 0..7 → **8 tasks**.
- Total 8 tasks.

## 6. Evidence

| design choice | rests on | notes |
|---|---|---|
| Pipeline | **U3** + W5 | probe |
| No scalar path | D6/D7 (dead) | house-style §2/§3 |
| Small ops untouched | guard | x.py:10-20 |

**Pre-registration**
- **Predicted Δ**: slowCTA, Up body 3-5µs, ≥20% cut.
- **Kill threshold**: TIER-1 Δ < 4% vs the old body anchor, OR any hang → stop.
- **Watch metric**: wall; park if it grows > 6%.

## 9. Open questions before Stage 2

- **Q1 (blocking the verdict, not the build)**: anchors.
- **Q2 (blocking Stage-3)**: wiring.

## 10. Codex review log (2026-01-03, thread abc1)

(1) ring — **SOUND** (condition: zero it first); (2) order — **FLAWED** (fence missing; §3 updated).

## 10.5 Appendix (2026-01-04, lead)

- **Q2 (RESOLVED)**: launcher task-end blanket; task_uses_page-gated.
- **Q1 (OPEN)**: still.

## 11. Self-audit

1. Comment — §0 ✓
2. Lint ✗
""".replace("{AUX}", "4 per-stage slices @ +s·1024: B tile u8 @+0 (512B), SF u32 @+512 (256B); + addr 16B @+4,096")


def doubts(reading):
    return [placement for placement in reading.placements if placement.state == "doubt"]


@pytest.fixture(scope="module")
def reading():
    return read_markdown(SPEC)


@pytest.fixture(scope="module")
def doc(reading):
    assert reading.problems == ()
    return reading.document


def test_head_and_contract(reading, doc):
    assert doc["title"] == "Ring product"
    assert reading.about == {"designer": "Ada, 2026-01-02.", "date": "2026-01-02", "status": "SPEC ONLY."}
    assert doc["engine"]["m"] == "1"
    assert doc["ops"][0]["name"] == "Up"
    assert doc["ops"][0]["output"] == "y f32[8]"
    assert doc["symbols"] == {"HIDDEN": "512", "BLOCK_M": "128", "ROWS": "1024", "STAGES": "4"}


def test_regions_follow_the_ring(doc):
    ring, aux = doc["smem"]["regions"]
    assert (ring["name"], ring["slots"], ring["ordinal"], ring["size_bytes"]) == ("W_", "STAGES", "0", "16384")
    assert ring["tma_dst"]
    assert not aux["tma_dst"]
    assert (aux["ordinal"], aux["size_bytes"]) == ("STAGES", "STAGES*1024 + 16")
    assert [(s["name"], s["slots"], s["offset_bytes"], s["size_bytes"]) for s in aux["slices"]] == [
        ("B", "STAGES", "s*1024", "512"),
        ("SF", "STAGES", "s*1024 + 512", "256"),
        ("addr", "1", "STAGES*1024", "16"),
    ]
    assert [(c["symbol"], c["low"], c["high"]) for c in doc["claims"]] == [("STAGES", "4", "6")]


def test_totals_are_compared_and_not_stored(reading):
    said = [p.why for p in reading.placements if p.state == "checked"]
    assert "The total of 69,648 B agrees with the rows." in said
    assert len(reading.document["smem"]["regions"]) == 2
    wrong = read_markdown(SPEC.replace("69,648", "70,000"))
    assert "The file says 70,000 B in all; its rows add up to 69,648 B." in [p.why for p in wrong.placements]


def test_tensor_memory(doc):
    objects = [(o["name"], o["slots"], o["columns"], o["start"]) for o in doc["tmem"]["objects"]]
    assert objects == [("ACC", "2", "16", "0"), ("SF", "1", "4", "32")]
    tmem = doc["tmem"]
    assert (tmem["alloc_columns"], tmem["alloc_role"], tmem["dealloc_role"]) == ("64", "mma", "mma")
    assert (tmem["address_cached"], tmem["published_by"]) == ("yes", "tmem_ready")


def test_semaphores_with_arrows_of_any_kind(doc):
    rows = {row["name"]: row for row in doc["sems"]["rows"]}
    assert [(r["ordinal"], r["slots"]) for r in rows.values()] == [
        ("0", "STAGES"), ("STAGES", "STAGES"), ("2*STAGES", "1")]  # fmt: skip
    assert doc["sems"]["num_op_sems"] == "9"
    assert (rows["W_tma"]["producer"], rows["W_tma"]["consumer"], rows["W_tma"]["tx_bytes"]) == (
        "loader",
        "mma",
        "16384",
    )
    assert (rows["W_tma"]["pair"], rows["mma"]["pair"], rows["W_tma"]["storage"]) == ("mma", "W_tma", "W_")
    assert (rows["mma"]["kind"], rows["mma"]["arrivers"], rows["mma"]["meaning"]) == ("mma", "commit", "refill ok")
    tail = rows["tail_done"]
    assert (tail["count"], tail["arrivers"], tail["arrives"], tail["first_phase"]) == (
        "4*32",
        "four_warps",
        "task_tail",
        "0",
    )


def test_owners_of_reinitialisation(doc):
    owners = [(row["reinit_owner"], row["reinit_order"]) for row in doc["sems"]["rows"]]
    assert owners == [
        ("loader", "before its first TMA"),
        ("loader", "first waiter; with W"),
        ("none", "controller init only (precedent)"),
    ]


def test_roles_and_release(doc):
    loader, mma = doc["roles"]["rows"]
    assert loader["handshake"] == "waits mma; arrives W_tma"
    assert mma["bounds_fail_pages"] == "releases all pages and returns."
    assert doc["roles"]["release"]["owners"] == ["launcher"]
    assert doc["roles"]["release"]["auto_consumer_finish"] == "no"


def test_tasks(doc):
    assert [(t["task"], t["op"], t["num_tasks"], t["listed"]) for t in doc["granularity"]] == [("Up", "Up", "8", "8")]


def test_choices(doc):
    choices = doc["choices"]
    assert [(c["id"], c["polarity"]) for c in choices] == [("C1", "adopts"), ("C2", "avoids"), ("C3", "keeps")]
    cited = [[c.get("code") or c.get("anchor") or c.get("path") for c in choice["citations"]] for choice in choices]
    assert cited == [["U3", "W5"], ["D6", "D7", "§2", "§3"], ["x.py"]]


def test_prediction(doc):
    told = doc["choices"][0]["prediction"]
    assert told["bands"] == [{"what": "Up body", "low": "3", "high": "5", "unit": "us"}]
    assert (told["row"], told["gain_percent"], told["kill_percent"], told["anchor"]) == ("U3", "20", "4", "old body")
    assert (told["kill_event"], told["park_percent"]) == ("hang", "6")


def test_questions_are_amended(doc):
    assert [(q["id"], q["blocks"], q["state"]) for q in doc["open_questions"]] == [
        ("Q1", "verdict", "OPEN"), ("Q2", "stage-3", "OPEN")]  # fmt: skip
    first = doc["amendments"][0]
    assert (first["resolves"], first["date"], first["by"]) == (["Q2"], "2026-01-04", "lead")
    assert {f["field"]: f["value"] for f in first["fields"]} == {
        "open_questions[1].state": "RESOLVED",
        "open_questions[1].resolution": "launcher task-end blanket; task_uses_page-gated.",
        "roles.release.owners": "launcher",
        "roles.release.only_used_pages": "yes",
    }


def test_reviews_and_audit(doc):
    rows = [
        (r["engine"], r["thread"], r["item"], r["verdict"], r["condition"], r["fixed_where"])
        for r in doc["reviews"]["rows"]
    ]
    assert rows == [
        ("Codex", "abc1", "ring", "SOUND", "zero it first", ""),
        ("Codex", "abc1", "order", "FLAWED", "fence missing", "§3 updated"),
    ]
    assert [(a["item"], a["answer"], a["where"]) for a in doc["self_audit"]] == [
        ("Comment", "yes", "§0"),
        ("Lint", "no", ""),
    ]


def test_each_line_has_a_place(reading):
    placed = {n for p in reading.placements for n in range(p.first, p.last + 1)}
    for number, line in enumerate(SPEC.split("\n"), 1):
        if line.strip() and not line.startswith("#"):
            assert number in placed, line


def test_prose_without_a_field_is_kept(reading):
    assert "Active slots: active_count ∈ 0..8." in reading.document["notes"]["contract"]
    kept = [p for p in reading.placements if p.state == "text"]
    assert any("notes.contract" in p.where for p in kept)


def test_findings_can_name_lines(reading):
    lines = SPEC.split("\n")
    assert lines[reading.line_of("sems.rows[2].count") - 1].startswith("// [+8] tail_done")
    assert "controller init only" in lines[reading.line_of("sems.rows[2].reinit_owner") - 1]
    assert "`AUX`" in lines[reading.line_of("smem.regions[1].slices[0].size_bytes") - 1]
    assert lines[reading.line_of("sems.protocol.parity_wait") - 1] == "## 3. SEM ordinal table"
    assert reading.line_of("wiring.flag") == 1


def test_sections_in_another_order_and_crlf_and_bom(doc):
    head, *parts = SPEC.split("\n## ")
    turned = "\n## ".join([head, *reversed(parts)])
    again = read_markdown("\ufeff" + turned.replace("\n", "\r\n")).document
    assert {**again, "notes": None} == {**doc, "notes": None}


def test_other_columns():
    text = """## Shared memory

| Name | Bytes | Alignment | Pages | What |
|:--|--:|--|--|--|
| IN | 2048 | 1024 | 1 | input |
| ? | | | | |

## Semaphores

| semaphore | slots | arrivals | from | to | meaning |
|---|---|---|---|---|---|
| full | 0..3 | 1 | loader | launcher | landed |
"""
    reading = read_markdown(text)
    assert reading.document["smem"]["regions"][0]["size_bytes"] == "2048"
    row = reading.document["sems"]["rows"][0]
    assert (row["name"], row["slots"], row["consumer"]) == ("full", "4", "mma")
    partly = next(p for p in reading.placements if p.state == "partly")
    assert partly.why == "Lines 6 could not be read as rows."
    assert "| ? |" in reading.document["notes"]["smem"]


def test_what_contradicts_is_said():
    text = SPEC.replace("`W_0..W_3` | 0..3", "`W_0..W_3` | 0..4").replace("Total 8 tasks", "Total 9 tasks")
    said = [p.why for p in read_markdown(text).placements]
    assert "W_ names 4 regions, but its ordinals are 0 to 4." in said
    assert "The file says 9 tasks in all; its rows add up to 8." in said


@pytest.mark.parametrize(
    ("said", "blocks", "state", "resolution"),
    [
        ("Q1: anchors (blocks the build)", "build", "OPEN", ""),
        ("Q1: anchors (blocks: build)", "build", "OPEN", ""),
        ("**Q1**: anchors (**blocks the verdict**)", "verdict", "OPEN", ""),
        ("Q1: anchors. Blocks Stage-3.", "stage-3", "OPEN", ""),
        ("Q1 (blocks the verdict): anchors", "verdict", "OPEN", ""),
        ("Q1 (blocking the build): anchors of 64 blocks the builder made", "build", "OPEN", ""),
        ("Q1 (RESOLVED): anchors", "", "RESOLVED", ""),
        ("Q1 (resolved, blocking the build): anchors", "build", "RESOLVED", ""),
        ("Q1 (RESOLVED/FROZEN): anchors", "", "FROZEN", ""),
        ("Q1: how many warps? (RESOLVED: four)", "", "RESOLVED", "four"),
    ],
)
def test_a_question_says_what_it_blocks_and_whether_it_is_answered(said, blocks, state, resolution):
    reading = read_markdown(f"## Open questions\n\n- {said}\n")
    (question,) = reading.document["open_questions"]
    assert (question["blocks"], question["state"], question["resolution"]) == (blocks, state, resolution)
    assert doubts(reading) == []


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("## Open questions\n\n- Q1 (not blocking the build): anchors\n", "open_questions[0].blocks"),
        ("## Open questions\n\n- Q1: anchors (blocks the claims)\n", "open_questions[0].blocks"),
        (
            "## Open questions\n\n| id | question | blocks |\n|---|---|---|\n| Q1 | x | lunch |\n",
            "open_questions[0].blocks",
        ),
        (
            "## Open questions\n\n| id | question | state |\n|---|---|---|\n| Q1 | x | done? |\n",
            "open_questions[0].state",
        ),
        ("## SMEM\n\n| region | size | can_pack |\n|---|---|---|\n| A | 64 | maybe |\n", "smem.regions[0].can_pack"),
        ("## Review log\n\n| item | verdict |\n|---|---|\n| ring | fine |\n", "reviews.rows[0].verdict"),
        ("## Self-audit\n\n| item | answer |\n|---|---|\n| comment | perhaps |\n", "self_audit[0].answer"),
        ("## Engine\n\n**Family**: B or C\n", "engine.family"),
        ("## Engine\n\n**Branch taken**: the usual one.\n", "engine.family"),
    ],
)
def test_what_a_word_leaves_open_is_a_doubt(text, field):
    reading = read_markdown(text)
    (doubt,) = doubts(reading)
    assert doubt.where == (field,)
    assert doubt.why


@pytest.mark.parametrize("said", ["yes", "no", "TRUE", "false (ring)", "✓", "—", ""])
def test_a_yes_or_no_is_no_doubt(said):
    reading = read_markdown(f"## SMEM\n\n| region | size | can_pack |\n|---|---|---|\n| A | 64 | {said} |\n")
    assert reading.document["smem"]["regions"][0]["can_pack"] is (said in ("yes", "TRUE", "✓"))
    assert doubts(reading) == []


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("**Family**: B", ""),
        ("Family: B", ""),
        ("- **Family B**", ""),
        ("Family B, consumer only.", "consumer only."),
        ("Engine: consumer only (family B).", "consumer only (family B)."),
    ],
)
def test_a_family_is_read_by_its_letter(said, why):
    reading = read_markdown(f"## Engine\n\n{said}\n")
    assert (reading.document["engine"]["family"], reading.document["engine"]["why"]) == ("B", why)
    assert doubts(reading) == []


def test_a_part_that_the_file_lacks_is_missed_at_its_first_line():
    reading = read_markdown("# T\n\n## Weather\n\nRain.\n\n## Roles\n\nNone yet.\n\n## More weather\n\nSnow.\n")
    assert [reading.line_of(path) for path in ("smem.regions", "sems", "choices", "roles.rows")] == [1, 1, 1, 7]


def test_an_unknown_heading_is_said_and_kept():
    reading = read_markdown("# T\n\n## Weather\n\nRain.\n")
    assert reading.document["notes"]["preamble"] == "## Weather\n\nRain."
    assert reading.placements[0].why.startswith("This heading names no part")


def test_values_too_long_are_kept_in_notes():
    reading = read_markdown(f"## Op contract\n\n| op | math |\n|---|---|\n| A | {'x ' * 400}|\n")
    assert reading.document["ops"][0]["math"]
    assert "x x x" in reading.document["notes"]["contract"]
    assert any(p.state == "left" and "ops[0].math" in p.why for p in reading.placements)


@pytest.mark.parametrize(
    ("title", "place"),
    [
        ("3. SEM ordinal table (op-private, ≤31)", "sems"),
        ("4. Stage count + per-role responsibilities", "roles"),
        ("10.5 APPENDIX — Stage-3 stub-wiring resolutions", "appendix"),
        ("7. Correctness + measurement gates (Stage 4/5 contract)", "gates"),
        ("11. Self-audit vs house-style §7 quality bar", "audit"),
        ("1. Engine choice (decision tree) + evidence rows", "engine"),
        ("Weather", ""),
    ],
)
def test_places(title, place):
    assert place_of(title) == place


@pytest.mark.parametrize("text", ["", " \n", "x" * (2 * 1024 * 1024 + 1), "a\n" * 20_001, None, 5])
def test_unreadable(text):
    assert read_file(text).unreadable


def test_json_is_read_with_lines():
    text = """{
 "title": "T",
 "symbols": {"A": 1,
  "B": "2"},
 "ops": [
  {"name": "x"},
  {"name": 3,
   "bad": "y"}]
}"""
    reading = read_file(text)
    assert reading.document["title"] == "T"
    assert reading.document["symbols"] == {"A": "1", "B": "2"}
    assert [reading.line_of(p) for p in ("title", "symbols.B", "ops[0]", "ops[1].name", "ops[1].bad")] == [
        2,
        4,
        6,
        7,
        8,
    ]
    assert [p.field for p in reading.problems] == ["ops[1].bad"]
    assert "line 2" in read_file('{\n "a": }').unreadable
    assert read_file("{" + '"a":[' * 100_000).unreadable


def test_json_lines_of_rows():
    assert json_lines('{"queue": ["this",\n"S2"]}')["queue[1]"] == 2


_PIECES = [line for line in SPEC.split("\n") if line] + [
    "|---|---|",
    "```",
    "| a |",
    "<!-- v2kb: smem.regions -->",
    ">",
]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=60)), max_size=40))
def test_no_text_raises_and_nothing_is_dropped(pieces):
    text = "\n".join(pieces)
    reading = read_file(text)
    if reading.unreadable:
        return
    assert reading.line_of("smem.regions[0].size_bytes") >= 1
    placed = {n for p in reading.placements for n in range(p.first, p.last + 1)}
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if any(c.isalnum() for c in line) and not line.lstrip().startswith(("#", "{", "\ufeff")):
            assert number in placed


# --- answers that a file gives in passing ---

PASSING = """# Stage-1 SPEC — Ring product

## 0. Op contract

- Weight-stream volumes at active=4: up 4 tiles × 0.5MB + shared 1MB ≈ 3.5MB; down ≈ 16.1MB. At 2 TB/s: 9 µs.

## 4. Roles

**Loader (W4)** — one thread.
1. Loads by `tma_3d_load_l2`(dst).

**Consumer (W0-3)** — 128 threads. `auto_consumer_finish=false`.

## 5. Task granularity — per-tile (the default)

- **Up**: task = tile ∈ 0..7 → **8 tasks**.

## 8. Wiring

`TASK_UP_V2` reads a CUtensorMap.

## 10.5 Appendix (2026-01-03, orchestrator)

Stub landed; ferret replaces the bodies; `TASK_UP_V2=400`.

- **Q1 (RESOLVED)**: per-page parity; codegen loader page prefix (default ON — waits all 14 pages, arrives those
  that the task does NOT use) and a launcher task-end blanket. The path is the v1 2D flattening.
"""


def test_a_volume_of_weights_is_the_sum_of_its_totals():
    reading = read_markdown(PASSING)
    assert reading.document["measurement"]["weight_bytes"] == "3500000 + 16100000"
    assert PASSING.split("\n")[reading.line_of("measurement.weight_bytes") - 1].startswith("- Weight-stream volumes")
    other = PASSING.replace("Weight-stream volumes", "Reads")
    assert read_markdown(other).document["measurement"]["weight_bytes"] == ""


@pytest.mark.parametrize(
    ("title", "tiles"),
    [
        ("Task granularity — per-tile (the default)", "1"),
        ("Task granularity: per tile", "1"),
        ("Task granularity — per-tile or grid-wide", ""),
        ("Task granularity", ""),
    ],
)
def test_a_heading_that_says_per_tile_states_one_tile(title, tiles):
    text = PASSING.replace("Task granularity — per-tile (the default)", title)
    assert read_markdown(text).document["engine"]["tiles_per_task"] == tiles


def test_a_load_names_its_dimensions_where_all_agree():
    assert read_markdown(PASSING).document["wiring"]["tasks"][0]["instruction_dimensions"] == "3"
    two = PASSING.replace("(dst).", "(dst) and `tma_2d_load`.")
    assert read_markdown(two).document["wiring"]["tasks"][0]["instruction_dimensions"] == ""


def test_an_appendix_answers_for_pages_parity_route_and_descriptor():
    doc = read_markdown(PASSING).document
    stands = SpecView(doc).doc
    loader, consumer = stands["roles"]["rows"]
    paths = ("pages", "bounds_fail_pages", "inactive_pages")
    assert {loader[path].split(" (")[0] for path in paths} == {"codegen loader page prefix"}
    assert {consumer[path] for path in paths} == {"none: auto_consumer_finish=false"}
    assert stands["sems"]["protocol"]["parity_wait"] == "every_sequence"
    assert stands["engine"]["routing"]["route"] == "ferret"
    assert stands["wiring"]["tasks"][0]["descriptor_rank"] == "2"
    assert not any((doc["roles"]["rows"][0]["pages"], doc["sems"]["protocol"]["parity_wait"],
                    doc["engine"]["routing"]["route"]))  # fmt: skip


def test_a_prefix_that_skips_pages_does_not_answer_for_parity():
    text = PASSING.replace("waits all 14 pages", "waits the used pages")
    assert SpecView(read_markdown(text).document).doc["sems"]["protocol"]["parity_wait"] == ""


def test_a_field_that_only_an_amendment_sets_stands_where_the_amendment_does():
    reading = read_markdown(PASSING)
    lines = PASSING.split("\n")
    assert "TASK_UP_V2=400" in lines[reading.line_of("wiring.tasks[0].id") - 1]
    assert "CUtensorMap" in lines[reading.line_of("wiring.tasks[0].enum") - 1]
