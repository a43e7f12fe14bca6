"""Tokens: one per server in the user's own folder, readable by the user alone. They are never printed."""

import os
import re
import tomllib
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from v2kb.cli.atomic import PRIVATE, write_whole
from v2kb.cli.exits import CliError
from v2kb.cli.toml import quoted

LOGIN = "Run `v2kb login`."
_ADDRESS = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True, repr=False)
class Login:
    """What is known of one's sign-in to a server. `plain_http`: the user accepts that the token travels unencrypted."""

    server: str
    token: str = ""
    user: str = ""
    engine: str = ""
    plain_http: bool = False


def tokens_file() -> Path:
    """$XDG_CONFIG_HOME/v2kb/tokens.toml or ~/.config/v2kb/tokens.toml."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "v2kb" / "tokens.toml"


def server_address(text: str) -> str:
    """The one spelling of a server's address: scheme, host, port and path, no slash at the end. Raises CliError."""
    try:
        parts = urlsplit(text.strip())
        is_one = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_one = False
    if not (is_one and _ADDRESS.fullmatch(text.strip())):
        raise CliError(f"{text!r} is no address of a server.", "Write for example https://v2kb.example.org.")
    if parts.username is not None or parts.query or parts.fragment:
        raise CliError("The address of a server holds no name, password or query.", "`v2kb login` takes a token.")
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def is_loopback(server: str) -> bool:
    """Whether what is sent there stays on this machine."""
    host = urlsplit(server).hostname or ""
    return host in ("localhost", "::1") or (host.startswith("127.") and host.replace(".", "").isdigit())


def login_of(server: str) -> Login:
    """The sign-in to this server: V2KB_TOKEN, else the one that `v2kb login` keeps; without a token if there is none.

    A token of the environment goes to the server that the environment names, or to this machine, and nowhere else: the
    configuration of a repository that somebody else wrote can't send for it. Raises CliError.
    """
    kept = kept_login(server)
    token = os.environ.get("V2KB_TOKEN", "").strip()
    if not token:
        return kept
    if not is_loopback(server) and server_address(os.environ.get("V2KB_SERVER") or "http://-") != server:
        raise CliError(
            f"V2KB_TOKEN is set, but the environment does not say that it is for {server}.",
            f"Set V2KB_SERVER={server} beside it, or use `v2kb login`.",
        )
    return replace(kept, token=token, user="", engine="")


def kept_login(server: str) -> Login:
    """The sign-in to this server that `v2kb login` keeps; without a token if there is none. Raises CliError."""
    return _kept().get(server, Login(server))


def keep_login(login: Login) -> None:
    """Keep the sign-in in place of an older one to the same server. Raises CliError."""
    _write(_kept() | {login.server: login})


def forget_login(server: str) -> bool:
    """Forget the sign-in to a server; whether there was one. Raises CliError."""
    kept = _kept()
    if kept.pop(server, None) is None:
        return False
    _write(kept)
    return True


def readable_by_others() -> bool:
    """Whether somebody else may read the kept tokens."""
    path = tokens_file()
    return path.exists() and bool(path.stat().st_mode & 0o077)


def _kept() -> dict[str, Login]:
    path = tokens_file()
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        return {
            server: Login(
                server, str(found["token"]), str(found["user"]), str(found["engine"]), found["plain_http"] is True
            )
            for server, found in raw.items()
        }
    except (OSError, ValueError, KeyError, TypeError):
        raise CliError(f"{path} can't be read.", f"Remove it. {LOGIN}") from None


def _write(logins: dict[str, Login]) -> None:
    lines = ["# Written by `v2kb login`. It holds tokens: keep it to yourself."]
    for server, login in sorted(logins.items()):
        lines += ["", f"[{quoted(server)}]"]
        lines += [f"{name} = {quoted(getattr(login, name))}" for name in ("token", "user", "engine")]
        lines.append(f"plain_http = {'true' if login.plain_http else 'false'}")
    path = tokens_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(path, "\n".join(lines) + "\n", PRIVATE)
    except OSError as error:
        raise CliError(f"{path} can't be written: {error.strerror}.", "Make its folder writable.") from None
