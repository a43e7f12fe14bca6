"""The validation ladder: which rungs an op has, and where a kernel version stands on each.

Rungs depend on the op's envelope: inside a megakernel G0 to G9, launched alone or on the CPU compile,
numeric, perf. A PASS counts only on rungs that stand: with an earlier rung missing it is INVALID.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from v2kb.rules.envelopes import CPU, MEGAKERNEL, STANDALONE
from v2kb.rules.grades import DECIDES, Grade
from v2kb.rules.verdict_table import INCONCLUSIVE, WIN
from v2kb.rules.verdict_table import INVALID as INVALID_JUDGEMENT

PASS, FAIL, MISSING, INVALID = "PASS", "FAIL", "MISSING", "INVALID"
NOT_APPLICABLE, PENDING = "NOT_APPLICABLE", "PENDING"
STATUSES = (PASS, FAIL, MISSING, INVALID, NOT_APPLICABLE, PENDING)

MATH_CHANGING, COLLECTIVE, ROUTED = "math_changing", "collective", "routed"
TRAITS = (MATH_CHANGING, COLLECTIVE, ROUTED)


@dataclass(frozen=True)
class Rung:
    """One step. `needs` are the rungs below it; with `trait` set it applies only to ops that have the
    trait.
    """

    id: str
    title: str
    bar: str
    needs: tuple[str, ...] = ()
    trait: str = ""
    without_trait: str = ""


_ALONE = (
    Rung("compile", "Compile", "The candidate builds, or imports, and its entry is found."),
    Rung("numeric", "Numeric", "cos >= 0.999, rel_max <= 0.03, no NaN, over every workload.", ("compile",)),
    Rung("perf", "Perf", "A session whose grade decides is judged WIN.", ("compile", "numeric")),
)
_MEGAKERNEL = (
    Rung("G0", "Compile and format", "Syntax compile for the target; the default build stays byte-identical."),
    Rung("G1", "Numeric test mode", "cos >= 0.999, rel_max <= 0.03, no NaN against fp32.", ("G0",)),
    Rung("G2", "Protocol audit", "Static rules hold and the barrier ledger has no blank cell."),
    Rung("G3", "In-runtime probe", "The first four layers run with the op wired.", ("G1", "G2")),
    Rung("G4", "Multi-step", "Three decode steps or more, watchdog armed.", ("G3",)),
    Rung(
        "G5",
        "Math-changing proof",
        "Canary identical, poison fill shows, coherent in the reference envelope.",
        ("G3",),
        MATH_CHANGING,
        "The op does not change the math.",
    ),
    Rung(
        "G6",
        "Collectives",
        "Bit-exact on every rank, two ranks first, then all.",
        ("G1",),
        COLLECTIVE,
        "The op has no collective.",
    ),
    Rung(
        "G7",
        "Routed and not empty",
        "Experts are active in every step and rows are permuted.",
        ("G4",),
        ROUTED,
        "The op is not routed.",
    ),
    Rung("G8", "Cross-model smoke", "The other maintained model still runs.", ("G4",)),
    Rung(
        "G9",
        "Perf, TIER 1",
        "slowCTA in place at the production grid, cold, three runs or more.",
        ("G4", "G5", "G6", "G7", "G8"),
    ),
)
_LADDERS = {MEGAKERNEL: _MEGAKERNEL, STANDALONE: _ALONE, CPU: _ALONE}


def rungs_of(envelope: str) -> tuple[Rung, ...]:
    """Return the rungs of an op with this envelope, lowest first. Raises KeyError for an unknown envelope."""
    return _LADDERS[envelope]


@dataclass(frozen=True)
class Result:
    """What is on record for a rung: PASS, FAIL, INVALID, NOT_APPLICABLE or PENDING, with reason or
    machine.
    """

    status: str
    reason: str = ""


@dataclass(frozen=True)
class RungState:
    """Where a kernel version stands on one rung; `reason` explains everything but PASS."""

    rung: Rung
    status: str
    reason: str = ""

    @property
    def text(self) -> str:
        """Return "PASS", "PENDING(sm_100)", "NOT_APPLICABLE(no collective)"."""
        if self.status in (PENDING, NOT_APPLICABLE):
            return f"{self.status}({self.reason})"
        return self.status


def ladder_states(
    envelope: str, results: Mapping[str, Result], traits: frozenset[str] = frozenset()
) -> tuple[RungState, ...]:
    """Derive every rung's status from the results on record, newest per rung.

    `traits` are those of the op (`TRAITS`). Raises KeyError for an unknown envelope, ValueError for a rung
    that the envelope does not have or a status that no result can have.
    """
    rungs = rungs_of(envelope)
    unknown = sorted(set(results) - {rung.id for rung in rungs})
    if unknown:
        raise ValueError(f"An op with envelope {envelope} has no rung {', '.join(unknown)}.")
    states: dict[str, RungState] = {}
    for rung in rungs:
        states[rung.id] = _state(rung, results.get(rung.id), traits, states)
    return tuple(states.values())


def _state(rung: Rung, result: Result | None, traits: frozenset[str], below: Mapping[str, RungState]) -> RungState:
    """Return the status of one rung, given those below it."""
    if result is None:
        if rung.trait and rung.trait not in traits:
            return RungState(rung, NOT_APPLICABLE, rung.without_trait)
        return RungState(rung, MISSING, "Nothing is on record.")
    reason = result.reason.strip()
    if result.status == NOT_APPLICABLE:
        if reason:
            return RungState(rung, NOT_APPLICABLE, reason)
        return RungState(rung, MISSING, "Declared not applicable without a reason.")
    if result.status == PENDING:
        return RungState(rung, PENDING, reason or "machine not named")
    if result.status in (FAIL, INVALID):
        return RungState(rung, result.status, reason)
    if result.status != PASS:
        raise ValueError(f"A result on record can't be {result.status!r}.")
    loose = [below_id for below_id in _all_below(rung, below) if below[below_id].status not in (PASS, NOT_APPLICABLE)]
    if loose:
        named = ", ".join(f"{below_id} is {below[below_id].status}" for below_id in loose)
        return RungState(rung, INVALID, f"It passed, but {named}; a pass counts only above rungs that stand.")
    return RungState(rung, PASS, reason)


def _all_below(rung: Rung, below: Mapping[str, RungState]) -> list[str]:
    """Return every rung that this one stands on, directly or not, lowest first."""
    found, queue = set(), list(rung.needs)
    while queue:
        rung_id = queue.pop()
        if rung_id not in found:
            found.add(rung_id)
            queue.extend(below[rung_id].rung.needs)
    return [rung_id for rung_id in below if rung_id in found]


_RAN = ("PASS", "FAIL_NUMERIC", "FAIL_SHAPE", "WEDGE", "IMA", "MISALIGNED")
_NOT_COMPILED = ("COMPILE_ERROR", "COMPILE_TIMEOUT")
_SAYS_NOTHING = ("INFRA", "NO_DATA", "CANCELLED")
_NO_TEST = ("INVALID_REFERENCE", "NO_CASES")


def validate_results(envelope: str, outcome: str, target: str, hardware: str) -> dict[str, Result]:
    """Return what a validate run of this harness puts on record, by rung.

    Inside a megakernel the harness runs the op alone: a failure counts, a pass leaves G1 pending on the
    target. An op that ran on another machine than its target is pending there as well. Outcomes that say
    nothing of the candidate give no result.
    """
    if outcome in _SAYS_NOTHING:
        return {}
    compile_id, numeric_id = ("G0", "G1") if envelope == MEGAKERNEL else ("compile", "numeric")
    if outcome in _NOT_COMPILED:
        return {compile_id: Result(FAIL, f"The run ended as {outcome}.")}
    if outcome in _NO_TEST:
        return {numeric_id: Result(INVALID, f"The run ended as {outcome}: nothing was tested.")}
    found = {}
    if outcome in _RAN:
        found[compile_id] = Result(PASS)
    found[numeric_id] = Result(PASS) if outcome == "PASS" else Result(FAIL, f"The run ended as {outcome}.")
    if envelope == MEGAKERNEL:
        waits = Result(PENDING, f"{target}, in the runtime's test mode")
    elif hardware != target:
        waits = Result(PENDING, target)
    else:
        return found
    return {rung_id: waits if result.status == PASS else result for rung_id, result in found.items()}


@dataclass(frozen=True)
class Check:
    """How one finished run of a version ended that checked its outputs: `validates` says whether that was all it was
    for, `complete` whether it covered every workload of the contract.
    """

    outcome: str
    hardware: str
    validates: bool
    complete: bool


def checked_results(envelope: str, target: str, checks: Iterable[Check]) -> dict[str, Result]:
    """Return what a version's runs, oldest first, put on record below perf; the newest counts.

    Every run checks outputs before it times anything. A failure counts whatever the run was for. A pass of the numbers
    counts over every workload only, and of a run that times things only where no failure stands: a validate run lifts
    that.
    """
    found: dict[str, Result] = {}
    numeric_id = "G1" if envelope == MEGAKERNEL else "numeric"
    for check in checks:
        for rung_id, result in validate_results(envelope, check.outcome, target, check.hardware).items():
            if result.status in (PASS, PENDING):
                partly = rung_id == numeric_id and not check.complete
                stands_failed = rung_id in found and found[rung_id].status in (FAIL, INVALID)
                counts = not partly and (check.validates or not stands_failed)
            else:  # a reference or an anchor that fails says nothing of the version that was timed
                counts = check.validates or result.status == FAIL
            if counts:
                found[rung_id] = result
    return found


@dataclass(frozen=True)
class Standing:
    """Whether a version has passed what comes before perf: PASS, FAIL, PENDING or MISSING; `fault` says what is wrong,
    empty for PASS.
    """

    status: str
    fault: str = ""


def standing_below(envelope: str, results: Mapping[str, Result], traits: frozenset[str] = frozenset()) -> Standing:
    """Return how the rungs below the last one stand; a session of a version counts only when they all do."""
    states = ladder_states(envelope, results, traits)[:-1]
    for statuses, status, said in (
        ((FAIL, INVALID), FAIL, "Validation failed"),
        ((PENDING,), PENDING, "Not validated on its target"),
        ((MISSING,), MISSING, "Never validated over every workload"),
    ):
        loose = [state for state in states if state.status in statuses]
        if loose:
            why = loose[0].reason.rstrip(".") if status == FAIL else ""
            named = ", ".join(f"{state.rung.title.lower()} is {state.text}" for state in loose)
            return Standing(status, f"{said}: {named}.{f' {why}.' if why else ''}")
    return Standing(PASS)


def perf_result(envelope: str, grade: Grade, judgement: str, target: str) -> dict[str, Result]:
    """Return what a perf session puts on record: only a deciding session can pass or fail the rung.

    `judgement` is that of the session, or empty when it was not judged. WIN passes; INCONCLUSIVE leaves no
    result.
    """
    rung_id = "G9" if envelope == MEGAKERNEL else "perf"
    if grade.name != DECIDES:
        tier = "TIER 1 " if envelope == MEGAKERNEL else ""
        return {rung_id: Result(PENDING, f"{tier}on {target}")}
    if judgement in ("", INCONCLUSIVE):
        return {}
    if judgement == WIN:
        return {rung_id: Result(PASS)}
    if judgement == INVALID_JUDGEMENT:
        return {rung_id: Result(INVALID, "The session was INVALID.")}
    return {rung_id: Result(FAIL, f"The session was judged {judgement}.")}
