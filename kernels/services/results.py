"""Storing what a worker measured, once, and what follows from it: judgement, anchor, receipt or proposal."""

from decimal import Decimal
from typing import Any

from django.db import transaction
from django.utils import timezone

from evidence.models import EvidenceRow
from evidence.services.runs import propose_from_run
from evidence.services.watching import note_baseline
from kernels import policies
from kernels.models import Judgement, Run, RunAttempt, RunResult
from kernels.selectors.sessions import anchor_values, machine_fingerprint, registration_of, session_of
from kernels.services.anchors import pin_from_capture
from kernels.services.dispatch import requeue_or_close
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.moves import move
from v2kb.core.service import service
from v2kb.rules.canonical import content_hash
from v2kb.rules.grades import DecidingSession, graded
from v2kb.rules.numbers import plain_decimal
from v2kb.rules.spec_document import find_choice
from v2kb.rules.states import requeue_refused
from v2kb.rules.units import format_percent
from v2kb.rules.verdict import RULE_VERSION, judge, show
from v2kb.rules.verdict_text import shown_document, verdict_document
from v2kb.wire.base import message_hash
from v2kb.wire.messages import ResultRequest
from v2kb.wire.outcomes import Outcome

LIVE = (Run.State.CLAIMED, Run.State.RUNNING)


@service("kernels.store_result")
def store_result(actor: Actor, *, attempt: RunAttempt, message: ResultRequest) -> Run:
    """Store the result of an attempt and everything that follows from it, exactly once, under the row's lock.

    The same result posted again changes nothing; another one, or one of a stale attempt, is refused.
    """
    policies.may_report(actor)
    run = Run.objects.select_for_update().get(pk=attempt.run_id)
    digest = message_hash(message.result)
    stored = RunResult.objects.filter(run=run).first()
    if stored is not None and stored.fence == message.fence and stored.content_hash == digest:
        record(actor, "kernels.store_result", run, "the same result again; nothing changed")
        return run
    if run.state not in LIVE or run.fence != message.fence or attempt.fence != message.fence:
        raise Conflict(
            "run.stale_fence",
            f"{run.public_id} has moved on: fence {run.fence}, state {run.state}.",
            facts={"fence": run.fence, "state": run.state},
        )
    outcome = message.result.outcome
    if (
        outcome is Outcome.INFRA
        and not requeue_refused(run.attempts, outcome.value)
        and run.cancel_requested_at is None
    ):
        requeue_or_close(actor, run, message.result.message or "The worker could not run it.")
        return run
    RunResult.objects.create(
        run=run, fence=message.fence, content=message.result.model_dump(mode="json"), content_hash=digest
    )
    now = timezone.now()
    attempt.ended_at, attempt.ended_why = now, outcome.value
    attempt.save(update_fields=["ended_at", "ended_why"])
    move(run, Run.State.CANCELLED if outcome is Outcome.CANCELLED else Run.State.FINISHED, "run.over")
    run.outcome = "" if outcome is Outcome.CANCELLED else outcome.value
    run.message = message.result.message
    run.finished_at = now
    run.save(update_fields=["state", "outcome", "message", "finished_at"])
    record(actor, "kernels.store_result", run, f"{run.public_id}: {outcome.value}", after={"result": digest})
    if run.state == Run.State.FINISHED:
        _follow_up(actor, run)
    return run


def _follow_up(actor: Actor, run: Run) -> None:
    if run.kind == Run.Kind.CAPTURE and run.outcome == Outcome.PASS.value:
        pin_from_capture(actor, run, anchor_values(run), machine_fingerprint(run))
    if run.kind == Run.Kind.PERF:
        judgement = judge_run(run)
        record(
            actor,
            "kernels.judge_run",
            run,
            judgement.sentence,
            after={"judgement": judgement.judgement, "grade": judgement.grade, "hash": judgement.content_hash},
            rule_version=RULE_VERSION,
        )
        _tell_evidence(actor, run, judgement)


