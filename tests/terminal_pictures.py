"""Draws what commands print in terminals of 80 and 120 columns, as SVG in docs/terminal (`make pictures`)."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text

from tests.fakes.serving import WHOLE, Serving, environment, serving, wait_until

FOLDER: Final = Path(__file__).resolve().parent.parent / "docs" / "terminal"
WIDTHS: Final = (80, 120)
LINES: Final = {
    "overview": "BTC",
    "signal": "signal SOL",
    "coins": "coins --sort volume_24h_usd --limit 12",
    "watch": "watch prices BTC ETH SOL --max 1",
    "help": "--help",
    "error": "coni risk BTC",
    "payment": "signal ETH",
}
"""Pictures by name, each with what is typed after `verdict`; `payment` is typed by a caller whose quota is spent."""

# Without the fonts that Rich's own template loads from another host.
_SVG: Final = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace(
    "Fira Code", "ui-monospace"
)


def printed(columns: int, line: str, url: str, key: str, home: str) -> str:
    """What a command prints in a terminal, with its escape sequences."""
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    variables = {**environment({}), "TERM": "xterm-256color", "HOME": home, "VERDICT_URL": url, "VERDICT_TOKEN": key}
    command = [sys.executable, "-m", "service", *line.split()]
    process = subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=variables, close_fds=True)
    os.close(inner)
    text = b""
    while True:
        try:
            piece = os.read(outer, 65_536)
        except OSError:  # the other end is closed
            break
        text += piece
    process.wait()
    os.close(outer)
    return text.decode().replace("\r\n", "\n")


def picture(columns: int, line: str, text: str) -> str:
    """An SVG of a terminal."""
    # What was drawn before the last screen was left, and lines that were taken off again, are not seen in the end.
    text = re.sub(r"\r\x1b\[2K[^\n\r]*(?=\r)", "", text.rpartition("\x1b[?1049l")[2]).replace("\r\x1b[2K", "")
    text = re.sub(r"\x1b\[\?\d+[hl]", "", text)
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True, color_system="truecolor")
    console.print(Text.from_ansi(f"$ verdict {line}\n{text.rstrip()}"))
    title = f"verdict {line}"
    return console.export_svg(title=title, code_format=_SVG, unique_id="terminal", font_aspect_ratio=0.61)


def pictures() -> Iterator[tuple[Path, str]]:
    """Every picture, with the file that it belongs to."""
    with TemporaryDirectory() as folder, serving(Path(folder) / "data", replay="frozen", **WHOLE) as service:
        wait_until(lambda: service.ask("/readyz")[0] == 200)
        pro, free = service.make_key("--tier", "pro"), service.make_key()
        spend(service, free)
        wait_until(lambda: not service.ask("/api/cli/coin/risk/SOL", pro)[2]["data"]["_stale_fields"])
        url = f"http://127.0.0.1:{service.port}"
        for name, line in LINES.items():
            for columns in WIDTHS:
                text = printed(columns, line, url, free if name == "payment" else pro, folder)
                yield (
                    FOLDER / f"{name}-{columns}.svg",
                    picture(columns, line, text.replace(f":{service.port}", ":8402")),
                )


def spend(service: Serving, key: str) -> None:
    """Ask until the quota is spent."""
    while service.ask("/api/cli/coin/risk/BTC", key)[0] == 200:
        pass


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pictures():
        path.write_text(text)
