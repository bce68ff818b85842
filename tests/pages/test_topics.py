"""Pages of one topic each, as tables of what the routes answer."""

import re
from typing import Any

import pytest
from msgspec import Raw
from msgspec.structs import replace

from service.errors import ServiceError
from service.wire.coins import Coins
from service.wire.envelope import Answer, encode
from service.wire.market import PageMeta
from tests.pages.stage import NOW_MS, Change, Stage, answered, quote, row

PATHS = ("/funding", "/categories", "/walk-forward", "/wallets", "/shows")


@pytest.fixture
def stage() -> Stage:
    return Stage()


def change(stage: Stage, offer_id: str, name: str, change: Change) -> None:
    stage.answers[offer_id] = lambda _: answered(name, change)


@pytest.mark.parametrize("path", PATHS)
async def test_a_page_is_made_once_in_a_while_and_fails_as_its_route(stage: Stage, path: str) -> None:
    assert await stage.page(path) is await stage.page(path)
    assert f'<a href="{path}" aria-current="page">' in (await stage.page(path)).body.decode()
    stage = Stage()
    for offer_id in ("coins", "walkforward", "wallets", "transcripts"):
        stage.fail(offer_id, ServiceError("UNAVAILABLE", "not yet"))
    with pytest.raises(ServiceError, match="not yet"):
        await stage.page(path)


async def test_funding_has_every_rate_and_the_alerts(stage: Stage) -> None:
    def first(data: Any) -> None:
        data["events"] = data["events"][:2]
        data["events"][0]["clearedAt"] = "2025-07-25T23:30:00.000Z"

    change(stage, "funding.alerts", "funding.alerts", first)
    text = await stage.text("/funding")
    assert "Longs pay on 1 coins, shorts on 1; the mean is -38.3 % a year." in text
    assert "Coin Funding Open interest BTC +10.9 % $588,500" in text.replace("$588.5 K", "$588,500")
    assert "TIA very-cold -25.0 % 07-25 23:00 07-25 23:30" in text
    assert "07-25 23:00 still on" in text
    assert "longs pay above 0; 0 s old" in text
    change(stage := Stage(), "funding.alerts", "funding.alerts", lambda data: data.update(events=[]))
    assert "Alerts UTC, newest first None is known yet." in await stage.text("/funding")


async def test_stale_rates_and_amounts_are_marked(stage: Stage) -> None:
    rows = [replace(found, stale_fields=["funding_apr", "open_interest_usd"]) for found in stage.rows()]
    stage.answers["coins"] = lambda _: Answer(Raw(encode(Coins(rows, PageMeta(2, None)))), NOW_MS)
    assert "BTC +10.9 % stale $588.5 K stale" in await stage.text("/funding")


async def test_categories_sum_up_what_is_known_and_mark_what_is_stale(stage: Stage) -> None:
    coin = stage.coins.view()["BTC"]
    unknown: dict[str, Any] = {"categories": ["Meme"], "trend_daily": None, "volume_24h_usd": None}
    rows = [
        row(coin, symbol="A", **unknown),
        row(coin, symbol="B", **unknown),
        row(coin, symbol="C", categories=["Dogs"], change_7d=1.0, stale_fields=["trend_daily", "change_7d"]),
        row(coin, symbol="D", **unknown | {"categories": ["Dogs"], "stale_fields": ["volume_24h_usd"]}),
    ]
    stage.answers["coins"] = lambda _: Answer(Raw(encode(Coins(rows, PageMeta(4, None)))), NOW_MS - 5_000)
    text = await stage.text("/categories")
    assert "the most traded first; 5 s old" in text
    assert re.search(r"Meme 2 0 of 0 \S+ % -1.25 % _ A, B", text)
    assert re.search(r"Dogs 2 1 of 1 stale \S+ % -0.12 % stale \$9.00 B C, D", text)


