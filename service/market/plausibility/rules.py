"""The rules and thresholds of the plausibility check: the published table (`docs/decisions/0001-plausibility.md`)."""

import math
from enum import StrEnum
from typing import Final, NamedTuple

from service.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS

LOWEST_PRICE: Final = 1e-10
HIGHEST_PRICE: Final = 1e7
"""USD. Prices outside this range are no prices of a traded asset."""

LEAST_MOVE: Final = 0.03
MOVES_A_DAY: Final = 6.0
"""A move may be `max(LEAST_MOVE, scale) + MOVES_A_DAY * scale * sqrt(days)` since the last accepted price."""

USUAL_SCALE: Final = 0.05
SCALES: Final = (0.01, 0.15)
"""The scale of a coin whose daily bars are unknown, and the range that a measured one is held in."""

SCALE_BARS: Final = 30
LEAST_RETURNS: Final = 10

LEAST_FROM_BAR: Final = 0.25
"""A price may be `max(LEAST_FROM_BAR, MOVES_A_DAY * scale * sqrt(days))` away from the last closed daily bar."""

MAGNITUDE: Final = math.log(4)
"""A price that is four times the last accepted one, or a quarter of it, is never accepted from one source alone."""

OLDEST_MS: Final = 3 * DAY_MS
"""Older accepted values and bars are no reference, except that an older bar may confirm a first price."""

HIGHEST_FUNDING: Final = 0.04
"""Fraction an hour: Hyperliquid's cap. No venue that is read here pays more."""

LEAST_FUNDING_MOVE: Final = 0.0003
"""Fraction an hour. Funding may change by this much, or by its own last size where that is more."""

LARGEST_VOLUME: Final = 1e12
LARGEST_INTEREST: Final = 1e12
"""USD: above the whole market's."""

ROW_PRICE: Final = 0.02
ROW_SIZE: Final = math.log(1.3)
ROW_AGE_MS: Final = 10 * MINUTE_MS
"""Price of the day before, volume and open interest of one coin do not leap together: two of the three are too many."""

VOLUME_LEAP: Final = math.log(5)
PREVIOUS_LEAP: Final = 0.1
"""Volume of 24 hours and price of the day before that leap further within ten minutes keep their last values, unless
they stay there for `PERSISTENCE_MS`."""

SAME_ROW: Final = 0.02
"""A row whose three fields are all this near to those of another coin is that coin's row."""

AGREEMENT: Final = 0.02
"""Two venues agree within `max(AGREEMENT, scale / 2)`; they contradict each other beyond twice that."""

DISAGREEMENT: Final = 2 * AGREEMENT
"""A price that is further away from the second venue, which agreed with the coin's accepted price before, drifts."""

AGREEMENT_OF_ROWS: Final = 0.005
"""Where a row looks like that of another coin, the two venues must agree this closely."""

SAME_ASSET: Final = 0.25
"""Another venue's price of a ticker is of the same asset if it is within a quarter of a price known to be right."""

SECOND_AGE_MS: Final = MINUTE_MS + 15 * SECOND_MS
"""An older price of the second venue neither confirms nor contradicts."""

MISSING_SHARE: Final = 0.05
MISSING_COINS: Final = 2
DELISTED_SHARE: Final = 0.2
DELISTED_COINS: Final = 5
LEAPING_SHARE: Final = 0.1
LEAPING_COINS: Final = 3

PERSISTENCE_MS: Final = 150 * SECOND_MS
PERSISTENCE_TIMES: Final = 4
"""A level that only one source reports is accepted after this time and this many observations in a row: three minutes
after a real move, less the round of at most 30 s after which it is first seen."""

LARGEST_GAP_MS: Final = 2 * MINUTE_MS
"""A level that was not reported for so long starts again."""

DELISTING_MS: Final = HOUR_MS
"""The venue's own flag must be seen twice, at least this far apart."""

TICKER_LENGTH: Final = 20

BAR_GAP: Final = 0.05
BAR_GAP_SCALES: Final = 2.0
"""A bar opens within `max(BAR_GAP, BAR_GAP_SCALES * scale)` of the close before. Recorded: 0.007 by the hour;
0.21 by the day, where hardly anything was traded."""

