"""Build the rows of the coin table from data in memory. No I/O."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from service.market.categories.service import FIGURES, streak_days
from service.market.coin_state import was_missed
from service.market.freshness import CHART, MOOD, QUOTE, Freshness
from service.market.historical import MARKET_CAP_AGE_MS
from service.market.models import BENCHMARK, CoinView, MarketState
from service.market.past_prices import instants_of
from service.market.sources.coingecko import GeckoCoin
from service.verdict.grading import CoinGrader
from service.wire.coins import CoinRow
from service.wire.sentiment import NO_MOOD, Mood

_CENTS: Final = 2


class RowInputs(NamedTuple):
    """What rows are made of, at one instant.

    `held_back` are pairs of ticker and field that fail the plausibility check. Mappings are by ticker.
    """

    now_ms: int
    view: Mapping[str, CoinView]
    state: MarketState
    held_back: AbstractSet[tuple[str, str]]
    worth: Mapping[str, GeckoCoin]
    moods: Mapping[str, Mood]
    categories: Mapping[str, Sequence[str]]


def build_rows(sources: RowInputs, grader: CoinGrader) -> dict[str, CoinRow]:
    """The row of every coin, by ticker, in the order of rank, then of the ticker."""
    caps = {symbol: _market_cap(sources, symbol) for symbol in sources.view}
    ranked = sorted(sources.view, key=lambda symbol: (-(caps[symbol] or 0.0), symbol))
    return {
        symbol: _row(sources, grader, sources.view[symbol], caps[symbol], place)
        for place, symbol in enumerate(ranked, 1)
    }


def _row(sources: RowInputs, grader: CoinGrader, coin: CoinView, cap: float | None, place: int) -> CoinRow:
    now_ms, state, symbol = sources.now_ms, sources.state, coin.symbol
    worth, mood = sources.worth.get(symbol), sources.moods[symbol]
    price_is_stale = _is_missed(coin.price_ms, state, now_ms)
    chart_is_stale = CHART.judge(coin.through_ms, now_ms) is Freshness.STALE
    shown_mood = NO_MOOD if MOOD.judge(mood.observed_ms, now_ms) is Freshness.GONE else mood
    grade, read = grader.grade(coin, mood, is_price_stale=price_is_stale, is_chart_stale=chart_is_stale)
    measures = {
        "price": coin.price,
        "change_1h": coin.change_1h,
        "change_24h": coin.change_24h,
        "change_7d": coin.change_7d,
        "change_30d": coin.change_30d,
        # A volume without a recent price is too old to be shown.
        "volume_24h_usd": None if coin.price is None else round(coin.volume_usd, _CENTS),
        "open_interest_usd": coin.open_interest_usd,
        "market_cap": cap,
        "funding_apr": coin.funding_apr,
        "trend_daily": coin.trend_daily,
        "trend_weekly": coin.trend_weekly,
        "regime": read.coin_regime,
        "verdict": grade.verdict,
        "score": grade.score,
        "sentiment_stance": shown_mood.stance,
        "btc_correlation": 1.0 if symbol == BENCHMARK else coin.btc_correlation,
    }
    stale = {
        "price": price_is_stale,
        "change_1h": price_is_stale,
        "change_24h": price_is_stale,
        "change_7d": price_is_stale,
        "change_30d": price_is_stale,
        "volume_24h_usd": price_is_stale or (symbol, "volume") in sources.held_back,
        "open_interest_usd": price_is_stale or (symbol, "interest") in sources.held_back,
        "market_cap": worth is not None and FIGURES.judge(worth.seen_ms, now_ms) is not Freshness.FRESH,
        "funding_apr": _is_missed(coin.funding_ms, state, now_ms),
        "trend_daily": chart_is_stale,
        "trend_weekly": chart_is_stale,
        "regime": read.regime == "stale",
        "verdict": not grade.is_complete,
        "score": not grade.is_complete,
        "sentiment_stance": shown_mood.stale,
        "btc_correlation": chart_is_stale and symbol != BENCHMARK,
    }
    return CoinRow(
        symbol=symbol,
        name=None if worth is None else worth.name,
        rank=None if cap is None else place,
        streak_days=streak_days(coin),
        changes_from=instants_of(coin.changes_from),
        categories=None if worth is None else list(sources.categories.get(symbol, ())),
        stale_fields=[name for name, value in measures.items() if value is None or stale[name]],
        **measures,  # type: ignore[arg-type] # each is of its field's type, as the tests hold
    )


def _is_missed(observed_ms: int | None, state: MarketState, now_ms: int) -> bool:
    return QUOTE.judge(observed_ms, now_ms) is Freshness.STALE or was_missed(observed_ms, state)


def _market_cap(sources: RowInputs, symbol: str) -> float | None:
    worth = sources.worth.get(symbol)
    if worth is None or worth.market_cap is None or sources.now_ms - worth.seen_ms > MARKET_CAP_AGE_MS:
        return None
    return round(worth.market_cap, _CENTS)
