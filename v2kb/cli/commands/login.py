"""Keeps a token for a server, after the server has said whose it is."""

import argparse
import getpass
import os
import sys
from dataclasses import replace

from v2kb.cli.checkout import Checkout, NoCheckout, find_checkout
from v2kb.cli.exits import CLEAR, CliError
from v2kb.cli.logins import Login, keep_login, server_address, tokens_file
from v2kb.cli.server import Server, address_of, read_as_ours
from v2kb.cli.terminal import Terminal

EXAMPLE = "v2kb login < token.txt"
MAX_CHARS = 500


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", default="", metavar="ADDRESS", help="another server than the repository's")
    parser.add_argument("--plain-http", action="store_true",
                        help="accept that the token travels unencrypted to another machine")  # fmt: skip


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: kept, 3: the server does not know the token, 5: the server can't be reached; nothing is kept then."""
    server = server_address(read.server) if read.server else address_of(here_or_nowhere())
    login = Login(server, plain_http=read.plain_http)
    Server(login)  # refuses an address before the token is asked for
    login = replace(login, token=_token(server))
    asked = Server(login)
    with read_as_ours(asked):
        me = asked.get("/me/")
        login = replace(login, user=str(me["username"]), engine=str(me["engine_name"]))
        roles = ", ".join(me["roles"]) or "none"
    keep_login(login)
    if terminal.json:
        terminal.document({"server": server, "user": login.user, "engine": login.engine, "roles": me["roles"]})
        return CLEAR
    engine = f", engine {login.engine}" if login.engine else ""
    terminal.line(f"Signed in to {server} as {login.user}{engine}. Roles: {roles}.")
    terminal.line(terminal.style(f"Kept in {tokens_file()}", "faint"))
    return CLEAR


def here_or_nowhere() -> Checkout:
    """The checkout, or one that knows no more than V2KB_SERVER. Raises CliError."""
    try:
        return find_checkout()
    except NoCheckout as error:
        return Checkout(error.here, os.environ.get("V2KB_SERVER", ""))


def _token(server: str) -> str:
    if sys.stdin is None:
        token = ""
    elif sys.stdin.isatty():
        token = getpass.getpass(f"Token for {server}: ")
    else:
        token = sys.stdin.readline(MAX_CHARS + 2)
    token = token.strip()
    if not token or len(token) > MAX_CHARS or not token.isascii() or not token.isprintable() or " " in token:
        raise CliError("No token was given.", "Make one as docs/api.md says, and give it on standard input.")
    return token
