"""Forgets the token of a server."""

import argparse

from v2kb.cli.commands.login import here_or_nowhere
from v2kb.cli.exits import CLEAR, WARNINGS
from v2kb.cli.logins import forget_login, server_address
from v2kb.cli.server import address_of
from v2kb.cli.terminal import Terminal

EXAMPLE = "v2kb logout"


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", default="", metavar="ADDRESS", help="another server than the repository's")


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: forgotten, 1: there was none. The server still knows the token until it is revoked there."""
    server = server_address(read.server) if read.server else address_of(here_or_nowhere())
    was_there = forget_login(server)
    if terminal.json:
        terminal.document({"server": server, "forgotten": was_there})
    elif was_there:
        terminal.line(f"The token for {server} is forgotten here. Revoke it there if somebody else may have it.")
    else:
        terminal.line(f"No token for {server} is kept.")
    return CLEAR if was_there else WARNINGS
