"""What the search for evidence needs of specs and ops, and whether stored searches still hold."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Count, Max
from django.http import QueryDict
from django.urls import reverse

from evidence.models import EvidenceChange
from evidence.search.board import MAX_ROWS, Design, board_of
from kernels.models import Citation, Op, SearchReceipt, Spec
from v2kb.core.errors import Refusal
from v2kb.rules.scope import describe
from v2kb.rules.search_receipt import BECOME_CITATIONS, DECISIONS, ReceiptCheck, receipt_is_current

MAX_SHOWN = 5


def spec_counts(row_ids: Iterable[int]) -> dict[int, int]:
    """Row id -> number of live specs whose newest revision cites it."""
    live = Citation.objects.filter(
        evidence__row__in=list(row_ids), revision__head_of__isnull=False, revision__head_of__archived_at__isnull=True
    )
    return dict(live.values_list("evidence__row").annotate(specs=Count("revision__spec", distinct=True)).order_by())


def ops_to_design() -> list[dict[str, Any]]:
    """Ops with the scope of their newest contract: {"slug", "title", "scope", "family"}."""
    ops = Op.objects.filter(archived_at__isnull=True, head__isnull=False)
    fields = ops.order_by("title").values_list("slug", "title", "head__content__scope", "head__family")
    return [
        {"slug": slug, "title": title, "scope": scope or {}, "family": family} for slug, title, scope, family in fields
    ]


@dataclass(frozen=True)
class ReceiptView:
    """A stored search with what running it again says. `url` repeats it."""

    receipt: SearchReceipt
    check: ReceiptCheck
    url: str

    @property
    def what(self) -> str:
        """What was looked for, in words."""
        search = self.receipt.content["search"]
        parts = [f"“{search['query']}”"] if search["query"] else []
        parts += (
            [f"{'lever' if len(search['levers']) == 1 else 'levers'} {', '.join(search['levers'])}"]
            if search["levers"]
            else []
        )
        parts += [f"in {describe(search['scope'])}"] if search["scope"] else []
        return "; ".join(parts)

    @property
    def decided(self) -> list[dict[str, Any]]:
        """The rows of which something was decided, with the decision in words."""
        rows = [row for row in self.receipt.content["rows"] if row["decision"]]
        return [{**row, "decision_words": DECISIONS[row["decision"]]} for row in rows]

    @property
    def goes_into_draft(self) -> bool:
        """Whether something was decided that a draft can take."""
        return any(row["decision"] in BECOME_CITATIONS for row in self.receipt.content["rows"])


def receipts_of(spec: Spec) -> list[ReceiptView]:
    """The newest receipt of each search of a spec, newest first, each run again; at most `MAX_SHOWN`."""
    newest: dict[str, SearchReceipt] = {}
    for receipt in spec.receipts.select_related("user")[:50]:
        search = receipt.content["search"]
        newest.setdefault(repr((search["levers"], search["query"], search["scope"], search["filters"])), receipt)
    change = newest_change()
    shown = list(newest.values())[:MAX_SHOWN]
    return [ReceiptView(one, check_receipt(one, change), _url(one.content["search"], spec)) for one in shown]


def _url(search: dict[str, Any], spec: Spec) -> str:
    """The address that repeats a stored search for its spec."""
    params = QueryDict(mutable=True)
    params["spec"] = spec.code
    if search["query"]:
        params["q"] = search["query"]
    params.setlist("lever", search["levers"])
    for name, value in (search["scope"] or {}).items():
        params[name] = ",".join(value) if isinstance(value, list) else value
    for name, values in search["filters"].items():
        params.setlist(name, values)
    return f"{reverse('kernels:spec_search')}?{params.urlencode()}"


def newest_change() -> int:
    """High-water mark of the evidence now."""
    return EvidenceChange.objects.aggregate(newest=Max("pk"))["newest"] or 0


def check_receipt(receipt: SearchReceipt, change: int) -> ReceiptCheck:
    """Run a stored search again: which rows block now and did not then. `change` is the high-water mark now."""
    if receipt.change == change:
        return ReceiptCheck()
    try:
        board = board_of(Design.of_document(receipt.content["search"]))
    except Refusal as refusal:
        return ReceiptCheck(problem=refusal.message)
    check = receipt_is_current(receipt.content["rows"], [row.as_document() for row in board.rows])
    if board.left_out:
        return replace(check, problem=f"it finds {board.left_out} rows more than the {MAX_ROWS} that a receipt holds.")
    return check
