"""What one `field:value` of a query leaves of the rows, given the facts of `v2kb.rules.row_facts`."""

from collections.abc import Iterable, Mapping
from typing import Any

from v2kb.rules.evidence import CAUSE_CLASSES, DEAD, VERDICTS
from v2kb.rules.names import lever_key
from v2kb.rules.row_facts import SCOPE_FIELDS
from v2kb.rules.scope import Aliases, parse_range, ranges_meet, read_scope, within
from v2kb.rules.search_query import Filter

NONE = "none"
NOT_IN_WORDS = ("delta", "measured", "is", "lever")
"""Fields that look at numbers, standing or families, and not at the words of one column."""


def meant_words(wanted: Filter, known: Iterable[str], aliases: Aliases) -> list[str]:
    """The words of the field's column that a filter keeps; "" stands for rows that have none.

    `known` are the words that rows have there, `aliases` those of the vocabulary. A scope field keeps rows that name
    no value, since they cover any, unless it is negated. Not for the fields NOT_IN_WORDS.
    """
    values = list(wanted.values)
    if wanted.name == "verdict":
        return [verdict for verdict in VERDICTS if any(verdict.lower().startswith(value) for value in values)]
    if wanted.name == "cause":
        keys = [key for value in values if (key := lever_key(value))]
        slugs = {*CAUSE_CLASSES, *filter(None, known)}
        return ([""] if NONE in values else []) + [slug for slug in slugs if any(k in lever_key(slug) for k in keys)]
    if wanted.name == "blocking":
        both = {"yes": ["full", "weak"], "no": [""], NONE: [""]}
        return [word for value in values for word in both.get(value, [value])]
    any_case = [] if wanted.negated else [""]
    if wanted.spans:
        return any_case + [word for word in known if ranges_meet(parse_range(word) or (), wanted.spans)]
    if wanted.name == "baseline":
        keys = [key for value in values if (key := lever_key(value))]
        return any_case + [word for word in known if any(key in lever_key(word) for key in keys)]
    if wanted.name in SCOPE_FIELDS:
        dimension = SCOPE_FIELDS[wanted.name]
        read, _ = read_scope({dimension: values})
        asked = {*values, *(read.get(dimension) or [])}
        return any_case + [word for word in known if any(within(dimension, word, v, aliases) for v in asked)]
    return values


def keeps(facts: Mapping[str, Any], wanted: Filter, words: Iterable[str]) -> bool:
    """Whether one row is kept. `facts` are the row's, with `lever` and `archived` beside them; `words` are those of
    `meant_words`, and of `lever` the levers that are meant.
    """
    return _held(facts, wanted, set(words)) != wanted.negated


def _held(facts: Mapping[str, Any], wanted: Filter, words: set[str]) -> bool:
    if wanted.name in ("delta", "measured"):
        low, high = ("delta_low", "delta_high") if wanted.name == "delta" else ("measured", "measured")
        return facts[low] is not None and wanted.holds(facts[low], facts[high])
    if wanted.name == "is":
        return any(
            facts["archived"] if value == "archived" else facts["blocking"] if value == "blocking"
            else value in facts["state"].split(",")
            for value in wanted.values
        )  # fmt: skip
    has = {word for word in str(facts[wanted.name]).split(",") if word} or {""}
    if wanted.name == "cause" and facts["verdict"] != DEAD:
        words = words - {""}
    return not words.isdisjoint(has)
