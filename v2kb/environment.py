"""Makes the virtual environment of this checkout: `python3 -m v2kb.environment web|worker|test|meaning`.

Runs on a bare Python with nothing installed, says what is missing and how to get it, and mends a half-made environment.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = {
    "web": "requirements.txt",
    "worker": "requirements-worker.txt",
    "test": "requirements-dev.txt",
    "meaning": "requirements-meaning.txt",
}
OPTIONS = {"meaning": ["--no-deps", "--require-hashes"]}
"""More of pip's options for a kind."""
OLDEST = (3, 11)


class CannotPrepare(Exception):
    """The environment can't be made; the text says why and what to do."""


def _digest(name: str) -> str:
    """Hash of a requirements file and of the files that it includes."""
    digest = hashlib.sha256()
    text = (ROOT / name).read_text(encoding="utf-8")
    digest.update(text.encode())
    for line in text.splitlines():
        if line.startswith("-r "):
            digest.update(_digest(line[3:].strip()).encode())
    return digest.hexdigest()


def _stamp(kind: str) -> Path:
    return VENV / f".v2kb-{kind}"


def is_ready(kind: str) -> bool:
    """Whether the environment holds what `kind` pins, as of the last successful installation."""
    stamp = _stamp(kind)
    return PYTHON.exists() and stamp.exists() and stamp.read_text() == _digest(REQUIREMENTS[kind])


def _works() -> bool:
    """Whether the environment's Python starts and has pip."""
    if not PYTHON.exists():
        return False
    return (
        subprocess.run(
            [PYTHON, "-c", "import pip, sys; sys.exit(sys.version_info < (3, 11))"], capture_output=True
        ).returncode
        == 0
    )


def _make_venv() -> None:
    made = subprocess.run([sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True)
    if made.returncode:
        raise CannotPrepare(
            "The virtual environment could not be made. On Debian: apt-get install python3-venv\n"
            + (made.stderr or made.stdout).strip()
        )


def pip_install(python: str, kind: str) -> list[str]:
    """The command that installs what `kind` pins for this Python."""
    options = ["--disable-pip-version-check", "--quiet", *OPTIONS.get(kind, [])]
    return [python, "-m", "pip", "install", *options, "-r", str(ROOT / REQUIREMENTS[kind])]


def install(kind: str) -> None:
    """Make the environment if needed and install what `kind` pins. Raises CannotPrepare with what to do.

    Pip's own environment variables and configuration are honoured (index, proxy, find-links).
    """
    if sys.version_info < OLDEST:
        raise CannotPrepare(
            f"v2kb needs Python 3.11 or newer; {sys.executable} is {sys.version.split()[0]}.\n"
            "Name another one: make run PYTHON=python3.12"
        )
    if not _works():
        print(f"Making the virtual environment in {VENV.name} ...", flush=True)
        _make_venv()
    print(f"Installing {REQUIREMENTS[kind]} (once; takes a minute or two) ...", flush=True)
    _stamp(kind).unlink(missing_ok=True)
    if subprocess.run(pip_install(str(PYTHON), kind)).returncode:
        raise CannotPrepare(
            f"Installing {REQUIREMENTS[kind]} failed; pip's own message stands above.\n"
            "Without network: bring the packages as wheels and set PIP_FIND_LINKS=/folder PIP_NO_INDEX=1.\n"
            "What was installed so far is kept; run the same command again."
        )
    _stamp(kind).write_text(_digest(REQUIREMENTS[kind]))


def main(arguments: list[str]) -> int:
    """Prepare the environment for `web`, `worker`, `test` or `meaning`. Returns the exit status."""
    kind = arguments[0] if arguments else "web"
    if kind not in REQUIREMENTS:
        print(f"usage: python3 -m v2kb.environment {'|'.join(REQUIREMENTS)}", file=sys.stderr)
        return 2
    try:
        if not (is_ready(kind) and _works()):
            install(kind)
    except CannotPrepare as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to go on.", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main(sys.argv[1:]))
