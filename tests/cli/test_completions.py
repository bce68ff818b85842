"""Completions: what Click offers, and the scripts with which shells ask it."""

import shutil
import subprocess
import sys

import pytest

from service.cli.main import COMPLETE
from tests.cli.commanding import typed


def offered(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Click offers for the end of a line."""
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    told = typed(environment={COMPLETE: "bash_complete"})
    assert told.code == 0
    return [row.partition(",")[2] for row in told.out.splitlines()]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("verdict coin ", ["overview", "risk", "lookup", "by-id", "by-name", "by-contract", "historical", "sentiment"]),
        ("verdict coin h", ["historical"]),
        ("verdict coin historical BTC --unit ", ["h", "d"]),
        ("verdict watch f", ["funding"]),
        ("verdict coin historical BTC --unit d --cou", ["--count"]),
        ("verdict admin keys create --tier ", ["free", "access", "pro"]),
        ("verdict completions z", ["zsh"]),
        ("verdict serve --worke", ["--workers"]),
    ],
)
def test_what_may_come_next_is_offered(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert sorted(offered(line, monkeypatch)) == sorted(expected)


def test_after_an_unknown_word_the_known_ones_are_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "coin" in offered("verdict xyzzy ", monkeypatch)
    assert offered("verdict coin xyzzy ", monkeypatch) == offered("verdict coin ", monkeypatch)


def test_every_first_word_and_every_option_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"ask", "coin", "serve", "completions"} <= set(offered("verdict ", monkeypatch))
    assert {"--json", "--fields", "--help"} <= set(offered("verdict coin risk BTC --", monkeypatch))


@pytest.mark.process
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid(shell: str) -> None:
    told = typed("completions", shell)
    assert (told.code, COMPLETE in told.out) == (0, True)
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=told.out, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_unknown_shell_is_refused() -> None:
    assert typed("completions", "tcsh").code == 1


@pytest.mark.process
@pytest.mark.skipif(not shutil.which("bash"), reason="bash is not installed")
def test_bash_completes_with_the_printed_script() -> None:
    program = f'verdict() {{ "{sys.executable}" -m service "$@"; }}\n'
    script = f"{program}{typed('completions', 'bash').out}".replace("env COMP_WORDS", "COMP_WORDS")
    ask = 'COMP_WORDS=(verdict coin h); COMP_CWORD=2; _verdict_completion verdict; echo "${COMPREPLY[@]}"'
    done = subprocess.run(
        ["bash", "--norc", "-c", f"{script}\n{ask}"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == "historical"
