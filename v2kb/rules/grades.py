"""How a number was made, and where its op lives, decide what the number may do (measurement page, section 3).

A method belongs to a tier per envelope; the site's policy says which tiers decide. Only a `DecidingSession`
reaches `verdict.judge`, and one can't be made for a session that the table grades otherwise.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from v2kb.rules.envelopes import CPU, ENVELOPES, MEGAKERNEL, STANDALONE
from v2kb.rules.session import Session

DECIDES, CORROBORATES, DIAGNOSTIC = "decides", "corroborates", "diagnostic"

IN_SITU = ("in_situ_slow_cta", "in_situ_trace", "production_metric")
IN_TREE_HARNESS = ("in_tree_task_harness",)
DEVICE_SPAN = ("cupti_span", "graph_replay", "globaltimer_span")
PROCESS_CLOCK = ("process_clock",)
BANNED = {
    "event_pair": "An event pair around a short kernel measures the launch, not the kernel.",
    "standalone_warm": "A warm standalone launch finds its data in the cache.",
    "block_median": "A median over thread blocks lands on the idle ones; take each launch's slowest block.",
}
SELF_TIMED = " (self-timed)"
"""Ends a method's name when the clock lives in the candidate's own process; the tier does not change."""
METHODS = (*IN_SITU, *IN_TREE_HARNESS, *DEVICE_SPAN, *PROCESS_CLOCK, *BANNED)
_PLACES = {
    MEGAKERNEL: "an op inside a megakernel",
    STANDALONE: "an op launched alone",
    CPU: "an op on the CPU",
}


class PolicyRefused(ValueError):
    """A site policy lets a tier decide that never may."""


@dataclass(frozen=True)
class Policy:
    """Which tiers decide, per envelope. TIER 3 never decides, and an unnamed envelope decides nothing."""

    deciding: Mapping[str, frozenset[int]] = field(
        default_factory=lambda: {
            MEGAKERNEL: frozenset({1}),
            STANDALONE: frozenset({1, 2}),
            CPU: frozenset({1, 2}),
        }
    )

    def __post_init__(self) -> None:
        for envelope, tiers in self.deciding.items():
            if envelope not in ENVELOPES:
                raise PolicyRefused(f"Envelope {envelope!r} is unknown; known are {', '.join(ENVELOPES)}.")
            if not set(tiers) <= {1, 2}:
                raise PolicyRefused(f"Only TIER 1 and TIER 2 may decide; {envelope} asks for {sorted(tiers)}.")


DEFAULT_POLICY = Policy()


@dataclass(frozen=True)
class Grade:
    """Tier (1, 2, 3), what it may do (decides, corroborates, diagnostic), and why in plain English."""

    tier: int
    name: str
    reason: str

    @property
    def text(self) -> str:
        return f"TIER {self.tier}, {self.name}"


@dataclass(frozen=True)
class Measured:
    """How a number was made. `cold`, `fresh_processes`, `production_grid`: None means that nobody recorded
    it.
    """

    envelope: str
    method: str
    target: str
    hardware: str
    cold: bool | None = None
    fresh_processes: bool | None = None
    production_grid: bool | None = None


def grade_of(measured: Measured, policy: Policy = DEFAULT_POLICY) -> Grade:
    """Return tier and grade of a number. Whatever is unknown or missing grades lower, never higher."""
    tier, reason = _tier(measured)
    if tier == 3:
        return Grade(3, DIAGNOSTIC, reason)
    if tier in policy.deciding.get(measured.envelope, frozenset()):
        return Grade(tier, DECIDES, reason)
    if tier == 1:
        return Grade(1, CORROBORATES, f"{reason} This site's policy lets it corroborate only.")
    return Grade(2, CORROBORATES, f"{reason} It corroborates; a TIER 1 number has to decide.")


def _tier(measured: Measured) -> tuple[int, str]:
    """Return the tier by the table of section 3, and the reason."""
    envelope, method = measured.envelope, measured.method.removesuffix(SELF_TIMED)
    if envelope not in ENVELOPES:
        return 3, f"The op's envelope {envelope!r} is unknown, so nothing can be decided."
    if method in BANNED:
        return 3, BANNED[method]
    if method not in METHODS:
        return 3, f"The method {method!r} is unknown, so it counts as a diagnostic."
    place = _PLACES[envelope]
    if not measured.target or measured.hardware != measured.target:
        ran, meant = measured.hardware or "unknown hardware", measured.target or "an unnamed card"
        return 3, f"It ran on {ran}; the op is meant for {meant}."
    if method in IN_SITU:
        missing = _missing(measured, ("production_grid",)) if envelope == MEGAKERNEL else ""
        if missing:
            return 3, f"A number taken in place counts in the production configuration only: {missing}."
        return 1, f"Measured in place, in the real program, for {place}."
    if envelope == MEGAKERNEL:
        if method in IN_TREE_HARNESS:
            missing = _missing(measured, ("production_grid",))
            if missing:
                return 3, f"A per-task harness counts at the production grid only: {missing}."
            return 2, "Measured by the team's own per-task harness at the production grid."
        return 3, "This harness runs the op alone; inside a megakernel only a number taken in place decides."
    if envelope == CPU:
        if method not in PROCESS_CLOCK:
            return 3, f"{method} is no clock of a CPU process."
        missing = _missing(measured, ("fresh_processes",))
        if missing:
            return 3, f"The harness's number of a CPU op needs fresh processes: {missing}."
        return 2, "This harness timed the op on the CPU it is meant for, each run in a fresh process."
    if method not in DEVICE_SPAN:
        return 3, f"{method} is no span taken on the device."
    missing = _missing(measured, ("cold", "fresh_processes", "production_grid"))
    if missing:
        return 3, f"A device span counts when cold, in fresh processes, at the production grid: {missing}."
    return (
        2,
        "This harness timed device spans on the card that the op is meant for, cold, in fresh processes.",
    )


def _missing(measured: Measured, names: tuple[str, ...]) -> str:
    """Return which of the named conditions do not hold, in words, or nothing."""
    words = []
    for name in names:
        value = getattr(measured, name)
        if value is not True:
            words.append(f"{name.replace('_', ' ')} is {'not recorded' if value is None else 'not given'}")
    return ", ".join(words)


def measured_of(session: Session) -> Measured:
    """Return how a session's numbers were made."""
    return Measured(
        session.envelope,
        session.method,
        session.target,
        session.hardware,
        session.cold,
        session.fresh_processes,
        session.production_grid,
    )


