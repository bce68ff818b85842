"""GET /api/cli/coins: what it takes, and that the table's answer is passed on."""

from typing import Any

import pytest

from service.wire.coins import CoinRow, Coins, CoinsQuery
from tests.routes.conftest import Table
from tests.routes.queries import Asked

ROUTE = Asked(CoinsQuery, "/api/cli/coins")


@pytest.mark.promise("coins.filters", "coins.pages")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", CoinsQuery()),
        ("sort=change_7d&order=asc&limit=1000", CoinsQuery(sort="change_7d", order="asc", limit=1000)),
        ("fields=price,verdict&symbols=btc,ETH", CoinsQuery(fields="price,verdict", symbols="btc,ETH")),
        (
            "category=Layer%201%20(L1)&trend=UP&verdict=strong-bull&min_volume=0",
            CoinsQuery(category="Layer 1 (L1)", trend="UP", verdict="strong-bull", min_volume=0),
        ),
    ],
)
def test_filters_order_and_size_are_taken(query: str, expected: CoinsQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.promise("coins.pages", "coins.fields")
@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("sort=categories", "sort"),
        ("order=down", "order"),
        ("trend=up", "trend"),
        ("verdict=BULL", "verdict"),
        ("min_volume=-1", "min_volume"),
        ("min_volume=1e6", "min_volume"),
        ("symbols=BTC,", "symbols"),
        ("symbols=BTC%20ETH", "symbols"),
        ("fields=price,,rank", "fields"),
        ("fields=Price", "fields"),
        ("fields=colour", "fields"),
    ],
)
def test_anything_else_is_refused_by_name(query: str, parameter: str) -> None:
    error = ROUTE.error(query)
    assert (error.code, error.details["parameter"] if error.details else None) == ("BAD_REQUEST", parameter)


@pytest.mark.promise("coins.fields")
def test_a_field_that_does_not_exist_is_refused_with_those_that_do() -> None:
    message = ROUTE.error("fields=price,colour").message
    shown = message.partition("; any of ")[2].partition(";")[0].split(", ")
    assert ["symbol", *shown, "_stale_fields"] == list(CoinRow.__struct_encode_fields__)


async def test_the_answer_is_that_of_the_table(table: Table) -> None:
    answer: Any = await table.call("coins", None, CoinsQuery())
    assert isinstance(answer.data, Coins)
    assert [row.symbol for row in answer.data.coins] == ["PEPE"]
