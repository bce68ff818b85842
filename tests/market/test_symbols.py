"""Tickers."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import ServiceError
from service.market.symbols import MOST_CANDIDATES, Directory, Listing, canonical, closest, unit_of

KNOWN = ["BTC", "ETH", "ETC", "ETHFI", "KPEPE", "SOL", "TRX", "WIF"]
DIRECTORY = Directory(
    [
        Listing("BTC", "BTC", "Bitcoin"),
        Listing("ETH", "ETH", "Ethereum"),
        Listing("MATIC", "MATIC", "Polygon", listed=False),
        Listing("LUNA", "LUNA", listed=False),
        Listing("kPEPE", "KPEPE", "Pepe"),
        Listing("KAS", "KAS", "Kaspa"),
        Listing("POL", "POL", "Polygon"),
        Listing("NOT", "NOT"),
        Listing("kBONK", "KBONK", "Bonk"),
        Listing("BONK", "BONK", "Bonk"),
        Listing("S", "S", "Sonic"),
    ]
)


def refused(text: str, directory: Directory = DIRECTORY) -> tuple[str, list[str]]:
    with pytest.raises(ServiceError) as caught:
        directory.resolve(text)
    assert caught.value.code == "UNKNOWN_SYMBOL"
    assert caught.value.details is not None
    candidates = caught.value.details["candidates"]
    assert isinstance(candidates, list)
    return caught.value.message, candidates


def test_a_ticker_is_upper_case() -> None:
    assert canonical("kPEPE") == "KPEPE"


def test_what_begins_so_comes_first_then_what_holds_it_then_what_is_like_it() -> None:
    assert closest("ETH", KNOWN)[:2] == ["ETH", "ETHFI"]
    assert closest("BTX", KNOWN) == ["BTC", "TRX"]
    assert closest("PEPE", [*KNOWN, "PENDLE", "HYPE"])[0] == "KPEPE"


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
@pytest.mark.parametrize("text", ["kPEPE", "KPEPE", "kpepe", " KPepe "])
def test_a_ticker_finds_its_coin_in_any_case_and_in_the_venues_spelling(text: str) -> None:
    assert DIRECTORY.resolve(text) == "KPEPE"
    assert DIRECTORY.listing(DIRECTORY.resolve(text)).venue_symbol == "kPEPE"


@pytest.mark.parametrize(("alias", "symbol"), [("1000PEPE", "KPEPE"), ("1000pepe", "KPEPE"), ("xbt", "BTC")])
def test_another_ticker_of_exactly_the_same_unit_finds_the_coin(alias: str, symbol: str) -> None:
    assert DIRECTORY.resolve(alias) == symbol


def test_a_coin_that_is_listed_by_the_thousand_alone_is_not_answered_with_a_thousand_of_it() -> None:
    message, candidates = refused("PEPE")
    assert candidates[0] == "KPEPE"
    assert message == "no coin 'PEPE' is listed: KPEPE is, and one KPEPE is 1000 PEPE"


def test_a_coin_that_is_listed_both_ways_is_found_under_each_of_its_names() -> None:
    assert [DIRECTORY.resolve(text) for text in ("BONK", "KBONK", "1000BONK")] == ["BONK", "KBONK", "KBONK"]


@pytest.mark.promise("errors.candidates")
def test_a_delisted_coin_is_said_to_be_delisted_and_its_successor_is_suggested() -> None:
    message, candidates = refused("matic")
    assert message == "MATIC was delisted and is no longer traded; its holders were given POL"
    assert candidates[0] == "POL"
    assert refused("LUNA") == ("LUNA was delisted and is no longer traded", [])


def test_a_coin_that_is_listed_again_is_not_delisted() -> None:
    again = Directory([Listing("OLD", "OLD", listed=False), Listing("OLD", "OLD")])
    assert again.resolve("OLD") == "OLD"


def test_a_ticker_that_two_coins_would_share_stays_with_the_first_that_is_traded() -> None:
    shared = Directory([Listing("KPEPE", "KPEPE"), Listing("kPEPE", "KPEPE")])
    assert shared.listing(shared.resolve("kPEPE")).venue_symbol == "KPEPE"
    assert len(shared) == 1


@pytest.mark.promise("errors.candidates")
def test_an_unknown_ticker_is_refused_with_the_closest_ones() -> None:
    assert refused("BTX") == ("no coin 'BTX' is listed; the closest is BTC", ["BTC"])
    assert refused("ZZQQ") == ("no coin 'ZZQQ' is listed", [])


def test_a_name_that_means_one_coin_suggests_it_and_finds_nothing() -> None:
    assert refused("bitcoin")[1][0] == "BTC"
    assert refused("Kaspa")[1][0] == "KAS"
    assert dict(DIRECTORY.names) == {
        "bitcoin": "BTC", "ethereum": "ETH", "pepe": "KPEPE", "kaspa": "KAS", "polygon": "POL", "sonic": "S"
    }  # fmt: skip


def test_tickers_come_in_the_venues_order() -> None:
    assert list(DIRECTORY) == ["BTC", "ETH", "KPEPE", "KAS", "POL", "NOT", "KBONK", "BONK", "S"]


def test_an_alias_never_takes_the_place_of_a_listed_ticker() -> None:
    both = Directory([Listing("BTC", "BTC"), Listing("XBT", "XBT")])
    assert both.resolve("XBT") == "XBT"
    assert refused("XBT", Directory())[1] == []


@given(st.text(max_size=30))
def test_any_text_is_a_listed_coin_or_refused_with_listed_candidates(text: str) -> None:
    with contextlib.suppress(ServiceError):
        assert DIRECTORY.resolve(text) in list(DIRECTORY)
        return
    assert set(refused(text)[1]) <= set(DIRECTORY)
