"""Makes the `.v2kb` folder of a repository, and on request a hook that checks specs before each commit."""

import argparse
import os
import subprocess
import tomllib
from pathlib import Path

from v2kb.cli.atomic import SHARED, write_whole
from v2kb.cli.checkout import CONFIG, FOLDER, STALE_DAYS
from v2kb.cli.exits import BLOCKED, CLEAR, CliError
from v2kb.cli.logins import server_address
from v2kb.cli.terminal import Terminal
from v2kb.cli.toml import quoted

EXAMPLE = "v2kb init --server https://v2kb.example.org --hook"
HOOK_MARK = "# v2kb pre-commit"
_IGNORED = """\
# What is of one person or one machine. config.toml, snapshot.jsonl and specs.json belong to the repository.
outbox/
receipts/
*.tmp
"""
_CONFIG = """\
# Of `v2kb` in this repository. Tokens are never kept here: `v2kb login` keeps them in your own folder.
server = {server}
# A snapshot older than this many days makes commands end with 4.
stale_after_days = {days}
# The machine and its state that `v2kb record` writes where --env does not say.
env = {env}
"""
_HOOK = """\
#!/bin/sh
{mark}: the spec rules over the specs of this commit, as they are staged. Warnings pass; what blocks does not.
command -v v2kb >/dev/null 2>&1 || {{ echo "v2kb is not installed; specs were not checked." >&2; exit 0; }}
top=$(git rev-parse --show-toplevel) && staged=$(mktemp -d) || exit 1
trap 'rm -rf "$staged"' EXIT
git diff --cached --name-only --diff-filter=ACMR -z -- {paths} | git checkout-index -z --stdin --prefix="$staged/"
cd "$staged" || exit 1
find . -type f | sort | {{
  blocked=0
  while IFS= read -r file; do
    V2KB_DIR="$top" v2kb check "${{file#./}}" </dev/null
    case $? in 0|1|4) ;; *) blocked=1 ;; esac
  done
  exit $blocked
}}
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--server", required=True, metavar="ADDRESS", help="where the server is")
    parser.add_argument("--stale-after-days", type=int, metavar="DAYS", help=f"age of an old snapshot; {STALE_DAYS}")
    parser.add_argument("--env", metavar="TEXT", help="machine and state that `v2kb record` writes by itself")
    parser.add_argument("--hook", action="store_true", help="also a pre-commit hook that checks changed specs")
    parser.add_argument("--specs", action="append", default=[], metavar="PATTERN",
                        help="git's pattern for files that are specs; *spec*.md in any case")  # fmt: skip


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: made or brought up to date, 2: a hook of somebody else is in the way, 3: it can't be written."""
    root = _root(Path.cwd())
    folder = root / FOLDER
    server = server_address(read.server)
    if read.stale_after_days is not None and read.stale_after_days < 1:
        raise CliError("--stale-after-days is not 1 or more.", f"Leave it out for {STALE_DAYS}.")
    known = _known(folder / CONFIG)
    days = read.stale_after_days or known.get("stale_after_days", STALE_DAYS)
    env = known.get("env", "") if read.env is None else read.env
    text = _CONFIG.format(server=quoted(server), days=days, env=quoted(env))
    said = []
    try:
        folder.mkdir(exist_ok=True)
        for path, wanted in ((folder / CONFIG, text), (folder / ".gitignore", _IGNORED)):
            was = path.read_text(encoding="utf-8") if path.exists() else None
            if was != wanted:
                write_whole(path, wanted)
            said.append((path, "made" if was is None else "unchanged" if was == wanted else "changed"))
    except OSError as error:
        raise CliError(f"{folder} can't be written: {error.strerror}.", "Make the folder writable.") from None
    blocked = ""
    if read.hook:
        hook, state, blocked = _hook(root, read.specs or [":(icase)*spec*.md"])
        said.append((hook, state))
    if terminal.json:
        terminal.document({"server": server, "files": {str(path): state for path, state in said}, "blocked": blocked})
    else:
        for path, state in said:
            terminal.line(f"{state:<9} {path}")
    if blocked:
        terminal.say(blocked)
        return BLOCKED
    if not terminal.json:
        terminal.line("Next: `v2kb login`, then `v2kb sync`.")
    return CLEAR


def _root(here: Path) -> Path:
    """The folder that holds `.v2kb` or is a repository of git, here or above; else this one."""
    for folder in (here, *here.parents):
        if (folder / FOLDER).is_dir() or (folder / ".git").exists():
            return folder
    return here


def _known(path: Path) -> dict:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    except (OSError, ValueError) as error:
        raise CliError(f"{path} can't be read: {error}.", "Mend or remove it, then run this again.") from None


def _hook(root: Path, patterns: list[str]) -> tuple[Path, str, str]:
    """(the hook, what was done, what stands in the way). A hook that is not ours is left as it is."""
    try:
        asked = subprocess.run(["git", "rev-parse", "--git-path", "hooks"], cwd=root, capture_output=True, text=True)
    except OSError:
        raise CliError("git is not installed.", "Leave --hook out.") from None
    if asked.returncode:
        raise CliError(f"{root} is no repository of git.", "Run `git init` first, or leave --hook out.")
    path = (root / asked.stdout.strip()).resolve() / "pre-commit"
    quoted = " ".join("'" + pattern.replace("'", "'\\''") + "'" for pattern in patterns)
    wanted = _HOOK.format(mark=HOOK_MARK, paths=quoted)
    was = path.read_text(encoding="utf-8", errors="replace") if path.exists() else None
    if was is not None and HOOK_MARK not in was:
        return path, "kept", (
            f"{path} is a hook of your own and was left as it is. Put `v2kb check FILE` into it where it fits; it ends"
            " with 2 for what blocks."
        )  # fmt: skip
    if was != wanted:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, wanted, SHARED)
    os.chmod(path, 0o755)
    return path, "made" if was is None else "unchanged" if was == wanted else "changed", ""
