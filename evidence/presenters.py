"""From rows, revisions and proposals to what templates show: plain words and short lists."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.urls import NoReverseMatch, reverse

from evidence.models import EvidenceRevision, Flag, Proposal
from v2kb.core.errors import Refusal
from v2kb.core.models import Activity
from v2kb.core.ui.diffs import changed_part
from v2kb.rules.evidence import DEAD, FULL, WEAK, cause_label, missing_fields
from v2kb.rules.evidence_change import FieldChange, MergedField
from v2kb.rules.numbers import format_number
from v2kb.rules.scope import DIMENSIONS, LABELS
from v2kb.rules.search_query import caret

SHORT = 220


def short(text: str, longest: int = SHORT) -> str:
    """One line of at most `longest` characters, cut at a word."""
    flat = " ".join(text.replace("**", "").replace("`", "").split())
    return flat if len(flat) <= longest else f"{flat[: longest - 1].rsplit(' ', 1)[0]}…"


def caret_of(text: str, refusal: Refusal | None) -> str:
    """The query with a caret below the place that a refusal names; empty where it names none."""
    at = refusal.facts.get("at") if refusal and refusal.facts else None
    return "" if at is None else caret(text, at)


def scope_parts(scope: dict[str, Any]) -> list[str]:
    """A scope as short labels: `M 1`, `sm_100`, `fused megakernel`."""
    parts = []
    for name in DIMENSIONS:
        value = scope.get(name)
        if not value:
            continue
        text = ", ".join(value) if isinstance(value, list) else value
        parts.append(text.replace("_", " ") if name == "envelope" else text if name in ("arch", "op_class", "dtype")
                     else f"{LABELS[name]} {text}")  # fmt: skip
    return parts


def scope_table(scope: dict[str, Any]) -> list[tuple[str, str]]:
    """(dimension, value in words) for every dimension; what is not named covers any case."""
    pairs = []
    for name in DIMENSIONS:
        value = scope.get(name)
        label = LABELS[name][0].upper() + LABELS[name][1:]
        pairs.append((label, (", ".join(value) if isinstance(value, list) else value) or "any"))
    return pairs


def figure(content: dict[str, Any]) -> str:
    """The first number of the verdict (or bound) as text, with what it is compared with."""
    wanted = "bound" if content["verdict"] == "UNTESTED" else "verdict"
    numbers = [number for number in content["numbers"] if number["readable"] and number["role"] == wanted]
    if not numbers:
        return ""
    versus = f" vs {numbers[0]['compared_with']}" if numbers[0]["compared_with"] else ""
    return short(f"{format_number(numbers[0])}{versus}", 60)


def number_rows(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Numbers for a table: shown form, role, direction in words, anchor, tier, n, whether verified or readable."""
    directions = {"lower": "lower is better", "higher": "higher is better"}
    return [
        {
            **number,
            "shown": format_number(number),
            "role_label": number["role"].replace("_", " "),
            "direction_label": directions.get(number["direction"], "not said"),
        }
        for number in content["numbers"]
    ]


def source_rows(content: dict[str, Any]) -> list[dict[str, str]]:
    """Sources with the address of the section or document, or of a run, where it is known."""
    rows = []
    for source in content["sources"]:
        url = ""
        if source["document"]:
            url = _url("references:section_detail", source["document"], source["anchor"]) if source["anchor"] else ""
            url = url or _url("references:document_detail", source["document"])
        elif source["kind"] == "url" and source["text"].startswith(("https://", "http://")):
            url = source["text"]
        rows.append({**source, "url": url})
    return rows


def _url(name: str, *args: Any) -> str:
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def run_url(run_id: str) -> str:
    """The address of a run's page, or an empty text where there is none."""
    return _url("kernels:run_detail", run_id)


def blocking_words(content: dict[str, Any], blocking: str, superseded_by: Sequence[str] = ()) -> dict[str, str]:
    """How the row stands against a design that adopts its lever: {"tone", "label", "why"}; empty for no DEAD row."""
    if content["verdict"] != DEAD:
        return {}
    if superseded_by:
        return {"tone": "none", "label": "does not block", "why": f"superseded by {', '.join(superseded_by)}"}
    cause = cause_label(content["cause_class"])
    if not cause:
        return {"tone": "bad", "label": "blocks", "why": "no cause class is given, so it counts in full"}
    if blocking == FULL:
        return {"tone": "bad", "label": "blocks", "why": f"cause: {cause}"}
    if blocking == WEAK:
        return {"tone": "warn", "label": "blocks weakly", "why": "ruled out by a survey, never measured"}
    return {"tone": "none", "label": "does not block", "why": f"cause: {cause}"}


