"""Rules R78 and R79: open questions, and two engines on each review.

Sources: the grouped GEMM's spec, sections 9 and 10; the skill's own page, stage 6; domain page 2.14.
"""

from typing import Any

from v2kb.rules.rule_registry import ERROR, WARNING, Context, Reporter, Rule, spec_rule
from v2kb.rules.spec_view import Missing, SpecView

# Stage 2 writes the kernel, so that its questions are the build's.
BUILD = ("build", "stage-2")
MIN_ENGINES = 2


@spec_rule(
    "R78",
    severity=ERROR,
    title="Open questions",
    version=2,
    source="the grouped GEMM's spec, section 9",
    formula="E: a question that blocks the build or stage 2 is open; W: one of the verdict or a later stage is",
    inputs=("open_questions[]", "amendments[].resolves"),
)
def r78(view: SpecView, report: Reporter, context: Context) -> None:
    settled = {question for amendment in view.doc["amendments"] for question in amendment["resolves"]}
    for index, question in enumerate(view.doc["open_questions"]):
        if question["state"] != "OPEN" or question["id"] in settled:
            continue
        path, name = f"open_questions[{index}]", question["id"] or f"Question {index + 1}"
        if not question["blocks"]:
            message = f"{name} is open, and nobody says what it blocks."
            report.missing(Missing(f"{path}.blocks", message, "Say what it blocks, or freeze the question."))
            continue
        build = question["blocks"] in BUILD
        report.add(
            f"{path}.state",
            f"{name} is open and blocks {_spoken(question['blocks'])}{'' if build else '; the build may begin'}.",
            "Resolve it, or freeze what the design assumes.",
            severity=ERROR if build else WARNING,
            blocks=question["blocks"],
        )


def _spoken(blocks: str) -> str:
    return blocks.replace("-", " ") if blocks.startswith("stage") else f"the {blocks}"


@spec_rule(
    "R79",
    severity=ERROR,
    title="Two engines",
    source="the skill's own page, stage 6; domain page 2.14",
    formula="two engines on each item of the review log, or the missing one named; no disagreement left",
    inputs=("reviews.rows[]", "reviews.missing_engine"),
)
def r79(view: SpecView, report: Reporter, context: Context) -> None:
    rows = view.doc["reviews"]["rows"]
    if not rows:
        report.skip("No review is logged yet.")
        return
    by_item: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for index, row in enumerate(rows):
        path = f"reviews.rows[{index}]"
        if not row["engine"]:
            report.missing(Missing(f"{path}.engine", f"Review {index + 1} names no engine.", "Name who reviewed."))
        if not row["verdict"]:
            message = f"Review {index + 1} has no verdict."
            report.missing(Missing(f"{path}.verdict", message, "Choose SOUND or FLAWED."))
        by_item.setdefault(row["item"].casefold(), []).append((index, row))
    alone = [group for group in by_item.values() if len(_engines(group)) < MIN_ENGINES]
    if alone and not view.doc["reviews"]["missing_engine"]:
        items = ", ".join(group[0][1]["item"] or "an item without a name" for group in alone)
        report.add(
            "reviews.missing_engine",
            f"Reviewed by one engine only: {items}.",
            "Add the second engine's review, or name the engine that is missing and why.",
            engines=sorted(set().union(*map(_engines, alone))),
        )
    for group in by_item.values():
        _judge_agreement(report, group)


def _engines(group: list[tuple[int, dict[str, Any]]]) -> set[str]:
    return {row["engine"].casefold() for _, row in group if row["engine"]}


def _judge_agreement(report: Reporter, group: list[tuple[int, dict[str, Any]]]) -> None:
    """A verdict of FLAWED stands until it says where that was fixed; beside SOUND it is a disagreement."""
    sound = any(row["verdict"] == "SOUND" for _, row in group)
    for index, row in group:
        if row["verdict"] != "FLAWED" or row["fixed_where"]:
            continue
        beside = ", and another review calls the same item sound" if sound else ""
        report.add(
            f"reviews.rows[{index}].verdict",
            f"{row['engine'] or 'A review'} found {row['item'] or 'an item'} flawed{beside}.",
            "Write where it was fixed, or settle the disagreement.",
            disagreement=sound,
        )


REVIEW_RULES: tuple[Rule, ...] = (r78, r79)
