"""Secrets that a one-machine installation makes for itself and keeps beside its database."""

import os
import secrets
from pathlib import Path


def local_secret(data_dir: Path, name: str, *, keep: bool = True) -> str:
    """Return the secret kept in `data_dir/name`, made on first use and readable by its owner only; without `keep` one
    that is made is not stored.

    Two processes that start at once agree on one value: the first to create the file wins.
    """
    path = data_dir / name
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        if not keep:
            return secrets.token_urlsafe(48)
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        candidate = path.with_name(f".{name}.{os.getpid()}")
        candidate.touch(mode=0o600)
        candidate.write_text(secrets.token_urlsafe(48), encoding="ascii")
        try:
            os.link(candidate, path)
        except FileExistsError:
            pass
        finally:
            candidate.unlink()
        return path.read_text(encoding="ascii").strip()
