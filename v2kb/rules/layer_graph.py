"""Plain values for a picture of the ops of a spec in their layer graph, with the tasks that each becomes."""

from collections.abc import Mapping, Sequence
from typing import Any

from v2kb.rules.spec_view import Row, SpecView

OP, PRODUCER, CONSUMER = "op", "producer", "consumer"


def layer_graph(view: SpecView, ops: Mapping[str, Mapping[str, Any]] | None = None, only: str = "") -> dict[str, Any]:
    """Return the ops of a spec, what feeds them and what reads them, from the contracts in `ops` (by slug).

    `nodes` have a name, a kind (op, producer, consumer), a `layer` from 0 (left) and, for ops, their `tasks` (None
    while a count has no value) and `instances`, one per row of the granularity. `edges` are pairs of indexes of nodes.
    A producer or consumer that names an op of the spec by slug, name or title is that op. `loose` are the instances
    whose op is none of the spec's. `only` keeps one op, by slug.
    """
    contracts = ops or {}
    rows = view.doc["ops"]
    named = [row for row in rows if not only or row["op"] == only]
    nodes = [{"name": _name(row, contracts), "kind": OP, "op": row["op"], "layer": 0} for row in named]
    known = {key: index for index, row in enumerate(named) for key in _keys(row, contracts)}
    edges = _edges(nodes, [contracts.get(row["op"], {}) for row in named], known)
    _layer(nodes, edges)
    instances: list[list[dict[str, Any]]] = [[] for _ in named]
    loose: list[dict[str, Any]] = []
    for row in view.tasks:
        # The instances of a spec of one op need not name it.
        owner = known.get(row.source["op"].casefold()) if row.source["op"] or len(rows) != 1 else 0
        (loose if owner is None or owner >= len(named) else instances[owner]).append(_instance(row))
    for node, own in zip(nodes, instances, strict=False):
        node |= {"instances": own, "tasks": _sum(own)}
    every = [instance for own in instances for instance in own] + ([] if only else loose)
    return {
        "nodes": nodes,
        "edges": [list(edge) for edge in edges],
        "loose": [] if only else loose,
        "layers": 1 + max((node["layer"] for node in nodes), default=-1),
        "tasks": _sum(every),
    }


def _name(row: Mapping[str, str], contracts: Mapping[str, Mapping[str, Any]]) -> str:
    return row["name"] or contracts.get(row["op"], {}).get("title") or row["op"] or "unnamed op"


def _keys(row: Mapping[str, str], contracts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    names = (row["name"], row["op"], contracts.get(row["op"], {}).get("title") or "")
    return [name.casefold() for name in names if name]


def _edges(
    nodes: list[dict[str, Any]], contracts: Sequence[Mapping[str, Any]], known: Mapping[str, int]
) -> list[tuple[int, int]]:
    """The edges; adds the neighbours that are no ops of the spec to `nodes`, one for each name and side."""
    edges: dict[tuple[int, int], None] = {}
    others: dict[tuple[str, str], int] = {}
    for index, contract in enumerate(contracts):
        for kind in (PRODUCER, CONSUMER):
            for name in contract.get(f"{kind}s") or []:
                place = known.get(name.casefold())
                if place is None:
                    place = others.setdefault((kind, name.casefold()), len(nodes))
                    if place == len(nodes):
                        nodes.append({"name": name, "kind": kind, "op": "", "layer": 0})
                edge = (place, index) if kind == PRODUCER else (index, place)
                if place != index:
                    edges[edge] = None
    return list(edges)


def _layer(nodes: list[dict[str, Any]], edges: Sequence[tuple[int, int]]) -> None:
    """Give each node the layer after the latest that feeds it; a circle stops where every node has been looked at."""
    for node in nodes:
        node["layer"] = 0
    for _ in nodes:
        moved = False
        for first, second in edges:
            wanted = nodes[first]["layer"] + 1
            if nodes[second]["layer"] < wanted < len(nodes):
                nodes[second]["layer"], moved = wanted, True
        if not moved:
            break
    for index, node in enumerate(nodes):
        fed = [nodes[second]["layer"] for first, second in edges if first == index]
        if node["kind"] == PRODUCER and fed:
            node["layer"] = max(0, min(fed) - 1)
    used = {layer: place for place, layer in enumerate(sorted({node["layer"] for node in nodes}))}
    for node in nodes:
        node["layer"] = used[node["layer"]]


def _instance(row: Row) -> dict[str, Any]:
    source = row.source
    count = row.values["num_tasks"]
    return {
        "path": row.path,
        "task": row.label(),
        "type": source["type"],
        "mode": source["mode"],
        "formula": source["num_tasks"],
        "tasks": count if isinstance(count, int) else None,
    }


def _sum(instances: Sequence[Mapping[str, Any]]) -> int | None:
    counts = [instance["tasks"] for instance in instances]
    return sum(counts) if counts and all(count is not None for count in counts) else None
