"""A proposal to change an evidence row, or to add one. A curator decides; nobody accepts their own."""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

from v2kb.cli.checkout import find_checkout
from v2kb.cli.commands.prior import scope_of
from v2kb.cli.commands.record import refuse
from v2kb.cli.exits import CliError
from v2kb.cli.files import read_text
from v2kb.cli.index import Index
from v2kb.cli.terminal import Terminal
from v2kb.cli.writes import deliver, show
from v2kb.rules.evidence import FIELDS, check_revision
from v2kb.rules.names import exact_codes
from v2kb.rules.numbers import SPELLINGS

EXAMPLE = 'v2kb propose D3 --set not_checked="M above 64" --reason "outputs/w13_0703 covers M=1 to 64"'
TEXTS = (
    "title",
    "verdict",
    "cause_class",
    "mechanism",
    "bound",
    "not_checked",
    "measured_on",
    "measured_note",
    "lever",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", nargs="?", default="", help="the row to change")
    parser.add_argument("--new", action="store_true", help="propose a new row in place of a change")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=TEXT",
                        help=f"a field's new text: {', '.join(TEXTS)}")  # fmt: skip
    parser.add_argument("--scope", default="", metavar="M=1,dtype=fp8", help="the row's new scope")
    parser.add_argument("--from", dest="file", default="", metavar="FILE",
                        help="fields as JSON or TOML, lists too: numbers, sources, approaches")  # fmt: skip
    parser.add_argument("--reason", required=True, help="why; curators read it")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: proposed, 2: refused or in conflict, 3: something is missing, 5: queued."""
    if bool(read.code) == read.new:
        raise CliError("Say which row: a code, or --new.", EXAMPLE)
    checkout = find_checkout()
    index = checkout.index()
    changes = _changes(read)
    if not changes:
        raise CliError("Nothing is changed.", "Give --set, --scope or --from.")
    base, code = {}, ""
    body: dict[str, Any] = {"reason": read.reason}
    if read.code:
        code = next(iter(exact_codes(read.code)), read.code)
        row = index.line("row", code)
        if row is None:
            raise CliError(f"The snapshot has no row {read.code}.", "`v2kb sync` renews it.")
        base = row["content"]
        body |= {"row": code, "base_hash": row["head_hash"]}
    body["content"] = _content(index, base, changes)
    what = f"{code or 'a new row'}: {', '.join(sorted(changes))}"
    outcome = deliver(checkout, "propose", what, body)
    show(terminal, outcome)
    return outcome.exit_code


def _changes(read: argparse.Namespace) -> dict[str, Any]:
    changes = _of_file(read.file) if read.file else {}
    for text in read.set:
        name, sign, value = text.partition("=")
        if not sign or name.strip() not in TEXTS:
            raise CliError(f"--set {text!r} names no field.", f"Write FIELD=TEXT with one of {', '.join(TEXTS)}.")
        changes[name.strip()] = value.strip()
    if read.scope:
        changes["scope"] = scope_of(read.scope)
    return changes


def _of_file(file: str) -> dict[str, Any]:
    text = read_text(file)
    try:
        if Path(file).suffix == ".toml":
            raw = tomllib.loads(text, parse_float=str)
        else:
            raw = json.loads(text, parse_float=str)
    except (ValueError, RecursionError) as error:
        raise CliError(
            f"{file} can't be read: {error}.", "Give an object of fields in JSON, or TOML in a .toml file."
        ) from None
    if not isinstance(raw, dict):
        raise CliError(f"{file} holds no object of fields.", f"Fields of a row: {', '.join(FIELDS)}.")
    return raw


def _content(index: Index, base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The whole content that the row should have. Raises CliError with every field that is wrong."""
    (vocabulary,) = index.lines("vocabulary")
    content = base | changes
    if "lever" in changes:
        content["lever"] = index.lever_named(str(changes["lever"])) or changes["lever"]
    units = vocabulary.get("units", SPELLINGS)
    check = check_revision(content, imported=True, causes=vocabulary["causes"], units=units)
    refuse(list(check.refusals))
    return check.content
