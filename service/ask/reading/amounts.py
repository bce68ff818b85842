"""How much of what, and how many: amounts and limits in a text. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from service.ask.reading.mentions import Mention
from service.ask.reading.numbers import Number, loosely_at, number_at
from service.ask.reading.tokens import Token
from service.ask.reading.words import bag
from service.wire.ask import Amount

USD: Final = "USD"
_DOLLARS: Final = bag("usd usdt usdc dollar dollars buck bucks us$")
_COUNTED: Final = bag(
    """
    alerts altcoins assets biggest best coins cryptos gainers highest largest losers lowest memecoins memes most movers
    names performers stocks strongest tokens top weakest worst laggards rows results signals positions outcomes items
    """
)
"""What a number before it counts."""
_RANKED: Final = frozenset(
    {"top", "bottom", "first", "best", "worst", "last", "only", "biggest", "largest", "highest", "lowest"}
)
_MOST_LISTED: Final = 1_000
_SIDES: Final = frozenset({"long", "short", "position", "longs", "shorts"})
_LEAST_BARE: Final = 100
"""From here on a number before "of", "in" or "long" is money rather than a count."""
_UNITS_OF: Final = frozenset({"worth", "of", "in", "long", "short"})


class Sum(NamedTuple):
    """An amount in a text, and the words that say it."""

    start: int
    end: int
    amount: Amount


def find_sum(tokens: Sequence[Token], taken: set[int], coins: Mapping[int, Mention]) -> Sum | None:
    """The first amount of money or of a coin that a text names.

    Args:
        tokens: Its words.
        taken: Those that are a period or a name.
        coins: Where coins are named, by the first word.
    """
    loose: Sum | None = None
    for at in range(len(tokens)):
        if at in taken:
            continue
        found = _sum(tokens, at, coins)
        if found is not None and found.amount.unit is not None:
            return found
        loose = loose or found
    return loose


def find_limit(tokens: Sequence[Token], taken: set[int], grouped: set[int]) -> int | None:
    """How many things a text asks for; null where it does not say.

    Args:
        tokens: Its words.
        taken: Those that are a period, an amount or a coin.
        grouped: Where categories are named.
    """
    for at in range(len(tokens)):
        number = None if at in taken else number_at(tokens, at)
        if number is None or number.value != int(number.value) or not 1 <= number.value <= _MOST_LISTED:
            continue
        end = at + number.size
        after = tokens[end].word if end < len(tokens) else ""
        before = tokens[at - 1].word if at else ""
        if (
            not number.scaled
            and (after in _COUNTED or end in grouped or before in _RANKED)
            and not _of_coin(before, after)
        ):
            return int(number.value)
    return None


def _of_coin(before: str, after: str) -> bool:
    """So: "Only one" and "the first one" count nothing."""
    return (
        after in {"time", "times"}
        or (after == "of" and before not in _RANKED)
        or (before in {"only", "first", "best", "worst", "last"} and after in {"is", "was"})
    )


def _sum(tokens: Sequence[Token], at: int, coins: Mapping[int, Mention]) -> Sum | None:
    number = number_at(tokens, at) or _article(tokens, at, coins)
    if number is None or number.value < 0:
        return None
    end = at + number.size
    after = tokens[end] if end < len(tokens) else None
    named = after is not None and after.word in _DOLLARS
    if tokens[at].sigil == "$" or named or (after is not None and "$" in after.gap):
        return Sum(at, end + named, Amount(number.value, USD))
    mention = coins.get(end)
    if mention is not None and after is not None and not after.gap:
        return _of(tokens, at, end, number, mention)
    spelt = after is not None and after.word in _UNITS_OF and number.value >= _LEAST_BARE
    if (number.scaled or spelt) and tokens[at].is_number:
        return Sum(at, end, Amount(number.value, None))
    return None


def _of(tokens: Sequence[Token], at: int, end: int, number: Number, mention: Mention) -> Sum:
    """An amount right before a coin: of it, but for a position's, which is in dollars ("10k btc long")."""
    if number.scaled and any(token.word in _SIDES for token in tokens):
        return Sum(at, end, Amount(number.value, None))
    return Sum(at, end, Amount(number.value, mention.thing.keys[0]))


def _article(tokens: Sequence[Token], at: int, coins: Mapping[int, Mention]) -> Number | None:
    """So: "Half a bitcoin"."""
    number = loosely_at(tokens, at) if tokens[at].word in {"half", "single"} else None
    return number if number is not None and at + number.size in coins else None
