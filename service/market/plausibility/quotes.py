"""The plausibility check of quotes: decides whether an observation of a coin can be true. Pure: no I/O, no clock.

Every quote passes it before it is stored, polled or pushed, of either venue. `rules` has the thresholds, `quarantine`
keeps what fails and decides when it is accepted after all.

Prices are compared by the absolute log of their ratio, called distance: 0.03 is a move of about 3 %.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from service.clock import DAY_MS
from service.market.models import VENUE, Quote
from service.market.plausibility.rules import (
    AGREEMENT,
    AGREEMENT_OF_ROWS,
    DELISTED_COINS,
    DELISTED_SHARE,
    DISAGREEMENT,
    HIGHEST_FUNDING,
    HIGHEST_PRICE,
    LARGEST_INTEREST,
    LARGEST_VOLUME,
    LEAPING_COINS,
    LEAPING_SHARE,
    LEAST_FROM_BAR,
    LEAST_FUNDING_MOVE,
    LEAST_MOVE,
    LEAST_RETURNS,
    LOWEST_PRICE,
    MAGNITUDE,
    MISSING_COINS,
    MISSING_SHARE,
    MOVES_A_DAY,
    OLDEST_MS,
    PREVIOUS_LEAP,
    ROW_AGE_MS,
    ROW_PRICE,
    ROW_SIZE,
    SAME_ASSET,
    SAME_ROW,
    SCALE_BARS,
    SCALES,
    SECOND_AGE_MS,
    SUPPLY_LEAP,
    USUAL_SCALE,
    VOLUME_LEAP,
    RejectReason,
)

_MAD_TO_SIGMA: Final = 1.4826


class BarReference(NamedTuple):
    """A coin's last closed daily bar: close (USD), time of the close, and the coin's scale.

    `scale` is the robust standard deviation of daily log returns.
    """

    close: float
    close_ms: int
    scale: float


class SecondQuote(NamedTuple):
    """The second venue's values: price in USD, funding as fraction per hour, 24-hour volume in USD, and their time.

    Funding and volume are null if unknown.
    """

    price: float
    funding: float | None
    observed_ms: int
    volume_usd: float | None = None


class CoinBaseline(NamedTuple):
    """What an observation of a coin is compared with. Every part may be missing.

    Attributes:
        accepted: The last accepted quote.
        bar: The last closed bar.
        second: Values of the other venue than the observed one.
        agreed: That venue's values when they last agreed with an accepted price.
    """

    accepted: Quote | None = None
    bar: BarReference | None = None
    second: SecondQuote | None = None
    agreed: SecondQuote | None = None


class FieldReasons(NamedTuple):
    """Why fields of an observation are rejected; null for accepted or missing fields."""

    price: RejectReason | None = None
    funding: RejectReason | None = None
    volume: RejectReason | None = None
    interest: RejectReason | None = None
    previous: RejectReason | None = None


def distance(one: float, other: float) -> float:
    """Distance of two positive prices: the absolute log of their ratio."""
    return abs(math.log(one) - math.log(other))


def is_price(price: float) -> bool:
    """Whether a number can be a price in USD."""
    return LOWEST_PRICE <= price <= HIGHEST_PRICE


def scale_of(closes: Sequence[float]) -> float:
    """The scale of a coin: median absolute deviation of its daily log returns, as a standard deviation.

    Args:
        closes: Of closed daily bars, oldest first, all positive; the newest `SCALE_BARS` returns are read.

    Returns:
        A number in `SCALES`; the usual one where there are too few bars.
    """
    newest = closes[-SCALE_BARS - 1 :]
    returns = [math.log(later / earlier) for earlier, later in pairwise(newest)]
    if len(returns) < LEAST_RETURNS:
        return USUAL_SCALE
    middle = _median(returns)
    spread = _median([abs(value - middle) for value in returns]) * _MAD_TO_SIGMA
    return min(max(spread, SCALES[0]), SCALES[1])


def agree(one: float, other: float, scale: float = USUAL_SCALE) -> bool:
    """Whether the prices of two venues agree."""
    return distance(one, other) <= max(AGREEMENT, scale / 2)


def contradict(one: float, other: float, scale: float = USUAL_SCALE) -> bool:
    """Whether the prices of two venues cannot both be right."""
    return distance(one, other) > 2 * max(AGREEMENT, scale / 2)


def drifts(price: float, known: CoinBaseline) -> bool:
    """Whether a price has left the second venue's, which agreed with the accepted price before and has not leapt."""
    _, bar, second, agreed = known
    if second is None or agreed is None:
        return False
    scale = bar.scale if bar else USUAL_SCALE
    has_leapt = distance(second.price, agreed.price) > largest_move(scale, second.observed_ms - agreed.observed_ms)
    return not has_leapt and distance(price, second.price) > max(DISAGREEMENT, scale / 2)


