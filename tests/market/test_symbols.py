"""Tickers."""

from hypothesis import given
from hypothesis import strategies as st

from service.market.symbols import MOST_CANDIDATES, canonical, closest

KNOWN = ["BTC", "ETH", "ETC", "ETHFI", "KPEPE", "SOL", "TRX", "WIF"]


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
