"""The vocabulary besides levers: architectures, dtypes and cause classes that curators add, and other names for them
and for units.

An alias makes two scopes overlap that did not; it never makes two disjoint (`rules.scope.within`). A cause class that
is added blocks in full: the rules know no milder reading of it (`rules.evidence.blocking_kind`). Another
spelling of a unit is understood where a number is read; what is stored keeps the unit itself.
"""

from collections.abc import Iterable

from evidence.models import EvidenceChange, EvidenceRow, Term, TermAlias
from evidence.policies import require_lever_editor
from evidence.services.revisions import checked_reason
from evidence.vocabulary import scope_aliases
from v2kb.core.activity import record
from v2kb.core.actor import Actor
from v2kb.core.archiving import archive, restore
from v2kb.core.errors import Conflict, Missing, Refusal
from v2kb.core.service import service
from v2kb.core.values import check_text
from v2kb.rules.evidence import DEAD, is_blocking
from v2kb.rules.scope import DISJOINT, relation
from v2kb.rules.unit_spelling import read_spelling
from v2kb.rules.vocabulary import ARCH, CLOSED_WHY, DTYPE, KINDS, MAX_WORD, OPEN, UNIT, built_in_terms, term_word

MAX_NOTE_CHARS = 1000


@service("evidence.add_term")
def add_term(actor: Actor, *, kind: str, word: str, note: str = "", aliases: Iterable[str] = ()) -> Term:
    """Add a word to a kind of the vocabulary (`Term.Kind`), written as contents write it: `SM 120a` is sm_120.

    Raises Forbidden core.role; Refusal evidence.term_kind, evidence.term_closed, evidence.term_word,
    evidence.term_note; Conflict evidence.term_taken.
    """
    require_lever_editor(actor)
    _refuse_closed(kind)
    word = _word(kind, word, "word")
    term = Term.objects.create(kind=kind, word=word, note=_note(note))
    for alias in aliases:
        TermAlias.objects.create(term=term, kind=kind, word=_word(kind, alias, "aliases"))
    record(actor, "evidence.add_term", term, f"{term} added", after=term_document(term))
    _evidence_moved(term)
    return term


@service("evidence.edit_term")
def edit_term(actor: Actor, term_id: int, *, note: str) -> Term:
    """Change the note of an added term; its word is what contents hold, and stays. Raises Missing evidence.no_term,
    Refusal evidence.term_built_in, evidence.term_note, evidence.no_change."""
    require_lever_editor(actor)
    term = _added(term_id)
    before, term.note = term_document(term), _note(note)
    after = term_document(term)
    if before == after:
        raise Refusal("evidence.no_change", "Nothing was changed.", fix="Change a field, or leave the page.")
    term.save(update_fields=["note"])
    record(actor, "evidence.edit_term", term, f"{term} changed", before=before, after=after)
    return term


@service("evidence.add_term_alias")
def add_term_alias(actor: Actor, term_id: int, alias: str) -> TermAlias:
    """Give a term, built-in ones too, another name. Raises Missing evidence.no_term; Refusal evidence.term_word;
    Conflict evidence.term_taken."""
    require_lever_editor(actor)
    term = _locked(term_id)
    word = _spelling(term, alias) if term.kind == UNIT else _word(term.kind, alias, "alias")
    made = TermAlias.objects.create(term=term, kind=term.kind, word=word)
    record(actor, "evidence.add_term_alias", term, f"{term} is also written {made.word}", after={"alias": made.word})
    _evidence_moved(term)
    return made


@service("evidence.remove_term_alias")
def remove_term_alias(actor: Actor, term_id: int, alias: str) -> Term:
    """Take an added name away. Raises Missing evidence.no_term, evidence.no_alias; Refusal evidence.term_built_in for a
    name that the rules know; Conflict evidence.term_disarms while a blocking DEAD row names the term in its scope,
    because designs that use the name would no longer meet it.
    """
    require_lever_editor(actor)
    term = _locked(term_id)
    found = term.aliases.filter(word=alias).first()
    if found is None:
        raise Missing("evidence.no_alias", f"{term} has no alias {alias[:60]}.", field="alias", fix="Pick one of its.")
    if found.built_in:
        raise Refusal("evidence.term_built_in", f"{found.word} is a spelling that the rules know.", field="alias")
    _refuse_disarming(term)
    found.delete()
    summary = f"{term} is no longer written {found.word}"
    record(actor, "evidence.remove_term_alias", term, summary, before={"alias": found.word})
    _evidence_moved(term)
    return term


@service("evidence.archive_term")
def archive_term(actor: Actor, term_id: int, *, reason: str) -> Term:
    """Take an added term off the lists to pick from; rows that hold it stay as they are. Raises Missing
    evidence.no_term; Refusal evidence.term_built_in, evidence.reason_missing; Conflict evidence.term_archived."""
    require_lever_editor(actor)
    term = _added(term_id)
    reason = checked_reason(reason)
    archive(term, str(term), "evidence.term_archived")
    record(actor, "evidence.archive_term", term, f"{term} archived: {reason}"[:2000])
    return term


