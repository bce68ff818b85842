"""The README is part of the product: its example, its tables and its promises are checked against the code."""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.operator.parser import build_parser
from service.settings import describe
from tests.fakes.serving import serving

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def section(title: str) -> str:
    return re.split(r"^#+ ", README.split(f"# {title}\n", 1)[1], flags=re.MULTILINE)[0]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("| ")][1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def commands(parser: argparse.ArgumentParser, help_: str = "") -> Iterator[tuple[str, str]]:
    """Every command that runs something, with its one-line help."""
    groups = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if not groups:
        yield parser.prog, help_
    for group in groups:
        helps = {choice.dest: choice.help for choice in group._choices_actions}
        for name, inner in group.choices.items():
            yield from commands(inner, helps[name] or "")


def test_the_example_answer_is_what_the_service_answers(tmp_path: Path) -> None:
    shown = re.search(r"```console\n\$ curl .*?\n(\{.*?\n\}|\{\})\n```", README, re.DOTALL)
    assert shown
    with serving(tmp_path, replay="frozen") as running:
        status, _, answer = running.ask("/api/cli/coin/risk/BTC", running.make_key())
    assert status == 200
    assert shown[1] == json.dumps(answer, indent=4)


def test_every_setting_is_in_the_table_with_its_default_and_meaning() -> None:
    wanted = [[f"`{row.variable}`", f"`{row.default}`" if row.default else "", row.description] for row in describe()]
    assert rows(section("Settings")) == wanted


def test_every_command_is_in_the_table_with_what_it_does() -> None:
    wanted = [[f"`{prog}`", help_] for prog, help_ in commands(build_parser())]
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
    assert all(len(line) <= 120 or line.startswith(("|", "$")) for line in README.splitlines())
