"""How SQLite's FTS5 holds the words of entries and is asked for an expression, in the app and in a checkout."""

from v2kb.rules.search_expression import All, Either, Expression, Phrase, Whole

TOKENIZER = "prefix='3 5', tokenize=\"unicode61 remove_diacritics 0 tokenchars '_'\""
WORD_CANDIDATES = 100


def fts5_query(wanted: Expression, columns: bool = True) -> str:
    """FTS5's query text over the columns title, body and whole; without `columns`, over a table of titles alone.

    Tokens hold letters, digits and underscores alone, so quoting them is safe.
    """
    match wanted:
        case Phrase(atoms, prefix):
            return f'{"{title body} : " if columns else ""}"{" ".join(atoms)}"{" *" if prefix else ""}'
        case Whole(token, prefix):
            return f'{"whole : " if columns else ""}"{token}"{" *" if prefix else ""}'
        case All(parts):
            return " AND ".join(f"({fts5_query(part, columns)})" for part in parts)
        case Either(parts):
            return " OR ".join(f"({fts5_query(part, columns)})" for part in parts)


def wanted_query(wanted: Expression, unwanted: Expression | None, columns: bool = True) -> str:
    """The query text for entries that match `wanted` and not `unwanted`."""
    asked = fts5_query(wanted, columns)
    return asked if unwanted is None else f"({asked}) NOT ({fts5_query(unwanted, columns)})"


def marked(word: str) -> str:
    """A known word between marks for its ends, as the trigram table holds it."""
    return f"__{word}_"


def trigram_query(word: str) -> str:
    """The query text for known words that share a trigram with this one."""
    padded = marked(word)
    trigrams = dict.fromkeys(padded[place : place + 3] for place in range(len(padded) - 2))
    return " OR ".join(f'"{trigram}"' for trigram in trigrams)
