"""What an asset is: as it is annotated, never guessed, and never a wrapper of a coin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixtures.assets import ASSETS, WRAPPERS
from service.market.models import Quote
from service.market.sources.hyperliquid_wire import Annotation
from service.rwa.listing import LONGEST_NAME, is_wrapper, kind_of, list_assets
from tests.rwa.parts import Coin


def quote(symbol: str, price: float | None = 100.0, volume: float = 1.0) -> Quote:
    return Quote(f"xyz:{symbol}", symbol, volume, price, price and 1, None, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("category", "kind"),
    [
        ("stocks", "equity"),
        ("Stock", "equity"),
        ("EQUITIES", "equity"),
        ("etfs", "etf"),
        ("metals", "metal"),
        ("commodities", "commodity"),
        (" Commodity ", "commodity"),
        ("indices", "index"),
        ("Indexes", "index"),
        ("INDEX", "index"),
        ("fx", "fx"),
        ("FX", "fx"),
        ("forex", "fx"),
        ("preipo", None),
        ("rates", None),
        ("crypto", None),
        ("Crypto", None),
        ("", None),
        ("s", None),
        ("ies", None),
        ("other", None),
        ("stocks and metals", None),
    ],
)
def test_a_category_is_folded_in_case_and_number(category: str, kind: str | None) -> None:
    assert kind_of("X", Annotation(category)) == kind


@pytest.mark.parametrize(
    ("ticker", "category", "name", "keywords", "kind"),
    [
        ("GOLD", "commodities", None, (), "metal"),
        ("XAU", "commodities", "Gold", (), "metal"),
        ("X", "commodities", None, ("Metals",), "metal"),
        ("X", "commodities", "Copper futures", ("base",), "metal"),
        ("CL", "commodities", "WTIOIL", ("oil",), "commodity"),
        ("GOLD", "stocks", "Barrick Gold", ("gold",), "equity"),
        ("SMH", "stocks", "VanEck Semiconductor ETF", ("ETFs", "chips"), "etf"),
        ("TLT", "rates", None, ("etf",), None),
        ("COIN", "stocks", "Coinbase", ("crypto",), "equity"),
    ],
)
def test_keywords_tell_funds_from_stocks_and_metals_from_commodities(
    ticker: str, category: str, name: str | None, keywords: tuple[str, ...], kind: str | None
) -> None:
    assert kind_of(ticker, Annotation(category, name, keywords)) == kind


@pytest.mark.promise("rwa.no-wrappers", "assets.lists")
@pytest.mark.parametrize(
    ("symbol", "price", "keywords", "coin", "wraps"),
    [
        ("HYPE", 42.8, (), Coin(42.9), True),
        ("HYPE", 42.8, (), Coin(None), True),
        ("HYPE", None, (), Coin(42.9), True),
        ("HYPE", 42.8, (), None, False),
        ("COIN", 391.7, ("crypto",), Coin(0.02), False),
        ("MSTR", 405.9, ("Wrapped",), None, True),
        ("PAXG", 3_337.0, (), None, True),
        ("XAUT", 3_337.0, ("gold",), None, True),
    ],
)
def test_a_wrapper_is_known_by_what_is_said_of_it_or_by_the_coin_it_costs_the_same_as(
    symbol: str, price: float | None, keywords: tuple[str, ...], coin: Coin | None, *, wraps: bool
) -> None:
    assert is_wrapper(quote(symbol, price), Annotation("stocks", None, keywords), coin) is wraps


def test_what_is_listed_is_ordered_by_volume_and_named_as_the_venue_names_it() -> None:
    quotes = [
        quote("AAPL", volume=5.0),
        quote("TSLA", volume=9.0),
        quote("CL", volume=5.0),
        quote("NEW"),
        quote("HYPE"),
    ]
    notes = {
        "xyz:AAPL": Annotation("stocks", "Apple"),
        "xyz:TSLA": Annotation("stocks"),
        "xyz:CL": Annotation("commodities", "W" * 500),
        "xyz:HYPE": Annotation("crypto"),
    }
    listing, left_out = list_assets(quotes, notes, {"HYPE": Coin(1.0)})
    assert [(asset.id, asset.symbol, asset.name, asset.type) for asset in listing.assets] == [
        ("xyz:TSLA", "TSLA", "TSLA", "equity"),
        ("xyz:AAPL", "AAPL", "Apple", "equity"),
        ("xyz:CL", "CL", "W" * LONGEST_NAME, "commodity"),
    ]
    assert left_out == ["xyz:HYPE (crypto)", "xyz:NEW (not annotated)"]


@pytest.mark.promise("assets.lists")
def test_the_recorded_dex_holds_every_kind_and_no_wrapper() -> None:
    assets = (*ASSETS, *WRAPPERS)
    notes = {asset.name: Annotation(asset.category, asset.title, asset.keywords) for asset in assets}
    listing, _ = list_assets([quote(asset.ticker) for asset in assets], notes, {})
    kinds = {asset.symbol: asset.type for asset in listing.assets}
    assert set(kinds.values()) == {"equity", "etf", "metal", "commodity", "index", "fx"}
    assert (kinds["GOLD"], kinds["COPPER"], kinds["CL"], kinds["SP500"]) == ("metal", "metal", "commodity", "index")
    assert kinds.keys().isdisjoint(asset.ticker for asset in WRAPPERS)


@given(st.text(max_size=20), st.lists(st.text(max_size=8), max_size=4), st.text(max_size=120))
def test_any_annotation_is_read(category: str, keywords: list[str], name: str) -> None:
    annotation = Annotation(category, name, tuple(keywords))
    assert kind_of("X", annotation) in {"equity", "etf", "metal", "commodity", "index", "fx", None}
    listing, left_out = list_assets([quote("X")], {"xyz:X": annotation}, {})
    assert len(listing.assets) + len(left_out) == 1
