"""The content of a spec revision: its empty form, its one spelling, and the hashes of its parts.

Sizes and counts are expression strings over the document's `symbols`; nothing is evaluated here. Parts may be
missing in a draft: the rules say what is missing. Sources: house-style sections 3, 4 and 6 for the tables;
evidence-and-gate section 3 for choices and citations.
"""

from typing import Any

from v2kb.rules import document_shape as shape
from v2kb.rules.canonical import content_hash
from v2kb.rules.problem import Problem
from v2kb.rules.scope import read_scope

FAMILIES = ("A", "B", "C", "D", "E")
ROLES = ("loader", "mma", "consumer", "storer", "controller")
ARRIVAL_KINDS = ("warp", "tma", "mma")
REINIT_OWNERS = ("none", *ROLES)
MODES = ("per_tile", "grid_wide", "multi_instance")
POLARITIES = ("adopts", "avoids", "keeps", "defers")
STANCES = ("supports", "contradicts", "context")
BLOCKS = ("build", "verdict")
QUESTION_STATES = ("OPEN", "RESOLVED", "FROZEN")
THIS_SPEC = "this"

MAX_ROWS = 64
MAX_SEM_ROWS = 128
MAX_SYMBOLS = 100

_NAME = shape.text(100)
_LINE = shape.text(500)
_PROSE = shape.text(20_000, lines=True)
_IDENTIFIER = shape.matching(
    r"[A-Za-z0-9][A-Za-z0-9._:/+-]*", 120, "Use letters, digits and . _ : / + - without spaces."
)
_CHOICE_ID = shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as C1.")
_DATE = shape.matching(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 10, "Write the date as 2026-12-31.")
_HASH = shape.matching(r"[0-9a-f]{64}", 64, "Use the 64 hexadecimal digits of a sha256.")


def _scope(value: Any, path: str, problems: shape.Problems) -> dict[str, Any]:
    scope, found = read_scope(value)
    for problem in found:
        inner = problem.under(path)
        shape.add_problem(problems, inner.field, inner.message, inner.fix)
    return scope


