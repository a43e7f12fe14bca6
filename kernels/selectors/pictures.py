"""The pictures of a spec document, by the section of the editor that they belong to."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kernels.models import Op, Spec
from kernels.selectors.checks import contracts_of
from v2kb.rules.barrier_pictures import semaphore_map
from v2kb.rules.layer_graph import layer_graph
from v2kb.rules.page_map import page_map
from v2kb.rules.role_rules import role_matrix
from v2kb.rules.spec_view import SpecView
from v2kb.rules.tmem_rules import tmem_map

Contracts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Drawing:
    """Plain values of one picture; `kind` is smem, sems, tmem, roles or layers."""

    kind: str
    picture: dict[str, Any]


def _smem(view: SpecView, contracts: Contracts) -> Drawing | None:
    return Drawing("smem", page_map(view)) if view.regions else None


def _sems(view: SpecView, contracts: Contracts) -> Drawing | None:
    return Drawing("sems", semaphore_map(view)) if view.sems else None


def _tmem(view: SpecView, contracts: Contracts) -> Drawing | None:
    return Drawing("tmem", tmem_map(view)) if view.tmem else None


def _roles(view: SpecView, contracts: Contracts) -> Drawing | None:
    return Drawing("roles", role_matrix(view)) if view.doc["roles"]["rows"] else None


def _layers(view: SpecView, contracts: Contracts) -> Drawing | None:
    return Drawing("layers", layer_graph(view, contracts)) if view.doc["ops"] else None


DRAWN: dict[str, Callable[[SpecView, Contracts], Drawing | None]] = {
    "overview": _layers,
    "smem": _smem,
    "tmem": _tmem,
    "sems": _sems,
    "ledger": _sems,
    "roles": _roles,
    "granularity": _layers,
}


def graph_of(op: Op, specs: Iterable[Spec]) -> tuple[Drawing, Spec | None]:
    """An op between its producers and consumers, with the tasks that its newest live spec makes of it, and that spec.

    Raises ValueError for an op without a contract.
    """
    if op.head is None:
        raise ValueError(f"{op.slug} has no contract")
    live = [spec for spec in specs if spec.head is not None and spec.archived_at is None]
    spec = max(live, key=lambda spec: spec.head.created_at, default=None)
    document = spec.head.content if spec else {"ops": [{"op": op.slug}]}
    contracts = {op.slug: op.head.content}
    return Drawing("layers", layer_graph(SpecView(document, contracts), contracts, only=op.slug)), spec


def pictures_of(document: dict[str, Any], sections: Iterable[str]) -> dict[str, Drawing]:
    """The pictures of these sections, finished document or not; a section without rows to draw has none."""
    wanted = [section for section in sections if section in DRAWN]
    if not wanted:
        return {}
    contracts = contracts_of(document)
    view = SpecView(document, contracts)
    drawn = {section: DRAWN[section](view, contracts) for section in wanted}
    return {section: drawing for section, drawing in drawn.items() if drawing is not None}
