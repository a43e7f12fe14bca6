"""Rules R43 to R45, R75 and R77: the idiom, the depth of its ring, the engine that writes the body, and the scales."""

from v2kb.rules.data_rules import slots_of_storage
from v2kb.rules.granularity import Iterations, has_rows, iterations
from v2kb.rules.rule_registry import ERROR, INFO, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, Row, SpecView

PIPELINE = "A"
MIN_ITERATIONS = 4
MIN_STAGES = 6
MAX_ROWS_OF_A = 16
WEDGE_ROUNDS = 2
MATRIX_KIND = "gemm_pipeline"
# Ways in which a stage is filled: what comes by tensor memory or by stores is no stage of the ring.
LOADED = ("tma", "cp_async")
PER_ITERATION = "per_iteration"
ROUTING_QUESTIONS = {
    "first_bring_up": "this is the first bring-up of the op",
    "campaign_verdict": "the number decides a campaign's verdict",
    "wired": "the op is wired",
    "frozen_gate": "its gate is frozen",
    "numeric_target": "its target is a number",
}
SCALE_CHECKS = {
    "positive": "positive",
    "finite": "finite",
    "power_of_two": "an exact power of two (mantissa 0.5 after frexp)",
    "exponent_in_range": "of an exponent from -127 to 127",
}


def _is_pipeline(view: SpecView, report: Reporter) -> bool:
    """Say whether the spec is a role pipeline; an unstated family is a missing input."""
    if view.family == PIPELINE:
        return True
    if view.family:
        report.skip("Only a role pipeline (family A) has a ring of stages.")
    else:
        report.missing(Missing("engine.family", "The family of the engine is not chosen.", "Choose one of A to E."))
    return False


@spec_rule(
    "R43",
    severity=WARNING,
    title="Pipeline or consumer",
    source="the skill's own page, stage 1",
    formula="a pipeline where the work is GEMM-shaped and M >= tile, or one task streams 4 K iterations or more",
    inputs=(
        "engine.family",
        "engine.m",
        "engine.tile_m",
        "granularity[].iterations",
        "granularity[].active_low",
        "granularity[].active_high",
    ),
)
def r43(view: SpecView, report: Reporter, context: Context) -> None:
    matrix = any(contract.get("kind") == MATRIX_KIND for contract in view.contracts)
    if view.family and view.family != PIPELINE and not matrix:
        report.skip("The work is no matrix product that the spec would stream.")
        return
    if (not view.family and not _is_pipeline(view, report)) or not has_rows(view, report):
        return
    full_tiles = _full_tiles(view)
    for row in view.tasks:
        if view.family == PIPELINE:
            if not full_tiles:
                _judge_ring(report, row, iterations(view, row))
        elif full_tiles or (row.source["iterations"] and _streams(iterations(view, row))):
            report.add(
                "engine.family",
                f"{row.label()} is a matrix product with full tiles or {MIN_ITERATIONS} K iterations or more, and "
                f"family {view.family} has no pipeline.",
                "Take family A, or have this waived with the reason why a consumer is better here.",
            )


def _full_tiles(view: SpecView) -> bool:
    m, tile = view.field("engine.m"), view.field("engine.tile_m")
    return isinstance(m, int) and isinstance(tile, int) and 0 < tile <= m


def _streams(found: Iterations | Missing) -> bool:
    return isinstance(found, Iterations) and found.low >= MIN_ITERATIONS


def _judge_ring(report: Reporter, row: Row, found: Iterations | Missing) -> None:
    if isinstance(found, Missing):
        report.missing(found)
        return
    path = f"{row.path}.iterations"
    if found.high < MIN_ITERATIONS:
        report.add(
            path,
            f"{row.label()} streams at most {found.high} K iterations and M is below the tile: no ring ever fills.",
            "Take the consumer idiom (family B to D), or give one task more of K.",
            high=found.high,
        )
    elif found.low < MIN_ITERATIONS:
        few = [active for active, count in (found.by_active or {}).items() if count < MIN_ITERATIONS]
        report.add(
            path,
            f"{row.label()} streams {found.low} to {found.high} K iterations; below {MIN_ITERATIONS} at active = "
            f"{', '.join(map(str, few))}.",
            "Check prologue, parity and release at these counts.",
            severity=INFO,
            low=found.low,
            high=found.high,
            active=few,
        )


