"""Revokes the token of a server there, and forgets it here."""

import argparse
import os

from v2kb.cli.commands.login import here_or_nowhere
from v2kb.cli.exits import CLEAR, WARNINGS, CliError
from v2kb.cli.logins import Login, forget_login, kept_login, server_address
from v2kb.cli.server import Server, UnknownToken, address_of, at, read_as_ours
from v2kb.cli.terminal import Terminal

EXAMPLE = "v2kb logout"
ASK_S = 10


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", default="", metavar="ADDRESS", help="another server than the repository's")
    parser.add_argument("--local", action="store_true", help="forget it here alone: it is in use elsewhere")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: revoked there and forgotten here, 1: there was none, or it could only be forgotten here."""
    server = server_address(read.server) if read.server else address_of(here_or_nowhere())
    login = kept_login(server)
    why = _revoked(login) if login.token and not read.local else ""
    forgotten = forget_login(server)
    revoked = forgotten and not (why or read.local)
    if terminal.json:
        terminal.document({"server": server, "forgotten": forgotten, "revoked": revoked, "why": why})
    elif not forgotten:
        terminal.line(f"No token for {server} is kept.")
    elif revoked:
        terminal.line(f"The token for {server} is revoked there and forgotten here.")
    else:
        terminal.line(f"The token for {server} is forgotten here and still holds there.")
    if why and not terminal.json:
        terminal.say(f"It could not be revoked: {why} Revoke it if somebody else may have it (docs/api.md).")
    if os.environ.get("V2KB_TOKEN"):
        terminal.say("note: V2KB_TOKEN of the environment is as it was.")
    return CLEAR if forgotten and not why else WARNINGS


def _revoked(login: Login) -> str:
    """Revoke a token on its server; why that could not be done, or nothing. One that it does not know needs no more."""
    try:
        server = Server(login, timeout_s=ASK_S)
        with read_as_ours(server):
            for token in server.get(at("tokens"))["results"]:
                if login.token.startswith(token["key"]):
                    server.delete(at("tokens", token["key"]))
    except UnknownToken:
        return ""
    except CliError as error:
        return f"{error.message} {error.fix}".strip()
    return ""
