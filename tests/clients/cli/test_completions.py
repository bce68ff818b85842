"""What shells complete, asked of the shells themselves where they are installed."""

import shutil
import subprocess
from collections.abc import Callable, Sequence

import pytest

from service.__main__ import SECTIONS
from service.clients.cli.command import Argument, Command
from service.clients.cli.fish import fish
from service.clients.cli.posix import bash, zsh
from service.clients.cli.tree import tree
from tests.clients.cli.commanding import typed

PATIENCE_S = 30.0
COMMANDS = [command for _, commands in SECTIONS for command in commands]
WRITERS: dict[str, Callable[[Sequence[Command]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

ASKS = {
    "bash": """
COMP_WORDS=("$@"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _verdict
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """
words=("$@"); CURRENT=$#; PREFIX="${words[-1]}"; _verdict
""",
    "fish": """
complete -C "$argv" | string split -f 1 \\t
""",
}
"""What a shell is given to complete; zsh's own part of it, which knows only keyboards, is stood in for."""

BEFORE = {
    "bash": "",
    "zsh": "compdef() {}; compset() { PREFIX=${PREFIX#*=} }; _files() { print -l *(N) }\n"
    'compadd() { shift; for one in "$@"; do [[ $one = $PREFIX* ]] && print -r -- $one; done }\n',
    "fish": "",
}


def completed(shell: str, line: str, *, commands: Sequence[Command] = COMMANDS, folder: str = "/") -> list[str]:
    """What a shell offers for the end of a line.

    Args:
        shell: Its name.
        line: As typed so far; a blank at its end begins a new word.
        commands: The table.
        folder: Where one stands.
    """
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    script = BEFORE[shell] + WRITERS[shell](commands) + ASKS[shell]
    bare = {"bash": ["--norc", "--noprofile", "-c"], "zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}[shell]
    words = [line] if shell == "fish" else [shell, *line.split(" ")]
    done = subprocess.run(
        [shell, *bare, script, *words], capture_output=True, text=True, timeout=PATIENCE_S, check=False, cwd=folder
    )
    assert done.stderr == ""
    return sorted(set(done.stdout.split()))


SHELLS = pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])


@SHELLS
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("verdict coin ", ["historical", "risk"]),
        ("verdict coin h", ["historical"]),
        ("verdict regime ", ["active", "confidence", "history", "signals"]),
        ("verdict coin historical BTC --unit ", ["d", "h"]),
        ("verdict watch f", ["funding"]),
        ("verdict coin historical BTC --unit d --cou", ["--count"]),
        ("verdict keys create --tier ", ["access", "free", "pro"]),
        ("verdict grants add --tier ", ["access", "pro"]),
        ("verdict regime --sym", ["--symbol"]),
        ("verdict completions z", ["zsh"]),
        ("verdict xyzzy ", []),
        ("verdict coin xyzzy ", []),
        ("verdict watch prices ", []),
        ("verdict watch --diff f", ["funding"]),
        ("verdict coin risk ", []),
        ("verdict coin risk BTC --fields ", []),
    ],
)
def test_a_shell_offers_what_may_come_next(shell: str, line: str, offered: list[str]) -> None:
    assert completed(shell, line) == offered


@SHELLS
def test_a_shell_offers_every_first_word_and_every_option(shell: str) -> None:
    assert completed(shell, "verdict ") == sorted({command.words.split()[0] for command in COMMANDS})
    [risk] = [command for command in COMMANDS if command.words == "coin risk"]
    options = sorted([*(argument.name for argument in risk.arguments if argument.named), "--help"])
    assert completed(shell, "verdict coin risk BTC --") == options


@SHELLS
def test_a_shell_offers_files_where_a_path_is_wanted(shell: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("here")
    (folder / "sol.json").touch()
    (folder / "eth.json").touch()
    assert completed(shell, "verdict verify ", folder=str(folder)) == ["eth.json", "sol.json"]
    assert "sol.json" in completed(shell, "verdict record --out ", folder=str(folder))


def test_bash_offers_a_value_behind_an_equals_sign_which_is_a_word_to_it() -> None:
    assert completed("bash", "verdict coin historical BTC --unit =") == ["d", "h"]
    assert completed("bash", "verdict transcripts highlights --macro = e") == ["elections", "energy", "etf"]


def test_zsh_offers_a_value_behind_an_equals_sign() -> None:
    assert completed("zsh", "verdict transcripts highlights --macro=e") == ["elections", "energy", "etf"]


def test_the_command_prints_what_a_shell_reads() -> None:
    for shell, write in WRITERS.items():
        assert typed("completions", shell) == (0, write(COMMANDS), "")
    assert typed("completions", "tcsh").code == 1


def test_what_is_hidden_is_offered_by_none() -> None:
    assert "--worker " not in bash(COMMANDS)
    assert "-l worker " not in fish(COMMANDS)


def test_words_that_are_no_shells_own_are_quoted_for_fish() -> None:
    row = Command("say", "say 'so' \\ it's done", "a:b", (Argument("--loud", "don't", kind="flag"),), example="")
    text = fish([row])
    assert "-d 'say \\'so\\' \\\\ it\\'s done'" in text
    assert "-l loud -d 'don\\'t'" in text


def test_the_tree_says_what_a_word_is_for_or_what_goes_on_from_it() -> None:
    rows = [
        Command(
            "coin risk", "risk", "a:b", (Argument("--x", "x", hidden=True), Argument("file", "")), example="", bare=True
        ),
        Command("coin past", "past", "a:b", example=""),
        Command("ask", "ask", "a:b", (Argument("how", "", choices=("a", "b")),), example=""),
    ]
    root, coin, risk, past, ask = tree(rows)
    assert root.words == {"coin": "risk, past", "ask": "ask"}
    assert (coin.path, coin.words, coin.files) == ("coin", {"risk": "risk", "past": "past"}, True)
    assert (risk.path, list(risk.options), list(past.choices), list(ask.choices)) == ("coin risk", [], [], ["a", "b"])
