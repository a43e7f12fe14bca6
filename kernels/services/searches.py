"""Services on the search before design: begin a spec with its receipt, search again for an existing one."""

from collections.abc import Mapping
from typing import Any

from evidence.models import Lever
from evidence.search.board import Board, Design, board_of
from evidence.selectors import resolve_lever
from kernels import policies
from kernels.models import Op, SearchReceipt, Spec
from kernels.services.specs import create_spec, open_draft, save_draft
from v2kb.core.activity import lock_log, record
from v2kb.core.actor import Actor
from v2kb.core.errors import Conflict, Refusal, refuse_problems
from v2kb.core.service import service
from v2kb.core.values import check_document
from v2kb.rules.canonical import content_hash
from v2kb.rules.search_receipt import choices_of, decision_problems, with_choices
from v2kb.rules.search_tiers import MAX_ROWS
from v2kb.rules.spec_document import empty_spec
from v2kb.rules.spec_words import FAMILIES

MAX_RECEIPT_BYTES = 1024 * 1024
Decisions = Mapping[str, Mapping[str, str]]


@service("kernels.begin_spec")
def begin_spec(
    actor: Actor, *, title: str, ops: list[Op], design: Design, decisions: Decisions, family: str = ""
) -> Spec:
    """Begin a spec from a search: what was decided (code -> {"decision", "reason", "seen"}) fills its first draft.

    The receipt is stored with it. Raises Refusal search.nothing, search.too_many, search.decisions, Conflict
    search.moved, and what `create_spec` raises.
    """
    policies.may_design(actor)
    if family and family not in FAMILIES:
        raise Refusal("search.family", "There is no such family.", field="family", fix=f"One of {', '.join(FAMILIES)}.")
    board, rows = _decided(design, decisions)
    content = empty_spec()
    levers = [(lever.slug, lever.name) for lever in board.levers]
    content["choices"] = choices_of(rows, levers, design.scope or {})
    content["engine"]["family"] = family
    spec = create_spec(actor, title=title, ops=ops, content=content)
    _store(actor, spec, board, rows)
    return spec


@service("kernels.record_search")
def record_search(actor: Actor, *, spec: Spec, design: Design, decisions: Decisions) -> SearchReceipt:
    """Store a further search with a spec. Raises what `begin_spec` raises of a search, and Conflict spec.archived."""
    policies.may_design(actor)
    if spec.archived_at is not None:
        raise Conflict("spec.archived", f"{spec.code} is archived.")
    return _store(actor, spec, *_decided(design, decisions))


@service("kernels.bring_decisions", silent=True)
def bring_decisions(actor: Actor, *, receipt: SearchReceipt) -> list[str]:
    """Bring what was decided in a stored search into the actor's draft of its spec: citations that a choice lacks, and
    choices that are missing. Nothing typed changes.

    Returns the ids of the choices that got something. Raises what `open_draft` and `save_draft` raise.
    """
    draft = open_draft(actor, spec=receipt.spec)
    typed = draft.content.get("choices") or []
    named = {str(choice.get("lever")) for choice in typed if isinstance(choice, dict)}
    search, rows = receipt.content["search"], receipt.content["rows"]
    slugs = {name: lever.slug for name in {*named, *search["levers"]} if (lever := resolve_lever(name))}
    names = dict(Lever.objects.filter(slug__in=search["levers"]).values_list("slug", "name"))
    found = choices_of(rows, [(slug, names.get(slug, slug)) for slug in search["levers"]], search["scope"] or {})
    choices, changed = with_choices(typed, found, slugs)
    if changed:
        save_draft(actor, spec=receipt.spec, content=draft.content | {"choices": choices}, version=draft.version)
    return changed


def _decided(design: Design, decisions: Decisions) -> tuple[Board, list[dict[str, Any]]]:
    """The board of now and its rows with what was decided of each. The log's lock keeps evidence still meanwhile."""
    if design.is_blank:
        raise Refusal("search.nothing", "Nothing was searched for.", field="q", fix="Type words or pick a lever.")
    lock_log()
    board = board_of(design)
    if board.left_out:
        raise Refusal(
            "search.too_many",
            f"The search finds {board.left_out} rows more than the {MAX_ROWS} that a receipt holds.",
            field="q",
            fix="Pick levers or add words.",
        )
    rows = [row.as_document() for row in board.rows]
    moved = [
        row["code"] for row in rows if decisions.get(row["code"], {}).get("seen", "") not in ("", row["content_hash"])
    ]
    if moved:
        raise Conflict(
            "search.moved",
            f"{', '.join(moved)} changed since you looked.",
            fix="Look at the cards again, then decide.",
            facts={"codes": moved},
        )
    refuse_problems("search.decisions", decision_problems(rows, decisions))
    for row in rows:
        said = decisions.get(row["code"], {})
        row |= {"decision": said.get("decision", ""), "reason": said.get("reason", "").strip()}
    return board, rows


def _store(actor: Actor, spec: Spec, board: Board, rows: list[dict[str, Any]]) -> SearchReceipt:
    content = {"search": board.design.as_document(), "rows": rows}
    check_document(content, "search", MAX_RECEIPT_BYTES)
    receipt = SearchReceipt.objects.create(
        spec=spec,
        content=content,
        content_hash=content_hash({**content, "change": board.change}),
        change=board.change,
        user=actor.user,
    )
    decided = sum(bool(row["decision"]) for row in rows)
    record(
        actor,
        "kernels.record_search",
        spec,
        f"search stored: {len(rows)} {'row' if len(rows) == 1 else 'rows'} found, {decided} decided",
        after={"receipt": receipt.content_hash, "change": board.change},
    )
    return receipt
