"""The quarantine: holds back what fails the plausibility check until something clears it. No I/O, no clock.

A value that fails keeps the last accepted one in its place, which ages and is named stale. It becomes accepted

- at once where the second venue agrees (`plausibility.judge`), or
- where the same level has been reported by every observation for 150 s and no second venue contradicts it.
  Findings in `NEVER_BY_PERSISTENCE` are not cleared by time.

The first price of a coin is cleared by time only where neither recent bars nor the second venue have that coin.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from service.market.observed import Quote, Quotes
from service.market.plausibility import (
    Findings,
    Known,
    Reference,
    Second,
    are_many,
    contradict,
    distance,
    drifts,
    is_misplaced,
    is_same_asset,
    judge,
    largest_move,
    usable,
)
from service.market.plausibility_rules import (
    LARGEST_GAP_MS,
    LEAPING_COINS,
    LEAPS,
    LEAST_FUNDING_MOVE,
    NEVER_BY_PERSISTENCE,
    PERSISTENCE_MS,
    PERSISTENCE_TIMES,
    PREVIOUS_LEAP,
    USUAL_SCALE,
    VOLUME_LEAP,
    Reason,
)

WHOLE: Final = "*"
"""In place of a coin: the whole answer."""

QUARANTINE: Final = "market.quarantine"
"""The document that tells what is held back."""

_OF_QUOTES: Final = frozenset({*Findings._fields, "answer"})
"""Fields of a quotes answer. Each new answer decides again which of them are held back."""

MOST_NAMED: Final = 10
"""Coins in a summary."""

CONFIRMED_SHARE: Final = 0.8
"""Where the second venue confirms so many of the leaping coins that it has, the table is not shifted."""

_log: Final = logging.getLogger("verdict.market")


class Quarantined(Struct, frozen=True):
    """A value that is held back: whose, which field, why, and since when (epoch milliseconds).

    `coin` is a ticker, or `*` for a whole answer.
    """

    source: str
    coin: str
    field: str
    reason: Reason
    since_ms: int


class Report(Struct, frozen=True):
    """What is held back now, and how often each source, field and reason was held back since the leader started."""

    now: Sequence[Quarantined] = ()
    counts: Mapping[str, int] = {}

    def fields(self, coins: Collection[str]) -> frozenset[str]:
        """The fields of some coins that are held back now, by the names of `Findings`."""
        return frozenset(held.field for held in self.now if held.coin in coins)

    def summary(self) -> Mapping[str, object]:
        """What is held back, for a person: how many values by reason, and the first coins."""
        reasons = Counter(str(held.reason) for held in self.now)
        coins = sorted({held.coin for held in self.now})
        return {"values": len(self.now), "reasons": dict(sorted(reasons.items())), "coins": coins[:MOST_NAMED]}


class Surroundings(NamedTuple):
    """What observations are compared with, by ticker.

    `accepted` are the last accepted quotes, `second` is what the second venue shows (empty: unknown), `agreed` what it
    showed when it last agreed with an accepted price. `is_complete`
    says that bars have been asked for: a coin that has none has no history. A first price is compared with its bar only
    once the second venue was asked.
    """

    accepted: Mapping[str, Quote]
    bars: Mapping[str, Reference]
    second: Mapping[str, Second]
    is_complete: bool
    was_second_asked: bool
    agreed: Mapping[str, Second] = {}


class Sifted(NamedTuple):
    """What an answer is worth: the quotes without what is held back, or why all of it is held back.

    `findings` are those of the coins that have any. `unsettled` are coins that the second venue could clear.
    """

    quotes: Quotes
    whole: Reason | None
    findings: Mapping[str, Findings]
    unsettled: frozenset[str]


class _Level(Struct):
    """A level of a value that is held back, as it was reported last; `is_foreign`: its row is that of another coin."""

    value: float
    since_ms: int
    seen_ms: int = 0
    times: int = 0
    is_foreign: bool = False

    def follow(self, value: float, at_ms: int, *, is_same: bool, is_blocked: bool) -> None:
        """Take note of one more observation. One that is blocked starts the time again."""
        if self.times and 0 <= self.seen_ms - at_ms <= LARGEST_GAP_MS and not is_blocked:
            return
        if not is_same or is_blocked or not 0 < at_ms - self.seen_ms <= LARGEST_GAP_MS:
            self.since_ms, self.times = at_ms, 0
        self.value, self.seen_ms = value, at_ms
        self.times += 1

    def has_persisted(self) -> bool:
        """Whether it has been reported for long enough."""
        return self.seen_ms - self.since_ms >= PERSISTENCE_MS and self.times >= PERSISTENCE_TIMES


class Quarantine:
    """Sifts the answers of all venues of one market."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, str, str], _Level] = {}
        self._now: dict[tuple[str, str, str], Quarantined] = {}
        self._counts: Counter[str] = Counter()

    def forget(self) -> None:
        """Another history begins: what was held back belongs to none of it."""
        self._levels.clear()
        self._now.clear()

    def report(self) -> Report:
        """What is held back now."""
        return Report(tuple(self._now[key] for key in sorted(self._now)), dict(sorted(self._counts.items())))

    def sift(self, found: Quotes, source: str, around: Surroundings) -> Sifted:
        """Hold back what fails. The same answer may be sifted again, once more is known.

        Args:
            found: Coins as one venue showed them at one time.
            source: That venue.
            around: What they are compared with.
        """
        findings = {}
        for quote in found.quotes:
            found_in = self._sift_coin(quote, source, around, found.observed_ms)
            if any(found_in):
                findings[quote.symbol] = found_in
        leaping = [symbol for symbol, found_in in findings.items() if _is_leap(symbol, found_in.price, around)]
        shown = sum(quote.price is not None for quote in found.quotes)
        whole = None
        if are_many(len(leaping), shown) and not _is_confirmed(found, findings, around):
            whole = Reason.COINS_LEAPING
        quotes = [
            _without(quote, findings[quote.symbol], around.accepted.get(quote.symbol))
            if quote.symbol in findings
            else quote
            for quote in found.quotes
        ]
        unsettled = frozenset(
            symbol
            for symbol, (price, funding, *_) in findings.items()
            if (price or funding) not in {None, Reason.PRICE_IMPOSSIBLE, Reason.FUNDING_CAP}
        )
        return Sifted(replace(found, quotes=quotes), whole, findings, unsettled)

    def note(self, sifted: Sifted, source: str) -> None:
        """Count and log what an answer has come to; each coin and reason is logged once until it is cleared.

        A first price that waits for its confirmation is no failure: it is logged as information.
        """
        at_ms = sifted.quotes.observed_ms
        held = {}
        waiting = {symbol for symbol, found_in in sifted.findings.items() if Reason.PRICE_UNCONFIRMED in found_in}
        for symbol, found_in in sifted.findings.items():
            for field, reason in found_in._asdict().items():
                if reason is not None:
                    held[symbol, field] = reason
        if sifted.whole is not None:
            held[WHOLE, "answer"] = sifted.whole
        for key in [key for key in self._now if key[0] == source and key[2] in _OF_QUOTES and key[1:] not in held]:
            del self._now[key]
        for (coin, field), reason in held.items():
            self.hold(source, coin, field, reason, at_ms, logging.INFO if coin in waiting else logging.WARNING)

    def reject(self, source: str, reason: Reason, at_ms: int) -> None:
        """Count and log a whole answer of which nothing was looked at."""
        self.hold(source, WHOLE, "answer", reason, at_ms)

    def count(self, source: str, reason: Reason, times: int) -> None:
        """Count rows that were dropped."""
        if times:
            self._counts[f"{source} ticker {reason}"] += times

    def hold(
        self, source: str, coin: str, field: str, reason: Reason, at_ms: int, level: int = logging.WARNING
    ) -> None:
        """Count a value that is held back, and log it unless it was held back before for the same reason.

        Args:
            source: Who showed it.
            coin: A ticker, or `WHOLE`.
            field: One of `Findings`, or a series without spaces: `bars-1d`, `payments`.
            reason: Why.
            at_ms: When it was seen, epoch milliseconds.
            level: Of the line in the log.
        """
        self._counts[f"{source} {field} {reason}"] += 1
        before = self._now.get((source, coin, field))
        if before is None or before.reason is not reason:
            since_ms = at_ms if before is None else before.since_ms
            self._now[source, coin, field] = Quarantined(source, coin, field, reason, since_ms)
            told = {"source": source, "coin": coin, "field": field, "reason": str(reason)}
            _log.log(level, "Quarantined: a value failed the plausibility check.", extra=told)

    def release(self, coin: str, field: str) -> None:
        """Remove a coin's series from the report, whichever venue its answers came from."""
        for key in [key for key in self._now if key[1:] == (coin, field)]:
            del self._now[key]

    def _sift_coin(self, quote: Quote, source: str, around: Surroundings, at_ms: int) -> Findings:
        known = _known(quote.symbol, around, at_ms)
        is_first = known.accepted is None or known.accepted.price is None
        if is_first and not around.was_second_asked:
            known = known._replace(bar=None)
        found = judge(quote, known, at_ms)
        if found.price is not Reason.PRICE_IMPOSSIBLE and is_misplaced(quote, known, around.accepted):
            funding = Reason.ROW_OF_ANOTHER if quote.funding is not None else None
            found = found._replace(price=Reason.ROW_OF_ANOTHER, funding=funding)
        if self._has_price_persisted(quote, found.price, source, known, around, at_ms):
            found = judge(quote, known, at_ms, is_cleared=True)
        if found.price is None and self._has_funding_persisted(quote, found.funding, source, at_ms):
            found = found._replace(funding=None)
        if found.volume is Reason.VOLUME_MOVED and self._has_size_persisted(
            (source, quote.symbol, "volume"), quote.volume_usd, VOLUME_LEAP, at_ms
        ):
            found = found._replace(volume=None)
        if (
            found.previous
            and quote.prev_price
            and self._has_size_persisted((source, quote.symbol, "previous"), quote.prev_price, PREVIOUS_LEAP, at_ms)
        ):
            found = found._replace(previous=None)
        return found

    def _has_size_persisted(self, key: tuple[str, str, str], value: float, leap: float, at_ms: int) -> bool:
        level = self._levels.setdefault(key, _Level(value, at_ms))
        is_same = value == level.value or (min(value, level.value) > 0 and distance(value, level.value) <= leap)
        level.follow(value, at_ms, is_same=is_same, is_blocked=False)
        return level.has_persisted()

    def _has_price_persisted(
        self, quote: Quote, reason: Reason | None, source: str, known: Known, around: Surroundings, at_ms: int
    ) -> bool:
        key, price = (source, quote.symbol, "price"), quote.price
        if reason is None and price is not None:
            self._levels.pop(key, None)
        if reason is None or price is None or reason is Reason.PRICE_IMPOSSIBLE:
            return False
        scale = known.bar.scale if known.bar else USUAL_SCALE
        level = self._levels.setdefault(key, _Level(price, at_ms))
        is_same = distance(price, level.value) <= largest_move(scale, at_ms - level.seen_ms)
        level.is_foreign = reason is Reason.ROW_OF_ANOTHER or (level.is_foreign and is_same)
        is_blocked = level.is_foreign or _is_blocked(price, reason, known, around)
        level.follow(price, at_ms, is_same=is_same, is_blocked=is_blocked)
        return level.has_persisted()

    def _has_funding_persisted(self, quote: Quote, reason: Reason | None, source: str, at_ms: int) -> bool:
        key, funding = (source, quote.symbol, "funding"), quote.funding
        if reason is None or funding is None:
            if funding is not None:
                self._levels.pop(key, None)
            return False
        level = self._levels.setdefault(key, _Level(funding, at_ms))
        is_same = abs(funding - level.value) <= max(LEAST_FUNDING_MOVE, abs(level.value))
        level.follow(funding, at_ms, is_same=is_same, is_blocked=reason in NEVER_BY_PERSISTENCE)
        return level.has_persisted()


