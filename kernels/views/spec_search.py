"""Step 0 of a spec: what is known of the design, decided hit by hit, before anything is drawn up."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from evidence.cards import card_of
from evidence.hooks import resting_on
from evidence.models import Lever, Verdict
from evidence.presenters import caret_of, scope_parts
from evidence.search import Hit
from evidence.search.board import MAX_ROWS, NARROWING, Board, BoardRow, Design, board_of
from evidence.search.facets import none_of, readable
from evidence.search.near import near_levers
from evidence.selectors import resolve_lever
from kernels.forms import SpecForm
from kernels.models import SearchReceipt, Spec
from kernels.policies import may_design
from kernels.selectors.searches import ops_to_design
from kernels.services.searches import begin_spec, bring_decisions, record_search
from v2kb.core.actor import actor_from_request
from v2kb.core.errors import Refusal
from v2kb.core.values import without_nul
from v2kb.core.views import add_refusal
from v2kb.rules.scope import DIMENSIONS, read_scope
from v2kb.rules.search_query import MAX_CHARS
from v2kb.rules.search_receipt import ASIDES, DECISIONS, MAX_REASON
from v2kb.rules.spec_words import FAMILIES
from v2kb.rules.words import counted

TYPED = ("arch", "dtype", "m")
"""Dimensions of the scope with a field of their own; an address may name the others too."""
MAX_LEVERS = 12
MAX_OFFERED = 1000
"""Levers that the field offers; any other name can be typed."""
MAX_FIELD = 100


def spec_search(request: HttpRequest) -> HttpResponse:
    """Search for a planned design and decide; begins a spec, or stores the search with an existing one (`spec`)."""
    actor = actor_from_request(request)
    may_design(actor)
    asked = _Asked(request.POST if request.method == "POST" else request.GET)
    spec = get_object_or_404(Spec, code=asked.spec) if asked.spec else None
    form = SpecForm(request.POST if request.method == "POST" and spec is None else None, initial={"ops": [asked.op]})
    refusal = asked.problem
    if request.method == "POST" and refusal is None:
        try:
            if spec is not None:
                receipt = record_search(actor, spec=spec, design=asked.design, decisions=asked.decisions)
                changed = bring_decisions(actor, receipt=receipt) if asked.into_draft else []
                got = f" Your draft got it in {', '.join(changed)}." if changed else ""
                messages.success(request, f"The search is stored with {spec.code}.{got}")
                return redirect("kernels:spec_edit", spec.code, "choices") if changed else redirect(spec)
            if form.is_valid():
                spec = begin_spec(
                    actor,
                    title=form.cleaned_data["title"],
                    ops=list(form.cleaned_data["ops"]),
                    design=asked.design,
                    decisions=asked.decisions,
                    family=asked.family,
                )
                messages.success(request, f"{spec.code} is begun, and the search is stored with it.")
                return redirect("kernels:spec_edit", code=spec.code, section="choices")
        except Refusal as error:
            if error.status in (403, 404):
                raise
            refusal = error
            if spec is None and error.field in ("title", "ops"):
                add_refusal(form, error)
                refusal = None
    return _page(request, asked, spec, form, refusal)


@require_POST
def bring(request: HttpRequest, code: str, pk: int) -> HttpResponse:
    """Bring what was decided in a stored search into one's draft."""
    receipt = get_object_or_404(SearchReceipt.objects.select_related("spec"), spec__code=code, pk=pk)
    changed = bring_decisions(actor_from_request(request), receipt=receipt)
    said = f"Your draft got it in {', '.join(changed)}." if changed else "Your draft has all of it already."
    messages.success(request, said)
    return redirect("kernels:spec_edit", code, "choices")


class _Asked:
    """What the page was asked: the search, the decisions and the spec that it is for."""

    def __init__(self, typed: QueryDict) -> None:
        params = without_nul(typed)

        def one(name: str) -> str:
            return params.get(name, "").strip()[:MAX_FIELD]

        self.ops = ops_to_design()
        self.into_draft = params.get("into_draft") == "on"
        self.op, self.family, self.spec = one("op"), one("family"), one("spec")
        self.fields = {name: one(name) for name in DIMENSIONS}
        self.levers: list[Lever] = []
        self.unknown: list[str] = []
        for name in params.getlist("lever")[:MAX_LEVERS]:
            name = name.strip()[:MAX_FIELD]
            lever = resolve_lever(name)
            if lever is not None and lever not in self.levers:
                self.levers.append(lever)
            elif lever is None and name:
                self.unknown.append(name)
        chosen = {name: tuple(v[:MAX_FIELD] for v in params.getlist(name)[:20] if v) for name in NARROWING}
        chosen, self.unread = readable({name: values for name, values in chosen.items() if values})
        for label, value, known in (
            ("Op", self.op, [op["slug"] for op in self.ops]),
            ("Family", self.family, FAMILIES),
        ):
            self.unread += [none_of(label, value, known)] if value and value not in known else []
        scope, problems = self._scope()
        self.problem = self._problem(problems)
        self.design = Design(
            params.get("q", "")[: MAX_CHARS + 1].strip(),
            tuple(lever.slug for lever in self.levers),
            scope,
            chosen,
        )
        self.decisions = {
            name.removeprefix("d-"): {
                "decision": value,
                "reason": params.get(f"why-{name.removeprefix('d-')}", ""),
                "seen": params.get(f"seen-{name.removeprefix('d-')}", ""),
            }
            for name, value in params.items()
            if name.startswith("d-") and value
        }

    def _scope(self) -> tuple[dict[str, Any] | None, list[Any]]:
        """The op's scope with what was typed in its place; None where neither is given."""
        named = next((op["scope"] for op in self.ops if op["slug"] == self.op), None)
        typed = {name: value for name, value in self.fields.items() if value}
        scope, problems = read_scope({**(named or {}), **typed})
        return (scope if named is not None or typed else None), problems

    def _problem(self, problems: list[Any]) -> Refusal | None:
        if self.unknown:
            return Refusal(
                "search.no_lever", f"There is no lever {self.unknown[0]}.", field="lever",
                fix="Pick one of the list, or ask a curator to add it.",
            )  # fmt: skip
        if problems:
            return Refusal("search.scope", problems[0].message, field=problems[0].field, fix=problems[0].fix)
        return None


