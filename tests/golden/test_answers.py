"""The recordings: their differences, what they cover, what they may import, and their size."""

import json
import re
import zlib
from pathlib import Path

import pytest

from tests.golden.answers import (
    FOLDER,
    Answer,
    difference,
    expect_as_recorded,
    normalised,
    numbered,
    parsed,
    recorded,
    written,
)
from tests.golden.start import COMMANDS

FEW = [
    Answer("GET /api/cli/coins?limit=1 · pro", 'HTTP 200\nx-tier: pro\n\n{"data":{"coins":[{"price":1.0}]}}'),
    Answer("GET /api/cli/coins?limit=2 · pro", 'HTTP 200\n\n{"data":{"coins":[{"price":1.0},{"price":2.0}]}}'),
    Answer("verdict coins · terminal", "exit 0\n\nBTC 1\nETH 2"),
]


def test_a_file_holds_what_was_written_into_it() -> None:
    assert parsed(written(FEW)) == dict(FEW)


def test_a_difference_is_listed_by_route_and_field() -> None:
    changed = [Answer(each.title, each.text.replace("1.0", "1.5").replace("ETH 2", "ETH 3")) for each in FEW]
    assert difference(written(FEW), written(changed)).splitlines() == [
        "GET /api/cli/coins (2 answers)",
        "  data.coins[].price: 1.0 -> 1.5 in GET /api/cli/coins?limit=1 · pro, and 1 more",
        "verdict coins (1 answer)",
        "  text: ETH 2 -> ETH 3 in verdict coins · terminal",
    ]


def test_a_header_and_the_bytes_of_equal_json_differ_too() -> None:
    other_header = [FEW[0]._replace(text=FEW[0].text.replace("x-tier: pro", "x-tier: free"))]
    assert difference(written(FEW[:1]), written(other_header)).splitlines() == [
        "GET /api/cli/coins (1 answer)",
        "  head: x-tier: pro -> x-tier: free in GET /api/cli/coins?limit=1 · pro",
    ]
    other_bytes = [FEW[0]._replace(text=FEW[0].text.replace('":', '": '))]
    assert "  text: " in difference(written(FEW[:1]), written(other_bytes))


def test_another_order_of_the_same_answers_is_a_difference() -> None:
    assert difference(written(FEW), written(FEW[::-1])).startswith("Only the order")


def test_an_answer_that_is_missing_or_new_is_listed() -> None:
    assert difference(written(FEW[:1]), written(FEW[2:])).splitlines() == [
        "GET /api/cli/coins (1 answer)",
        "  answer: there -> none in GET /api/cli/coins?limit=1 · pro",
        "verdict coins (1 answer)",
        "  answer: none -> there in verdict coins · terminal",
    ]


def test_a_comparison_fails_with_the_difference() -> None:
    with pytest.raises(AssertionError, match="nothing differs"):
        expect_as_recorded({"nothing": FEW})


def test_ids_and_secrets_are_replaced_and_figures_are_not() -> None:
    text = 'x-request-id: 8d2e3d412f0000009\n{"key":"verdict_sk_aeSDDF5mnSieqgPizRWUlOIXL7BOAB4eOsRU","price":117700.0}'
    assert normalised(text) == 'x-request-id: <request-id>\n{"key":"<key>","price":117700.0}'


def test_receipts_are_numbered_in_the_order_in_which_they_appear() -> None:
    first, second = (f"rcp_Us1e85YEPkKYvxDaeT0d{number:02}" for number in range(2))
    assert numbered([Answer(f"GET {second}", f"{first} {second}")]) == [
        Answer("GET <receipt 1>", "<receipt 2> <receipt 1>")
    ]


def test_only_one_module_imports_the_service() -> None:
    here = Path(__file__).resolve().parent
    importing = re.compile(r"(?m)^\s*(from|import) service\b")
    assert [path.name for path in here.glob("*.py") if importing.search(path.read_text("utf-8"))] == ["start.py"]


def test_the_recordings_weigh_less_than_three_megabytes_compressed() -> None:
    assert sum(len(zlib.compress(path.read_bytes())) for path in FOLDER.glob("*.txt")) < 3_000_000


def test_every_route_is_recorded() -> None:
    paths = json.loads(parsed(recorded("pages"))["GET /openapi.json"].partition("\n\n")[2])["paths"]
    titles = [title for name in ("routes", "questions", "streams") for title in parsed(recorded(name))]
    offered = [f"{method.upper()} {path}" for path, methods in paths.items() for method in methods]
    assert len(offered) > 40
    patterns = {route: re.compile(re.sub(r"{\w+}", "[^/?]+", route) + r"(\?| |$)") for route in offered}
    assert [route for route, pattern in patterns.items() if not any(map(pattern.match, titles))] == []


def test_every_command_is_recorded_beside_its_help() -> None:
    titles = [title for title in parsed(recorded("commands")) if "--help" not in title]
    assert [
        words for words in COMMANDS if not any(f"{title} ".startswith(f"verdict {words} ") for title in titles)
    ] == []


def test_every_tool_is_called() -> None:
    titles = [*parsed(recorded("tools"))]
    tools = [title.partition(" · ")[2] for title in titles if title.startswith("tools/list")]
    assert tools
    assert [tool for tool in tools if not any(title.startswith(f"tools/call {tool} ") for title in titles)] == []