def _known(symbol: str, around: Surroundings, at_ms: int) -> Known:
    accepted = around.accepted.get(symbol)
    known = Known(accepted, around.bars.get(symbol), around.second.get(symbol), around.agreed.get(symbol))
    return usable(known, at_ms)


def _is_blocked(price: float, reason: Reason, known: Known, around: Surroundings) -> bool:
    """Whether time alone cannot clear a price: something contradicts it, or something that could confirm it is due."""
    accepted, bar, second, _ = known
    if reason in NEVER_BY_PERSISTENCE or drifts(price, known):
        return True
    if reason is Reason.PRICE_UNCONFIRMED:
        return second is not None or not around.is_complete
    references = (accepted.price if accepted else None, bar.close if bar else None)
    return (
        second is not None
        and contradict(price, second.price, bar.scale if bar else USUAL_SCALE)
        and any(reference and is_same_asset(reference, second.price) for reference in references)
    )


def _is_leap(symbol: str, reason: Reason | None, around: Surroundings) -> bool:
    """Whether a finding counts for `COINS_LEAPING`. Of contradictions by the second venue, those of first prices do."""
    accepted = around.accepted.get(symbol)
    is_first = accepted is None or accepted.price is None
    return reason in LEAPS or (reason is Reason.PRICE_SECOND_VENUE and is_first)


