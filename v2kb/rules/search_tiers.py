"""The tiers of a search, shared by the app's engine and the one in a checkout: what counts as found for sure, and how
many guesses are made. Each tier only adds what the ones before did not find.
"""

ENOUGH = 8
"""With so many hits that hold every word, nothing is guessed."""
MAX_HASHES = 12
MOST_OF_A_HASH = 50
MIN_LEVER_CHARS = 4
SOME_WORDS_LIMIT = 40
IN_TITLE = NEXT = 1e6
"""More than any score of words: entries with every word in their title stand first."""
CODE, HASH, LEVER_NAME = "the code", "the hash of a revision", "a name of its lever"
SURE = {CODE, HASH, LEVER_NAME}
OWN, ABOVE, BELOW = "a lever you picked", "above a lever you picked", "below a lever you picked"
MAX_ROWS = 400
"""Rows on the board of a planned design, and so in a receipt."""


def read_as(corrections: list[tuple[str, str]]) -> str:
    """Why a hit of corrected words was found."""
    return ", ".join(f"{typed} read as {known}" for typed, known in corrections)


def held_words(count: int, total: int) -> str:
    """Why a hit with some of the words was found."""
    return f"{count} of {total} words"
