"""Why an entry is among the hits, in words."""

from collections.abc import Sequence

from v2kb.rules.search_words import Word


def why_found(title: str | None, wanted: Sequence[Word], noun: str) -> str:
    """Why an entry with every word was found, in a few words; "" when nothing was typed.

    `title` holds the atoms of its title, as the index stores them; None where there is no entry.
    """
    if title is None or not wanted:
        return ""
    if all(_stands_in(word, title) for word in wanted):
        return "words in its title"
    names = [word.text for word in wanted if word.is_identifier]
    if names and len(names) == len(wanted):
        return f"identifier{'s' if len(names) > 1 else ''} in the {noun}"
    return f"{', '.join(names)} and words in the {noun}" if names else f"words in the {noun}"


def _stands_in(word: Word, text: str) -> bool:
    atoms = text.split()
    if not word.atoms:
        return False
    prefix = word.prefix
    last = prefix or word.atoms[-1]
    size = len(word.atoms)
    for place in range(len(atoms) - size + 1):
        run = atoms[place : place + size]
        if run[:-1] == list(word.atoms[:-1]) and (run[-1].startswith(last) if prefix else run[-1] == last):
            return True
    return False