BAR_BODY: Final = 0.10
BAR_BODY_SCALES: Final = 3.0
"""A bar that moves further needs the accepted price, or the next bar within `LEAST_FROM_BAR`, where it closed."""

BAR_SAME: Final = 0.01
"""A stored daily bar that is shown again opens and closes within this of what is stored, on either venue."""

FAILING_SHARE: Final = 0.05
"""One bar, or this share of an answer's closed bars, may fail without rejecting those before them."""

BARS_PERSISTENCE_MS: Final = HOUR_MS
"""An answer of bars or payments that stays the same for so long is stored after all."""

LARGEST_CAP: Final = 1e14
"""USD: many times the value of all coins together."""

SUPPLY_LEAP: Final = math.log(1.2)
WORTH_HELD_MS: Final = 3 * HOUR_MS
"""Market cap divided by price is the supply: where it leaps further, or the volume by more than `VOLUME_LEAP`, what
CoinGecko showed last stays for so long. It is asked once an hour at least."""

PAYMENT_LATE_MS: Final = 20 * MINUTE_MS
"""Payments are made at the full hour, the latest recorded a quarter of an hour after it."""


class RejectReason(StrEnum):
    """Why a value is not accepted: the ids of `RULES`."""

    PRICE_IMPOSSIBLE = "price-impossible"
    PRICE_UNCONFIRMED = "price-unconfirmed"
    PRICE_MOVED = "price-moved"
    PRICE_MAGNITUDE = "price-magnitude"
    PRICE_OFF_BAR = "price-off-bar"
    PRICE_SECOND_VENUE = "price-second-venue"
    ROW_CHANGED = "row-changed"
    ROW_OF_ANOTHER = "row-of-another-coin"
    FUNDING_CAP = "funding-cap"
    FUNDING_MOVED = "funding-moved"
    FUNDING_UNCONFIRMED = "funding-unconfirmed"
    VOLUME_IMPOSSIBLE = "volume-impossible"
    VOLUME_MOVED = "volume-moved"
    PREVIOUS_MOVED = "previous-price-moved"
    INTEREST_IMPOSSIBLE = "interest-impossible"
    COINS_MISSING = "coins-missing"
    COINS_DELISTED = "coins-delisted"
    COINS_LEAPING = "coins-leaping"
    TICKER_INVALID = "ticker-invalid"
    BAR_IMPOSSIBLE = "bar-impossible"
    BAR_CHANGED = "bar-changed"
    BAR_MISSING = "bar-missing"
    BAR_OFF_PRICE = "bar-off-price"
    BAR_MOVED = "bar-moved"
    PAYMENT_IMPOSSIBLE = "payment-impossible"
    PAYMENT_MOVED = "payment-moved"
    WORTH_IMPOSSIBLE = "worth-impossible"
    WORTH_MOVED = "worth-moved"


class PlausibilityRule(NamedTuple):
    """A row of the published table."""

    id: RejectReason
    field: str
    limit: str
    text: str