@spec_rule(
    "R44",
    severity=WARNING,
    title="Stages of the ring",
    source="the grouped GEMM's spec, section 4; m1-decode-evidence, section 1",
    formula=(
        "STAGES >= 6; a ring that is loaded by TMA or cp.async has STAGES slots, and so has each that shares its way "
        "back; one of another depth has a way back of its own and as many slots as its storage (I: below 6 of them)"
    ),
    inputs=(
        "engine.family",
        "roles.stages",
        "sems.rows[].slots",
        "sems.rows[].data",
        "sems.rows[].pair",
        "sems.rows[].storage",
    ),
    version=3,
)
def r44(view: SpecView, report: Reporter, context: Context) -> None:
    if not _is_pipeline(view, report):
        return
    stages = view.field("roles.stages")
    if isinstance(stages, Missing):
        report.missing(stages)
        return
    if stages < MIN_STAGES:
        report.add(
            "roles.stages",
            f"The ring has {stages} stages; this engine hung at 4, and {MIN_STAGES} is the least that is known to run.",
            f"Plan {MIN_STAGES} stages or more.",
            stages=stages,
        )
    rows = [row for row in view.sems if row.source["pair"] and row.source["data"] in LOADED]
    loaded = [row for row in rows if isinstance(row.values["slots"], int)]
    ways_back = {row.source["pair"] for row in loaded if row.values["slots"] == stages}
    for row in loaded:
        if row.values["slots"] != stages:
            _judge_depth(view, report, row, stages, ways_back)


def _judge_depth(view: SpecView, report: Reporter, row: Row, stages: int, ways_back: set[str]) -> None:
    """A loaded ring whose depth is not the stages; `ways_back` are the edges by which the stages come back."""
    slots, storage = row.values["slots"], row.source["storage"]
    said, severity = f"{row.label()} has {slots} slots", WARNING
    held = slots_of_storage(view, storage)
    if not ways_back:
        said += f", but the ring has {stages} stages."
        fix = "Give the barrier one slot for each stage, or correct the stages."
    elif row.source["pair"] in ways_back:
        said += f", but comes back by {row.source['pair']} together with the ring of {stages} stages."
        fix = "Give the barrier one slot for each stage, or a way back of its own."
    elif held and slots not in held:
        said += f", but {storage}, which it fills, has {' and '.join(map(str, sorted(held)))}."
        fix = "Give the barrier one slot for each of its storage, or correct the storage."
    elif row.source["arrives"] == PER_ITERATION and slots < MIN_STAGES:
        said += f": the loads of one iteration get {slots} ahead at most, whatever the ring of {stages} stages allows."
        fix = f"This engine hung at 4; {MIN_STAGES} is the least that is known to run."
        severity = INFO
    else:
        return
    report.add(row.cell("slots"), said, fix, severity=severity, slots=slots, stages=stages)


@spec_rule(
    "R45",
    severity=ERROR,
    title="Rows and tiles of the linear family",
    source="upstream-kernel-catalog section 1; wiring-recipe section 7",
    formula="1 <= M <= 16 and tiles_per_task == 1",
    inputs=("engine.family", "engine.m", "engine.tiles_per_task"),
)
def r45(view: SpecView, report: Reporter, context: Context) -> None:
    if not _is_pipeline(view, report):
        return
    m, tiles = view.field("engine.m"), view.field("engine.tiles_per_task")
    for value in (m, tiles):
        if isinstance(value, Missing):
            report.missing(value)
    if isinstance(m, int) and not 1 <= m <= MAX_ROWS_OF_A:
        report.add(
            "engine.m",
            f"M is {m:,}; the one activation tile has {MAX_ROWS_OF_A} rows, and rows beyond it stay uncomputed.",
            f"Keep M from 1 to {MAX_ROWS_OF_A}, or split it over several tasks.",
            m=m,
        )
    if isinstance(tiles, int) and tiles != 1:
        report.add(
            "engine.tiles_per_task",
            f"A task has {tiles:,} tiles; a partial last task counts its barriers otherwise, and the slot deadlocks.",
            "Give each task one tile.",
            tiles_per_task=tiles,
        )


