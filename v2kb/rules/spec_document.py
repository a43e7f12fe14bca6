"""The content of a spec revision: its empty form, its one spelling, and the hashes of its parts.

`v2kb.rules.spec_fields` says what each part holds; nothing is evaluated here. Parts may be missing in a draft: the
rules say what is missing.
"""

from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.canonical import content_hash
from v2kb.rules.problem import Problem
from v2kb.rules.spec_fields import DOCUMENT, ROW_FIELDS

_READ = shape.record(DOCUMENT)
_ROWS = {path: shape.record(fields) for path, fields in ROW_FIELDS.items()}


def empty_spec() -> dict[str, Any]:
    """Return the canonical spec document in which nothing has been filled in."""
    return _READ(None, "", [])


def empty_row(section: str) -> dict[str, Any]:
    """Return a blank row of `section` ("smem.regions", "sems.rows", "choices", ...). KeyError for another."""
    return _ROWS[section](None, section, [])


def normalise(doc: Any) -> tuple[dict[str, Any], list[Problem]]:
    """Return (canonical document, problems).

    Every known part is present in the result; what is unknown, of a wrong type, too long or too many is left
    out or cut and named in `problems` with a path such as `smem.regions[2].size_bytes`. A document with
    problems must not become a revision. Never raises for values that JSON can hold.
    """
    problems: list[Problem] = []
    result = _READ(doc, "", problems)
    for choice in result["choices"]:
        choice["citations"] = [citation for citation in choice["citations"] if citation is not None]
    for section, label in (("choices", "choice"), ("open_questions", "question")):
        _check_ids(result[section], section, label, problems)
    return result, problems


def _check_ids(items: list[dict[str, Any]], section: str, label: str, problems: list[Problem]) -> None:
    seen: set[str] = set()
    for index, item in enumerate(items):
        path = f"{section}[{index}].id"
        if not item["id"]:
            shape.add_problem(problems, path, f"The {label} has no id.", "Give it one; it stays over revisions.")
        elif item["id"] in seen:
            shape.add_problem(problems, path, f"{item['id']} is used twice.", f"Give each {label} its own id.")
        seen.add(item["id"])


def next_choice_id(doc: dict[str, Any], used: frozenset[str] = frozenset()) -> str:
    """Return the first of C1, C2, ... that neither `doc` nor an earlier revision (`used`) has."""
    taken = used | {choice["id"] for choice in doc["choices"]}
    number = 1
    while f"C{number}" in taken:
        number += 1
    return f"C{number}"


def find_choice(doc: dict[str, Any], choice_id: str) -> dict[str, Any]:
    """Return the choice with this id of a canonical document. Raises KeyError when there is none."""
    for choice in doc["choices"]:
        if choice["id"] == choice_id:
            return choice
    raise KeyError(choice_id)


def choice_hash(doc: dict[str, Any], choice_id: str) -> str:
    """Return the content hash of one choice of a canonical document. Raises KeyError."""
    return content_hash(find_choice(doc, choice_id))


def prediction_hash(doc: dict[str, Any], choice_id: str) -> str:
    """Return the hash of what a choice predicts, or "" when it predicts nothing. Raises KeyError.

    It covers the choice's id, lever, scope and prediction, and the definition of the anchor that the
    prediction names; rewording the rationale leaves it unchanged.
    """
    choice = find_choice(doc, choice_id)
    prediction = choice["prediction"]
    if prediction is None:
        return ""
    anchors = [anchor for anchor in doc["anchors"] if anchor["name"] == prediction["anchor"]]
    return content_hash(
        {
            "choice": choice["id"],
            "lever": choice["lever"],
            "scope": choice["scope"],
            "prediction": prediction,
            "anchors": anchors,
        }
    )
