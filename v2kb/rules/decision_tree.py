"""Which upstream family an op belongs to, from a few yes-or-no questions.

Sources: the engine decision of stage 1 in the skill's own page; upstream-kernel-catalog sections 0 to 5 for when
a family is worth copying; m1-decode-evidence for the products of one row inside a fused kernel.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

YES, NO = "yes", "no"


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `yes` and `no` name the next question, or a family."""

    id: str
    text: str
    why: str
    yes: str
    no: str


@dataclass(frozen=True, slots=True)
class Family:
    """One upstream pattern: how it works, when to copy it, and the kernels that show it."""

    letter: str
    name: str
    idiom: str
    when_to_copy: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Guidance:
    """What a branch takes with it: the engine, the skills to load before designing, and the levers that it adopts or
    turns down, by slug. Rows of adopted levers that live speak for the branch and dead ones against it; of levers that
    it turns down the other way round.
    """

    engine: str
    skills: tuple[str, ...]
    adopts: tuple[str, ...] = ()
    avoids: tuple[str, ...] = ()

    def as_document(self) -> dict[str, Any]:
        """Return the guidance as plain values."""
        return {
            "engine": self.engine,
            "skills": list(self.skills),
            "adopts": list(self.adopts),
            "avoids": list(self.avoids),
        }


@dataclass(frozen=True, slots=True)
class Decision:
    """Where the answers lead.

    `family` is a letter, or "" while `next_question` is open. `reason` says in one sentence per answer why.
    `path` holds the (question, answer) pairs that were used; `unused` names answers off the path.
    """

    family: str
    reason: str
    path: tuple[tuple[str, str], ...]
    next_question: Question | None
    unused: tuple[str, ...]

    @property
    def guidance(self) -> Guidance | None:
        """What the branch takes with it, or None while no family is reached."""
        if not self.family:
            return None
        return _GUIDANCE["product" if ("matrix_product", YES) in self.path and self.family != "A" else self.family]

    def as_document(self) -> dict[str, Any]:
        """Return the decision as plain values, with the family's description and the open question if any."""
        family = FAMILIES.get(self.family)
        return {
            "family": self.family,
            "name": family.name if family else "",
            "idiom": family.idiom if family else "",
            "when_to_copy": family.when_to_copy if family else "",
            "examples": list(family.examples) if family else [],
            "guidance": self.guidance.as_document() if self.guidance else None,
            "reason": self.reason,
            "path": [list(step) for step in self.path],
            "next_question": question_document(self.next_question) if self.next_question else None,
            "unused": list(self.unused),
        }


class AnswerError(ValueError):
    """An answer that the tree can't read; `question` is its id."""

    def __init__(self, question: str, message: str) -> None:
        super().__init__(message)
        self.question = question


FAMILIES: dict[str, Family] = {
    family.letter: family
    for family in (
        Family(
            "A",
            "Pipeline",
            "A loader streams tiles by TMA, one warp issues tcgen05 products, four warps write the result.",
            "The work is a matrix product with full tiles, or with enough tiles along K to fill a ring of stages.",
            ("linear_sm100_v2.cuh",),
        ),
        Family(
            "B",
            "Consumer with planned regions",
            "Only the four consumer warps work; each buffer is a region that the planner places.",
            "A new element-wise or reducing op keeps data in shared memory. The usual shape without a pipeline.",
            ("rmsnorm_v2.cuh", "argmax_sm100.cuh"),
        ),
        Family(
            "C",
            "Consumer with one block",
            "Only the four consumer warps work; one region as large as the kernel's real use, addressed from within.",
            "A kernel that works elsewhere is moved over with its own offsets; splitting it into regions comes later.",
            ("attention_sm100.cuh",),
        ),
        Family(
            "D",
            "Consumer without shared memory",
            "Only the four consumer warps work, from registers and global memory; the spec lists no regions.",
            "Each element is read, changed and written once, so that nothing has to be staged.",
            ("silu_mul_v2.cuh", "embedding_v2.cuh"),
        ),
        Family(
            "E",
            "Helper inside another kernel",
            "A device function over shared memory that its host kernel owns; it has no task of its own.",
            "A small step between two steps of a host kernel, where a task of its own would cost more than it does.",
            ("norm_sm100.cuh", "rotary_embedding_v2.cuh"),
        ),
    )
}