_REGION = {
    "ordinal": shape.formula(),
    "name": _NAME,
    "size_bytes": shape.formula(),
    "alignment": shape.formula(),
    "page_count": shape.formula(blank="-1"),
    "can_pack": shape.flag(),
    "release_step": shape.formula(blank="0"),
    "contiguous": shape.flag(blank=True),
    "tma_dst": shape.flag(),
    "owner": _NAME,
    "contents": _LINE,
}
_SEM = {
    "ordinal": shape.formula(),
    "slots": shape.formula(),
    "name": _NAME,
    "count": shape.formula(),
    "producer": _NAME,
    "consumer": _NAME,
    "meaning": _LINE,
    "kind": shape.one_of(*ARRIVAL_KINDS),
    "reinit_owner": shape.one_of(*REINIT_OWNERS),
}
_ROLE = {"role": shape.one_of(*ROLES), "duty": _PROSE, "bounds_fail": _PROSE, "inactive": _PROSE}
_GRANULARITY = {
    "task": _NAME,
    "mode": shape.one_of(*MODES, blank="per_tile"),
    "num_tasks": shape.formula(),
    "listed": shape.formula(),
    "justification": _PROSE,
    "monotonic_barrier": shape.flag(),
    "host_assert": shape.flag(),
    "skip_after_step0": shape.flag(),
    "task_offset": shape.flag(),
    "grid_barrier": shape.flag(),
}
_STANCE = shape.one_of(*STANCES, blank="context")
_CITATION = {
    "evidence": {"code": _IDENTIFIER, "revision": _IDENTIFIER, "stance": _STANCE},
    "section": {"document": _IDENTIFIER, "anchor": _LINE, "revision": _IDENTIFIER, "stance": _STANCE},
    "code": {
        "tree": _IDENTIFIER,
        "commit": _IDENTIFIER,
        "path": _LINE,
        "lines": shape.matching(r"[0-9]+(?:-[0-9]+)?", 20, "Write lines as 10 or 10-20."),
        "sha256": _HASH,
        "stance": _STANCE,
    },
}
_PREDICTION_TEXTS = {"row": _IDENTIFIER, "metric": _NAME, "unit": _NAME, "anchor": _NAME, "kill_event": _LINE}
_PREDICTION_NUMBERS = (
    "gain_percent",
    "gain_high_percent",
    "gain_absolute",
    "rounds",
    "looks",
    "delta_percent",
    "kill_percent",
    "kill_absolute",
    "budget_runs",
    "park_percent",
)
_PREDICTION = {
    **_PREDICTION_TEXTS,
    "direction": shape.one_of("lower", "higher"),
    "tier": shape.one_of("1", "2", "3"),
    "cases": shape.rows(_NAME, 200),
    "deadline": _DATE,
    "park_metric": _NAME,
    **{name: shape.decimal() for name in _PREDICTION_NUMBERS},
}
_CHOICE = {
    "id": _CHOICE_ID,
    "title": shape.text(200),
    "lever": _IDENTIFIER,
    # An unstated polarity is the one that the gate asks most of.
    "polarity": shape.one_of(*POLARITIES, blank="adopts"),
    "rationale": _PROSE,
    "scope": _scope,
    "citations": shape.rows(shape.variant("kind", _CITATION), 50),
    "new_mechanism": _PROSE,
    "acknowledged": shape.rows(shape.record({"code": _IDENTIFIER, "revision": _IDENTIFIER, "reason": _LINE}), MAX_ROWS),
    "prediction": shape.optional(shape.record(_PREDICTION)),
    "wave_quant": shape.optional(
        shape.record({name: shape.formula() for name in ("items", "tasks", "old_warps", "new_warps")})
    ),
}
_DOCUMENT = {
    "title": shape.text(200),
    "summary": _PROSE,
    "ops": shape.rows(shape.record({"op": _IDENTIFIER, "contract": _IDENTIFIER}), 16),
    "symbols": shape.named(
        r"[A-Za-z_][A-Za-z0-9_]{0,63}", shape.formula(), MAX_SYMBOLS, "Name symbols such as STAGES or W13_N."
    ),
    "engine": shape.record({"family": shape.one_of(*FAMILIES), "idiom": shape.text(200), "why": _PROSE}),
    "smem": shape.record(
        {"regions": shape.rows(shape.record(_REGION), MAX_ROWS), "queue": shape.rows(_IDENTIFIER, MAX_ROWS)}
    ),
    "sems": shape.record({"rows": shape.rows(shape.record(_SEM), MAX_SEM_ROWS), "num_op_sems": shape.formula()}),
    "roles": shape.record({"stages": shape.formula(), "rows": shape.rows(shape.record(_ROLE), 32)}),
    "granularity": shape.rows(shape.record(_GRANULARITY), 32),
    "choices": shape.rows(shape.record(_CHOICE), MAX_ROWS),
    "anchors": shape.rows(shape.record({"name": _NAME, "metric": _NAME, "method": _LINE}), MAX_ROWS),
    "open_questions": shape.rows(
        shape.record(
            {
                "id": shape.matching(r"[A-Za-z][A-Za-z0-9_-]{0,23}", 24, "Use a short id such as Q1."),
                "text": _PROSE,
                "blocks": shape.one_of(*BLOCKS),
                "state": shape.one_of(*QUESTION_STATES, blank="OPEN"),
            }
        ),
        100,
    ),
}
_READ = shape.record(_DOCUMENT)
_ROWS: dict[str, shape.Shape] = {
    "ops": shape.record({"op": _IDENTIFIER, "contract": _IDENTIFIER}),
    "smem.regions": shape.record(_REGION),
    "sems.rows": shape.record(_SEM),
    "roles.rows": shape.record(_ROLE),
    "granularity": shape.record(_GRANULARITY),
    "choices": shape.record(_CHOICE),
    "choices.prediction": shape.record(_PREDICTION),
}


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
