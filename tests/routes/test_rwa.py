"""GET /api/cli/rwa/symbol/{symbol} and /api/cli/rwa/assets: what they take, and that the desk's answer is handed on."""

from typing import cast

import pytest

from service.routes.call import Call
from service.routes.datasets import rwa_asset, rwa_assets, rwa_symbol
from service.rwa.service import RwaService
from service.wire.envelope import Answer
from service.wire.rwa import OfRwaId, OfRwaSymbol, RwaAssetsQuery, RwaListing
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ASSETS = Asked(RwaAssetsQuery, "/api/cli/rwa/assets")


def symbol(text: str) -> Asked:
    return Asked(OfRwaSymbol, "/api/cli/rwa/symbol/{symbol}", symbol=text)


class Desk:
    """Says what it was asked."""

    def symbol(self, text: str) -> Answer:
        return Answer(text)

    def assets(self, type_: str | None, top: int) -> Answer:
        return Answer((type_, top))


DESK = cast(RwaService, Desk())


@pytest.mark.promise("rwa.symbol-forms")
@pytest.mark.parametrize("text", ["AAPL", "aapl", "GOLD", "xyz:AAPL", "XYZ:aapl", "A" * 20 + ":" + "B" * 20])
def test_a_ticker_is_taken_with_or_without_its_dex(text: str) -> None:
    assert symbol(text).decode("") == OfRwaSymbol(text)
    assert rwa_symbol(DESK, Call(OfRwaSymbol(text), None, None)) == Answer(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "xyz:",
        ":AAPL",
        "a:b:c",
        "AAPL\n",
        "AA PL",
        "AAPL/",
        "\uff21",
        "A" * 21,
        "x" * 21 + ":A",
        "5" * 5_000,
        "BRK.B",
    ],
)
def test_what_is_no_ticker_is_refused_by_name(text: str) -> None:
    assert symbol(text).refusal("") == "symbol"


@pytest.mark.promise("rwa.by-id")
@pytest.mark.parametrize("text", ["xyz:AAPL", "AAPL"])
def test_an_id_is_answered_as_its_ticker_is(text: str) -> None:
    assert Asked(OfRwaId, "/api/cli/rwa/asset/{id}", id=text).decode("") == OfRwaId(text)
    assert rwa_asset(DESK, Call(OfRwaId(text), None, None)) == Answer(text)


@pytest.mark.promise("rwa.assets-parameters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", RwaAssetsQuery(None, None, 200)),
        ("type=equity&dex=xyz&top=1", RwaAssetsQuery("equity", "xyz", 1)),
        ("type=fx&top=1000", RwaAssetsQuery("fx", None, 1_000)),
    ],
)
def test_a_type_a_dex_and_how_many_are_taken(query: str, expected: RwaAssetsQuery) -> None:
    assert ASSETS.decode(query) == expected
    assert rwa_assets(DESK, Call(expected, None, None)) == Answer((expected.type, expected.top))


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("type=crypto", "type"),
        ("type=Equity", "type"),
        ("type=", "type"),
        ("dex=km", "dex"),
        ("dex=XYZ", "dex"),
        ("top=1001", "top"),
        *((f"top={value}", "top") for value in NO_WHOLE_NUMBERS),
        ("limit=5", "limit"),
        ("top=1&top=2", "top"),
    ],
)
def test_what_is_not_taken_is_refused_by_name(query: str, parameter: str) -> None:
    assert ASSETS.refusal(query) == parameter


@pytest.mark.promise("rwa.assets-payload")
def test_an_entry_holds_what_was_promised() -> None:
    assert RwaListing.__struct_fields__ == ("id", "symbol", "name", "assetType", "venue")
