"""Figures that people ask for and nobody here keeps: to answer with others in their place would be no answer."""

from collections.abc import Sequence
from typing import Final

from service.ask.parser.phrases.row import Row

UNKEPT: Final[Sequence[Row]] = (
    Row(
        "out-of-scope",
        79,
        """
        rsi|macd|bollinger|fibonacci|fib|fibs|ichimoku|stochastic|vwap|obv|adx|ema|sma|emas|smas|atr
        moving average|averages
        golden|death cross
        candlestick|candlesticks|candle|candles pattern?|patterns?
        chart pattern|patterns
        wyckoff|elliott|elliot|wave count|analysis|schematics?
        support|resistance level|levels|zone|zones|line|lines
        support and|or|& resistance
        resistance|supports|resistances
        orderbook|orderbooks
        order book|books
        bid ask|asks
        market|book depth
        liquidation|liq|liquidations price|prices|level|levels|heatmap|map|data|in|last|of|on|for
        liquidated
        implied|options|option volatility|vol|iv|skew|chain|expiry|flow|open
        gamma|greeks|delta exposure
        max pain
        put call ratio
        tvl|mvrv|nvt|nupl|sopr|puell
        total value locked
        hashrate|hashprice
        hash rate|power|price
        mining|network difficulty
        circulating|total|max|maximum|token supply
        supply of COIN|CATEGORY
        COIN|CATEGORY|stablecoin|stablecoins supply
        how many COIN are|is there|left|mined|issued|circulating|burned|burnt
        tokenomics|vesting|emissions|unlocks
        token|next|upcoming unlock
        unlock schedule|date|dates
        burn|burned|burnt rate|coins|tokens|so|already
        fully diluted
        fdv
        dominance
        halving|halvings|halvening
        gas fee|fees|price|prices|cost|costs|on|gwei
        gwei
        transaction|network|tx fee|fees|count|counts
        active|daily|unique addresses|users|wallets
        tps|throughput
        transactions per second
        block time|height|size|reward|rewards
        staking|stake|restaking yield|yields|apy|apr|reward|rewards|rate|rates|return|returns
        apy|apys|yields
        whitepaper|roadmap|github|commits
        earnings|dividend|dividends|eps|revenue|pe|p/e|buybacks
        etf|etfs flow|flows|inflow|inflows|outflow|outflows|holdings
        seasonality
        basis|calendar|futures spread|spreads|curve
        """,
        action="figure",
    ),
)
"""Lighter than prophecies and errands, which borrow these words, and heavier than what is kept."""
