"""A model of the search index in plain Python: what every database must answer."""

from v2kb.rules.search_expression import All, Either, Phrase, Whole


def holds(wanted, fields: tuple[list[str], list[str], list[str]]) -> bool:
    """Whether an entry (title, body, wholes) matches an expression: what both backends must answer."""
    title, body, wholes = fields
    match wanted:
        case Phrase(atoms, prefix):
            return any(_stands(atoms, prefix, field) for field in (title, body))
        case Whole(token, prefix):
            return any(whole == token or (prefix and whole.startswith(token)) for whole in wholes)
        case All(parts):
            return all(holds(part, fields) for part in parts)
        case Either(parts):
            return any(holds(part, fields) for part in parts)


def _stands(atoms: tuple[str, ...], prefix: bool, field: list[str]) -> bool:
    size = len(atoms)
    runs = (field[place : place + size] for place in range(len(field) - size + 1))
    return any(
        run[:-1] == list(atoms[:-1]) and (run[-1].startswith(atoms[-1]) if prefix else run[-1] == atoms[-1])
        for run in runs
    )