def is_same_asset(price: float, other: float) -> bool:
    """Whether two prices may be of one asset: the larger is at most a quarter above the smaller."""
    return max(price, other) <= min(price, other) * (1 + SAME_ASSET)


def largest_move(scale: float, age_ms: int) -> float:
    """The largest distance to a price accepted `age_ms` milliseconds before."""
    return max(LEAST_MOVE, scale) + MOVES_A_DAY * scale * math.sqrt(abs(age_ms) / DAY_MS)


def agrees_with_bar(price: float, bar: BarReference, observed_ms: int) -> bool:
    """Whether a price agrees with the last closed daily bar."""
    days = max(0, observed_ms - bar.close_ms) / DAY_MS
    return distance(price, bar.close) <= max(LEAST_FROM_BAR, MOVES_A_DAY * bar.scale * math.sqrt(days))


def judge(quote: Quote, known: CoinBaseline, observed_ms: int, *, is_cleared: bool = False) -> FieldReasons:
    """Judge one observation of a coin.

    Args:
        quote: What a venue shows; fields that it does not show are null and pass.
        known: What is known of the coin. A price of `known.second` counts only while it is fresh.
        observed_ms: When the venue showed it, epoch milliseconds.
        is_cleared: Whether the price and the row have been accepted by other means.

    Returns:
        The reason for each field that fails. A row that fails as a whole fails in price and funding.
    """
    known = usable(known, observed_ms)
    volume = RejectReason.VOLUME_IMPOSSIBLE if not 0 <= quote.volume_usd <= LARGEST_VOLUME else None
    previous = None
    accepted = known.accepted
    if accepted and _is_recent(accepted, observed_ms):
        is_leap = _differ(quote.volume_usd, _last_volume(quote, known, observed_ms), VOLUME_LEAP)
        volume = volume or (RejectReason.VOLUME_MOVED if is_leap else None)
        if _differ(quote.prev_price, accepted.prev_price, PREVIOUS_LEAP):
            previous = RejectReason.PREVIOUS_MOVED
    interest = None
    if quote.open_interest is not None:
        valued_at = quote.price or (accepted and accepted.price) or (known.bar and known.bar.close) or LOWEST_PRICE
        if not 0 <= quote.open_interest * valued_at <= LARGEST_INTEREST:
            interest = RejectReason.INTEREST_IMPOSSIBLE
    price = None
    if not is_cleared:
        price = None if quote.price is None else _judge_price(quote.price, known, observed_ms)
        if price is not RejectReason.PRICE_IMPOSSIBLE and _is_row_changed(quote, known, observed_ms):
            price = RejectReason.ROW_CHANGED
    funding = None if quote.funding is None else _judge_funding(quote.funding, known, price)
    return FieldReasons(price, funding, volume, interest, previous)


def judge_universe(shown: Iterable[str], flagged: Iterable[str], known: Iterable[str]) -> RejectReason | None:
    """Judge which coins an answer names.

    Args:
        shown: Venue symbols that it names as traded.
        flagged: Those that it names as delisted.
        known: Those that are listed and had an accepted price.

    Returns:
        Why the whole answer is not accepted; null if it is.
    """
    listed, called, named = set(known), set(flagged), set(shown)
    if len(listed - called - named) > max(MISSING_COINS, MISSING_SHARE * len(listed)):
        return RejectReason.COINS_MISSING
    if len(listed & called) > max(DELISTED_COINS, DELISTED_SHARE * len(listed)) or (
        not listed and len(called) > len(named)
    ):
        return RejectReason.COINS_DELISTED
    return None


