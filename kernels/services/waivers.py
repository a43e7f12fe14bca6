"""Services of waivers: a designer says why a finding may stand, a reviewer agrees or refuses, either takes it back."""

from kernels import policies
from kernels.models import FindingWaiver, Spec, WaiverAnswer
from kernels.selectors.checks import report_of
from kernels.selectors.waivers import waivers_of
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.waivers import may_be_waived

MAX_REASON = 2_000
ANSWERS = {kind.value: kind.label for kind in WaiverAnswer.Kind}


@service("kernels.ask_waiver")
def ask_waiver(actor: Actor, *, spec: Spec, rule: str, path: str, reason: str) -> FindingWaiver:
    """Ask that the finding of `rule` at `path` of the newest revision may stand, in its present words.

    Raises Forbidden for who may not design; Refusal waiver.no_finding, waiver.not_waivable (a missing input, or the
    document's form), waiver.reason_missing; Conflict waiver.asked while one is open or agreed.
    """
    policies.may_design(actor)
    check_text(reason, "reason")
    spec = Spec.objects.select_for_update(of=("self",)).select_related("head").get(pk=spec.pk)
    findings = report_of(spec.head.content).findings if spec.head else ()
    finding = next((found for found in findings if (found.rule, found.path) == (rule, path)), None)
    if finding is None:
        raise Refusal(
            "waiver.no_finding",
            f"The newest revision has no finding of {rule[:20] or 'that rule'} there.",
            field="rule",
            fix="Pick one of its findings; a draft's findings can be waived once it is a revision.",
        )
    if not may_be_waived(finding):
        raise Refusal(
            "waiver.not_waivable", "What is missing or unreadable can't be waived.", field="rule", fix=finding.fix
        )
    if not reason.strip() or len(reason) > MAX_REASON:
        raise Refusal(
            "waiver.reason_missing",
            f"A waiver needs a reason of at most {MAX_REASON:,} characters.",
            field="reason",
            fix="Write why the finding may stand.",
        )
    standing = [w for w in waivers_of(spec) if w.is_live and w.covers(finding)]
    if standing:
        raise Conflict("waiver.asked", f"A waiver of this finding is {standing[0].state} already.")
    made = FindingWaiver.objects.create(
        spec=spec, rule=rule, path=path, message=finding.message, reason=reason.strip(), asked_by=actor.user
    )
    record(actor, "kernels.ask_waiver", spec, f"waiver of {rule} at {path} asked for", after={"waiver": made.pk})
    return made


@service("kernels.answer_waiver")
def answer_waiver(actor: Actor, *, waiver: FindingWaiver, answer: str, note: str = "") -> WaiverAnswer:
    """Agree to a waiver, refuse it, or withdraw it. A refused or withdrawn one stays so; another can be asked for.

    Raises Forbidden for who may not, Refusal waiver.unknown_answer or waiver.note_missing (to refuse needs a word why),
    Conflict waiver.over for one that was refused, withdrawn, or agreed to before.
    """
    if answer not in ANSWERS:
        raise Refusal("waiver.unknown_answer", f"{answer[:20]!r} is no answer.", field="answer")
    if answer == WaiverAnswer.Kind.WITHDRAWN:
        policies.may_withdraw_waiver(actor, waiver)
    else:
        policies.may_agree_to_waiver(actor, waiver)
    check_text(note, "note")
    if answer == WaiverAnswer.Kind.REFUSED and not note.strip():
        raise Refusal("waiver.note_missing", "Say why the finding may not stand.", field="note")
    Spec.objects.select_for_update().get(pk=waiver.spec_id)
    held = next(known for known in waivers_of(waiver.spec) if known.row.pk == waiver.pk)
    if not held.is_live or (held.state == WaiverAnswer.Kind.AGREED and answer == WaiverAnswer.Kind.AGREED):
        raise Conflict("waiver.over", f"This waiver was {held.state} before.", fix="Ask for another one.")
    made = WaiverAnswer.objects.create(waiver=waiver, kind=answer, user=actor.user, note=note.strip()[:MAX_REASON])
    record(
        actor,
        "kernels.answer_waiver",
        waiver.spec,
        f"waiver of {waiver.rule} at {waiver.path} {answer}",
        after={"waiver": waiver.pk, "answer": answer},
    )
    return made
