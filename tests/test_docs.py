"""README and docs are part of the product: their examples, tables and promises are checked against the code."""

import http.client
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, nullcontext, suppress
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple
from unittest import mock
from urllib.parse import unquote

import pytest
from eth_account import Account
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from service.__main__ import run
from service.access.quota import STARTER
from service.admin.serve import describe
from service.cli.commands import read_catalogue
from service.cli.route_command import RouteCommand
from service.client import errors
from service.client.answer import RefusedError
from service.client.errors import UsageError
from service.mcp import http_guard as tool_guard
from service.mcp import serving as tool_serving
from service.mcp import tool_results
from service.mcp.tools import TOOLS
from service.settings import Settings, SettingsError
from tests.cli.commanding import options
from tests.cli.commanding import typed as run_line
from tests.commands_page import EVERY
from tests.fakes.serving import PATIENCE_S, WHOLE, Serving, environment, serving, wait_until
from tests.market.recordings import DATA, needs_recordings

ROOT = Path(__file__).resolve().parent.parent
ROUTES = ROOT / "docs" / "routes.md"  # generated, with a test of its own
PAGES = [path for path in sorted((ROOT / "docs").glob("*.md")) if not path.is_symlink() and path != ROUTES]
README = (ROOT / "README.md").read_text()
DOCS = "\n".join(path.read_text() for path in PAGES)
PRICED = [row for row in read_catalogue() if row.price]
FREE = {
    "ask",
    "manifest",
    "billing tier",
    "billing receipts",
    "whoami",
    "config list",
    "spending show",
    "spending receipts",
}
"""Those among the others whose example is run here as well."""

WALLET = b"\x5a" * 32
PASSWORD = "correct horse battery staple"
BROWSER = "verdict login"
"""Waits for somebody's browser; its tests stand beside the page's."""


def section(title: str) -> str:
    return re.split(r"^#+ ", DOCS.split(f"# {title}\n", 1)[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    """The cells of all its tables, without their heads."""
    lines = re.findall(r"^\| .*$", re.sub(r"^\| .*\n\|---.*$", "", text, flags=re.MULTILINE), re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, str]]:
    """The service as it stands at the end of its recording, and a key; its first user is somebody else, on no plan."""
    with serving(tmp_path_factory.mktemp("data"), replay="frozen", **WHOLE) as service:
        service.make_key()
        yield service, service.make_key("--tier", "pro")


@pytest.fixture
def asked(running: tuple[Serving, str]) -> Callable[[str], dict[str, Any]]:
    """Asks the service once it has something to say."""
    service, key = running

    def ask(target: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def answers() -> bool:
            status, _, found["body"] = service.ask(target, key)
            assert status in {200, 503}, found
            return status == 200 and not found["body"]["data"].get("_stale_fields")

        wait_until(answers)
        body: dict[str, Any] = found["body"]
        return body

    return ask


@pytest.mark.gate
@pytest.mark.process
def test_the_example_answer_is_what_the_service_comes_to_answer(asked: Callable[[str], dict[str, Any]]) -> None:
    examples: list[str] = re.findall(r"```console\n\$ curl [^\n]*\n(\{\n.*?\n\})\n```", README + DOCS, re.DOTALL)
    shown, again = examples
    assert shown == again
    written = ""

    def is_shown() -> bool:
        nonlocal written
        answer = asked("/api/cli/coin/risk/BTC")
        summary = answer["data"]["sentiment_summary"]  # a long line, cut on the page after its first figure
        answer["data"]["sentiment_summary"] = re.sub(r"(days, ).*(\)\.)", r"\1…\2", summary, count=1)
        written = json.dumps(answer, indent=4, ensure_ascii=False)
        return written == shown

    try:
        wait_until(is_shown)
    except AssertionError:
        assert written == shown


def example(command: str) -> str:
    """What the pages show that a command prints."""
    shown = DOCS.split(f"$ {command}\n", 1)[1]
    return shown.split("```", 1)[0]


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.promise("question.text")
def test_the_question_it_shows_is_answered_like_that(running: tuple[Serving, str]) -> None:
    service, key = running
    shown = re.search(r"-d '(\{.*?\})'\n(.*?)```", section("A question in words"), re.DOTALL)
    assert shown
    answer = ""

    def is_shown() -> bool:
        nonlocal answer
        fields = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)) as connection:
            connection.request("POST", "/api/cli", shown[1], fields)
            answer = connection.getresponse().read().decode()
        return answer == shown[2]

    try:
        wait_until(is_shown)
    except AssertionError:
        assert answer == shown[2]