def _is_confirmed(found: Quotes, findings: Mapping[str, Findings], around: Surroundings) -> bool:
    """Whether the second venue confirms nearly all of the leaping coins that it has."""
    leaping = confirmed = 0
    for quote in found.quotes:
        symbol, known = quote.symbol, _known(quote.symbol, around, found.observed_ms)
        if known.second and judge(quote, known._replace(second=None), found.observed_ms).price in LEAPS:
            leaping += 1
            confirmed += symbol not in findings or findings[symbol].price is None
    return leaping >= LEAPING_COINS and confirmed >= CONFIRMED_SHARE * leaping


def _without(quote: Quote, found: Findings, accepted: Quote | None) -> Quote:
    """A quote without what is held back. Fields that have no time of their own keep their last accepted value."""
    if found.price is not None:
        quote = replace(quote, price=None, price_ms=None)
    if found.funding is not None:
        quote = replace(quote, funding=None, funding_ms=None)
    is_row = found.price in LEAPS or found.price is Reason.PRICE_SECOND_VENUE
    if is_row or found.volume:
        quote = replace(quote, volume_usd=accepted.volume_usd if accepted else 0.0)
    if found.previous:
        quote = replace(quote, prev_price=accepted.prev_price if accepted else None)
    if is_row or found.interest:
        quote = replace(quote, open_interest=accepted.open_interest if accepted else None)
    return quote
