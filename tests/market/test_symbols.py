"""Tickers."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.market.symbols import MOST_CANDIDATES, CoinDirectory, CoinListing, canonical, closest, per_coin, unit_of

KNOWN = ["BTC", "ETH", "ETC", "ETHFI", "PEPE", "SOL", "TRX", "WIF"]
DIRECTORY = CoinDirectory(
    [
        CoinListing("BTC", "BTC", "Bitcoin"),
        CoinListing("ETH", "ETH", "Ethereum"),
        CoinListing("MATIC", "MATIC", "Polygon", listed=False),
        CoinListing("LUNA", "LUNA", listed=False),
        CoinListing("kPEPE", "PEPE", "Pepe"),
        CoinListing("KAS", "KAS", "Kaspa"),
        CoinListing("POL", "POL", "Polygon"),
        CoinListing("NOT", "NOT"),
        CoinListing("BONK", "BONK", "Bonk"),
        CoinListing("kBONK", "BONK", "Bonk"),
        CoinListing("S", "S", "Sonic"),
    ]
)


def refused(text: str, directory: CoinDirectory = DIRECTORY) -> tuple[str, list[str]]:
    with pytest.raises(ServiceError) as caught:
        directory.resolve(text)
    assert caught.value.code == "UNKNOWN_SYMBOL"
    assert caught.value.details is not None
    candidates = caught.value.details["candidates"]
    assert isinstance(candidates, list)
    return caught.value.message, candidates


def test_a_ticker_is_that_of_one_coin_without_the_market() -> None:
    assert [canonical(name) for name in ("kPEPE", "xyz:AAPL", "kaito", "xyz:kPEPE")] == [
        "PEPE",
        "AAPL",
        "KAITO",
        "PEPE",
    ]


def test_what_begins_so_comes_first_then_what_holds_it_then_what_is_like_it() -> None:
    assert closest("ETH", KNOWN)[:2] == ["ETH", "ETHFI"]
    assert closest("BTX", KNOWN) == ["BTC", "TRX"]
    assert closest("KPEPE", [*KNOWN, "PENDLE", "HYPE"])[0] == "PEPE"


def test_nothing_is_suggested_where_nothing_is_like_it() -> None:
    assert closest("ZZQQ", KNOWN) == []


@given(st.text(max_size=20), st.lists(st.text(max_size=8), max_size=12))
def test_any_spelling_gives_at_most_five_known_tickers(symbol: str, known: list[str]) -> None:
    found = closest(symbol, known)
    assert len(found) == len(set(found)) <= MOST_CANDIDATES
    assert set(found) <= set(known)


@pytest.mark.parametrize(
    ("venue_symbol", "unit"),
    [("kPEPE", ("PEPE", 1000)), ("KAS", ("KAS", 1)), ("BTC", ("BTC", 1)), ("k", ("K", 1)), ("kaito", ("KAITO", 1))],
)
def test_only_a_small_k_before_a_ticker_means_a_thousand(venue_symbol: str, unit: tuple[str, int]) -> None:
    assert unit_of(venue_symbol) == unit


@pytest.mark.promise("symbols.case", "symbols.venue")
@pytest.mark.parametrize("text", ["PEPE", "kPEPE", "KPEPE", "kpepe", " KPepe "])
def test_a_ticker_finds_its_coin_in_any_case_and_in_the_venues_spelling(text: str) -> None:
    assert DIRECTORY.resolve(text) == "PEPE"
    assert DIRECTORY.listing(DIRECTORY.resolve(text)).venue_symbol == "kPEPE"


@pytest.mark.parametrize(("alias", "symbol"), [("1000PEPE", "PEPE"), ("1000pepe", "PEPE"), ("xbt", "BTC")])
def test_another_ticker_of_the_same_asset_finds_the_coin(alias: str, symbol: str) -> None:
    assert DIRECTORY.resolve(alias) == symbol


@pytest.mark.parametrize(
    ("price", "units", "one"),
    [(0.0123, 1_000, 0.0000123), (0.012345, 1_000, 0.000012345), (64.1, 1, 64.1), (0.1 + 0.2, 1, 0.1 + 0.2)],
)
def test_the_price_of_one_coin_has_the_digits_of_that_of_a_thousand(price: float, units: int, one: float) -> None:
    assert per_coin(price, units) == one


@pytest.mark.promise("errors.candidates")
def test_a_delisted_coin_is_said_to_be_delisted_and_its_successor_is_suggested() -> None:
    message, candidates = refused("matic")
    assert message == "MATIC was delisted. Its holders received POL."
    assert candidates[0] == "POL"
    assert refused("LUNA") == ("LUNA was delisted and is no longer traded.", [])


@pytest.mark.parametrize("spelling", ["kLUNC", "KLUNC", "1000lunc"])
def test_a_delisted_coin_is_known_by_the_venues_ticker_of_a_thousand(spelling: str) -> None:
    gone = CoinListing("kLUNC", "LUNC", listed=False)
    assert CoinDirectory([gone]).delisted(spelling) == "LUNC"
    assert refused(spelling, CoinDirectory([gone]))[0] == f"{spelling.upper()} was delisted and is no longer traded."
    assert CoinDirectory([CoinListing("LUNC", "LUNC"), gone]).resolve(spelling) == "LUNC"
    assert CoinDirectory([CoinListing("LUNC", "LUNC")]).delisted(spelling) is None


def test_a_coin_that_is_listed_again_is_not_delisted() -> None:
    again = CoinDirectory([CoinListing("OLD", "OLD", listed=False), CoinListing("OLD", "OLD")])
    assert again.resolve("OLD") == "OLD"


def test_a_ticker_that_two_coins_would_share_stays_with_the_first_that_is_traded() -> None:
    shared = CoinDirectory([CoinListing("PEPE", "PEPE"), CoinListing("kPEPE", "PEPE")])
    assert shared.listing(shared.resolve("PEPE")).venue_symbol == "PEPE"
    assert len(shared) == 1


@pytest.mark.promise("errors.candidates")
def test_an_unknown_ticker_is_refused_with_the_closest_ones() -> None:
    assert refused("BTX") == ("No coin 'BTX' is listed. The closest is BTC.", ["BTC"])
    assert refused("ZZQQ") == ("No coin 'ZZQQ' is listed.", [])


def test_a_name_that_means_one_coin_suggests_it_and_finds_nothing() -> None:
    assert refused("bitcoin")[1][0] == "BTC"
    assert refused("Kaspa")[1][0] == "KAS"
    assert dict(DIRECTORY.names) == {
        "bitcoin": "BTC", "ethereum": "ETH", "pepe": "PEPE", "bonk": "BONK", "kaspa": "KAS",
        "polygon": "POL", "sonic": "S"
    }  # fmt: skip


def test_tickers_come_in_the_venues_order() -> None:
    assert list(DIRECTORY) == ["BTC", "ETH", "PEPE", "KAS", "POL", "NOT", "BONK", "S"]


def test_an_alias_never_takes_the_place_of_a_listed_ticker() -> None:
    both = CoinDirectory([CoinListing("BTC", "BTC"), CoinListing("XBT", "XBT")])
    assert both.resolve("XBT") == "XBT"
    assert refused("XBT", CoinDirectory())[1] == []


@given(st.text(max_size=30))
def test_any_text_is_a_listed_coin_or_refused_with_listed_candidates(text: str) -> None:
    with contextlib.suppress(ServiceError):
        assert DIRECTORY.resolve(text) in list(DIRECTORY)
        return
    assert set(refused(text)[1]) <= set(DIRECTORY)
