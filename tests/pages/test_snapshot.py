"""The document that all open pages share."""

import json
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from service.errors import ServiceError
from service.market.models import MarketSnapshot, MarketState
from service.pages.coins import coin_lists
from service.pages.snapshot import KEPT_S, tiles
from service.wire.coins import Coins
from service.wire.envelope import Answer, encode
from service.wire.market import PageMeta
from tests.pages.stage import CHART, NOW_MS, Stage, quote


async def snapshot(stage: Stage) -> Any:
    return json.loads((await stage.page("/snapshot.json")).body)


@pytest.mark.promise("pages.snapshot")
async def test_it_is_made_once_in_fifteen_seconds_for_all() -> None:
    stage = Stage()
    first = await stage.page("/snapshot.json")
    stage.show(quote("BTC", 1.0))
    await stage.clock.advance(KEPT_S - 0.1)
    assert await stage.page("/snapshot.json") is first
    assert stage.asked.count("coins") == 1
    await stage.clock.advance(0.1)
    second = await stage.page("/snapshot.json")
    assert second.etag != first.etag
    assert (second.content_type, second.cache_control) == (b"application/json", b"public, max-age=5")


async def test_it_has_the_very_cells_of_the_page() -> None:
    stage = Stage()
    found, page = await snapshot(stage), (await stage.page("/")).body.decode()
    assert list(found["coins"]) == ["BTC", "SOL"]
    assert found["coins"]["SOL"][0] == ["187", 187.0, "", False]
    assert found["coins"]["SOL"][2] == ["\u22126.50\u202f%", -6.5, "loss", False]
    for cells in found["coins"].values():
        for text, value, _, _ in cells:
            assert f'data-v="{value}">{text}</td>' in page
        assert len(cells) == len(found["columns"])
    for title in found["columns"]:
        assert f">{title}</th>" in page
    assert found["quotes_ms"] == NOW_MS - 1000
    assert found["notices"] == []


async def test_it_has_the_notices_of_the_page() -> None:
    stage = Stage()
    stage.quarantine_values("SOL")
    [notice] = (await snapshot(stage))["notices"]
    assert notice in await stage.text("/")


async def test_stale_values_are_marked_in_cells_and_in_figures() -> None:
    stage = Stage()
    rows = stage.rows()
    rows[0] = replace(rows[0], stale_fields=["price", "change_24h", "open_interest_usd", "funding_apr", "trend_weekly"])
    stage.answers["coins"] = lambda _: Answer(Raw(encode(Coins(rows, PageMeta(2, None)))), NOW_MS)
    found = await snapshot(stage)
    marked = [title for title, cell in zip(found["columns"], found["coins"]["BTC"], strict=True) if cell[3]]
    assert marked == ["Price", "24 h", "Open interest", "Funding", "Weekly"]
    assert not any(cell[3] for cell in found["coins"]["SOL"])
    figures = found["tiles"]
    assert [key for key, tile in figures.items() if tile["figure"][3]] == ["BTC", "interest", "funding"]
    assert figures["BTC"]["note"][3]
    assert (figures["interest"]["note"][0], figures["funding"]["note"][0]) == ("2 coins, 1 stale", "a year, 1 stale")
    text = await stage.text("/")
    assert "BTC 117,700 stale" in text
    assert "2 coins, 1 stale" in text


async def test_open_interest_counts_the_coins_of_which_it_is_known() -> None:
    stage = Stage()
    stage.show(quote("BTC"), quote("SOL", open_interest=None))
    assert (await snapshot(stage))["tiles"]["interest"]["note"][0] == "1 coins"


async def test_without_quotes_their_time_is_not_known() -> None:
    stage = Stage()
    stage.coins.show(MarketSnapshot(MarketState("x", 1), [(quote("BTC"), CHART)]))
    assert (await snapshot(stage))["quotes_ms"] is None


@pytest.mark.parametrize(
    ("index", "word"),
    [(0, "extreme fear"), (25, "fear"), (47, "neutral"), (55, "greed"), (74, "greed"), (75, "extreme greed")],
)
def test_fear_and_greed_has_a_word(index: int, word: str) -> None:
    tile = tiles(coin_lists([], None), ServiceError("UNAVAILABLE", "x"), (index, NOW_MS))["fear"]
    assert (tile.figure.text, tile.note.text) == (str(index), word)


def test_the_market_in_six_figures_while_nothing_is_known() -> None:
    found = tiles(coin_lists([], None), ServiceError("UNAVAILABLE", "x"), None)
    texts = [tile.figure.text for tile in found.values()]
    assert texts == ["\u2013"] * 6
    assert found["interest"].note.text == "0 coins"


async def test_the_table_is_a_csv_file() -> None:
    page = await Stage().page("/coins.csv")
    assert page.content_type == b"text/csv; charset=utf-8"
    assert [line.partition(b",")[0] for line in page.body.splitlines()] == [b"symbol", b"BTC", b"SOL"]


@pytest.mark.parametrize("path", ["/snapshot.json", "/coins.csv"])
async def test_without_coins_there_is_neither(path: str) -> None:
    stage = Stage()
    stage.fail("coins", ServiceError("UNAVAILABLE", "no prices yet"))
    with pytest.raises(ServiceError, match="no prices yet"):
        await stage.page(path)
