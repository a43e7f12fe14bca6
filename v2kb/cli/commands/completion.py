"""A script for bash or zsh that completes commands, options and their values."""

import argparse
import shlex
from collections.abc import Iterator

from v2kb.cli.exits import CLEAR
from v2kb.cli.main import COMMANDS, parser_of
from v2kb.cli.terminal import Terminal

EXAMPLE = "source <(v2kb completion bash)"
_BASH = """\
_v2kb() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words={commands}
  else
    case "${{COMP_WORDS[1]}} $before" in
{values}
      *) case "${{COMP_WORDS[1]}}" in
{options}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _v2kb v2kb
"""
_ZSH = """\
#compdef v2kb
_v2kb() {{
  local -a found
  if (( CURRENT == 2 )); then
    found=(
{commands}
    )
    _describe command found
    return
  fi
  case "${{words[2]}} ${{words[CURRENT-1]}}" in
{values}
    *) case "${{words[2]}}" in
{options}
    esac ;;
  esac
  if [[ ${{words[CURRENT]}} == -* || ${{words[CURRENT-1]}} == -* ]] && (( $#found )); then
    compadd -- $found
  else
    (( $#found )) && compadd -- ${{found:#-*}}
    _files
  fi
}}
if [ "$funcstack[1]" = "_v2kb" ]; then _v2kb "$@"; else compdef _v2kb v2kb; fi
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(read: argparse.Namespace, terminal: Terminal) -> int:
    """0: written; put the line of the example into your shell's start-up file."""
    options = {name: list(_words(parser)) for name, parser in _parsers()}
    values = [
        (f"{name} {option}", choices)
        for name, parser in _parsers()
        for action in parser._actions
        if action.choices
        for option in action.option_strings
        for choices in [[str(choice) for choice in action.choices]]
    ]
    if read.shell == "bash":
        text = _BASH.format(
            commands=shlex.quote(" ".join(COMMANDS)),
            values="\n".join(f'      "{on}") words={shlex.quote(" ".join(words))} ;;' for on, words in values),
            options="\n".join(f"        {on}) words={shlex.quote(' '.join(ws))} ;;" for on, ws in options.items()),
        )
    else:
        text = _ZSH.format(
            commands="\n".join(f"      {shlex.quote(f'{name}:{line}')}" for name, line in COMMANDS.items()),
            values="\n".join(f'    "{on}") found=({shlex.join(words)}) ;;' for on, words in values),
            options="\n".join(f"      {on}) found=({shlex.join(words)}) ;;" for on, words in options.items()),
        )
    if terminal.json:
        terminal.document({"shell": read.shell, "script": text})
    else:
        terminal.line(text.rstrip())
    return CLEAR


def _parsers() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    (commands,) = (action for action in parser_of(COMMANDS)._actions if isinstance(action, argparse._SubParsersAction))
    yield from commands.choices.items()


def _words(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What may come next: choices of places, then options."""
    for action in parser._actions:
        if action.choices and not action.option_strings:
            yield from map(str, action.choices)
    for action in parser._actions:
        yield from (option for option in action.option_strings if option.startswith("--"))