QUESTIONS: tuple[Question, ...] = (
    Question(
        "own_task",
        "Does the runtime start this op as a task of its own?",
        "A step that another kernel calls from its body has no task id, no regions and no semaphores to plan.",
        yes="matrix_product",
        no="E",
    ),
    Question(
        "matrix_product",
        "Is the main work a matrix product whose weights come in tiles?",
        "Only products can feed the matrix unit. Attention, norms and element-wise work run on the consumer warps.",
        yes="full_tile",
        no="stages_smem",
    ),
    Question(
        "full_tile",
        "Does M fill at least one tile of the matrix unit?",
        "With full tiles the pipeline pays for itself at once.",
        yes="A",
        no="streams_k",
    ),
    Question(
        "streams_k",
        "Does each task stream at least four weight tiles along K?",
        "Below four iterations a ring of stages never fills, and its barriers cost more than it hides. Count the "
        "smallest case that occurs, such as a task for which no expert is active.",
        yes="fused_gemv",
        no="stages_smem",
    ),
    Question(
        "fused_gemv",
        "Would this product of one row run inside a fused kernel, between other steps of the same body?",
        "There the evidence holds the pipeline dead: the consumer's own arithmetic is the floor. As a per-tile task of "
        "its own the same product may use it.",
        yes="stages_smem",
        no="A",
    ),
    Question(
        "stages_smem",
        "Does the body keep data in shared memory: staging, a reduction over warps, an exchange?",
        "Without any, there is nothing to plan and the spec stays without regions.",
        yes="ported_offsets",
        no="D",
    ),
    Question(
        "ported_offsets",
        "Is it a port of a working kernel that computes its own offsets inside one block of shared memory?",
        "The planner must know the bytes that the device touches. Regions that the body ignores make a plan false.",
        yes="C",
        no="B",
    ),
)
_BY_ID = {question.id: question for question in QUESTIONS}
_BECAUSE = {
    ("own_task", YES): "It is a task of its own.",
    ("own_task", NO): "It runs inside another kernel's body.",
    ("matrix_product", YES): "It is a product over weight tiles.",
    ("matrix_product", NO): "It is no matrix product, so that the consumer warps do the work.",
    ("full_tile", YES): "M fills a tile, so that a pipeline of loads and products pays.",
    ("full_tile", NO): "M is smaller than a tile.",
    ("streams_k", YES): "It still streams four or more weight tiles along K.",
    ("streams_k", NO): "Too few tiles along K to fill a ring of stages, so that the consumer warps do the work.",
    ("fused_gemv", YES): "Inside a fused body the pipeline was measured dead for one row, so that the consumers do it.",
    ("fused_gemv", NO): "As a task of its own it can keep the pipeline full.",
    ("stages_smem", YES): "It keeps data in shared memory.",
    ("stages_smem", NO): "It keeps nothing in shared memory.",
    (
        "ported_offsets",
        YES,
    ): "It keeps the offsets of the kernel that it comes from, so that one region must cover them.",
    ("ported_offsets", NO): "Its buffers can be regions that the planner places.",
}


_SCOPE_FIRST = "b200-scope-layout-dispatch"
_GUIDANCE: dict[str, Guidance] = {
    "A": Guidance(
        "Role pipeline: the loader streams tiles by TMA, the launcher issues tcgen05 products into tensor memory, four "
        "consumer warps write the result, pages are released as stages end.",
        (
            "b200-tma-pipeline-designer",
            "b200-tcgen05-mma-contract-builder",
            "b200-tmem-lifecycle-planner",
            "b200-mbarrier-protocol-auditor",
        ),
        adopts=("role-pipeline", "tcgen05-small-m", "per-tile-tasks"),
    ),
    "product": Guidance(
        "Consumer GEMV: warps stride over rows and multiply in registers. Choose the number of warps by the "
        "wave-quantisation test, ceil(items / (tasks * warps)).",
        (_SCOPE_FIRST,),
        adopts=("seven-warp",),
        avoids=("role-pipeline", "tcgen05-small-m", "load-side-latency-hiding", "gemv-stage-and-split"),
    ),
    "B": Guidance(
        "Consumer body over regions that the planner places, one typed view per region.",
        (_SCOPE_FIRST,),
        avoids=("more-resident-ctas", "warp-spec-producer"),
    ),
    "C": Guidance(
        "Consumer body with one honest region that covers the offsets of the kernel that it comes from.",
        (_SCOPE_FIRST, "b200-flash-attention4-planner"),
        adopts=("seven-warp-dense-accumulation",),
        avoids=("wuv-fold-into-mla",),
    ),
    "D": Guidance(
        "Consumer body from registers and global memory; the spec lists no regions.",
        (_SCOPE_FIRST,),
        avoids=("more-resident-ctas",),
    ),
    "E": Guidance(
        "Device function over a view of the host's shared memory; the host's spec carries the plan.",
        (_SCOPE_FIRST,),
        adopts=("rmsnorm-into-allreduce", "wuv-fold-into-mla", "allreduce-megakernel-fold"),
    ),
}


def question_document(question: Question) -> dict[str, str]:
    """Return id, text and why of a question as plain values."""
    return {"id": question.id, "text": question.text, "why": question.why}


def questions() -> list[dict[str, str]]:
    """Return all questions in order as plain values."""
    return [question_document(question) for question in QUESTIONS]


def decide(answers: Mapping[str, str]) -> Decision:
    """Follow `answers` (question id to "yes" or "no") from the first question.

    Blank answers count as not given; answers to questions off the path are listed as unused. Raises AnswerError
    for an unknown question or another answer.
    """
    given = {}
    for key, answer in answers.items():
        if key not in _BY_ID:
            raise AnswerError(str(key), f"{key} is not a question of the family tree.")
        if answer in (None, ""):
            continue
        if answer not in (YES, NO):
            raise AnswerError(key, f'The answer to {key} is "yes" or "no".')
        given[key] = answer
    path: list[tuple[str, str]] = []
    place = QUESTIONS[0].id
    while place in _BY_ID and place in given:
        question, answer = _BY_ID[place], given[place]
        path.append((place, answer))
        place = question.yes if answer == YES else question.no
    return Decision(
        family=place if place in FAMILIES else "",
        reason=" ".join(_BECAUSE[step] for step in path),
        path=tuple(path),
        next_question=_BY_ID.get(place),
        unused=tuple(key for key in given if key not in dict(path)),
    )


def next_question(answers: Mapping[str, str]) -> Question | None:
    """Return the question to ask next, or None when a family is reached. Raises AnswerError as `decide` does."""
    return decide(answers).next_question
