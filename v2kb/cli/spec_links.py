"""Which file is which spec on the server: `.v2kb/specs.json`, kept with the repository."""

import json
from pathlib import Path
from typing import Any

from v2kb.cli.atomic import write_whole
from v2kb.cli.checkout import Checkout
from v2kb.cli.exits import CliError

FILE = "specs.json"


def name_in(checkout: Checkout, file: str) -> str:
    """The file's path from the checkout's root, with slashes; as given where it lies outside."""
    path = Path(file).resolve()
    root = checkout.root.resolve()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else file


def spec_link(checkout: Checkout, file: str) -> tuple[str, str]:
    """(code, hash of the newest revision that came from here) of a file; empty texts where it was never submitted.

    Raises CliError.
    """
    known = _read(checkout).get(file, {})
    return str(known.get("code", "")), str(known.get("revision", ""))


def link_spec(checkout: Checkout, file: str, code: str, revision: str) -> None:
    """Keep that the file is this spec, at this revision. Raises CliError."""
    known = _read(checkout)
    said = {"code": code, "revision": revision}
    if known.get(file) == said:
        return
    try:
        text = json.dumps(known | {file: said}, indent=1, sort_keys=True, ensure_ascii=False)
        write_whole(checkout.folder / FILE, text + "\n")
    except OSError as error:
        raise CliError(f"{checkout.folder / FILE} can't be written: {error}.", "Make .v2kb writable.") from None


def _read(checkout: Checkout) -> dict[str, dict[str, Any]]:
    path = checkout.folder / FILE
    try:
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if not all(isinstance(one, dict) for one in known.values()):
            raise ValueError("its entries are no objects")
    except (OSError, ValueError, AttributeError) as error:
        raise CliError(f"{path} can't be read: {error}.", "Mend it, or remove it and give --spec CODE.") from None
    return known