def _page(
    request: HttpRequest, asked: _Asked, spec: Spec | None, form: SpecForm, refusal: Refusal | None
) -> HttpResponse:
    board = None
    if not asked.design.is_blank:
        try:
            board = board_of(asked.design)
        except Refusal as error:
            refusal = refusal or error
    lanes = _lanes(board, asked) if board else []
    family = asked.family or next((op["family"] for op in asked.ops if op["slug"] == asked.op), "")
    context: dict[str, Any] = {
        "asked": asked,
        "spec": spec,
        "form": form,
        "refusal": refusal,
        "problems": _problems(refusal),
        "caret": caret_of(asked.design.text, refusal),
        "board": board,
        "lanes": lanes,
        "blocking": sum(row.standing.blocks for row in board.rows) if board else 0,
        "undecided": sum(card["must"] for lane in lanes for card in lane["cards"]),
        "scope": scope_parts(asked.design.scope or {}),
        "families": FAMILIES,
        "family": family,
        "all_levers": Lever.objects.filter(archived_at__isnull=True)[:MAX_OFFERED],
        "near": near_levers(" ".join([*asked.unknown, asked.design.text])) if board is None or not board.rows else [],
        "max_chars": MAX_CHARS,
        "cut": _cut(board) if board else "",
        "readings": board.found.query.readings if board else (),
        "unread": asked.unread,
        "kept": _search_params(asked),
        "hidden": [
            (name, value)
            for name, value in _search_params(asked)
            if name in ("spec", *DIMENSIONS, *NARROWING) and name not in TYPED
        ],
    }
    failed = request.method == "POST" or (refusal is not None)
    return render(request, "kernels/spec_search.html", context, status=422 if failed else 200)


def _cut(board: Board) -> str:
    """How many rows a receipt could not hold; "" where it holds all."""
    if not board.left_out:
        return ""
    more = counted(board.left_out, "more row")
    return f"A receipt holds {MAX_ROWS}: {more} left out here, so it can't be stored. Pick levers or add words."


def _problems(refusal: Refusal | None) -> list[dict[str, str]]:
    """What is wrong, each with the place on the page that mends it."""
    if refusal is None:
        return []
    return [
        {
            "message": problem["message"],
            "fix": problem.get("fix") or "",
            "href": f"#decide-{problem['field'].partition('.')[2]}"
            if (problem.get("field") or "").startswith("decisions.")
            else "#search",
        }
        for problem in refusal.problems or [refusal.as_document()]
    ]


def _search_params(asked: _Asked) -> list[tuple[str, str]]:
    """The search as fields, to go with the decisions."""
    single = {"q": asked.design.text, "op": asked.op, "family": asked.family, "spec": asked.spec, **asked.fields}
    pairs = [(name, value) for name, value in single.items() if value]
    pairs += [("lever", lever.slug) for lever in asked.levers]
    return pairs + [(name, value) for name, values in asked.design.chosen.items() for value in values]


def _lanes(board: Board, asked: _Asked) -> list[dict[str, Any]]:
    """One lane per verdict: first what blocks, then what else is in scope, then what was put aside, by why."""
    resting = resting_on(row.row.pk for row in board.rows)
    lanes = []
    for verdict in Verdict.values:
        cards = [_card(row, asked, resting) for row in board.of(verdict)]
        cards.sort(key=lambda card: not card["blocks"])
        lanes.append(
            {
                "verdict": verdict,
                "count": len(cards),
                "cards": [card for card in cards if not card["aside"]],
                "asides": [
                    {"label": aside, "cards": found, "open": any(card["decision"] for card in found)}
                    for aside in ASIDES
                    if (found := [card for card in cards if card["aside"] == aside])
                ],
            }
        )
    return lanes


def _card(row: BoardRow, asked: _Asked, resting: dict[int, int]) -> dict[str, Any]:
    said = asked.decisions.get(row.row.code, {})
    decision = said.get("decision", "")
    options = [
        {"value": value, "label": label, "checked": value == decision}
        for value, label in DECISIONS.items()
        if value != "repropose" or row.row.head.verdict == Verdict.DEAD
    ]
    return {
        **card_of(Hit(row.row, row.why), row.states, row.standing, resting),
        "aside": row.standing.aside,
        "decision": decision,
        "reason": said.get("reason", "")[:MAX_REASON],
        "options": options,
        "must": row.standing.blocks and not decision,
    }