async def test_categories_sum_up_their_coins(stage: Stage) -> None:
    stage.show(quote("A"), quote("B", volume_usd=3e6), quote("C"))
    view = stage.coins.view()
    rows = [
        row(view["A"], categories=["Meme", "Alone"], change_7d=None),
        row(view["B"], categories=["Meme", "Dogs"], change_24h=-1.0, change_7d=None, trend_daily="DOWN"),
        row(view["C"], categories=["Dogs"], change_24h=2.0),
        row(view["C"], symbol="D", categories=None),
    ]
    stage.answers["coins"] = lambda _: Answer(Raw(encode(Coins(rows, PageMeta(4, None)))), NOW_MS)
    text = await stage.text("/categories")
    assert "Dogs 2 1 of 2 +0.50 % -1.25 % $4.00 M B, C" in text
    assert "Meme 2 1 of 2 +12.00 % _ $4.00 M B, A" in text
    assert "Alone" not in text, "one coin is no category"


async def test_walk_forward_has_strategies_with_their_gate_and_folds(stage: Stage) -> None:
    def refuse(data: Any) -> None:
        data["outcomes"] = [
            {**data["outcomes"][0], "fold": 2, "returnPct": 4.0, "entryDate": "2025-02-01", "exitDate": "2025-03-01"},
            {**data["outcomes"][0], "fold": 2, "returnPct": -2.0, "entryDate": "2025-01-01", "exitDate": "2025-02-01"},
        ]
        data["summary"]["strategies"][1].update(published=False, refused="it looks ahead", total=3, winRate=None)

    change(stage, "walkforward", "walkforward.outcomes", refuse)
    text = await stage.text("/walk-forward")
    assert "refused: it looks ahead 3 _ _" in text
    assert "2 2025-01-01 2025-03-01 2 50.0 % +1.00 %" in text
    assert "coins brought" in text


@pytest.mark.parametrize("message", ["The engine has not run.", None])
async def test_without_a_run_the_page_says_so(stage: Stage, message: str | None) -> None:
    def empty(data: Any) -> None:
        data.update(outcomes=[], summary=None)
        data["meta"]["message"] = message

    change(stage, "walkforward", "walkforward.outcomes", empty)
    assert (message or "No run has been recorded yet.") in await stage.text("/walk-forward")


async def test_wallets_are_listed_with_what_moved(stage: Stage) -> None:
    def nameless(data: Any) -> None:
        data["watchlist"] = data["watchlist"][:1]
        data["watchlist"][0].update(label=None, kind=None, tokens=data["watchlist"][0]["tokens"][:2])
        data["watchlist"][0]["tokens"][1]["symbol"] = None

    def one_of_one(data: Any) -> None:
        data["watchlist"] = data["watchlist"][:1]
        data["meta"]["total"] = 1

    change(stage, "wallets", "wallets.watchlist", nameless)
    text = await stage.text("/wallets")
    assert "_ _ 0x98B159301CDF2b197A7f9F39d9924B3A83A0952C 208 WETH, _" in text
    assert "Watched wallets 1 of " in text
    change(stage := Stage(), "wallets", "wallets.watchlist", one_of_one)
    assert "Watched wallets 1 wallet " in await stage.text("/wallets")


async def test_shows_are_quoted_and_listed(stage: Stage) -> None:
    def edit(data: Any) -> None:
        if "sources" in data:
            data["sources"][0]["lastEpisodeAt"] = None
        else:
            data["highlights"] = [
                {**data["highlights"][0], "quote": "a &lt;b&gt; &amp; c", "title": "T", "coins": ["X", "Y"]}
            ]

    stage.answers["transcripts"] = lambda call: answered(f"transcripts.{call.parameters.action}", edit)
    page = await stage.page("/shows")
    assert b"a &lt;b&gt; &amp; c" in page.body
    text = await stage.text("/shows")
    assert "T a <b> & c" in text
    assert "X, Y" in text
    assert "Chain Reaction podcast 5 _ ok" in text
