"""Parts of composed questions: what each measure, set, time and condition may be called."""

import random
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from service.ask.query import (
    All,
    At,
    Between,
    Comparator,
    Condition,
    Measure,
    Not,
    Span,
    Subject,
    Test,
    Time,
    Window,
)
from service.clock import DAY_MS

NOW_MS: Final = 1_795_433_358_000
TODAY_MS: Final = NOW_MS // DAY_MS * DAY_MS

COINS: Final[Mapping[str, tuple[str, ...]]] = {
    "BTC": ("BTC", "btc", "bitcoin", "Bitcoin", "$BTC", "bitcion"),
    "ETH": ("ETH", "eth", "ether", "Ethereum", "etherium"),
    "SOL": ("SOL", "sol", "solana", "$SOL", "solanna"),
    "DOGE": ("DOGE", "doge", "dogecoin", "dogecion"),
    "XRP": ("XRP", "xrp", "ripple"),
    "AVAX": ("AVAX", "avax", "avalanche", "avalanch"),
    "LINK": ("LINK", "chainlink", "$LINK", "chainlnk"),
    "AAVE": ("AAVE", "aave"),
    "HYPE": ("HYPE", "hyperliquid", "$HYPE"),
    "UNI": ("UNI", "uniswap"),
    "SUI": ("SUI", "sui", "$SUI"),
    "WIF": ("WIF", "wif", "dogwifhat"),
    "LTC": ("LTC", "litecoin", "litcoin"),
    "TIA": ("TIA", "celestia"),
    "ADA": ("ADA", "cardano"),
    "DOT": ("DOT", "polkadot"),
    "ARB": ("ARB", "arbitrum"),
    "OP": ("OP", "optimism"),
    "INJ": ("INJ", "injective"),
    "PEPE": ("PEPE", "pepe"),
}
SETS: Final[Sequence[tuple[Subject, tuple[str, ...]]]] = (
    (Subject(scope="all"), ("coins", "tokens", "cryptos", "all coins")),
    (Subject(scope="category", categories=("Meme",)), ("memes", "meme coins", "memecoins")),
    (Subject(scope="category", categories=("Layer 1 (L1)",)), ("L1s", "layer 1s", "layer 1 coins", "layer ones")),
    (Subject(scope="category", categories=("Layer 2 (L2)",)), ("L2s", "layer 2s", "layer 2 tokens")),
    (Subject(scope="category", categories=("Decentralized Finance (DeFi)",)), ("DeFi coins", "defi tokens")),
    (Subject(scope="category", categories=("Artificial Intelligence (AI)",)), ("AI coins", "AI tokens")),
    (Subject(scope="category", categories=("Gaming (GameFi)",)), ("gaming coins", "gaming tokens")),
    (Subject(scope="category", categories=("Privacy",)), ("privacy coins", "privacy tokens")),
)
"""Sets that a condition may follow."""

NARROWED: Final[Sequence[tuple[Subject, tuple[str, ...]]]] = (
    *SETS,
    (Subject(scope="all", excluded=("BTC",)), ("alts", "altcoins", "coins except BTC", "coins without bitcoin")),
    (Subject(scope="all", excluded_categories=("Meme",)), ("coins that are not memes", "coins excluding memes")),
)