def judge_run(run: Run) -> Judgement:
    """Judge a finished perf run by the rules as they are now, and keep the answer as a new row."""
    session = graded(session_of(run))
    registration = registration_of(run)
    if isinstance(session, DecidingSession) and registration is not None:
        document = verdict_document(judge(session, registration))
    else:
        document = shown_document(show(session))
    return Judgement.objects.create(
        run=run,
        judgement=document["judgement"] or "",
        disposition=document.get("disposition") or "none",
        grade=document["grade"],
        tier=document["tier"],
        sentence=document["sentence"],
        content=document,
        content_hash=content_hash({"rule": RULE_VERSION, "result": run.result.content_hash, "document": document}),
        rule_version=RULE_VERSION,
    )


def _tell_evidence(actor: Actor, run: Run, judgement: Judgement) -> None:
    """Attach the session to the row that its prediction probes, and propose a verdict where the grade decides."""
    if run.preregistration is None or not run.preregistration.content.get("row"):
        return
    baseline = (run.preregistration.content.get("scope") or {}).get("baseline")
    if baseline:
        watcher = Actor.system("worker", label="watcher")
        note_baseline(watcher, code=run.preregistration.content["row"], baseline=baseline, run_id=run.public_id)
    try:
        with transaction.atomic():
            _propose(actor, run, judgement)
    except Refusal as refusal:
        record(actor, "kernels.proposal_refused", run, f"nothing could be proposed: {refusal.message}")


def _propose(actor: Actor, run: Run, judgement: Judgement) -> None:
    code = run.preregistration.content["row"]
    said = EvidenceRow.objects.filter(code=code).values_list("head__verdict", flat=True).first()
    propose_from_run(
        actor,
        author=run.submitted_by,
        row_code=code,
        run_id=run.public_id,
        result_hash=run.result.content_hash,
        judgement=judgement.judgement,
        grade=judgement.grade,
        sentence=judgement.sentence,
        content_change=evidence_change(run, judgement, said or ""),
    )


PROPOSED = {"WIN": "WIN", "KILLED": "DEAD", "REGRESS": "DEAD", "NULL": "DEAD"}
CAUSE = {"KILLED": "regressed_in_scope", "REGRESS": "regressed_in_scope", "NULL": "flat"}


def _rounded(percent: str) -> str:
    """A percent for the map: four significant digits; the exact one is in the judgement."""
    return plain_decimal(Decimal(f"{float(percent):.4g}"))


def evidence_change(run: Run, judgement: Judgement, said: str) -> dict[str, Any]:
    """The fields of the row that this session would change; empty without a clear judgement. `said` is its verdict now.

    A row that gets another verdict loses the words that explained the old one. A WIN takes the mechanism that the spec
    claimed; why a lever is dead no measurement knows, so that a person must write it before the row is accepted.
    """
    verdict = PROPOSED.get(judgement.judgement)
    if verdict is None:
        return {}
    content = judgement.content
    change, low, high = (
        format_percent(float(content["estimate"][name])) for name in ("change_percent", "low_percent", "high_percent")
    )
    number = {
        "text": f"{change} [{low}, {high}]",
        "readable": True,
        "value": None,
        "low": _rounded(content["estimate"]["low_percent"]),
        "high": _rounded(content["estimate"]["high_percent"]),
        "unit": "percent",
        "direction": content["direction"],
        "qualifier": "",
        "compared_with": content["anchor"],
        "tier": str(judgement.tier),
        "n": str(content["estimate"]["n"]),
        "verified": True,
        "role": "verdict",
    }
    fields: dict[str, Any] = {"verdict": verdict, "numbers": [number], "measured_on": timezone.localdate().isoformat()}
    if run.preregistration.content.get("scope"):
        fields["scope"] = run.preregistration.content["scope"]
    choice = find_choice(run.preregistration.revision.content, run.preregistration.choice_id)
    if verdict != said:
        fields |= {"mechanism": "", "cause_class": "", "measured_note": ""}
    if verdict == "DEAD":
        fields |= {"cause_class": CAUSE[judgement.judgement], "approaches": [f"{choice['title']} ({run.version})"]}
    elif verdict != said:
        fields["mechanism"] = choice["new_mechanism"] or choice["rationale"]
    return fields
