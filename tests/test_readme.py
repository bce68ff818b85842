"""The README is part of the product: its example, its tables and its promises are checked against the code."""

import http.client
import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.__main__ import SECTIONS
from service.settings import describe
from tests.fakes.serving import PATIENCE_S, WHOLE, Serving, run_verdict, serving, wait_until
from tests.market.recordings import DATA, needs_recordings

pytestmark = pytest.mark.unmeasured

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def section(title: str) -> str:
    return re.split(r"^#+ ", README.split(f"# {title}\n", 1)[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Serving, str]]:
    """The service as it stands at the end of its recording, and a key."""
    with serving(tmp_path_factory.mktemp("data"), replay="frozen", **WHOLE) as service:
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


def test_the_example_answer_is_what_the_service_comes_to_answer(asked: Callable[[str], dict[str, Any]]) -> None:
    shown = re.search(r"```console\n\$ curl .*?\n(\{.*?\n\}|\{\})\n```", README, re.DOTALL)
    assert shown
    written = ""

    def is_shown() -> bool:
        nonlocal written
        answer = asked("/api/cli/coin/risk/BTC")
        summary = answer["data"]["sentiment_summary"]  # a long line, cut in the README after its first figure
        answer["data"]["sentiment_summary"] = re.sub(r"(days, ).*(\)\.)", r"\1…\2", summary, count=1)
        written = json.dumps(answer, indent=4, ensure_ascii=False)
        return written == shown[1]

    try:
        wait_until(is_shown)
    except AssertionError:
        assert written == shown[1]


def example(command: str) -> str:
    """What the README shows that a command prints."""
    shown = README.split(f"$ {command}\n", 1)[1]
    return shown.split("```", 1)[0]


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


@pytest.mark.promise("signal.verify")
def test_the_verdict_it_shows_is_answered_and_verifies(asked: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    saved, printed = tmp_path / "sol.json", ""

    def is_shown() -> bool:
        nonlocal printed
        saved.write_text(json.dumps(asked("/api/cli/signal/SOL")))
        printed = run_verdict("verify", str(saved)).stdout
        return printed == example("verdict verify sol.json")

    try:
        wait_until(is_shown)
    except AssertionError:
        assert printed == example("verdict verify sol.json")


@needs_recordings
@pytest.mark.real_data
@pytest.mark.slow
def test_the_walk_forward_it_shows_is_what_the_command_prints() -> None:
    printed = run_verdict("walkforward", "run", "--recordings", str(DATA / "hyperliquid")).stdout
    assert printed.startswith(example("verdict walkforward run --recordings hyperliquid"))


@pytest.mark.parametrize("path", [row[0].strip("`") for row in rows(section("What you can ask"))])
def test_what_it_says_can_be_asked_is_answered(asked: Callable[[str], dict[str, Any]], path: str) -> None:
    assert asked(path)["data"]


def test_every_setting_is_in_the_table_with_its_default_and_meaning() -> None:
    wanted = [[f"`{row.variable}`", f"`{row.default}`" if row.default else "", row.description] for row in describe()]
    assert rows(section("Settings")) == wanted


def test_every_command_is_in_the_table_with_what_it_does() -> None:
    wanted = [
        [f"`verdict {command.words}`", command.summary]
        for _, commands in SECTIONS
        for command in commands
        if not command.hidden
    ]
    assert rows(section("Commands")) == wanted


@pytest.mark.promise("run.make-test")
def test_every_make_target_it_names_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:`|^ {4}|live )make ([a-z]+)", README, re.MULTILINE))
    assert {"run", "test", "help"} <= named <= targets


def test_every_file_it_links_to_exists() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


def test_its_lines_fit_the_width_of_the_house() -> None:
    assert all(len(line) <= 120 or line.startswith(("|", "$", "{")) for line in README.splitlines())