def expected_route(view: SpecView, context: Context) -> tuple[str, str] | Missing:
    """Return (engine, reason) by the routing table, or the first answer that it needs and that is missing.

    Source: ferret-v2-dispatch, "Engine routing" and "Friction escape".
    """
    if dead := _dead_without_mechanism(view, context):
        return "none", f"choice {dead} adopts a lever against a DEAD row without a new mechanism"
    answers = view.doc["engine"]["routing"]
    rounds = view.field("engine.routing.wedge_rounds", "0")
    if isinstance(rounds, Missing):
        return rounds
    if rounds >= WEDGE_ROUNDS:
        return "engineer", f"{rounds} rounds wedged in the same class, so the protocol shell comes first"

    def unanswered(name: str) -> Missing:
        message = f"It isn't said whether {ROUTING_QUESTIONS[name]}."
        return Missing(f"engine.routing.{name}", message, "Answer yes or no; the engine follows from it.")

    if not answers["first_bring_up"]:
        return unanswered("first_bring_up")
    if answers["first_bring_up"] == "yes":
        return "engineer", "it is the first bring-up"
    if not answers["campaign_verdict"]:
        return unanswered("campaign_verdict")
    if answers["campaign_verdict"] == "yes":
        return "kda", "the number decides a campaign's verdict"
    for name in ("wired", "frozen_gate", "numeric_target"):
        if not answers[name]:
            return unanswered(name)
        if answers[name] == "no":
            return "engineer", f'"{name.replace("_", " ")}" is answered with no'
    return "ferret", "it is wired, its gate is frozen and the target is a number"


def _dead_without_mechanism(view: SpecView, context: Context) -> str:
    """Id of the first choice that adopts a lever, argues against a DEAD row and names nothing new."""
    for choice in view.doc["choices"]:
        against = any(
            citation["kind"] == "evidence" and citation["stance"] == "contradicts" and context.is_dead(citation["code"])
            for citation in choice["citations"]
        )
        if choice["polarity"] == "adopts" and against and not choice["new_mechanism"]:
            return choice["id"]
    return ""


@spec_rule(
    "R75",
    severity=WARNING,
    title="Engine that writes the body",
    version=2,
    source="ferret-v2-dispatch, engine routing and friction escape",
    formula="DEAD class: none; two wedges of a class or first bring-up: engineer; campaign verdict: kda; "
    "wired, frozen gate and numeric target: ferret; else engineer",
    inputs=("engine.family", "engine.routing", "choices[]"),
)
def r75(view: SpecView, report: Reporter, context: Context) -> None:
    routing = view.doc["engine"]["routing"]
    if not any(routing.values()) and view.family != PIPELINE:
        report.skip("The spec names no engine; a small body is written by an engineer.")
        return
    if not routing["route"]:
        message = "The engine that writes the body is not chosen."
        report.missing(Missing("engine.routing.route", message, "Choose engineer, ferret, kda or none."))
        return
    expected = expected_route(view, context)
    if isinstance(expected, Missing):
        report.missing(expected)
    elif routing["route"] != expected[0]:
        report.add(
            "engine.routing.route",
            f"The body is routed to {routing['route']}; the table says {expected[0]}, for {expected[1]}.",
            f"Route it to {expected[0]}, or correct the answers.",
            route=routing["route"],
            expected=expected[0],
        )


@spec_rule(
    "R77",
    severity=ERROR,
    title="Scale packs",
    source="the grouped GEMM's spec, section 9 (Q2) and appendix 10.5",
    formula="each value positive, finite, frexp mantissa 0.5, exponent in [-127, 127]",
    inputs=("scale_packs[]", "engine.family"),
)
def r77(view: SpecView, report: Reporter, context: Context) -> None:
    packs = view.doc["scale_packs"]
    if not packs:
        if view.family == PIPELINE and _has_scales(view):
            message = "The op has scales, and nothing says that they survive the conversion to UE8M0."
            report.missing(Missing("scale_packs", message, "Add a row per pack with what is asserted, and where."))
        else:
            report.skip("The spec converts no scales.")
        return
    for index, pack in enumerate(packs):
        lacking = [name for name in SCALE_CHECKS if not pack[name]]
        if lacking:
            report.add(
                f"scale_packs[{index}].{lacking[0]}",
                f"{pack['name'] or f'Pack {index + 1}'} is not asserted to be "
                + "; ".join(SCALE_CHECKS[name] for name in lacking)
                + ": the conversion to UE8M0 would change the result.",
                "Assert it where the pack is loaded, or derive the scales anew.",
                lacking=lacking,
            )


def _has_scales(view: SpecView) -> bool:
    return any(tensor.get("kind") == "scale" for contract in view.contracts for tensor in contract.get("inputs") or [])


ENGINE_RULES: tuple[Rule, ...] = (r43, r44, r45, r75, r77)