PLAIN: Final[Mapping[str, tuple[str, ...]]] = {
    "price": ("price", "current price", "pirce"),
    "volume": ("volume", "24h volume", "trading volume", "voulme"),
    "open_interest": ("open interest", "OI"),
    "market_cap": ("market cap", "mcap", "market capitalization", "marketcap"),
    "funding": ("funding", "funding rate", "fundng"),
    "score": ("score", "verdict score"),
}
STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "trend": ("trend",),
    "verdict": ("verdict",),
    "regime": ("regime",),
    "sentiment": ("sentiment", "mood"),
}
WINDOWED: Final[Mapping[str, tuple[str, ...]]] = {
    "change": ("change", "return", "performance"),
    "volatility": ("volatility", "realized volatility", "volatilty"),
    "high": ("high",),
    "low": ("low",),
}
ADJECTIVES: Final[Mapping[Window, tuple[str, ...]]] = {
    Window(24, "h", "24 hours"): ("24h", "24 hour"),
    Window(7, "d", "7 days"): ("7d", "7 day", "7-day"),
    Window(30, "d", "30 days"): ("30d", "30 day", "30-day"),
    Window(90, "d", "90 days"): ("90d", "90 day"),
    Window(3, "h", "3 hours"): ("3 hour", "3h"),
    Window(45, "d", "45 days"): ("45d", "45-day"),
}
SPANS: Final[Mapping[Span, tuple[str, ...]]] = {
    Window(24, "h", "24 hours"): ("over the last 24 hours", "in the past 24h"),
    Window(7, "d", "7 days"): ("over the last 7 days", "in the past week", "over 7 days", "over the last week"),
    Window(30, "d", "30 days"): (
        "over the last 30 days", "in the past month", "over 30 days", "during the last 30 days",
    ),
    Window(90, "d", "90 days"): ("over the last 90 days", "in the past 90 days"),
    Between(TODAY_MS, None, "today so far"): ("so far today", "since midnight"),
    Between(1_793_491_200_000, None, "this month"): ("this month", "month to date"),
    Between(1_767_225_600_000, None, "this year"): ("this year", "year to date", "ytd"),
}  # fmt: skip


def _ago(days: int) -> At:
    minute_ms = NOW_MS // 60_000 * 60_000
    words = f"{days} days ago"
    return At(TODAY_MS - days * DAY_MS, whole_day=True, words=words, instant_ms=minute_ms - days * DAY_MS)


TIMES: Final[Mapping[Time, tuple[str, ...]]] = {
    At(TODAY_MS - DAY_MS, whole_day=True, words="yesterday"): ("yesterday",),
    _ago(7): ("a week ago", "7 days ago"),
    _ago(30): ("30 days ago", "a month ago"),
    At(1_791_158_400_000, whole_day=True, words="2026-10-05"): (
        "on October 5", "on 2026-10-05", "on the 5th of October",
    ),
}  # fmt: skip

_AMOUNTS: Final = ((1e9, "1 billion"), (5e7, "$50m"), (1e8, "100 million"), (2e9, "$2b"))
_COMPARED: Final[Sequence[tuple[Comparator, str]]] = (
    ("gt", "above"), ("gt", "over"), ("lt", "below"), ("lt", "under"), ("ge", "of at least"),
)  # fmt: skip
_GRADED: Final[Sequence[tuple[Test, str]]] = (
    (Test(Measure("verdict"), "ge", "bull"), "bullish"),
    (Test(Measure("verdict"), "le", "bear"), "bearish"),
    (Test(Measure("regime"), "eq", "risk-on"), "risk-on"),
    (Test(Measure("verdict"), "eq", "strong-bull"), "strong-bull"),
)
_SIGNED: Final[Sequence[tuple[str, Comparator]]] = (("negative", "lt"), ("positive", "gt"))
_FRAMES: Final[Sequence[Literal["daily", "weekly"] | None]] = (None, "daily", "weekly")

Dice = random.Random
Worded = tuple[Condition, str, str]
"""A condition, and how it is said after "with" or "have", and after "are" or "is"; one of both may be empty."""


def coin(dice: Dice) -> tuple[str, str]:
    """A ticker and one of its names."""
    key = dice.choice(sorted(COINS))
    return key, dice.choice(COINS[key])


def pair(dice: Dice) -> tuple[tuple[str, str], tuple[str, str]]:
    """Two coins."""
    one = coin(dice)
    while (other := coin(dice))[0] == one[0]:
        pass
    return one, other


def measured(dice: Dice) -> tuple[Measure, str]:
    """A measure and words that stand before or without a name."""
    kind = dice.randrange(3)
    if kind == 0:
        return _windowed(dice)
    table = PLAIN if kind == 1 else STATES
    name = dice.choice(sorted(table))
    return Measure(name), dice.choice(table[name])