def are_many(leaping: int, shown: int) -> bool:
    """Whether so many of the coins shown fail that the whole answer is not accepted."""
    return leaping >= LEAPING_COINS and leaping > LEAPING_SHARE * shown


def is_another_row(quote: Quote, accepted: Quote, observed_ms: int) -> bool:
    """Whether previous-day price, volume and open interest say that a row is not that of its coin.

    Only rows of one venue, at most ten minutes apart, can be compared.
    """
    if not _are_comparable(quote, accepted, observed_ms):
        return False
    leaps = (
        _differ(quote.prev_price, accepted.prev_price, ROW_PRICE),
        _differ(quote.volume_usd, accepted.volume_usd, ROW_SIZE),
        _differ(quote.open_interest, accepted.open_interest, ROW_SIZE),
    )
    return sum(leaps) > 1


def owner_of(quote: Quote, accepted: Mapping[str, Quote]) -> str | None:
    """The other coin whose last accepted row equals a row; null if there is none.

    Args:
        quote: An observed row.
        accepted: The last accepted rows by ticker.
    """
    own = accepted.get(quote.symbol)
    if own and _are_equal(quote, own):
        return None
    for symbol, row in accepted.items():
        if symbol == quote.symbol or row.price is None or not _are_equal(quote, row):
            continue
        if own is None or not _are_equal(own, row):
            return symbol
    return None


def is_misplaced(quote: Quote, known: CoinBaseline, accepted: Mapping[str, Quote]) -> bool:
    """Whether a row is another coin's, unless the second venue agrees closely with its price.

    Args:
        quote: An observed row.
        known: What is known of its coin, as returned by `usable`.
        accepted: The last accepted rows by ticker.
    """
    return not _is_confirmed_row(quote, known) and owner_of(quote, accepted) is not None


def usable(known: CoinBaseline, observed_ms: int) -> CoinBaseline:
    """Drop what is too old to compare with. An old bar may still confirm a first price."""
    accepted, bar, second, agreed = known
    if accepted and (accepted.price_ms is None or observed_ms - accepted.price_ms > OLDEST_MS):
        accepted = replace(accepted, price=None, price_ms=None)
    is_first = accepted is None or accepted.price is None
    if bar and _is_old(bar, observed_ms) and not is_first:
        bar = None
    if second and (abs(observed_ms - second.observed_ms) > SECOND_AGE_MS or not is_price(second.price)):
        second = None
    return CoinBaseline(accepted, bar, second, agreed)


def _is_row_changed(quote: Quote, known: CoinBaseline, observed_ms: int) -> bool:
    if known.accepted is None or not is_another_row(quote, known.accepted, observed_ms):
        return False
    return not _is_confirmed_row(quote, known)


def _is_confirmed_row(quote: Quote, known: CoinBaseline) -> bool:
    if quote.price is None or known.second is None:
        return False
    return distance(quote.price, known.second.price) <= AGREEMENT_OF_ROWS


def _judge_price(price: float, known: CoinBaseline, observed_ms: int) -> RejectReason | None:
    accepted, bar, second, _ = known
    scale = bar.scale if bar else USUAL_SCALE
    if not is_price(price):
        return RejectReason.PRICE_IMPOSSIBLE
    if second and agree(price, second.price, scale):
        return None
    if accepted is None or accepted.price is None or accepted.price_ms is None:
        return _judge_first(price, bar, second, observed_ms)
    moved = distance(price, accepted.price)
    if moved > largest_move(scale, observed_ms - accepted.price_ms):
        return RejectReason.PRICE_MAGNITUDE if moved > MAGNITUDE else RejectReason.PRICE_MOVED
    if bar and not agrees_with_bar(price, bar, observed_ms) and agrees_with_bar(accepted.price, bar, observed_ms):
        return RejectReason.PRICE_OFF_BAR
    return RejectReason.PRICE_SECOND_VENUE if drifts(price, known) else None


