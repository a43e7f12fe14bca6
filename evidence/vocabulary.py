"""What curators added to the words of the rules: cause classes, other words for architectures, dtypes and units."""

from evidence.models import Term, TermAlias
from v2kb.rules.evidence import CAUSE_CLASSES
from v2kb.rules.numbers import SPELLINGS
from v2kb.rules.scope import Aliases
from v2kb.rules.vocabulary import ARCH, CAUSE, DTYPE, UNIT


def scope_aliases() -> Aliases:
    """Dimension -> word -> the word that it stands for, for `rules.scope`; built-in spellings are known there."""
    aliases: dict[str, dict[str, str]] = {}
    added = TermAlias.objects.filter(kind__in=(ARCH, DTYPE), built_in=False).select_related("term")
    for alias in added.order_by("word"):
        aliases.setdefault(alias.kind, {})[alias.word] = alias.term.word
    return aliases


def unit_spellings() -> dict[str, str]:
    """Spelling -> the unit that it stands for, those of the rules and those that curators added."""
    added = TermAlias.objects.filter(kind=UNIT, built_in=False).order_by("word")
    return dict(added.values_list("word", "term__word")) | SPELLINGS


def added_causes() -> dict[str, str]:
    """Word -> slug of the cause classes that curators added, archived ones too, and of other names of any class."""
    terms = Term.objects.filter(kind=CAUSE).prefetch_related("aliases")
    words = {term.word: term.word for term in terms if not term.built_in}
    return words | {alias.word: term.word for term in terms for alias in term.aliases.all()}


def cause_choices() -> list[tuple[str, str]]:
    """Cause classes that may be picked: those of the rules first, then what curators added and did not archive."""
    added = Term.objects.filter(kind=CAUSE, built_in=False, archived_at__isnull=True)
    return [
        *((cause.slug, cause.label) for cause in CAUSE_CLASSES.values()),
        *((term.word, term.word.replace("_", " ")) for term in added),
    ]


def known_words() -> dict[str, list[str]]:
    """Dimension -> its words that are not archived, for architectures and dtypes."""
    words: dict[str, list[str]] = {ARCH: [], DTYPE: []}
    for kind, word in Term.objects.filter(kind__in=words, archived_at__isnull=True).values_list("kind", "word"):
        words[kind].append(word)
    return words