RULES: Final[tuple[PlausibilityRule, ...]] = (
    PlausibilityRule(
        RejectReason.PRICE_IMPOSSIBLE,
        "price",
        f"{LOWEST_PRICE:g} to {HIGHEST_PRICE:g} USD",
        "Not a finite number, or outside the range of traded prices. Never accepted.",
    ),
    PlausibilityRule(
        RejectReason.PRICE_UNCONFIRMED,
        "price",
        f"{LEAST_FROM_BAR:.0%} to a bar older than {OLDEST_MS // DAY_MS} days",
        "First price of a coin: it agrees neither with the last closed bar nor with the second venue. "
        "An older bar confirms only what the second venue does not know.",
    ),
    PlausibilityRule(
        RejectReason.PRICE_MOVED,
        "price",
        f"max({LEAST_MOVE:.0%}, scale) + {MOVES_A_DAY:g} x scale x sqrt(days)",
        "Distance to the last accepted price.",
    ),
    PlausibilityRule(
        RejectReason.PRICE_MAGNITUDE,
        "price",
        f"x {math.exp(MAGNITUDE):.0f}",
        "Ratio to the last accepted price. Persistence alone does not clear it.",
    ),
    PlausibilityRule(
        RejectReason.PRICE_OFF_BAR,
        "price",
        f"max({LEAST_FROM_BAR:.0%}, {MOVES_A_DAY:g} x scale x sqrt(days))",
        "Distance to the close of the last closed daily bar, if the last accepted price was not that far away.",
    ),
    PlausibilityRule(
        RejectReason.PRICE_SECOND_VENUE,
        "price",
        f"max({DISAGREEMENT:.0%}, scale); later max({DISAGREEMENT:.0%}, scale / 2)",
        "The second venue contradicts it: the first price of a coin, or a later one where both agreed before. "
        "Not cleared by time while that lasts.",
    ),
    PlausibilityRule(
        RejectReason.ROW_CHANGED,
        "price, funding, volume, open interest",
        f"two of: previous-day price {ROW_PRICE:.0%}, volume x {math.exp(ROW_SIZE):.1f}, open interest x "
        f"{math.exp(ROW_SIZE):.1f}",
        "Fields that do not leap together within ten minutes: the row may be that of another coin.",
    ),
    PlausibilityRule(
        RejectReason.ROW_OF_ANOTHER,
        "price, funding, volume, open interest",
        f"{SAME_ROW:.0%}",
        "A changed row that is equal to the last accepted row of another coin. Persistence alone does not clear it.",
    ),
    PlausibilityRule(
        RejectReason.FUNDING_CAP,
        "funding",
        f"{HIGHEST_FUNDING:.0%} an hour",
        "The venue's own limit. Never accepted beyond it.",
    ),
    PlausibilityRule(
        RejectReason.FUNDING_MOVED,
        "funding",
        f"max({LEAST_FUNDING_MOVE:.2%} an hour, last accepted)",
        "Change since the last accepted rate: an average over an hour does not change more.",
    ),
    PlausibilityRule(
        RejectReason.FUNDING_UNCONFIRMED,
        "funding",
        f"{LEAST_FUNDING_MOVE:.2%} an hour",
        "First rate of a coin: it is extraordinary and the second venue does not agree, or its price is unconfirmed.",
    ),
    PlausibilityRule(
        RejectReason.VOLUME_IMPOSSIBLE,
        "volume",
        f"0 to {LARGEST_VOLUME:g} USD",
        "Volume of 24 hours outside the range. Never accepted.",
    ),
    PlausibilityRule(
        RejectReason.VOLUME_MOVED,
        "volume",
        f"x {math.exp(VOLUME_LEAP):.0f}",
        "Ratio to the last accepted volume, at most ten minutes old, of the same venue. "
        "When the second venue begins to stand in: to the volume of its last check.",
    ),
    PlausibilityRule(
        RejectReason.PREVIOUS_MOVED,
        "previous-day price",
        f"{PREVIOUS_LEAP:.0%}",
        "Distance to the last accepted one, at most ten minutes old, of either venue.",
    ),
    PlausibilityRule(
        RejectReason.INTEREST_IMPOSSIBLE,
        "open interest",
        f"0 to {LARGEST_INTEREST:g} USD",
        "Open interest times price outside the range; without a price, times the last accepted one or the last close. "
        "Never accepted.",
    ),
    PlausibilityRule(
        RejectReason.COINS_MISSING,
        "whole answer",
        f"max({MISSING_COINS} coins, {MISSING_SHARE:.0%})",
        "Coins with an accepted price that the answer does not name. "
        f"Accepted after {PERSISTENCE_MS // SECOND_MS} s of such answers.",
    ),
    PlausibilityRule(
        RejectReason.COINS_DELISTED,
        "whole answer",
        f"max({DELISTED_COINS} coins, {DELISTED_SHARE:.0%})",
        "Listed coins that one answer calls delisted. In a first answer: more than it lists. "
        f"Accepted after {DELISTING_MS // HOUR_MS} h of such answers; the flags count from then on.",
    ),
    PlausibilityRule(
        RejectReason.COINS_LEAPING,
        "whole answer",
        f"{LEAPING_COINS} coins and {LEAPING_SHARE:.0%}",
        "Coins whose price or row fails: the table is shifted. Cleared where the second venue confirms most of them.",
    ),
    PlausibilityRule(
        RejectReason.TICKER_INVALID,
        "ticker",
        f"[A-Z0-9]{{1,{TICKER_LENGTH}}}",
        "Ticker after the prefix `k` or the name of a dex. The row is dropped.",
    ),
    PlausibilityRule(
        RejectReason.BAR_IMPOSSIBLE,
        "bars",
        f"{LOWEST_PRICE:g} to {HIGHEST_PRICE:g} USD, 0 to {LARGEST_VOLUME:g} USD, x {math.exp(MAGNITUDE):.0f}",
        "Price or volume outside the range, or a body or wick larger than the ratio. Never stored.",
    ),
    PlausibilityRule(
        RejectReason.BAR_CHANGED,
        "bars",
        f"{BAR_SAME:.0%} x sqrt(days of a bar)",
        "A stored bar that is shown again opens or closes elsewhere: days are shifted, or it is another coin.",
    ),
    PlausibilityRule(RejectReason.BAR_MISSING, "bars", "one bar", "A bar does not follow the one before it."),
    PlausibilityRule(
        RejectReason.BAR_OFF_PRICE,
        "bars",
        f"max({LEAST_FROM_BAR:.0%}, {MOVES_A_DAY:g} x scale x sqrt(days))",
        "Distance of the newest close to the accepted price.",
    ),
    PlausibilityRule(
        RejectReason.BAR_MOVED,
        "bars",
        f"gap max({BAR_GAP:.0%}, {BAR_GAP_SCALES:g} x scale), body max({BAR_BODY:.0%}, {BAR_BODY_SCALES:g} x scale)",
        "A bar leaps, and neither the next bar nor the accepted price stands where it closed.",
    ),
    PlausibilityRule(
        RejectReason.PAYMENT_IMPOSSIBLE,
        "payments",
        f"{HIGHEST_FUNDING:.0%} an hour; {PAYMENT_LATE_MS // MINUTE_MS} min from the hour",
        "Rate beyond the venue's limit, a time between the hours, or a time ahead of now. Never stored.",
    ),
    PlausibilityRule(
        RejectReason.PAYMENT_MOVED,
        "payments",
        f"max({LEAST_FUNDING_MOVE:.2%} an hour, accepted rate)",
        "Distance of the newest payment to the accepted rate.",
    ),
    PlausibilityRule(
        RejectReason.WORTH_IMPOSSIBLE,
        "market cap, spot price and volume",
        f"0 to {LARGEST_CAP:g} USD, price {LOWEST_PRICE:g} to {HIGHEST_PRICE:g}",
        "CoinGecko's figures outside the range are unknown. A price also decides which coin a row is.",
    ),
    PlausibilityRule(
        RejectReason.WORTH_MOVED,
        "market cap, spot price and volume",
        f"supply x {math.exp(SUPPLY_LEAP):.1f}, volume x {math.exp(VOLUME_LEAP):.0f}",
        "Ratio to what CoinGecko showed of the coin last; supply is market cap divided by price. The last figures stay "
        f"for {WORTH_HELD_MS // HOUR_MS} h, with their own time.",
    ),
)
"""The published table, in the order in which the rules are applied."""

NEVER_BY_PERSISTENCE: Final = frozenset(
    {
        RejectReason.PRICE_IMPOSSIBLE,
        RejectReason.PRICE_MAGNITUDE,
        RejectReason.ROW_OF_ANOTHER,
        RejectReason.FUNDING_CAP,
        RejectReason.VOLUME_IMPOSSIBLE,
        RejectReason.INTEREST_IMPOSSIBLE,
        RejectReason.BAR_IMPOSSIBLE,
        RejectReason.PAYMENT_IMPOSSIBLE,
    }
)
"""Findings that time does not clear."""

LEAPS: Final = frozenset(
    {RejectReason.PRICE_IMPOSSIBLE, RejectReason.PRICE_MOVED, RejectReason.PRICE_MAGNITUDE, RejectReason.PRICE_OFF_BAR}
    | {RejectReason.ROW_CHANGED, RejectReason.ROW_OF_ANOTHER}
)
"""Findings that count for `COINS_LEAPING`. Where two venues contradict each other, neither stands in for the other."""