def flag_words(flags: Sequence[Flag]) -> dict[str, str]:
    """The open flags of a row as a chip beside its title: {"label", "tone"}; empty without any."""
    if any(flag.confirmed_at for flag in flags):
        return {"label": "flag confirmed", "tone": "bad"}
    return {"label": "flagged", "tone": "warn"} if flags else {}


def missing_of(content: dict[str, Any]) -> list[dict[str, str]]:
    """What the verdict still lacks, with what to do."""
    return [
        {"field": problem.field, "message": problem.message, "fix": problem.fix} for problem in missing_fields(content)
    ]


def diff_rows(changes: Iterable[FieldChange]) -> list[dict[str, str]]:
    """Changed fields as {"field", "old", "new"} texts; of lists only the entries that differ."""
    rows = []
    for change in changes:
        is_list = (
            isinstance(change.old, list) and isinstance(change.new, list) and not change.field.startswith("scope.")
        )
        old, new = (change.removed, change.added) if is_list else (change.old, change.new)
        rows.append({"field": change.label, "old": value_text(change.field, old), "new": value_text(change.field, new)})
    return rows


def folded_rows(changes: Iterable[FieldChange]) -> list[dict[str, str]]:
    """`diff_rows` with, where a value is long, the stretch that differs: {"old_part", "new_part"}."""
    rows = diff_rows(changes)
    for row in rows:
        parts = dict(zip(("old", "new"), changed_part(row["old"], row["new"]), strict=True))
        row |= {f"{side}_part": part for side, part in parts.items() if len(row[side]) > SHORT}
    return rows


def three_way_rows(view: Iterable[MergedField]) -> list[dict[str, str]]:
    """Fields of a three-way view as texts with their state in words."""
    words = {
        "theirs": "only the row changed",
        "mine": "only the proposal changes it",
        "both": "both made the same change",
        "conflict": "both changed it differently",
    }
    return [
        {
            "field": part.label,
            "base": value_text(part.field, part.base),
            "theirs": value_text(part.field, part.theirs),
            "mine": value_text(part.field, part.mine),
            "state": part.state,
            "words": words.get(part.state, part.state),
        }
        for part in view
    ]


def value_text(field: str, value: Any) -> str:
    """A field's value as plain text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return "\n".join(_entry(field, entry) for entry in value)
    if field == "cause_class":
        return cause_label(str(value or ""))
    return str(value or "")


def _entry(field: str, entry: Any) -> str:
    if field == "numbers":
        parts = [format_number(entry), entry["role"].replace("_", " ")]
        parts += [f"vs {entry['compared_with']}"] if entry["compared_with"] else []
        parts += [f"tier {entry['tier']}"] if entry["tier"] else []
        parts += [f"n {entry['n']}"] if entry["n"] else []
        parts += ["verified"] if entry["verified"] else []
        return ", ".join(parts)
    if field == "sources":
        place = entry["document"] + (f"#{entry['anchor']}" if entry["anchor"] else "")
        return ", ".join(part for part in (f"{entry['kind']}: {entry['text']}", place) if part)
    return str(entry)


def timeline(revisions: Iterable[EvidenceRevision], activity: Iterable[Activity]) -> list[dict[str, Any]]:
    """Revisions and other events of a row, newest first."""
    items = [
        {
            "verdict": revision.verdict,
            "who": revision.author.display_name if revision.author else "the system",
            "text": f"revision {revision.number}{_return(revision.proposal)}: {short(revision.reason, 160)}",
            "detail": _deciders(revision.proposal),
            "url": reverse("evidence:row_revision", args=[revision.row.code, revision.number]),
            "when": revision.created_at,
            "tone": {"DEAD": "bad", "WIN": "good"}.get(revision.verdict, "none"),
        }
        for revision in revisions
    ]
    told = ("evidence.revise_row", "evidence.import_row")
    items += [
        {"who": entry.actor_name, "text": short(entry.summary, 160), "when": entry.at, "tone": "none"}
        for entry in activity
        if entry.verb not in told
    ]
    return sorted(items, key=lambda item: item["when"], reverse=True)


def _return(proposal: Proposal | None) -> str:
    """Said of a revision that brings an earlier one back."""
    return f" (revert to revision {proposal.reverts_to.number})" if proposal and proposal.reverts_to else ""


def _deciders(proposal: Proposal | None) -> str:
    if proposal is None:
        return ""
    names = [decision.user.display_name for decision in proposal.decisions.all() if decision.decision == "accept"]
    return f"accepted by {', '.join(names)}" if names else ""
