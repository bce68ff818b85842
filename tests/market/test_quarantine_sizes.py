"""Volume and the price of the day before: what leaps keeps its last value, unless it stays there."""

import pytest
from msgspec.structs import replace

from service.clock import MINUTE_MS, SECOND_MS
from service.market.models import Quote, Quotes
from service.market.plausibility.quarantine import Baseline, Quarantine
from service.market.plausibility.quotes import SecondQuote, owner_of
from service.market.plausibility.rules import RejectReason
from tests.fakes.clock import START_MS

QUOTE = Quote("SOL", "SOL", 5e6, 100.0, START_MS, 0.00001, START_MS, open_interest=10.0, prev_price=97.0)


def checked(quarantine: Quarantine, at_ms: int, **fields: float) -> tuple[Quote, RejectReason | None]:
    shown = replace(QUOTE, price_ms=at_ms, funding_ms=at_ms, **fields)
    accepted = replace(QUOTE, price_ms=at_ms - 15 * SECOND_MS)
    found = quarantine.check(Quotes(at_ms, [shown]), "hyperliquid", Baseline({"SOL": accepted}, {}, {}, True, True))  # noqa: FBT003
    findings = found.findings.get("SOL")
    reason = None if findings is None else findings.volume or findings.previous
    return next(iter(found.quotes.quotes)), reason


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("volume_usd", 0.0, RejectReason.VOLUME_MOVED),
        ("volume_usd", 2.6e7, RejectReason.VOLUME_MOVED),
        ("volume_usd", 2.4e7, None),
        ("prev_price", 970.0, RejectReason.PREVIOUS_MOVED),
        ("prev_price", 105.0, None),
    ],
)
def test_a_size_that_leaps_keeps_its_last_value_for_150_seconds(
    field: str, value: float, reason: RejectReason | None
) -> None:
    quarantine = Quarantine()
    quote, found = checked(quarantine, START_MS + 15 * SECOND_MS, **{field: value})
    assert found is reason
    assert getattr(quote, field) == (value if reason is None else getattr(QUOTE, field))
    for at_ms in range(START_MS + 30 * SECOND_MS, START_MS + 4 * MINUTE_MS, 15 * SECOND_MS):
        quote, found = checked(quarantine, at_ms, **{field: value})
    assert found is None
    assert getattr(quote, field) == value


@pytest.mark.promise("quarantine.second-venue")
@pytest.mark.parametrize(
    ("volume_usd", "age_ms", "is_held"),
    [(1.0e7, MINUTE_MS, True), (3.0e6, MINUTE_MS, False), (1.0e7, 11 * MINUTE_MS, False)],
)
def test_a_volume_of_the_second_venue_that_stands_in_is_compared_with_that_of_its_last_check(
    volume_usd: float, age_ms: int, *, is_held: bool
) -> None:
    shown = replace(QUOTE, venue="binance", volume_usd=volume_usd, open_interest=None)
    checked = {"SOL": SecondQuote(100.0, None, START_MS - age_ms, 1.0e6)}
    baseline = Baseline({"SOL": QUOTE}, {}, {}, is_complete=True, was_second_asked=True, agreed=checked)
    found = Quarantine().check(Quotes(START_MS, [shown]), "binance", baseline)
    assert (found.findings == {}) is not is_held
    (quote,) = found.quotes.quotes
    assert quote.volume_usd == (QUOTE.volume_usd if is_held else volume_usd)


def test_the_first_venue_s_volume_is_not_compared_with_the_second_one_s() -> None:
    checked = {"SOL": SecondQuote(100.0, None, START_MS, 1.0)}
    accepted = replace(QUOTE, venue="binance", volume_usd=1.0)
    baseline = Baseline({"SOL": accepted}, {}, {}, is_complete=True, was_second_asked=True, agreed=checked)
    assert Quarantine().check(Quotes(START_MS, [QUOTE]), "hyperliquid", baseline).findings == {}


def test_a_row_between_its_own_and_a_like_one_of_another_coin_is_its_own() -> None:
    own = replace(QUOTE, volume_usd=1.00e6)
    like = replace(QUOTE, symbol="XRP", volume_usd=1.015e6)
    shown = replace(QUOTE, volume_usd=1.03e6)
    assert owner_of(shown, {"SOL": own, "XRP": like}) is None
    assert owner_of(shown, {"SOL": own, "XRP": replace(like, volume_usd=1.04e6)}) == "XRP"
