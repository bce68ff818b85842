"""A command as the system runs it: its streams may be full or closed, and somebody may end it at any moment."""

import importlib
import io
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from service import __main__
from service.cli import ascii_fallback
from service.cli.commands import load
from service.cli.main import COMPLETE
from tests.cli.commanding import typed
from tests.cli.snapshots import KEPT
from tests.fakes.serving import PATIENCE_S, environment

_FULL = "The output could not be written: No space left on device."
_CLOSED = "The output could not be written: Bad file descriptor."


def in_shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run a line of a shell in which `verdict` is the command."""
    return subprocess.run(
        ["sh", "-c", f'verdict() {{ "{sys.executable}" -m service "$@"; }}; {command}'],
        env=environment({"url": "http://127.0.0.1:9"}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.process
@pytest.mark.parametrize(
    ("command", "code", "err"),
    [
        ("verdict completions bash >/dev/full", 1, f"verdict: {_FULL}\n"),
        ("verdict config path >&-", 1, f"verdict: {_CLOSED}\n"),
        ("verdict config path <&- 2>&- >/dev/null", 0, ""),
        ("verdict coin risk BTC 2>/dev/full", 6, ""),
    ],
)
def test_a_stream_that_takes_nothing_is_no_defect_and_changes_no_other_exit_code(
    command: str, code: int, err: str
) -> None:
    done = in_shell(command)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", err)


@pytest.mark.process
def test_standard_input_that_is_closed_is_empty() -> None:
    done = in_shell("verdict ask - <&- 2>&1 >/dev/null")
    assert (done.returncode, "The question is empty" in done.stdout) == (1, True)


def test_programs_read_that_the_output_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    from service.cli import calling  # noqa: PLC0415 - as it is patched

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(calling, "call", full)
    monkeypatch.setattr("service.cli.main._discard", lambda _: None)
    assert f'"OUTPUT_LOST", "message": "{_FULL}"' in typed("coin", "risk", "BTC").err


@pytest.mark.process
def test_an_interrupt_while_the_table_is_loaded_leaves_no_traceback() -> None:
    code = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # what a shell starts behind itself ignores it
        "class Finder:\n"
        "    def find_spec(name, *_):\n"
        "        if name == 'service.cli.commands':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder)\n"
        "from service.__main__ import main\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=PATIENCE_S, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_an_interrupt_before_a_command_runs_is_one_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(__main__, "run", interrupted)
    monkeypatch.setattr(sys, "stdout", sys.__stdout__)
    monkeypatch.setattr(sys, "stderr", sys.__stderr__)
    assert __main__.main() == 130


def test_an_interrupt_waits_until_a_command_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a module that is written in C ends the interpreter."""
    (tmp_path / "slow_to_load.py").write_text(
        "import signal\nsignal.raise_signal(signal.SIGINT)\nloaded = True\ndef run(): pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # behind a shell it is ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            load("slow_to_load:run")
    finally:
        signal.signal(signal.SIGINT, before)
    assert sys.modules.pop("slow_to_load").loaded


@pytest.mark.parametrize(
    ("terminal", "encoding", "shown"),
    [
        (True, "ascii", b"^ UP ### *_ | \\xe9 \\u6f22 ~"),
        (True, "latin-1", b"^ UP ### *_ | \xe9 \\u6f22 ~"),
        (True, "utf-8", "▲ UP █▓▉ ⡠▁ ┤ é 漢 …".encode()),
        (False, "ascii", "▲ UP █▓▉ ⡠▁ ┤ é 漢 …".encode("ascii", "backslashreplace")),
    ],
)
def test_a_terminal_without_a_letter_shows_one_like_it_and_a_program_reads_its_code(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, encoding: str, shown: bytes
) -> None:
    class Stream(io.TextIOWrapper):
        def isatty(self) -> bool:
            return terminal

    def tell(*_: object) -> int:
        sys.stdout.write("▲ UP █▓▉ ⡠▁ ┤ é 漢 …")
        return 0

    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", Stream(raw, encoding))
    monkeypatch.setattr(sys, "stderr", Stream(io.BytesIO(), encoding))
    monkeypatch.setattr(__main__, "run", tell)
    assert __main__.main() == 0
    sys.stdout.flush()
    assert raw.getvalue() == shown


def test_every_letter_that_is_drawn_has_one_as_wide_that_stands_for_it() -> None:
    drawn = {letter for path in KEPT.glob("*.txt") for letter in path.read_text() if not letter.isascii()}
    assert len(drawn) > 50
    assert {letter for letter in drawn if len(letter.encode("ascii", ascii_fallback.ERRORS)) != 1} == set()
    shown = [chr(code).encode("ascii", ascii_fallback.ERRORS) for code in range(0x80, 0x10000)]
    assert {text for text in shown if len(text) != 1 and not text.startswith(b"\\")} == set()


@pytest.mark.process
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_is_valid(shell: str) -> None:
    told = typed("completions", shell)
    assert (told.code, COMPLETE in told.out) == (0, True)
    if shutil.which(shell):
        done = subprocess.run([shell, "-n"], input=told.out, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


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


def test_on_windows_one_line_says_what_to_use_instead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.name", "nt")
    with pytest.raises(SystemExit, match=r"Windows is not supported\. Use .* \(WSL\)\.\Z"):
        importlib.reload(__main__)
