"""Which of CoinGecko's coins is the venue's."""

from hypothesis import given
from hypothesis import strategies as st

from service.market.categories.identity import AGREEING, EQUAL, PARTED, identify, wanted_tickers
from service.market.models import CoinView
from service.market.sources.coingecko import GeckoCoin
from tests.fakes.clock import START_MS
from tests.market.gecko import coin


def row(gecko_id: str, ticker: str, price: float | None, cap: float | None = 1.0) -> GeckoCoin:
    return GeckoCoin(gecko_id, ticker, gecko_id, price, cap, None, START_MS)


def listed(venue_symbol: str, price: float | None) -> CoinView:
    return coin(venue_symbol, price, None if price is None else START_MS)


def ids(found: dict[str, GeckoCoin]) -> dict[str, str]:
    return {symbol: row.id for symbol, row in found.items()}


def test_of_two_coins_with_one_ticker_the_one_whose_price_agrees_is_ours_though_the_other_is_larger() -> None:
    seen = [row("one-token", "ONE", 4.0, 9e9), row("harmony", "ONE", 0.0121, 1e6)]
    assert ids(identify([listed("ONE", 0.012)], seen, {})) == {"ONE": "harmony"}


def test_of_several_that_agree_the_largest_is_ours() -> None:
    seen = [
        row("wrapped", "DOGE", 0.238, 1e6),
        row("dogecoin", "DOGE", 0.239, 3e10),
        row("no-cap", "DOGE", 0.238, None),
    ]
    assert ids(identify([listed("DOGE", 0.238)], seen, {})) == {"DOGE": "dogecoin"}


def test_a_coin_that_is_traded_by_the_thousand_is_compared_as_one() -> None:
    seen = [row("kpepe-real", "KPEPE", 0.0126, 9e9), row("pepe-2", "PEPE", 0.0126, 9e9), row("pepe", "PEPE", 0.0000126)]
    coins = [listed("kPEPE", 0.0000126)]
    assert ids(identify(coins, seen, {})) == {"PEPE": "pepe"}
    assert wanted_tickers(coins) == {"PEPE"}


def test_where_no_price_agrees_the_coin_is_nobodys() -> None:
    assert identify([listed("ONE", 0.012)], [row("one-token", "ONE", 4.0), row("dead", "ONE", None)], {}) == {}
    assert identify([listed("ONE", None)], [row("harmony", "ONE", 0.012)], {}) == {}
    assert identify([listed("ONE", 0.012)], [], {}) == {}


def test_prices_agree_up_to_a_tenth() -> None:
    for price, found in ((1.0 + AGREEING - 1e-9, True), (1.0 + AGREEING + 1e-9, False), (1.0 - AGREEING - 1e-9, False)):
        assert bool(identify([listed("A", 1.0)], [row("a", "A", price)], {})) is found


def test_who_was_known_stays_through_a_jump_between_two_looks() -> None:
    before = {"A": row("a", "A", 1.0)}
    fallen = listed("A", 0.8)
    shown = row("a", "A", 1.0 - 1e-9, 2.0)
    assert identify([fallen], [shown], before) == {"A": shown}
    assert identify([listed("A", 1 / (1 + PARTED) - 1e-6)], [shown], before) == {}


def test_who_was_known_stays_where_nothing_new_is_seen_of_it() -> None:
    before = {"A": row("a", "A", 1.0, 5.0)}
    assert identify([listed("A", 1.0)], [], before) == before
    assert identify([listed("A", None)], [row("other", "A", 1.0)], before) == before
    assert identify([listed("A", 1.0)], [row("small", "A", 1.0, 4.0)], before) == before
    assert ids(identify([listed("A", 1.0)], [row("large", "A", 1.0, 6.0)], before)) == {"A": "large"}


def test_who_was_known_and_has_no_price_now_stays_known() -> None:
    priceless = row("a", "A", None, None)
    assert identify([listed("A", 1.0)], [priceless], {"A": row("a", "A", 1.0)}) == {"A": priceless}
    assert identify([listed("A", None)], [priceless], {"A": row("a", "A", 1.0)}) == {"A": priceless}


def test_who_was_known_and_does_not_agree_gives_way_to_one_that_does() -> None:
    seen = [row("old", "A", 1.2, 9e9), row("new", "A", 1.0)]
    assert ids(identify([listed("A", 1.0)], seen, {"A": row("old", "A", 1.0)})) == {"A": "new"}


def test_a_namesake_whose_price_drifts_past_takes_nobodys_place() -> None:
    known = {"A": row("ours", "A", 1.0, 1e8)}
    for price in (0.91, 0.95, 0.975, 1.03, 1.09):
        seen = [row("namesake", "A", price, 9e9), row("ours", "A", 1.001, 1e8)]
        assert ids(identify([listed("A", 1.0)], seen, known)) == {"A": "ours"}
        assert ids(identify([listed("A", 1.0)], seen, {})) == {"A": "ours"}


def test_a_namesake_that_agrees_only_roughly_takes_nobodys_place_while_that_one_jumps_or_is_not_shown() -> None:
    known = {"A": row("ours", "A", 1.0, 1e8)}
    namesake = row("namesake", "A", 0.82, 9e9)
    assert ids(identify([listed("A", 0.8)], [row("ours", "A", 1.0, 1e8), namesake], known)) == {"A": "ours"}
    assert ids(identify([listed("A", 0.8)], [namesake], known)) == {"A": "ours"}


def test_who_was_mistaken_for_ours_gives_way_to_the_one_whose_price_is_ours() -> None:
    seen = [row("namesake", "A", 1.05, 9e9), row("ours", "A", 1.001, 1e8)]
    assert ids(identify([listed("A", 1.0)], seen, {"A": seen[0]})) == {"A": "ours"}


def test_a_coin_the_venue_no_longer_lists_is_forgotten() -> None:
    assert identify([], [row("a", "A", 1.0)], {"A": row("a", "A", 1.0)}) == {}


@given(
    price=st.floats(1e-9, 1e9),
    prices=st.lists(st.floats(1e-12, 1e12), max_size=6),
    caps=st.lists(st.floats(0, 1e15) | st.none(), min_size=6, max_size=6),
)
def test_whoever_is_found_shares_the_ticker_and_the_price(
    price: float, prices: list[float], caps: list[float | None]
) -> None:
    seen = [row(f"id-{place}", "A", one, caps[place]) for place, one in enumerate(prices)]
    found = identify([listed("A", price), listed("B", price)], seen, {})
    assert "B" not in found
    apart = {one.id: 1.0 if one.price is None else abs(one.price / price - 1) for one in seen}
    agreeing = [one for one in seen if apart[one.id] <= AGREEING]
    agreeing = [one for one in agreeing if apart[one.id] <= EQUAL] or agreeing
    assert bool(agreeing) is ("A" in found)
    if agreeing:
        assert found["A"] in agreeing
        assert (found["A"].market_cap or 0) == max(one.market_cap or 0 for one in agreeing)