@pytest.mark.gate
@pytest.mark.process
def test_the_stream_it_shows_is_told_like_that(running: tuple[Serving, str]) -> None:
    service, key = running
    shown = example("""curl -sN -H "Authorization: Bearer $KEY" 'http://127.0.0.1:8402/api/cli/watch/funding?max=1'""")
    told = ""

    def is_shown() -> bool:
        nonlocal told
        with closing(http.client.HTTPConnection("127.0.0.1", service.port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/api/cli/watch/funding?max=1", headers={"Authorization": f"Bearer {key}"})
            told = _alike(connection.getresponse().read().decode())
        return told == _alike(shown)

    try:
        wait_until(is_shown)
    except AssertionError:
        assert told == _alike(shown)


def _alike(lines: str) -> str:
    """Lines of a stream without what differs from run to run."""
    return re.sub(r'"tick":\d+', '"tick":0', re.sub(r'"cursor":"[^"]+"', '"cursor":""', lines))


class Said(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    """Somebody sits at it."""

    def isatty(self) -> bool:
        return True


class Person:
    """Somebody with a home of their own, at a terminal of 80 columns.

    Args:
        home: Where they are, and what is kept for them.
        service: Whom they ask.
        settings: Further environment.
    """

    def __init__(self, home: Path, service: Serving, **settings: str) -> None:
        self.home, self.port = home, service.port
        url = f"http://127.0.0.1:{service.port}"
        self.environment = {"HOME": str(home), "COLUMNS": "80", "TERM": "dumb", "VERDICT_URL": url, **settings}

    def types(self, line: str, typed: str = "") -> Said:
        """Run a line as a shell does, and answer what it asks for."""
        words = shlex.split(line, comments=True)[1:]
        end = next((place for place, word in enumerate(words) if word in {">", "|"}), len(words))
        out, err = Terminal(), Terminal()
        pipe = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
        with (
            mock.patch.multiple(sys, stdin=Terminal(typed), stdout=out if end == len(words) else pipe, stderr=err),
            mock.patch("service.client.wallet.getpass", return_value=typed.rstrip()),
        ):
            code = run(words[:end], self.environment)
        pipe.seek(0)
        shown, told = (stream.getvalue().replace(f":{self.port}", ":8402") for stream in (out, err))
        return Said(code, shown or self._hand_on(words[end:], pipe.read()), told)

    def _hand_on(self, rest: list[str], out: str) -> str:
        if rest[:1] == [">"]:
            (self.home / rest[1]).write_text(out)
        elif rest:
            return subprocess.run(rest[1:], input=out, capture_output=True, text=True, check=True).stdout
        return "" if rest[:1] == [">"] else out


@pytest.fixture
def person(running: tuple[Serving, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Person:
    """Whoever has the key without an end to its questions."""
    service, key = running
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    return Person(tmp_path, service, VERDICT_TOKEN=key)


def is_like(shown: str, printed: str) -> bool:
    """Whether something is what was shown; a line … stands for any number of lines."""
    pattern = "(?:.*\n)*?".join(map(re.escape, re.split(r"^…\n", shown, flags=re.MULTILINE)))
    return re.fullmatch(pattern, printed) is not None


def comes_to_print(person: Person, line: str, shown: str) -> None:
    """Type a line until it prints what is shown: a service that has just begun does not know all of it yet."""
    said = Said(0, "", "")

    def is_shown() -> bool:
        nonlocal said
        said = person.types(line)
        return is_like(shown, said.out)

    try:
        wait_until(is_shown)
    except AssertionError:
        assert said.out == shown, said


def outputs(title: str) -> list[tuple[str, str]]:
    """Commands of a section that are shown with what they print."""
    blocks = "".join(re.findall(r"```console\n(.*?)```", section(title), re.DOTALL))
    found = re.findall(r"^\$ (verdict .*)\n((?:(?!\$ ).*\n)*)", blocks, re.MULTILINE)
    assert found
    return [(line, shown) for line, shown in found if shown]


def lines(title: str) -> list[str]:
    """Commands of a section that are shown without."""
    blocks = "".join(re.findall(r"```(?:sh|console)\n(.*?)```", section(title), re.DOTALL))
    return [line for line in re.findall(r"^(?:\$ )?(verdict .*)$", blocks, re.MULTILINE) if line]


@pytest.mark.gate
@pytest.mark.process
def test_who_keeps_the_key_that_make_run_prints_is_told_who_they_are(
    person: Person, running: tuple[Serving, str]
) -> None:
    del person.environment["VERDICT_TOKEN"]
    [whoami] = [shown for line, shown in outputs("Command line") if line == "verdict whoami"]
    made = running[0].verdict("admin", "keys", "create", "--name", "x", "--user", "1", "--tier", "pro", "--json")
    first = json.loads(made.stdout)["key"]
    said = person.types("verdict login --token", f"{first}\n")
    assert (said.code, said.out.startswith("The key works at http://127.0.0.1:8402")) == (0, True), said
    assert person.types("verdict whoami").out == whoami


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.parametrize("title", ["Command line", "A verdict you can check"])
def test_what_it_shows_in_a_terminal_is_what_is_printed_there(person: Person, title: str) -> None:
    for line, shown in outputs(title):
        if line == "verdict verify sol.json":
            person.types("verdict signal SOL > sol.json")
        if line != "verdict whoami":
            comes_to_print(person, line, shown)


@pytest.mark.gate
@pytest.mark.process
def test_each_line_it_shows_in_a_terminal_can_be_typed(person: Person, running: tuple[Serving, str]) -> None:
    for line in lines("Command line"):
        ends = " --max 1" if "watch" in line else ""

        def is_done(line: str = line.partition(" #")[0] + ends) -> bool:
            said = person.types(line, f"{running[1]}\n")
            assert said.code in {errors.DONE, errors.UNAVAILABLE}, (line, said)
            return said.code == errors.DONE

        wait_until(is_done)
    assert json.loads((person.home / "health.json").read_text())["data"]


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.promise("signin.keystore")
def test_each_line_it_shows_of_signing_in_can_be_typed(person: Person) -> None:
    del person.environment["VERDICT_TOKEN"]
    keystore = Account.encrypt(WALLET, PASSWORD, kdf="pbkdf2", iterations=2)
    (person.home / "wallet.json").write_text(json.dumps(keystore))
    typed = [line.partition(" #")[0].strip() for line in lines("Signing in")]
    assert BROWSER in typed
    for line in typed:
        if line != BROWSER:
            said = person.types(line, f"{PASSWORD}\n")
            assert said.code == errors.DONE, (line, said)
    assert person.types("verdict whoami").code == errors.UNKNOWN_CALLER


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.promise("clients.settings")
def test_who_has_spent_their_questions_pays_as_it_is_shown(person: Person, tmp_path: Path) -> None:
    with serving(tmp_path / "data") as service:  # its own time goes on: a signature is good for minutes
        wallet = {"VERDICT_TOKEN": service.make_key(), "VERDICT_WALLET_KEY": f"0x{WALLET.hex()}"}
        payer = Person(person.home, service, **wallet)
        signer = service.ask("/api/cli/manifest")[2]["data"]["receiptSigner"]
        [(line, shown)] = outputs("Paying")
        assert any(payer.types(line, "n\n").code == errors.UNPAID for _ in range(10 * STARTER))
        said = payer.types(line, "y\n")
        [receipt] = set(re.findall(r"rcp_\w+", said.err))
        told = said.err.replace("[y/N] ", "[y/N] y\n").replace(receipt, re.findall(r"rcp_\w+…", shown)[0]) + said.out
        assert is_like(shown, told), told
        assert payer.types(f"verdict billing show {receipt} > receipt.json").code == errors.DONE
        assert payer.types(f"verdict admin receipts verify receipt.json --signer {signer}").code == errors.DONE
        assert receipt in payer.types("verdict spending receipts").out
        assert "0.005 of 1.00 USDC" in payer.types("verdict spending").out
        assert payer.types("verdict login --token", wallet["VERDICT_TOKEN"]).code == errors.DONE
    for inline in re.findall(r"`(verdict config set \S+ [^`]+)`", DOCS):
        assert payer.types(inline).code == errors.DONE, inline
    kept = re.findall(r"`~/(\S+)`", section("Command line"))
    assert len(kept) == 3
    assert all((person.home / path).exists() for path in kept), kept


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.parametrize("words", sorted({"coin overview", *FREE, *(row.words for row in PRICED)}))
def test_the_example_of_each_command_that_asks_is_answered(person: Person, words: str) -> None:
    example = getattr(EVERY[words], "example")  # noqa: B009 - each is a VerdictCommand

    def is_answered() -> bool:
        said = person.types(example)
        assert said.code in {errors.DONE, errors.UNAVAILABLE}, said
        assert "does not know the form" not in said.err
        return said.code == errors.DONE

    wait_until(is_answered)


@pytest.mark.gate
@pytest.mark.process
def test_each_route_it_says_can_be_asked_is_what_the_command_beside_it_asks(person: Person) -> None:
    asked = set()
    for path, command, _ in rows(section("What you can ask")):
        line = command.strip("`")
        meant, _ = options(*shlex.split(line)[1:])
        assert isinstance(meant, RouteCommand)
        asked.add(meant.row.words)
        sent = person.types(f"{line} --dry-run").out.splitlines()[0].removeprefix("GET http://127.0.0.1:8402")
        if meant.row.default:  # what it does alone is what the route does without `action`
            sent = re.sub(r"[?&]action=\w+&?", "?", sent).rstrip("?")
        sent = sent.removesuffix("?detail=brief")  # as on every terminal
        assert unquote(sent.replace("+", "%20")) == unquote(path.strip("`"))
    assert asked == {row.words for row in PRICED}


def mentioned() -> list[str]:
    """Every command line that stands anywhere in README or docs."""
    text = README + DOCS
    blocks = re.findall(r"^(?:\$ | {4})?(verdict (?!= ).*)$", text, re.MULTILINE)
    return [*blocks, *re.findall(r"`(verdict [^`]+)`", text), *re.findall(r"<\((verdict [^)]+)\)", text)]


def leading(words: list[str]) -> list[str]:
    """The first words of a line, as far as they name a command or a group."""
    count = 0
    while count < len(words) and any(one.split()[: count + 1] == words[: count + 1] for one in EVERY):
        count += 1
    assert count or not words or words[0].startswith("-") or words[0].isupper(), words
    return words[:count]


@pytest.mark.parametrize("line", sorted(set(mentioned())))
def test_every_command_it_names_is_one_and_has_help(line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = words[: next((place for place, word in enumerate(words) if word in {">", "|"}), len(words))]
    if words == ["COMMAND", "--help"]:
        return
    named = leading(words)
    shown = run_line(*named, "--help")
    assert (shown.code, shown.out.startswith("Usage: verdict")) == (0, True)
    is_group = any(one.split()[: len(named)] == named != one.split() for one in EVERY)
    if words[-1:] == ["--help"]:
        return
    with suppress(UsageError) if named == words or is_group else nullcontext():  # only named: may lack arguments
        options(*words)


@pytest.mark.gate
@pytest.mark.process
def test_each_example_of_the_python_client_runs(
    running: tuple[Serving, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    service, key = running
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=list))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    examples = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.DOTALL)
    names: dict[str, Any] = {"KEY": key, "WALLET_KEY": WALLET.hex()}
    for example in examples:
        source = example.replace("http://127.0.0.1:8402", f"http://127.0.0.1:{service.port}")

        def has_run(source: str = source) -> bool:
            try:
                exec(source, names)  # noqa: S102 - the examples of our own page
            except RefusedError as error:  # a service that has just begun does not know everything yet
                if error.status != HTTPStatus.SERVICE_UNAVAILABLE:
                    raise
                return False
            return True

        wait_until(has_run)
    assert len(names["frame"]) == 30
    assert "404 UNKNOWN_SYMBOL" in capsys.readouterr().out


@pytest.mark.gate
@pytest.mark.process
async def test_the_tool_server_starts_as_a_host_is_told_to_start_it(person: Person) -> None:
    [told] = re.findall(r"```json\n(.*?)```", section("Tools for agents"), re.DOTALL)
    server = json.loads(told)["mcpServers"]["verdict"]
    assert server["command"].endswith("/.venv/bin/verdict")
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "service", *server["args"]],
        env={**_outer(), **person.environment, **server.get("env", {})},
        cwd=ROOT,
    )
    async with Client(stdio_client(started), mode="legacy", read_timeout_seconds=PATIENCE_S) as client:
        listed = (await client.list_tools()).tools
        called = await client.call_tool("coin_risk", {"symbol": "BTC"})
    assert [[f"`{tool.name}`", tool.description] for tool in listed] == rows(section("Tools for agents"))
    assert [tool.name for tool in TOOLS] == [tool.name for tool in listed]
    assert not called.is_error
    assert f"`http://127.0.0.1:{tool_serving.PORT}{tool_guard.PATH}`" in section("Tools for agents")
    assert f"{tool_results.DEFAULT_BYTES // 1024} KB" in section("Tools for agents")


def _outer() -> Mapping[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("VERDICT_")}


@pytest.mark.process
@needs_recordings
@pytest.mark.recorded
@pytest.mark.soak
@pytest.mark.timeout(900)
def test_the_walk_forward_it_shows_is_what_the_command_prints() -> None:
    """It takes a minute of a processor to walk all that was recorded."""
    command = [sys.executable, "-m", "service", "admin", "walkforward", "--recordings", str(DATA / "hyperliquid")]
    printed = subprocess.run(command, env=environment({}), capture_output=True, text=True, timeout=800, check=True)
    assert printed.stdout.startswith(example("verdict admin walkforward --recordings hyperliquid"))


@pytest.mark.gate
@pytest.mark.process
@pytest.mark.parametrize("path", [row[0].strip("`") for row in rows(section("What you can ask"))])
def test_what_it_says_can_be_asked_is_answered(asked: Callable[[str], dict[str, Any]], path: str) -> None:
    assert asked(path)["data"]


def test_every_setting_is_in_the_table_with_its_default_and_meaning() -> None:
    wanted = [[f"`{row.variable}`", f"`{row.default}`" if row.default else "", row.description] for row in describe()]
    assert rows(section("Settings")) == wanted


@pytest.mark.parametrize("name", sorted(set(re.findall(r"VERDICT_[A-Z0-9_]+[A-Z0-9]", README + DOCS))))
def test_every_setting_it_names_is_one(name: str) -> None:
    try:
        Settings.from_environ({name: "x"})
    except SettingsError as error:
        assert "is not a setting" not in str(error)  # noqa: PT017 - any other complaint is about the x


def test_the_exit_codes_it_lists_are_all_there_are() -> None:
    told = re.search(r"Exit codes: (.*?)\.\n", section("Command line"), re.DOTALL)
    assert told
    codes = {value for value in vars(errors).values() if isinstance(value, int) and not isinstance(value, bool)}
    assert {int(code) for code in re.findall(r"\b\d+\b", told[1])} == codes


@pytest.mark.promise("run.make-test")
def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4}|live )make\s([a-z-]+)", README + DOCS, re.MULTILINE))
    assert {"run", "test", "help"} <= named <= targets


def test_every_file_that_readme_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)|(?:src|srcset)=\"([^\"]+)\"", README)
    assert {"docs/page-light.png", "docs/page-dark.png"} <= {picture for _, picture in links}
    for link in links:
        assert (ROOT / "".join(link)).exists(), link


def test_readme_is_at_most_ten_kilobytes() -> None:
    assert len(README.encode()) <= 10_240


@pytest.mark.parametrize("path", [ROOT / "README.md", *PAGES], ids=lambda path: path.stem)
def test_lines_of_a_page_fit_the_configured_width(path: Path) -> None:
    assert all(len(line) <= 120 or line.startswith(("|", "$", "{")) for line in path.read_text().splitlines())