@service("evidence.restore_term")
def restore_term(actor: Actor, term_id: int) -> Term:
    """Put an archived term back on the lists. Raises Missing evidence.no_term, Conflict evidence.not_archived."""
    require_lever_editor(actor)
    term = _added(term_id)
    restore(term, str(term), "evidence.not_archived")
    record(actor, "evidence.restore_term", term, f"{term} restored")
    return term


def term_document(term: Term) -> dict:
    """The term as the activity log keeps it."""
    return {
        "kind": term.kind,
        "word": term.word,
        "note": term.note,
        "aliases": list(term.aliases.values_list("word", flat=True)),
    }


def keep_built_in_terms() -> None:
    """Write the terms of the rules, with their spellings and meanings as the program has them now."""
    for built_in in built_in_terms():
        term, _ = Term.objects.update_or_create(
            kind=built_in.kind,
            word=built_in.word,
            defaults={"note": built_in.note, "built_in": True, "archived_at": None},
        )
        for alias in built_in.aliases:
            TermAlias.objects.update_or_create(
                kind=built_in.kind, word=alias, defaults={"term": term, "built_in": True}
            )


def _locked(term_id: int) -> Term:
    term = Term.objects.select_for_update().filter(pk=min(term_id, 2**62)).first()
    if term is None:
        raise Missing("evidence.no_term", f"There is no term {term_id}.", fix="Pick one from the list.")
    return term


def _added(term_id: int) -> Term:
    term = _locked(term_id)
    if term.built_in:
        raise Refusal(
            "evidence.term_built_in",
            f"{term} is part of the program; rules depend on what it means.",
            fix="Give it an alias, or add a term of your own.",
        )
    return term


def _refuse_closed(kind: str) -> None:
    if kind not in KINDS:
        raise Refusal(
            "evidence.term_kind", f"{kind[:40]!r} is no kind of term.", field="kind", fix=f"Use {', '.join(OPEN)}."
        )
    if kind in CLOSED_WHY:
        raise Refusal("evidence.term_closed", CLOSED_WHY[kind], field="kind", fix="Ask for it as a change of v2kb.")


def _word(kind: str, text: str, field: str) -> str:
    """The word in its one spelling, free within its kind."""
    check_text(text, field)
    word = term_word(kind, text)
    if not word or len(word) > MAX_WORD:
        raise Refusal(
            "evidence.term_word",
            f"{text.strip()[:60]!r} is no word of a scope or cause.",
            field=field,
            fix=f"Use letters, digits and underscores, at most {MAX_WORD}, and not any, all or none.",
        )
    term = Term.objects.filter(kind=kind, word=word).first()
    owner = term or getattr(TermAlias.objects.filter(kind=kind, word=word).first(), "term", None)
    if owner is not None:
        raise _taken(text, owner, field)
    return word


def _spelling(unit: Term, text: str) -> str:
    """Another spelling of a unit. What differs from one that is known in its case alone means the same unit."""
    check_text(text, "alias")
    spelling, why_not = read_spelling(text)
    if why_not:
        raise Refusal("evidence.term_word", why_not, field="alias", fix="Give a spelling such as usec or MB/sec.")
    terms = Term.objects.filter(kind=UNIT, word__iexact=spelling)
    aliases = TermAlias.objects.filter(kind=UNIT, word__iexact=spelling).select_related("term")
    for word, owner in [*((term.word, term) for term in terms), *((alias.word, alias.term) for alias in aliases)]:
        if word == spelling or owner != unit:
            raise _taken(text, owner, "alias")
    return spelling


def _taken(text: str, owner: Term, field: str) -> Conflict:
    return Conflict(
        "evidence.term_taken",
        f"{text.strip()[:60]} means the {owner} already.",
        field=field,
        fix=f"Use {owner.word}, or another word.",
    )


def _note(text: str) -> str:
    check_text(text, "note")
    text = text.strip()
    if len(text) > MAX_NOTE_CHARS:
        raise Refusal(
            "evidence.term_note", f"The note may have {MAX_NOTE_CHARS} characters.", field="note", fix="Shorten it."
        )
    return text


def _refuse_disarming(term: Term) -> None:
    if term.kind not in (ARCH, DTYPE):
        return
    aliases, named = scope_aliases(), {term.kind: [term.word]}
    heads = EvidenceRow.objects.filter(head__verdict=DEAD).select_related("head")
    codes = sorted(
        row.code
        for row in heads
        if is_blocking(row.head.content)
        and (words := row.head.content["scope"].get(term.kind))
        and relation(named, {term.kind: words}, aliases) != DISJOINT
    )
    if codes:
        raise Conflict(
            "evidence.term_disarms",
            f"Blocking rows hold for {term.word} under each of its names: {', '.join(codes[:20])}.",
            field="alias",
            fix="Propose a change of those rows first; two people decide it.",
            facts={"rows": codes[:20]},
        )


def _evidence_moved(term: Term) -> None:
    """Scopes compare otherwise now, so stored searches are run again. After recording, which takes the log's lock."""
    if term.kind in (ARCH, DTYPE):
        EvidenceChange.objects.create()
