"""What is stored of evidence and was never said by a service: revisions without their acceptances, decisions, edges,
flags, levers and marks that the activity log does not tell of.

Guards and hashes can't see these: somebody with raw INSERT rights gets past the first and computes the second.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef

from evidence.deciding import accepting, authors_of, last_decided
from evidence.models import (
    EvidenceChange,
    EvidenceRevision,
    Flag,
    Lever,
    LeverAlias,
    ProposalDecision,
    RowFacts,
    Supersession,
    TermAlias,
)
from v2kb.core.faults import CHUNK, Fault
from v2kb.core.models import Activity
from v2kb.rules.canonical import content_hash
from v2kb.rules.evidence import blocking_kind
from v2kb.rules.evidence_change import acceptors_needed
from v2kb.rules.names import lever_key

DECIDED = {"accept": "evidence.accept_proposal", "reject": "evidence.reject_proposal", "recuse": "evidence.recuse"}


def _told(*verbs: str) -> list[Activity]:
    """The lines of these verbs, oldest first."""
    return list(Activity.objects.filter(verb__in=verbs).order_by("pk"))


# --- revisions and decisions ---


def _revisions() -> Iterator[Fault]:
    imported = {(line.object_id, (line.after or {}).get("head")) for line in _told("evidence.import_row")}
    revisions = EvidenceRevision.objects.select_related("row", "lever", "base", "proposal").order_by("pk")
    for revision in revisions.prefetch_related("proposal__decisions").iterator(CHUNK):
        try:
            wrong = _columns_fault(revision)
        except (KeyError, TypeError, AttributeError) as error:
            wrong = f"its content can't be read ({type(error).__name__}: {error})"
        if not wrong and revision.proposal is not None:
            wrong = _acceptance_fault(revision)
        elif not wrong and (str(revision.row_id), revision.content_hash) not in imported:
            wrong = "neither a proposal nor an import wrote it"
        if wrong:
            yield Fault("evidence revision", str(revision), wrong)


def _columns_fault(revision: EvidenceRevision) -> str:
    content = revision.content
    told = {name: content[name] for name in ("title", "verdict", "cause_class")}
    told |= {"lever": content["lever"], "blocking": blocking_kind(content), "measured_on": content["measured_on"]}
    shown = {name: getattr(revision, name) for name in ("title", "verdict", "cause_class", "blocking")}
    shown |= {"lever": revision.lever.slug, "measured_on": str(revision.measured_on or "")}
    other = [name.replace("_", " ") for name in told if told[name] != shown[name]]
    return f"its columns say another {', '.join(other)} than its content" if other else ""


def _acceptance_fault(revision: EvidenceRevision) -> str:
    proposal, base = revision.proposal, revision.base
    if proposal.state != "accepted" or proposal.row_id != revision.row_id or proposal.base_id != revision.base_id:
        return f"{proposal} is not accepted, or is another change"
    if _without_lever(proposal.content) != _without_lever(revision.content):
        return f"{proposal} proposed something else"
    people = {decision.user_id for decision in accepting(proposal.decisions.all())}
    given = len(people - {proposal.author_id} - authors_of(proposal))
    decided = last_decided(base) if base else ""
    needed = acceptors_needed(base.content if base else None, revision.content, decided=decided)
    return f"{given} accepted {proposal}, and {needed} must" if given < needed else ""


def _without_lever(content: dict[str, Any]) -> str:
    """The hash of a content whatever its lever is called: a merged lever gives way to the one that stands for it."""
    return content_hash({**content, "lever": ""})


def _decisions() -> Iterator[Fault]:
    told = {(line.verb, line.object_id, line.user_id) for line in _told(*DECIDED.values())}
    for decision in ProposalDecision.objects.order_by("pk").iterator(CHUNK):
        if (DECIDED[decision.decision], str(decision.proposal_id), decision.user_id) not in told:
            yield Fault("decision", f"{decision.pk} on proposal {decision.proposal_id}", "nobody gave it")


# --- edges, flags, marks ---


def _edges() -> Iterator[Fault]:
    told = {
        (line.object_id, line.after.get("newer"), line.after.get("kind"))
        for line in _told("evidence.supersede_row")
        if line.after
    }
    for edge in Supersession.objects.select_related("newer", "older").order_by("pk").iterator(CHUNK):
        if (str(edge.older_id), edge.newer.code, edge.kind) not in told:
            yield Fault("relation of rows", f"{edge.newer} {edge.kind} {edge.older}", "nobody recorded it")


def _flags() -> Iterator[Fault]:
    flags = Flag.objects.order_by()
    for word, verb, stored in (
        ("raised", "evidence.flag_row", flags),
        ("confirmed", "evidence.confirm_flag", flags.filter(confirmed_at__isnull=False)),
        ("cleared", "evidence.clear_flag", flags.filter(cleared_at__isnull=False)),
    ):
        told = Counter(line.object_id for line in _told(verb))
        for row_id, code in stored.values_list("row_id", "row__code"):
            told[str(row_id)] -= 1
            if told[str(row_id)] == -1:
                yield Fault("flag", f"on {code}", f"one is {word}, and nobody did it")


def _marks() -> Iterator[Fault]:
    known = EvidenceChange.objects.filter(pk=OuterRef("change"))
    for facts in RowFacts.objects.filter(~Exists(known)).order_by("pk"):
        yield Fault("facts", f"of {facts.code}", f"the change {facts.change} that they name is not stored")


# --- the vocabulary ---


def _levers() -> Iterator[Fault]:
    parents, merged, names = _vocabulary_told()
    aliases: dict[int, set[str]] = defaultdict(set)
    for lever_id, key in LeverAlias.objects.values_list("lever_id", "normalised"):
        aliases[lever_id].add(key)
    for lever in Lever.objects.select_related("parent", "merged_into").order_by("pk"):
        place = lever.parent.slug if lever.parent else ""
        into = lever.merged_into.slug if lever.merged_into else ""
        wrong = ""
        if lever.slug not in parents:
            wrong = "nobody added it"
        elif parents[lever.slug] != place:
            wrong = f"it stands under {place or 'no lever'}, and was last put under {parents[lever.slug] or 'none'}"
        elif merged.get(lever.slug, "") != into:
            wrong = f"it is merged into {into or 'no lever'}, and nobody did that"
        elif names[lever.slug] != aliases[lever.pk]:
            other = ", ".join(sorted(names[lever.slug] ^ aliases[lever.pk]))
            wrong = f"its names are not those that were given: {other}"
        if wrong:
            yield Fault("lever", lever.slug, wrong)


def _vocabulary_told() -> tuple[dict[str, str], dict[str, str], dict[str, set[str]]]:
    """What the log says of levers: slug -> parent, slug -> lever that it was merged into, slug -> keys of its names."""
    slugs = {str(pk): slug for pk, slug in Lever.objects.values_list("pk", "slug")}
    parents: dict[str, str] = {}
    merged: dict[str, str] = {}
    names: dict[str, set[str]] = defaultdict(set)

    def take(document: dict[str, Any]) -> None:
        parents[document["slug"]] = document["parent"]
        names[document["slug"]] = {lever_key(name) for name in document["aliases"]}

    verbs = ("create_lever", "edit_lever", "merge_levers", "lever_left", "add_alias", "remove_alias")
    for line in _told(*(f"evidence.{verb}" for verb in verbs)):
        before, after = line.before or {}, line.after or {}
        own = names[slugs.get(line.object_id, "")]
        if "slug" in after:
            take(after)
        elif "left" in after:
            merged.pop(after["left"], None)
            for document in after.get("documents", ()):
                take(document)
        elif "into" in after:
            taken, into = after["taken"]["slug"], after["into"]["slug"]
            take(after["taken"])
            take(after["into"])
            merged[taken] = into
            parents |= {slug: into for slug, above in parents.items() if above == taken and slug != into}
        elif line.verb == "evidence.add_alias":
            own.add(lever_key(after["alias"]))
        elif line.verb == "evidence.remove_alias":
            own.discard(lever_key(before["alias"]))
    return parents, merged, names


def _term_aliases() -> Iterator[Fault]:
    told: set[tuple[str, str]] = set()
    for line in _told("evidence.add_term", "evidence.add_term_alias", "evidence.remove_term_alias"):
        before, after = line.before or {}, line.after or {}
        told |= {(line.object_id, word) for word in [*after.get("aliases", []), after.get("alias", "")] if word}
        told.discard((line.object_id, before.get("alias", "")))
    stored = {(str(alias.term_id), alias.word): alias.built_in for alias in TermAlias.objects.all()}
    for _, word in sorted(told - stored.keys()):
        yield Fault("alias of a term", word, "it is gone, and nobody took it away")
    for _, word in sorted(key for key, built_in in stored.items() if not built_in and key not in told):
        yield Fault("alias of a term", word, "nobody added it")


CHECKS = (_revisions, _decisions, _edges, _flags, _marks, _levers, _term_aliases)
