"""Every command of the command line, for a person at a terminal and for a program that reads a pipe."""

import json
import re
import shlex
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import chdir
from pathlib import Path
from typing import Final, NamedTuple

from tests.golden.answers import Answer, normalised
from tests.golden.start import COMMANDS, Output, Running

_LINES: Final = Path(__file__).resolve().parent / "commands.txt"
_SECTION: Final = re.compile(r"\[(\w+): (.+)\]")
_REMEMBERED: Final = {
    "prefix": re.compile(r"verdict_sk_[0-9A-Za-z]{8}"),
    "receipt": re.compile(r"rcp_[0-9A-Za-z]{22}"),
}
_RECEIPT: Final = "receipt.json"
_WRITTEN_S: Final = 60.0
"""Longest time until the service has written what it counts, as when a key was last used."""

_WALLET_KEY: Final = f"0x{1:064x}"
_QUESTIONS: Final = 10


class Line(NamedTuple):
    """A command line: who types it, the form of its answer, and what is typed after `verdict`."""

    who: str
    form: str
    typed: str

    @property
    def title(self) -> str:
        """Unique but for repeated lines."""
        words = f"verdict {self.typed}".strip()
        return " · ".join([f"{words} --json", self.who] if self.form == "--json" else [words, self.form, self.who])


async def answers_of_commands(running: Running, folder: Path) -> list[Answer]:
    """Type every command line, one after the other, in the folder that holds the service's folder `data`."""
    with chdir(folder):
        outputs = [(line.title, output) async for line, output in _type(running)]
        receipt = json.loads(Path(_RECEIPT).read_bytes())  # noqa: ASYNC240 - nothing else runs meanwhile
    known = {
        f":{running.port}": ":8402",
        receipt["signer"]: "<signer>",
        receipt["receipt"]["nonce"]: "<nonce>",
        receipt["receipt"]["transaction"]: "<transaction>",
    }
    times: Counter[str] = Counter()
    answers = []
    for title, output in outputs:
        times[title] += 1
        again = f" · {times[title]}" if times[title] > 1 else ""
        answers.append(Answer(f"{title}{again}", _shown(output, known)))
    return answers


async def _type(running: Running) -> AsyncIterator[tuple[Line, Output]]:
    environments = await _environments(running)
    values = {"key": environments["pro"]["VERDICT_TOKEN"], "prefix": "", "receipt": ""}
    before = ""
    for line in [*_helps(), *_lines()]:
        if line.who == "operator" != before:
            await running.clock.advance(_WRITTEN_S)
        before = line.who
        typed, _, file = line.typed.partition(" >> ")
        typed, _, stdin = typed.partition(" < ")
        for name, value in values.items():
            typed, stdin = typed.replace(f"{{{name}}}", value), stdin.replace(f"{{{name}}}", value)
        words = [*shlex.split(typed), *(["--json"] if line.form == "--json" else [])]
        run = running.at_terminal if line.form in {"terminal", "colour"} else running.command
        colour = {"CLICOLOR_FORCE": "1"} if line.form == "colour" else {}
        output = await run(*words, stdin=stdin, **environments[line.who], **colour)
        if file:
            Path(file).write_text(output.out, "utf-8")  # noqa: ASYNC240 - nothing else runs meanwhile
        for name, pattern in _REMEMBERED.items():
            if found := pattern.search(output.out + output.err):
                values[name] = found[0]
        yield line, output


def _shown(output: Output, known: Mapping[str, str]) -> str:
    """Exit code and standard output, then standard error if something is there; `␛` begins what is no letter."""
    out, err = (normalised(text, known).replace("\x1b[", "␛[").replace("\r", "␍") for text in output[1:])
    return f"exit {output.code}\n\n{out}" + (f"--- stderr\n{err}" if err else "")


def _helps() -> Iterator[Line]:
    groups = dict.fromkeys(words.split()[0] for words in COMMANDS if " " in words)
    for typed in ("", "--help", "-h", "--version", *(f"{words} --help" for words in (*groups, *COMMANDS))):
        yield Line("stranger", "terminal", typed)


def _lines() -> Iterator[Line]:
    who, forms = "", [""]
    for line in _LINES.read_text("utf-8").splitlines():
        if section := _SECTION.fullmatch(line):
            who, forms = section[1], section[2].split(", ")
        elif line and not line.startswith("#"):
            for form in forms:
                yield Line(who, form, line)


async def _environments(running: Running) -> Mapping[str, Mapping[str, str]]:
    """What each caller's environment holds."""

    def of(who: str, **more: str) -> dict[str, str]:
        home = Path("homes", who)
        home.mkdir(parents=True, exist_ok=True)
        keyring = "keyring.backends.null.Keyring"
        return {"HOME": str(home), "TERM": "dumb", "PYTHON_KEYRING_BACKEND": keyring, "VERDICT_URL": url, **more}

    url = f"http://127.0.0.1:{running.port}"
    pro, spent = await running.key("pro", "pro"), await running.key("spent", "free")
    made = {
        "pro": of("pro", VERDICT_TOKEN=pro),
        "spent": of("spent", VERDICT_TOKEN=spent),
        "mistyped": of("mistyped", VERDICT_TOKEN=pro[:-1] + ("a" if pro[-1] != "a" else "b")),
        "nonsense": of("nonsense", VERDICT_TOKEN="two words"),
        "nobody": of("nobody"),
        "stranger": of("stranger"),
        "wallet": of("wallet", VERDICT_WALLET_KEY=_WALLET_KEY),
        "unreachable": of("unreachable", VERDICT_TOKEN=pro, VERDICT_URL="http://127.0.0.1:9"),
        "elsewhere": of("elsewhere", VERDICT_TOKEN=pro, VERDICT_URL=f"{url}/elsewhere"),
        "buyer": of("buyer", VERDICT_TOKEN=spent, VERDICT_WALLET_KEY=_WALLET_KEY),
        "operator": {**of("operator"), **running.environment, "VERDICT_DATA_DIR": "data"},
        "lost": {**of("lost"), **running.environment, "VERDICT_DATA_DIR": "lost"},
    }
    for _ in range(_QUESTIONS):
        await running.command("market", "crossing", **made["spent"])
    return made
