"""The server's REST API over HTTP: one token to one host, no redirects, and the three ways in which it can fail."""

import gzip
import http.client
import json
import os
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from v2kb.cli.checkout import Checkout
from v2kb.cli.exits import BLOCKED, QUEUED, CliError
from v2kb.cli.logins import LOGIN, Login, is_loopback, login_of, server_address

TIMEOUT_S = 30
NOT_MODIFIED = 304
MAX_BYTES = 512 * 2**20
_TRY_AGAIN = (408, 429)


class Unreachable(CliError):
    """No answer, or one that says to ask again later. Whether a write was done is not known."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "", QUEUED)


class Refused(CliError):
    """The server's refusal, with its document (docs/errors.md). Nothing was written."""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        super().__init__(str(document.get("message") or f"The server answered {status}."),
                         str(document.get("fix") or ""), BLOCKED)  # fmt: skip
        self.status, self.document = status, document

    @property
    def is_conflict(self) -> bool:
        """Whether somebody or something else came first."""
        return self.status == 409


class UnknownToken(CliError):
    """The server does not know the token: it was revoked, or has expired, or never was one."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect is an answer, not an address to send the token to."""

    def redirect_request(self, *_: Any) -> None:
        return None


class Server:
    """The API as the user of a token sees it."""

    def __init__(self, login: Login, *, timeout_s: float = TIMEOUT_S) -> None:
        """Raises CliError where the token would travel unencrypted to another machine."""
        self.address, self.login, self.timeout_s = login.server, login, timeout_s
        plain = urlsplit(self.address).scheme == "http"
        accepted = login.plain_http or os.environ.get("V2KB_PLAIN_HTTP") == "1"
        if plain and not is_loopback(self.address) and not accepted:
            raise CliError(
                f"{self.address} is plain http on another machine: everybody between could read the token.",
                "Use https, or accept that with `v2kb login --plain-http`, or V2KB_PLAIN_HTTP=1 beside V2KB_TOKEN.",
            )
        # A proxy of the environment would see the token of a plain request.
        proxies = [urllib.request.ProxyHandler({})] if plain else []
        self._opener = urllib.request.build_opener(NoRedirect, *proxies)

    def get(self, path: str, **query: Any) -> Any:
        """The JSON of an answer. Raises Unreachable, Refused, CliError."""
        asked = f"{path}?{urlencode(query)}" if query else path
        return self._json(self._ask("GET", asked)[1])

    def post(self, path: str, body: Any, key: str) -> Any:
        """Send `body` as JSON under an idempotency key. Raises Unreachable, Refused, CliError."""
        data = json.dumps(body, ensure_ascii=False, sort_keys=True).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        return self._json(self._ask("POST", path, data, headers)[1])

    def delete(self, path: str) -> None:
        """Take a thing away that is one's own. Raises Unreachable, Refused, CliError."""
        self._ask("DELETE", path)

    def fetch(self, path: str, etag: str = "") -> bytes | None:
        """The bytes of an answer, unpacked; None where what has this tag is still right. Raises as `get`."""
        headers = {"Accept-Encoding": "gzip"} | ({"If-None-Match": etag} if etag else {})
        status, data = self._ask("GET", path, headers=headers)
        return None if status == NOT_MODIFIED else data

    def _ask(
        self, method: str, path: str, data: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        own = {"Accept": "application/json, */*;q=0.1", "User-Agent": "v2kb"}
        request = urllib.request.Request(f"{self.address}/api/v1{path}", data, own | (headers or {}), method=method)
        if self.login.token:
            request.add_unredirected_header("Authorization", f"Token {self.login.token}")
        try:
            with self._opener.open(request, timeout=self.timeout_s) as response:
                return response.status, _unpacked(response)
        except urllib.error.HTTPError as error:
            with error:
                if error.code == NOT_MODIFIED:
                    return error.code, b""
                raise self._failure(error) from None
        except (OSError, http.client.HTTPException, EOFError) as error:
            reason = getattr(error, "reason", None) or error
            raise Unreachable(f"{self.address} can't be reached: {str(reason) or type(reason).__name__}.") from None

    def _failure(self, error: urllib.error.HTTPError) -> CliError:
        if error.code >= 500 or error.code in _TRY_AGAIN:
            return Unreachable(f"{self.address} answered {error.code} {error.reason}.")
        if 300 <= error.code < 400:
            to = str(error.headers.get("Location", "elsewhere"))[:200]
            return CliError(
                f"{self.address} sends on to {to}; the token is not sent there.",
                "If that is the right server, `v2kb init --server` and `v2kb login` name it.",
            )
        try:
            document = self._json(_unpacked(error))
        except (CliError, OSError, http.client.HTTPException):
            document = None
        if not _is_refusal(document):
            return CliError(f"{self.address} answered {error.code}, and not as v2kb does.", "Check its address.")
        if error.code == 401:
            return UnknownToken(f"{self.address} does not know the token: {document['message']}", LOGIN)
        return Refused(error.code, document)

    def _json(self, data: bytes) -> Any:
        try:
            return json.loads(data) if data else None
        except (ValueError, RecursionError):
            raise _not_ours(self.address) from None


@contextmanager
def read_as_ours(server: Server) -> Iterator[None]:
    """Around the reading of an answer. Raises CliError where it has another form than v2kb's."""
    try:
        yield
    except (LookupError, TypeError, AttributeError):
        raise _not_ours(server.address) from None


def _not_ours(address: str) -> CliError:
    return CliError(f"{address} answers, but not as v2kb does.", "Check its address.")


def _is_refusal(document: Any) -> bool:
    """Whether this is a refusal as docs/errors.md describes it."""
    return (
        isinstance(document, dict)
        and all(isinstance(document.get(name), str) for name in ("code", "message"))
        and isinstance(document.get("facts", {}), dict)
        and isinstance(problems := document.get("problems", []), list)
        and all(isinstance(problem, dict) and isinstance(problem.get("message"), str) for problem in problems)
    )


def at(*parts: str | int) -> str:
    """The path of a thing below /api/v1, whatever characters its name has."""
    return "/" + "".join(f"{quote(str(part), safe='')}/" for part in parts)


def server_of(checkout: Checkout) -> Server:
    """The server of a checkout, with one's token. Raises CliError."""
    login = login_of(address_of(checkout))
    if not login.token:
        raise CliError(f"You are not signed in to {login.server}.", LOGIN)
    return Server(login)


def address_of(checkout: Checkout) -> str:
    """The address of the checkout's server. Raises CliError."""
    if not checkout.server:
        raise CliError("No server is named.", "Run `v2kb init --server ADDRESS`, or set V2KB_SERVER.")
    return server_address(checkout.server)


def _unpacked(response: Any) -> bytes:
    """The whole body. Raises IncompleteRead where the connection ends too early: `read` with a bound does not."""
    data = response.read(MAX_BYTES)
    if response.length:
        raise http.client.IncompleteRead(data, response.length)
    return gzip.decompress(data) if response.headers.get("Content-Encoding") == "gzip" else data
