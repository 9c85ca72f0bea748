"""recrawl completion: let the shell complete verbs, options and their values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable

from recrawl.cli.parser_tree import CommandNode, whole_tree

EXAMPLES = """examples:
  eval "$(recrawl completion bash)"                                    in this shell, or in ~/.bashrc
  recrawl completion bash > ~/.local/share/bash-completion/completions/recrawl
  recrawl completion zsh > ~/.zfunc/_recrawl                           with ~/.zfunc in fpath, before compinit
"""
BASH = """# completion of recrawl for bash
_recrawl() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} name= values= options= i each
    for ((i = 1; i < COMP_CWORD; i++)); do
        each="${{name:+$name }}${{COMP_WORDS[i]}}"
        case "$each" in {names}) name=$each ;; esac
    done
    case "$name:$before" in
{values}    *)
        case "$name" in
{words}        esac
        [[ $word == -* ]] && values="$values $options"
        ;;
    esac
    COMPREPLY=($(compgen -W "$values" -- "$word"))
}}
complete -o default -F _recrawl recrawl
"""
ZSH = """#compdef recrawl
_recrawl() {{
    local name= values= options= i each
    for ((i = 2; i < CURRENT; i++)); do
        each="${{name:+$name }}${{words[i]}}"
        case "$each" in {names}) name=$each ;; esac
    done
    case "$name:${{words[CURRENT - 1]}}" in
{values}    *)
        case "$name" in
{words}        esac
        [[ $PREFIX == -* ]] && values="$values $options"
        ;;
    esac
    [[ -n $values ]] && compadd -- ${{=values}} && return
    _files
}}
if [[ ${{funcstack[1]}} == _recrawl ]]; then _recrawl "$@"; else compdef _recrawl recrawl; fi
"""


def add(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.description = "Print a script by which the shell completes recrawl's verbs, options and their values."
    parser.add_argument("shell", choices=("bash", "zsh"))


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    print(completion_script(args.shell), end="")


def completion_script(shell: str) -> str:
    """Return the script for bash or zsh, made from the options as they are."""
    nodes = whole_tree()
    names = "|".join(shlex.quote(node.name) for node in nodes if node.words)
    values = "".join(_values(node) for node in nodes)
    words = "".join(_words(node) for node in nodes)
    return (BASH if shell == "bash" else ZSH).format(names=names, values=values, words=words)


def _values(node: CommandNode) -> str:
    """Return a line for every option that takes one of some values."""
    return "".join(
        f"    {'|'.join(shlex.quote(f'{node.name}:{name}') for name in option.option_strings)})"
        f" values={_listed(map(str, option.choices))} ;;\n"
        for option in node.options()
        if option.choices
    )


def _words(node: CommandNode) -> str:
    """Return a line with what may stand next: names of commands, values of arguments, options."""
    values = [each.words[-1] for each in node.below()]
    values += [str(value) for argument in node.arguments() for value in argument.choices or ()]
    options = [name for option in node.options() for name in option.option_strings]
    return f"        {shlex.quote(node.name)}) values={_listed(values)} options={_listed(options)} ;;\n"


def _listed(words: Iterable[str]) -> str:
    return shlex.quote(" ".join(words))
