"""What is installed, configured and reachable, how old the snapshot is, and what waits."""

import argparse
import importlib.metadata
import platform
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from v2kb.cli.checkout import Checkout, NoCheckout, age, find_checkout, is_old, said_age
from v2kb.cli.exits import BLOCKED, CLEAR, WARNINGS, CliError
from v2kb.cli.index import Index
from v2kb.cli.logins import LOGIN, login_of, readable_by_others, tokens_file
from v2kb.cli.outbox import WAITING, Outbox
from v2kb.cli.server import Server, Unreachable, address_of
from v2kb.cli.terminal import Terminal
from v2kb.rules.antiloop_rules import GATE_RULES
from v2kb.rules.rule_list import rule_documents

EXAMPLE = "v2kb doctor"
GOOD, DOUBT, BAD = "ok", "warning", "error"
_COLOURS = {GOOD: "green", DOUBT: "yellow", BAD: "red"}
_PACKAGES = {"scipy": "`v2kb judge` (pip install 'v2kb[judge]')"}
ASK_S = 5


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at."""

    name: str
    state: str
    said: str


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--offline", action="store_true", help="do not ask the server")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: all is well, 1: something is missing or old, 2: something is broken."""
    lines = list(_looked_at(ask=not read.offline))
    if terminal.json:
        terminal.document([{"name": line.name, "state": line.state, "said": line.said} for line in lines])
    else:
        for line in lines:
            terminal.line(f"{terminal.style(f'{line.state:<8}', _COLOURS[line.state])} {line.name:<10} {line.said}")
    states = {line.state for line in lines}
    return BLOCKED if BAD in states else WARNINGS if DOUBT in states else CLEAR


def _looked_at(*, ask: bool) -> Iterator[Line]:
    yield _python()
    yield _sqlite()
    yield from (_package(name, use) for name, use in _PACKAGES.items())
    try:
        checkout = find_checkout()
    except NoCheckout as error:
        yield Line("repository", DOUBT, f"{error.message} {error.fix}")
        return
    except CliError as error:
        yield Line("repository", BAD, f"{error.message} {error.fix}")
        return
    yield Line("repository", GOOD, str(checkout.folder))
    yield from _server(checkout, ask)
    yield from _snapshot(checkout)
    yield _outbox(checkout)


def _python() -> Line:
    try:
        version = importlib.metadata.version("v2kb")
    except importlib.metadata.PackageNotFoundError:
        version = "from a checkout"
    said = f"{platform.python_version()} at {sys.executable}, v2kb {version}"
    return Line("python", GOOD if sys.version_info >= (3, 11) else BAD, said)


def _sqlite() -> Line:
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE t USING fts5(w, tokenize='trigram')")
    except sqlite3.Error as error:
        return Line(
            "sqlite", BAD, f"{sqlite3.sqlite_version} lacks FTS5 with trigrams ({error}); 3.34 or newer has them"
        )
    return Line("sqlite", GOOD, f"{sqlite3.sqlite_version} with FTS5 and trigrams")


def _package(name: str, use: str) -> Line:
    try:
        return Line(name, GOOD, importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        return Line(name, GOOD, f"not installed; only {use} needs it")


def _server(checkout: Checkout, ask: bool) -> Iterator[Line]:
    try:
        login = login_of(address_of(checkout))
    except CliError as error:
        yield Line("server", BAD, f"{error.message} {error.fix}")
        return
    if readable_by_others():
        yield Line("tokens", BAD, f"{tokens_file()} can be read by others: chmod 600 it, and revoke what it held")
    if not login.token:
        yield Line("token", DOUBT, f"none for {login.server}. {LOGIN}")
    if not ask:
        yield Line("server", GOOD, f"{login.server}, not asked")
        return
    try:
        me = Server(login, timeout_s=ASK_S).get("/me/")
        engine = f", engine {me['engine_name']}" if me["engine_name"] else ""
        yield Line("server", GOOD, f"{login.server} answers; you are {me['username']}{engine}")
    except Unreachable as error:
        yield Line("server", DOUBT, error.message)
    except (CliError, KeyError, TypeError) as error:
        if login.token:
            yield Line("server", BAD, str(error))
        else:
            yield Line("server", GOOD, f"{login.server} answers")


def _snapshot(checkout: Checkout) -> Iterator[Line]:
    if not checkout.snapshot.exists():
        yield Line("snapshot", DOUBT, "there is none. `v2kb sync` brings it")
        return
    try:
        index = checkout.index()
        days = age(index)
    except (CliError, ValueError) as error:
        yield Line("snapshot", BAD, f"{error} `v2kb sync` brings it again")
        return
    head = index.head
    said = f"{said_age(days)} (change {head.change}, {head.counts.get('row', 0)} rows, sha256 {head.sha256[:12]})"
    said += f"; older than {checkout.stale_days} days" if days > checkout.stale_days else ""
    yield Line("snapshot", DOUBT if is_old(checkout, index) else GOOD, said)
    yield _rules(index)


def _rules(index: Index) -> Line:
    here = {rule["id"]: str(rule["version"]) for rule in rule_documents()}
    here |= {rule.id: str(rule.version) for rule in GATE_RULES}
    there = {line["id"]: line["version"] for line in index.lines("rule")}
    other = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
    if not other:
        return Line("rules", GOOD, f"{len(here)} rules, the versions that the server judges by")
    return Line("rules", DOUBT, f"the server judges by other versions of {', '.join(other)}: install its v2kb")


def _outbox(checkout: Checkout) -> Line:
    try:
        writes = list(Outbox(checkout))
    except CliError as error:
        return Line("outbox", BAD, f"{error.message} {error.fix}")
    refused = sum(write.state != WAITING for write in writes)
    if refused:
        return Line("outbox", DOUBT, f"{refused} that the server did not take, {len(writes) - refused} waiting")
    if writes:
        return Line("outbox", DOUBT, f"{len(writes)} waiting since {writes[0].at[:16].replace('T', ' ')}")
    return Line("outbox", GOOD, "empty")
