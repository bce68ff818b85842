"""The data files: shipped, and written without mistakes."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from service.ask.parser.names import TABLES
from service.ask.parser.places import CONTEXTS

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "service" / "ask").rglob("*.toml"))
REQUESTS = tomllib.loads((ROOT / "service/ask/parser/requests.toml").read_text())


def test_every_data_file_is_shipped_with_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    shipped = project["tool"]["setuptools"]["package-data"]["service"]
    assert FILES
    assert set(FILES) <= set(chain.from_iterable((ROOT / "service").glob(pattern) for pattern in shipped))


def test_every_phrase_of_a_request_begins_with_a_word_and_every_class_exists() -> None:
    for rule in REQUESTS["requests"]:
        for line in rule["phrases"].splitlines():
            places = line.split()
            assert places[0] != "..", line
            assert not all(place.endswith("?") or place == ".." for place in places), line
            assert set(re.findall(r"<([^>]*)>", line)) <= REQUESTS["classes"].keys(), line


def test_no_phrase_of_a_request_is_written_twice() -> None:
    for rule in REQUESTS["requests"]:
        lines = rule["phrases"].splitlines()
        assert len(lines) == len(set(lines)), rule["intent"]


@pytest.mark.parametrize("table", [TABLES.coins, TABLES.assets, TABLES.categories])
def test_nicknames_are_lower_case_and_mean_one_thing(table: dict[str, list[str]]) -> None:
    names = list(chain.from_iterable(table.values()))
    assert all(name == name.lower().strip() for name in names)
    assert len(names) == len(set(names))


def test_contexts_are_lower_case_words() -> None:
    assert all(word == word.lower() for words in CONTEXTS.values() for word in words)