def _judge_first(
    price: float, bar: BarReference | None, second: SecondQuote | None, observed_ms: int
) -> RejectReason | None:
    if bar is None or _is_old(bar, observed_ms):
        is_near = bar is not None and second is None and distance(price, bar.close) <= LEAST_FROM_BAR
        return None if is_near else RejectReason.PRICE_UNCONFIRMED
    if not agrees_with_bar(price, bar, observed_ms):
        return RejectReason.PRICE_MAGNITUDE if distance(price, bar.close) > MAGNITUDE else RejectReason.PRICE_OFF_BAR
    if second and is_same_asset(second.price, bar.close) and contradict(price, second.price, bar.scale):
        return RejectReason.PRICE_SECOND_VENUE
    return None


def _is_old(bar: BarReference, observed_ms: int) -> bool:
    return observed_ms - bar.close_ms > OLDEST_MS


def _judge_funding(funding: float, known: CoinBaseline, price: RejectReason | None) -> RejectReason | None:
    if not abs(funding) <= HIGHEST_FUNDING:
        return RejectReason.FUNDING_CAP
    last = known.accepted.funding if known.accepted else None
    if price is not None:
        return RejectReason.FUNDING_UNCONFIRMED if last is None else price
    second = known.second.funding if known.second else None
    if second is not None and abs(funding - second) <= LEAST_FUNDING_MOVE:
        return None
    if last is None:
        return RejectReason.FUNDING_UNCONFIRMED if abs(funding) > LEAST_FUNDING_MOVE else None
    return RejectReason.FUNDING_MOVED if abs(funding - last) > max(LEAST_FUNDING_MOVE, abs(last)) else None


def is_worth_moved(
    now: tuple[float | None, float | None, float | None], last: tuple[float | None, float | None, float | None]
) -> bool:
    """Whether price, market cap and spot volume of a coin (USD; null is unknown) leap from what was shown last."""
    (price, cap, volume), (last_price, last_cap, last_volume) = now, last
    if _differ(volume, last_volume, VOLUME_LEAP):
        return True
    return _differ(_ratio(cap, price), _ratio(last_cap, last_price), SUPPLY_LEAP)


def _ratio(one: float | None, other: float | None) -> float | None:
    return one / other if one and other else None


def _last_volume(quote: Quote, known: CoinBaseline, observed_ms: int) -> float | None:
    """Last volume of the quote's venue; null if unknown. The second venue's comes from its check."""
    accepted, _, _, agreed = known
    if accepted and quote.venue == accepted.venue:
        return accepted.volume_usd
    is_checked = agreed and quote.venue != VENUE and observed_ms - agreed.observed_ms <= ROW_AGE_MS
    return agreed.volume_usd if agreed and is_checked else None


def _are_comparable(quote: Quote, accepted: Quote, observed_ms: int) -> bool:
    """Whether two rows are of one venue and near in time."""
    return accepted.venue == quote.venue and _is_recent(accepted, observed_ms)


def _is_recent(accepted: Quote, observed_ms: int) -> bool:
    return accepted.price_ms is not None and observed_ms - accepted.price_ms <= ROW_AGE_MS


def _differ(one: float | None, other: float | None, most: float) -> bool:
    """Whether two sizes differ by more than a distance; unknown ones do not, nor do two that are zero."""
    if one is None or other is None or one == other:
        return False
    return min(one, other) <= 0 or distance(one, other) > most


def _are_equal(one: Quote, other: Quote) -> bool:
    fields = (
        (one.prev_price, other.prev_price),
        (one.volume_usd, other.volume_usd),
        (one.open_interest, other.open_interest),
    )
    return all(a is not None and b is not None and not _differ(a, b, SAME_ROW) for a, b in fields)


def _median(values: Iterable[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
