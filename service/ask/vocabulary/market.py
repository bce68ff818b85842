"""What a market does: prices, funding, trends, breadth, regimes."""

from typing import Final

from service.analytics.breadth import EXTREME_PCT, VELOCITY_DAYS
from service.analytics.funding import DEFAULT_APR, LEAST_ROWS
from service.analytics.rules import (
    CALM_ENTER,
    CALM_STAY,
    CONFIRM_COIN_DAYS,
    CONFIRM_DAYS,
    NET_ENTER_PCT,
    SEASON_DAYS,
)
from service.ask.vocabulary.term import Term

TERMS: Final = (
    Term(
        key="price",
        title="price",
        short="The price is the mark price of the venue's perpetual in US dollars.",
        text="The price is the mark price of the venue's perpetual, in US dollars: the median of its oracle, its "
        "book and its trades, at which positions are valued and liquidated. It is read every 15 seconds.",
        synonyms=("price", "mark price", "mark"),
        see=("perpetual", "venue"),
    ),
    Term(
        key="perpetual",
        title="perpetual",
        short="A perpetual is a futures contract without an expiry that funding holds near the price of its "
        "asset.",
        text="A perpetual (perpetual future, perp) is a futures contract that never expires. Funding, a regular "
        "payment between longs and shorts, holds its price near that of the asset.",
        synonyms=("perpetual", "perpetuals", "perp", "perps", "perpetual future", "perpetual futures"),
        see=("funding", "long", "short"),
    ),
    Term(
        key="venue",
        title="venue",
        short="The venue is the exchange whose perpetuals are read.",
        text="The venue is the exchange whose perpetuals are read: Hyperliquid. While it does not answer, Binance "
        "tells prices and funding of the coins it has, and answers say so in `venue`.",
        synonyms=("venue", "exchange", "data source"),
        see=("price", "stale"),
    ),
    Term(
        key="long",
        title="long",
        short="A long position gains when the price rises.",
        text="A long is a position that gains when the price rises. It pays funding while funding is positive and "
        "receives it while it is negative.",
        synonyms=("long", "longs", "going long", "long position"),
        see=("short", "funding"),
    ),
    Term(
        key="short",
        title="short",
        short="A short position gains when the price falls.",
        text="A short is a position that gains when the price falls. It receives funding while funding is "
        "positive and pays it while it is negative.",
        synonyms=("short", "shorts", "shorting", "short position", "going short"),
        see=("long", "funding"),
    ),
    Term(
        key="leverage",
        title="leverage",
        short="Leverage is how many times larger a position is than the money behind it.",
        text="Leverage is the size of a position divided by the money (margin) behind it. Funding is paid on the "
        "whole position, not on the margin. This service measures markets; it knows nobody's positions.",
        synonyms=("leverage", "leveraged"),
        see=("notional", "liquidation"),
    ),
    Term(
        key="liquidation",
        title="liquidation",
        short="A liquidation is the forced closing of a position whose margin no longer covers its loss.",
        text="A liquidation is the forced closing of a position by the exchange, once its margin no longer covers "
        "its loss at the mark price.",
        synonyms=("liquidation", "liquidated", "liquidations"),
        see=("leverage", "price"),
    ),
    Term(
        key="notional",
        title="notional",
        short="The notional is the size of a whole position in US dollars.",
        text="The notional is the size of a position in US dollars: its quantity times the price, whatever margin "
        "stands behind it. Funding is paid on it.",
        synonyms=("notional", "notional value", "position size"),
        see=("carry", "leverage"),
    ),
    Term(
        key="funding",
        title="funding",
        short="Funding is a regular payment between longs and shorts of a perpetual that holds it near its "
        "asset's price.",
        text="Funding is what longs and shorts of a perpetual pay each other, on the venue every hour. While the "
        "rate is positive longs pay shorts, while it is negative shorts pay longs. Here it is told as a yearly "
        f"figure (`funding_apr`); {DEFAULT_APR:g} % a year is the venue's resting rate, where demand is even.",
        synonyms=("funding", "funding rate", "funding rates", "funding fee", "funding fees", "funding payment"),
        see=("funding-apr", "carry", "funding-alert"),
    ),
    Term(
        key="funding-apr",
        title="funding APR",
        short="The funding APR is the running funding rate as a simple yearly percentage.",
        text="The funding APR is the rate running this hour, times 8,760 hours, in percent: simple, without "
        "compounding. It says what a year would cost if the rate stayed as it is, which it does not.",
        synonyms=("funding apr", "apr", "annualised funding", "annualized funding", "funding_apr"),
        see=("funding", "carry"),
    ),
    Term(
        key="carry",
        title="carry",
        short="Carry is what holding a position earns or costs through funding alone.",
        text="Carry is what a position earns (positive) or costs (negative) through funding alone, in percent a "
        "year: for a long the funding APR with its sign turned, for a short the funding APR. For an amount and a "
        "time: notional times carry times days / 365, if funding stayed as it is; price changes and fees come on top.",
        synonyms=("carry", "cost of carry", "carry cost", "carry trade"),
        see=("funding", "notional"),
    ),
    Term(
        key="funding-alert",
        title="funding alert",
        short="A funding alert is the moment at which a coin's funding became rare for the coin and dear in "
        "itself.",
        text="A funding alert fires when a coin's funding enters a zone: it must be rare among what the coin paid "
        f"in the 30 days before ({LEAST_ROWS} payments at least), and dear in itself. Zones: hot (97th percentile "
        "and 21.9 % a year), very-hot (99.5th and 43.8 %), cold (3rd percentile and -10.95 %), very-cold (0.5th "
        "and -21.9 %). A zone is left only well inside it, so that a rate that hovers fires once.",
        synonyms=(
            "funding alert", "funding alerts", "hot funding", "very hot", "very-hot", "cold funding", "very cold",
            "very-cold", "trigger zone", "funding zone",
        ),
        see=("funding", "percentile"),
    ),
    Term(
        key="percentile",
        title="percentile",
        short="A percentile says what share of a coin's own past values lies below the present value.",
        text="A percentile says what share of past values lies below the present one, equal ones counted half (a "
        "mid-rank): 0 is the lowest, 100 the highest. For funding the past is the coin's own 30 days.",
        synonyms=("percentile", "percentiles", "percentile rank"),
        see=("funding-alert",),
    ),
    Term(
        key="open-interest",
        title="open interest",
        short="Open interest is the size of all positions that are open in a perpetual.",
        text="Open interest is the size of all open positions of a perpetual, here in US dollars at the mark "
        "price. Every position has a long and a short side and is counted once.",
        synonyms=("open interest", "oi"),
        see=("volume", "perpetual"),
    ),
    Term(
        key="volume",
        title="volume",
        short="Volume is what was traded within a day, in US dollars.",
        text="Volume is what was traded in the last 24 hours, in US dollars: in a scan that of the venue's "
        "perpetual, in a coin's history also that of its spot markets, told apart by name.",
        synonyms=("volume", "trading volume", "24h volume", "turnover"),
        see=("open-interest",),
    ),
    Term(
        key="market-cap",
        title="market cap",
        short="The market cap is the price of a coin times the number of coins in circulation.",
        text="The market cap is the price of a coin times the number of coins in circulation, in US dollars, as "
        "CoinGecko tells it.",
        synonyms=("market cap", "market capitalisation", "market capitalization", "mcap", "marketcap"),
        see=("category",),
    ),
    Term(
        key="trend",
        title="trend",
        short="A trend is whether a coin is above or below its SuperTrend lines against US dollars, bitcoin and "
        "ether.",
        text="A coin's trend is UP when its last closed bar is above its SuperTrend lines against USD, BTC and "
        "ETH alike, DOWN when it is below all of them, and HODL otherwise. There is one of daily and one of "
        "weekly bars. Only closed bars count, so a published trend never changes afterwards. A real-world asset "
        "is compared with USD alone.",
        synonyms=(
            "trend", "trends", "daily trend", "weekly trend",
            "trend_daily", "trend_weekly", "uptrend", "downtrend",
        ),
        see=("hodl", "supertrend", "breadth"),
    ),
    Term(
        key="up",
        title="UP",
        short="UP means that a coin is above all of its SuperTrend lines.",
        text="UP is a trend state: the last closed bar is above the coin's SuperTrend lines against USD, BTC and "
        "ETH.",
        synonyms=("up state", "trend up"),
        see=("trend", "hodl", "down"),
    ),
    Term(
        key="down",
        title="DOWN",
        short="DOWN means that a coin is below all of its SuperTrend lines.",
        text="DOWN is a trend state: the last closed bar is below the coin's SuperTrend lines against USD, BTC "
        "and ETH.",
        synonyms=("down state", "trend down"),
        see=("trend", "hodl", "up"),
    ),
    Term(
        key="hodl",
        title="HODL",
        short="HODL means that a coin's trends disagree: it is above some of its SuperTrend lines and below "
        "others.",
        text="HODL is the trend state between UP and DOWN: the coin is above some of its SuperTrend lines against "
        "USD, BTC and ETH, and below others. It is no advice to hold.",
        synonyms=("hodl", "hold state", "hodl state"),
        see=("trend", "up", "down"),
    ),
    Term(
        key="supertrend",
        title="SuperTrend",
        short="SuperTrend is a line that follows the price at a distance of several average ranges and flips when "
        "crossed.",
        text="SuperTrend(10, 3) is a line at three average true ranges (over 10 bars, Wilder's) from the middle "
        "of a bar, which only moves towards the price. A close beyond it turns the trend; a close that only "
        "touches it does not.",
        synonyms=("supertrend", "super trend"),
        see=("trend",),
    ),
    Term(
        key="btc-correlation",
        title="correlation to BTC",
        short="The correlation to BTC says how closely a coin's daily returns go with bitcoin's.",
        text="The correlation to BTC is Pearson's, over daily log returns of the last 90 days on which both have "
        "a closed bar (30 at least): 1 moves with bitcoin, 0 has nothing to do with it, -1 moves against it. "
        "BTC's own is 1.",
        synonyms=("correlation", "btc correlation", "correlated", "btc_correlation", "correlation to btc"),
        see=("trend",),
    ),
    Term(
        key="volatility",
        title="volatility",
        short="Volatility is how widely a price's daily returns scatter, as a yearly figure.",
        text="Realised volatility is the standard deviation of 30 daily log returns, annualised over 365 days. "
        "The market's regime looks at where bitcoin's stands among its last 365 values.",
        synonyms=("volatility", "realised volatility", "realized volatility", "vol"),
        see=("regime", "percentile"),
    ),
    Term(
        key="breadth",
        title="breadth",
        short="Breadth is how many coins are in each trend state on the last closed day.",
        text="Breadth counts the coins in UP, HODL and DOWN on the last closed day, of all whose trend is known. "
        "Net breadth is the share of UP less that of DOWN, in percentage points.",
        synonyms=("breadth", "market breadth", "net breadth", "market health"),
        see=("crossing", "extreme", "velocity"),
    ),
    Term(
        key="crossing",
        title="breadth crossing",
        short="A breadth crossing is a day on which coins in UP came to outnumber those in DOWN, or the reverse.",
        text="A breadth crossing is a change of the sign of UP less DOWN between closed daily bars. Days on which "
        "they tie are stepped over. Crossings are told for 90 days.",
        synonyms=("crossing", "crossings", "breadth crossing", "breadth crossings"),
        see=("breadth",),
    ),
    Term(
        key="extreme",
        title="extreme",
        short="An extreme is a day on which most of the coins are in the same trend state.",
        text=f"An extreme is a day on which at least {EXTREME_PCT:g} % of all coins are in one trend state.",
        synonyms=("extreme", "extremes", "overheated", "market extreme"),
        see=("breadth",),
    ),
    Term(
        key="velocity",
        title="velocity",
        short="Velocity is how fast net breadth changes from day to day.",
        text=f"Velocity is the change of net breadth over {VELOCITY_DAYS} days, in percentage points a day.",
        synonyms=("velocity", "breadth velocity"),
        see=("breadth",),
    ),
    Term(
        key="leader",
        title="leaders and laggards",
        short="Leaders and laggards are the coins whose returns lie farthest above and below the middle of the "
        "market.",
        text="Leaders and laggards are the coins whose return over 30 days lies farthest above and below the "
        "median of the universe, in percentage points. Of a category they are the best and the worst change of 24 "
        "hours.",
        synonyms=("leader", "leaders", "laggard", "laggards", "leadership"),
        see=("breadth", "category"),
    ),
    Term(
        key="divergence",
        title="divergence",
        short="A divergence is when things that usually agree do not, such as bitcoin's price and breadth.",
        text="A divergence is told where things that usually agree do not: a 20-day closing high (low) of BTC "
        "while net breadth is ten points off its own best (worst) of those days, or a coin whose trend opposes "
        "BTC's though its correlation to it is 0.7 or more.",
        synonyms=("divergence", "divergences"),
        see=("breadth", "btc-correlation"),
    ),
    Term(
        key="regime",
        title="regime",
        short="A regime says whether the market, or a coin, is in a state to take risk, to avoid it, or neither.",
        text="The market's regime is risk-on, neutral or risk-off, by rules over closed daily bars: risk-on "
        f"begins with BTC UP, net breadth of {NET_ENTER_PCT:g} % or more and BTC's volatility up to its "
        f"{CALM_ENTER:g}th percentile, and ends beyond the {CALM_STAY:g}th, with BTC DOWN or net breadth below 0; "
        f"risk-off begins with net breadth of -{NET_ENTER_PCT:g} % or less and BTC down in USD (or not UP and "
        f"volatile). A change must be wanted on {CONFIRM_DAYS} closed days in a row. A coin's regime follows its "
        f"own trend unless the market opposes it, on {CONFIRM_COIN_DAYS} days in a row, once its trend has been "
        f"known for {SEASON_DAYS} days.",
        synonyms=("regime", "regimes", "market regime", "coin regime", "regime signal", "regime signals"),
        see=("risk-on", "risk-off", "conviction"),
    ),
    Term(
        key="risk-on",
        title="risk-on",
        short="Risk-on is the regime in which bitcoin and most coins rise and the market is calm.",
        text=f"Risk-on is the regime that begins with BTC UP, net breadth of {NET_ENTER_PCT:g} % or more and a "
        f"calm market (BTC's volatility up to its {CALM_ENTER:g}th percentile). A coin's own is risk-on while its "
        "trend is UP and the market is not against it.",
        synonyms=("risk-on", "risk on"),
        see=("regime", "risk-off"),
    ),
    Term(
        key="risk-off",
        title="risk-off",
        short="Risk-off is the regime in which most coins fall and bitcoin does not hold against it.",
        text=f"Risk-off is the regime that begins with net breadth of -{NET_ENTER_PCT:g} % or less while BTC is "
        "down in USD, or not UP and volatile. A coin's own is risk-off while its trend is DOWN and the market is "
        "not against it.",
        synonyms=("risk-off", "risk off"),
        see=("regime", "risk-on"),
    ),
    Term(
        key="conviction",
        title="conviction",
        short="Conviction is how clearly the inputs of a regime speak for it.",
        text="Conviction (for a list of coins: confidence) is how clearly a regime's inputs speak, from 0 to 1. "
        "It is no probability.",
        synonyms=("conviction", "regime confidence"),
        see=("regime",),
    ),
    Term(
        key="category",
        title="category",
        short="A category is a group of coins of the same kind, as CoinGecko draws it.",
        text="A category is one of CoinGecko's groups of coins, by its exact name, such as Layer 1 (L1) or Meme. "
        "Of its 250 largest coins those are told that the venue lists.",
        synonyms=("category", "categories", "sector", "sectors", "narrative"),
        see=("leader", "market-cap"),
    ),
    Term(
        key="rwa",
        title="real-world asset",
        short="A real-world asset is an equity, a fund, a metal, a commodity, an index or a currency traded as a "
        "perpetual.",
        text="A real-world asset (RWA) here is an equity, fund, metal, commodity, index or currency as its "
        "perpetual trades on the venue, also while the asset's own exchange is closed. Tokenised wrappers of "
        "crypto are never listed. Its funding belongs to the perpetual.",
        synonyms=("rwa", "rwas", "real-world asset", "real world asset", "real world assets", "real-world assets"),
        see=("perpetual", "trend"),
    ),
    Term(
        key="k-units",
        title="thousands of a coin",
        short="A small letter k before a ticker means that a unit is a fixed large number of the coin.",
        text="The venue trades some cheap coins in thousands: KPEPE is 1000 PEPE, so its price is that of a "
        "thousand. `1000PEPE` and `kPEPE` are the same; PEPE alone is not, because a price would be wrong a "
        "thousandfold.",
        synonyms=("kpepe", "k prefix", "thousands of a coin", "1000pepe"),
        see=("price",),
    ),
    Term(
        key="stale",
        title="stale",
        short="A stale field could not be refreshed and keeps its last value until it is too old to be said.",
        text="A field is stale when the newest refresh did not bring it: it keeps its last value and is named in "
        "`_stale_fields`. Past its limit (10 minutes for price and funding, 48 hours for the rest) it is null.",
        synonyms=("stale", "stale field", "stale fields", "stale data", "_stale_fields", "data age"),
        see=("as-of",),
    ),
    Term(
        key="as-of",
        title="as of",
        short="The as-of time is when the oldest figure that an answer rests on was observed.",
        text="`as_of` is when the oldest load-bearing input of an answer was observed, in UTC; `ts` is when the "
        "answer was written. What rests on daily bars is as of the close of the last closed day.",
        synonyms=("as of", "as_of", "as-of", "timestamp"),
        see=("stale",),
    ),
)  # fmt: skip
