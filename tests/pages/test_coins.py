"""Every coin at once."""

import csv
from collections.abc import Sequence
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest

from service.clock import DAY_MS
from service.pages.coins import TITLES, CoinLists, CoinTableRow, TableCell, coin_lists, coins_csv, heat, table_row
from tests.pages.stage import NOW_MS, Stage, quote, row


def of(stage: Stage) -> CoinLists:
    return coin_lists(stage.rows(), None)


def names(rows: Sequence[CoinTableRow]) -> list[str]:
    return [row.coin.symbol for row in rows]


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.parametrize(
    ("apr", "name"),
    [(-50.1, "c3"), (-50.0, "c2"), (-20.0, "c1"), (-0.1, "c1"), (0.0, "n"), (10.95, "n"), (11.0, "h1"), (22.0, "h2"),
     (50.0, "h3"), (None, None)],
)  # fmt: skip
def test_a_rate_is_ordinary_up_to_what_venues_take_by_default(apr: float | None, name: str | None) -> None:
    assert heat(apr) == name


def test_the_most_traded_and_the_hottest_and_those_that_moved_most_come_first(stage: Stage) -> None:
    stage.show(
        quote("A", volume_usd=1.0, funding=0.0001, prev_price=200.0),
        quote("B", volume_usd=3.0, funding=-0.0001, prev_price=50.0),
        quote("C", volume_usd=2.0, funding=None, prev_price=100.0),
        quote("D", volume_usd=2.0, funding=0.0, prev_price=None),
    )
    found = of(stage)
    assert names(found.rows) == ["B", "C", "D", "A"]
    assert names(found.tiles) == ["A", "D", "B"]
    assert names(found.risers) == ["B"]
    assert names(found.fallers) == ["A"]
    assert (found.paying, found.receiving) == (1, 1)
    assert found.mean_apr == pytest.approx(0)


def test_of_no_coins_there_is_no_mean_and_no_sum() -> None:
    found = coin_lists([], None)
    assert (found.mean_apr, found.interest) == (None, None)


def test_each_stale_measure_is_marked_in_its_cell(stage: Stage) -> None:
    def stale(*fields: str, **changes: Any) -> list[str]:
        cells = table_row(row(stage.coins.view()["BTC"], stale_fields=list(fields), **changes)).cells
        return [title for title, cell in zip(TITLES, cells, strict=True) if cell.stale]

    assert stale("btc_correlation") == []
    assert stale("price", "change_1h", "verdict") == ["Price", "1 h", "Verdict"]
    assert stale("change_7d", "volume_24h_usd", "trend_daily") == ["7 d", "Volume", "Daily"]
    assert stale("price", "verdict", price=None, verdict=None) == [], "an unknown value is a dash, and not stale"


@pytest.mark.parametrize(
    ("verdict", "score", "cell"),
    [
        ("strong-bull", 2.5, TableCell("strong bull", 2.5, "gain")),
        ("bear", -1.5, TableCell("bear", -1.5, "loss")),
        ("neutral", 0.5, TableCell("neutral", 0.5)),
        ("insufficient-evidence", 0.0, TableCell("\u2013")),
        (None, None, TableCell("\u2013")),
    ],
)
def test_a_verdict_is_sorted_by_its_score(stage: Stage, verdict: Any, score: Any, cell: TableCell) -> None:
    assert table_row(row(stage.coins.view()["BTC"], verdict=verdict, score=score)).cells[-1] == cell


def test_an_unknown_trend_is_a_dash_and_sorted_last(stage: Stage) -> None:
    cells = table_row(row(stage.coins.view()["BTC"], trend_daily=None)).cells
    assert cells[-3:-1] == [TableCell("\u2013"), TableCell("\u25bc DOWN", -1.0, "trend down")]


def test_a_line_has_thirty_closes_and_a_coin_with_a_gap_has_none(stage: Stage) -> None:
    closes = {"BTC": [float(place) for place in range(30)], "SOL": [None, *[1.0] * 29]}

    def table(first_ms: int, end_ms: int) -> Any:
        assert (first_ms, end_ms) == (100 * DAY_MS, 130 * DAY_MS)
        return SimpleNamespace(closes=closes)

    history: Any = SimpleNamespace(last_ms=129 * DAY_MS, closes=table)
    sparks = {found.coin.symbol: found.spark for found in coin_lists(stage.rows(), history).rows}
    assert sparks["SOL"] is None
    assert str(sparks["BTC"]).startswith("M0 24L3 23L")
    assert str(sparks["BTC"]).endswith("L87 0")
    empty: Any = SimpleNamespace(last_ms=None)
    assert all(found.spark is None for found in coin_lists(stage.rows(), empty).rows)


def test_csv_has_unrounded_values_and_no_formula(stage: Stage) -> None:
    view = stage.coins.view()
    formula = row(view["SOL"], name="=1+1", market_cap=None, stale_fields=["price", "market_cap", "change_1h"])
    text = coins_csv([formula, row(view["BTC"], price=1.234567891)], NOW_MS).decode()
    head, first, second = (line.split(",") for line in text.splitlines())
    assert head[:4] == ["symbol", "name", "rank", "price"]
    assert first[:4] == ["BTC", "BTC Coin", "1", "1.234567891"]
    assert second[:2] == ["SOL", "'=1+1"]
    assert second[head.index("market_cap")] == ""
    assert head[-2:] == ["stale_fields", "as_of"]
    assert first[-2:] == ["", "2025-07-25T23:59:59.999Z"]
    assert second[-2] == "price change_1h", "an unknown value is empty, and not stale"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t=", "\r\n@"])
def test_csv_text_is_on_one_line_and_never_run_by_a_spreadsheet(stage: Stage, start: str) -> None:
    text = coins_csv([row(stage.coins.view()["SOL"], name=f"{start}1+1")], None).decode()
    [_, values] = csv.reader(StringIO(text, newline=""))
    assert (values[1], values[-1]) == (f"'{start.strip()}1+1", "")
