"""Hands a spec in for review: makes it on the server the first time, then one revision for each submission."""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from v2kb.cli.checkout import RECEIPTS, Checkout, find_checkout
from v2kb.cli.commands.record import refuse
from v2kb.cli.exits import CliError
from v2kb.cli.files import read_text
from v2kb.cli.logins import login_of
from v2kb.cli.server import Unreachable, address_of, at, read_as_ours, server_of
from v2kb.cli.spec_links import name_in, spec_link
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import deliver, show
from v2kb.rules.pinning import covering
from v2kb.rules.search_receipt import CITE, CONTRADICTS, MAX_REASON, NOT_RELEVANT, REPROPOSE
from v2kb.rules.spec_markdown.files import read_file

_OF_A_ROW = ("code", "content_hash", "verdict", "blocks")
EXAMPLE = 'v2kb submit specs/w13.md --op w13-grouped-gemm-b200 --reason "after the sweep of STAGES"'


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a spec in markdown or JSON")
    parser.add_argument("--op", action="append", default=[], metavar="SLUG", help="an op that the spec is for")
    parser.add_argument("--title", default="", help="of a new spec; else the file's")
    parser.add_argument("--reason", default="", help="why this revision")
    parser.add_argument("--spec", default="", metavar="CODE", help="the spec that the file is; else as last submitted")
    parser.add_argument("--base", default="", metavar="HASH", help="the revision that it builds on")
    parser.add_argument("--receipt", action="append", default=[], metavar="FILE",
                        help="a search to store with it; else those that speak of its rows and levers")  # fmt: skip
    parser.add_argument("--no-receipts", action="store_true", help="store no search with it")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: handed in, 2: refused or in conflict, 3: unreadable, 5: queued. `v2kb check` and `gate` say beforehand."""
    checkout = find_checkout()
    reading = read_file(read_text(read.file))
    if reading.unreadable:
        raise CliError(f"{read.file}: {reading.unreadable}", "`v2kb check` says what can be read.")
    refuse(list(reading.problems))
    document, file = _covered(reading.document, read.op), name_in(checkout, read.file)
    code, base = _target(read, checkout, file)
    title, ops = read.title or document["title"], _ops(read.op, document)
    if not code and not (title and ops):
        raise CliError("A new spec needs a title and an op.", "Give --title TEXT and --op SLUG.")
    searches, left = ([], []) if read.no_receipts else _searches(read.receipt, checkout, document)
    for line in left:
        terminal.say(line)
    body = {
        "file": file,
        "code": code,
        "base_hash": base,
        "title": title[:200],
        "ops": ops,
        "content": document if document["ops"] else {k: v for k, v in document.items() if k != "ops"},
        "reason": read.reason,
        "searches": searches,
    }
    outcome = deliver(checkout, "submit", f"{code or 'a new spec'} from {file}", body)
    show(terminal, outcome)
    return outcome.exit_code


def _covered(document: dict[str, Any], ops: list[str]) -> dict[str, Any]:
    """The document with its parts bound to these ops, as `v2kb check --op` reads it; the server pins the contracts."""
    return {**document, "ops": covering(document["ops"], dict.fromkeys(ops, ""))} if ops else document


def _target(read: argparse.Namespace, checkout: Checkout, file: str) -> tuple[str, str]:
    """(code, hash of the revision that the file builds on) of a spec that is there; empty texts for a new one."""
    linked, newest = spec_link(checkout, file)
    code = read.spec.upper() or linked
    if not code or read.base or code == linked:
        return code, read.base or newest
    if not login_of(address_of(checkout)).token:
        raise CliError(f"The revision of {code} that {file} builds on is not known here.", "Give --base HASH.")
    server = server_of(checkout)
    try:
        with read_as_ours(server):
            head = server.get(at("specs", code))["head"]
            return code, head["content_hash"] if head else ""
    except Unreachable as error:
        raise CliError(error.message, f"Give --base HASH: the revision of {code} that {file} builds on.") from None


def _ops(given: list[str], document: dict[str, Any]) -> list[str]:
    return given or list(dict.fromkeys(row["op"] for row in document["ops"] if row["op"]))


def _searches(given: list[str], checkout: Checkout, document: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """(searches with what the spec decides of their rows, why others are left out)."""
    searches, left = [], []
    for path in map(Path, given) if given else sorted((checkout.folder / RECEIPTS).glob("*.json")):
        try:
            content = _receipt(path)
        except CliError as error:
            if given:
                raise
            left.append(f"{path.name} is left out: {error.message}")
            continue
        said = _said(document)
        if not given and not _concerns(content, said, document):
            continue
        open_rows = [row["code"] for row in content["rows"] if row["blocks"] and row["code"] not in said]
        if open_rows:
            left.append(f"{path.name} is left out: {', '.join(open_rows)} blocks, and the spec says nothing of it.")
            continue
        decisions = [
            {"code": row["code"], "seen": row["content_hash"], **said[row["code"]]}
            for row in content["rows"]
            if row["code"] in said and (said[row["code"]]["decision"] != REPROPOSE or row["verdict"] == "DEAD")
        ]
        search = content["search"]
        asked = {"query": search["query"], "levers": search["levers"]}
        asked |= {} if search["scope"] is None else {"scope": search["scope"]}
        searches.append({"search": asked, "decisions": decisions})
    return searches, left


def _receipt(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))["content"]
        search, rows = content["search"], content["rows"]
        kept = {"search": {name: search[name] for name in ("query", "levers", "scope")}}
        return kept | {"rows": [{name: row[name] for name in _OF_A_ROW} for row in rows]}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise CliError(f"{path} is no search receipt.", "`v2kb prior` writes one into .v2kb/receipts.") from None


def _said(document: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Code -> what the spec decides of that row: its citations, and the rows that a choice sets aside with a reason."""
    return dict(_decisions(document))


def _decisions(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for choice in document["choices"]:
        for row in choice["acknowledged"]:
            if row["code"] and row["reason"]:
                yield row["code"], {"decision": NOT_RELEVANT, "reason": row["reason"][:MAX_REASON]}
    for choice in document["choices"]:
        for citation in choice["citations"]:
            if citation["kind"] != "evidence":
                continue
            new = choice["new_mechanism"].strip()
            if new and choice["polarity"] == "adopts":
                yield citation["code"], {"decision": REPROPOSE, "reason": new[:MAX_REASON]}
            else:
                yield citation["code"], {"decision": CONTRADICTS if citation["stance"] == "contradicts" else CITE}


def _concerns(content: dict[str, Any], said: dict[str, dict[str, str]], document: dict[str, Any]) -> bool:
    """Whether a search asked for a lever of the spec, or found a row that the spec speaks of."""
    levers = {choice["lever"] for choice in document["choices"]}
    return bool(levers & set(content["search"]["levers"]) or said.keys() & {row["code"] for row in content["rows"]})