@dataclass(frozen=True)
class _GradedSession:
    """A session with the grade that the table gives it; any other grade is refused at construction."""

    session: Session
    policy: Policy = DEFAULT_POLICY
    grade: Grade = field(init=False)

    WANTED = ""

    def __post_init__(self) -> None:
        grade = grade_of(measured_of(self.session), self.policy)
        if grade.name != self.WANTED:
            raise TypeError(f"This session is {grade.name}, not {self.WANTED}: {grade.reason}")
        object.__setattr__(self, "grade", grade)


class DecidingSession(_GradedSession):
    """May be judged, and its judgement may move a row's verdict."""

    WANTED = DECIDES


class CorroboratingSession(_GradedSession):
    """Shows an estimate and its interval; may back a deciding session, never replaces it."""

    WANTED = CORROBORATES


class DiagnosticSession(_GradedSession):
    """Shows an estimate and its interval; can neither promote nor reject."""

    WANTED = DIAGNOSTIC


GradedSession = DecidingSession | CorroboratingSession | DiagnosticSession


def graded(session: Session, policy: Policy = DEFAULT_POLICY) -> GradedSession:
    """Return the session as the type of its grade."""
    name = grade_of(measured_of(session), policy).name
    for kind in (DecidingSession, CorroboratingSession, DiagnosticSession):
        if name == kind.WANTED:
            return kind(session, policy)
    raise AssertionError(name)


def tier_text(grade: Grade, envelope: str) -> str:
    """Return "TIER 2 of an op launched alone"."""
    return f"TIER {grade.tier} of {_PLACES.get(envelope, 'an op of unknown envelope')}"