def number(dice: Dice) -> tuple[Measure, str]:
    """A measure whose values are numbers."""
    if dice.random() < 0.5:
        return _windowed(dice)
    name = dice.choice(sorted(PLAIN))
    return Measure(name), dice.choice(PLAIN[name])


def _windowed(dice: Dice) -> tuple[Measure, str]:
    name = dice.choice(sorted(WINDOWED))
    span = dice.choice([*ADJECTIVES])
    return Measure(name, over=span), f"{dice.choice(ADJECTIVES[span])} {dice.choice(WINDOWED[name])}"


def span(dice: Dice) -> tuple[Span, str]:
    """A window and how it is said behind a verb."""
    one = dice.choice([*SPANS])
    return one, dice.choice(SPANS[one])


def condition(dice: Dice) -> Worded:
    """A condition."""
    return dice.choice((_compared, _signed, _trending, _graded, _moved))(dice)


def being(dice: Dice) -> Worded:
    """A condition that is said after "is" or "are"."""
    return dice.choice((_trending, _graded, _moved))(dice)


def _compared(dice: Dice) -> Worded:
    measure, words = number(dice)
    value, said = _threshold(dice, measure)
    op, phrase = dice.choice(_COMPARED)
    return Test(measure, op, value), f"{words} {phrase} {said}", ""


def _threshold(dice: Dice, measure: Measure) -> tuple[float, str]:
    if measure.name in {"change", "funding", "volatility"}:
        percent = dice.choice((5, 10, 20, 50))
        return float(percent), f"{percent}{dice.choice(('%', ' %', ' percent'))}"
    if measure.name in {"volume", "open_interest", "market_cap"}:
        return dice.choice(_AMOUNTS)
    if measure.name == "score":
        return 1.0, "1"
    price = dice.choice((1, 10, 100))
    return float(price), f"${price}"


def _signed(dice: Dice) -> Worded:
    sign, op = dice.choice(_SIGNED)
    return Test(Measure("funding"), op, 0.0), f"{sign} funding", ""


def _trending(dice: Dice) -> Worded:
    frame = dice.choice(_FRAMES)
    state, words = dice.choice((("UP", "uptrend"), ("DOWN", "downtrend")))
    named = f"{frame} {words}" if frame else words
    article = "an" if named[0] in "aeiou" else "a"
    return Test(Measure("trend", frame=frame), "eq", state), f"{article} {named}", f"in {article} {named}"


def _graded(dice: Dice) -> Worded:
    test, words = dice.choice(_GRADED)
    return test, "", words


def _moved(dice: Dice) -> Worded:
    over, when = span(dice)
    up = dice.random() < 0.5
    way, op = ("up", "gt") if up else ("down", "lt")
    percent = dice.choice((0.0, 5.0, 10.0))
    test = Test(Measure("change", over=over), "gt" if op == "gt" else "lt", percent if up else -percent or 0.0)
    return test, "", f"{way} more than {percent:g}% {when}" if percent else f"{way} {when}"


def where(dice: Dice) -> tuple[Condition, str]:
    """One or two conditions behind a set: "with negative funding and in an uptrend"."""
    items: list[Condition] = []
    said: list[str] = []
    for _ in range(dice.choice((1, 2))):
        one, having, is_ = condition(dice)
        if any(_name(one) == _name(other) for other in items):
            continue
        negated = bool(is_) and not having and dice.random() < 0.2
        if having and (not is_ or dice.random() < 0.5):
            link = "with" if not said or not said[0].startswith("with") else "and"
            said.append(f"{link} {having}")
        else:
            said.append(f"{'and ' if said else ''}that are {'not ' if negated else ''}{is_}")
        items.append(Not(one) if negated else one)
    return (items[0] if len(items) == 1 else All(tuple(items))), " ".join(said)


def _name(of: Condition) -> str:
    if isinstance(of, Not):
        return _name(of.item)
    assert isinstance(of, Test), of
    return of.measure.name
