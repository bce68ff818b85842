"""Holds back values that fail the plausibility check. No I/O, no clock.

A field that fails keeps its last accepted value, which ages and is named stale. It is accepted

- at once if the second venue agrees (`plausibility.quotes.judge`), or
- if the same level was reported by every observation for 150 s and the second venue does not contradict it. Reasons in
  `NEVER_BY_PERSISTENCE` are not cleared by time.

Time clears the first price of a coin only if neither recent bars nor the second venue know the coin.
"""

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from service.clock import MINUTE_MS
from service.market.models import Quote, Quotes
from service.market.plausibility.quotes import (
    BarReference,
    CoinBaseline,
    FieldReasons,
    SecondQuote,
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
from service.market.plausibility.rules import (
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
    RejectReason,
)
from service.storage.documents import Document

WHOLE: Final = "*"
"""Stands for a coin in entries about a whole answer."""

QUARANTINE: Final = "market.quarantine"
"""Name of the document with the report."""

_OF_QUOTES: Final = frozenset({*FieldReasons._fields, "answer"})
"""Fields of a quotes answer. Every new answer decides again which of them are held back."""

MOST_NAMED: Final = 10
"""Maximum number of coins in a summary."""

CONFIRMED_SHARE: Final = 0.8
"""If the second venue confirms this share of the leaping coins that it has, the table is not shifted."""

_log: Final = logging.getLogger("verdict.market")


class QuarantinedValue(Struct, frozen=True):
    """A value that is held back.

    `coin` is a ticker, or `*` for a whole answer. `since_ms` is epoch milliseconds.
    """

    source: str
    coin: str
    field: str
    reason: RejectReason
    since_ms: int


class QuarantineReport(Struct, frozen=True):
    """Values held back now, and counts by source, field and reason since the leader started."""

    now: Sequence[QuarantinedValue] = ()
    counts: Mapping[str, int] = {}

    def fields(self, coins: Collection[str]) -> frozenset[str]:
        """Fields of some coins that are held back now, by the names of `FieldReasons`."""
        return frozenset(held.field for held in self.now if held.coin in coins)

    def summary(self) -> Mapping[str, object]:
        """Summary for readiness details: number of values, counts by reason, the first coins."""
        reasons = Counter(str(held.reason) for held in self.now)
        coins = sorted({held.coin for held in self.now})
        return {"values": len(self.now), "reasons": dict(sorted(reasons.items())), "coins": coins[:MOST_NAMED]}


class Baseline(NamedTuple):
    """What observations are compared with, by ticker.

    Attributes:
        accepted: The last accepted quotes.
        bars: The last closed bars.
        second: The second venue's values; empty if unknown.
        is_complete: Whether bars were requested: a coin without any then has no history.
        was_second_asked: A first price is compared with its bar only then.
        agreed: The second venue's values when they last agreed with an accepted price.
    """

    accepted: Mapping[str, Quote]
    bars: Mapping[str, BarReference]
    second: Mapping[str, SecondQuote]
    is_complete: bool
    was_second_asked: bool
    agreed: Mapping[str, SecondQuote] = {}


class CheckedQuotes(NamedTuple):
    """Result of checking an answer.

    Attributes:
        quotes: The quotes without the values that are held back.
        whole: Why the whole answer is held back; null if it is not.
        findings: Reasons by ticker, of the coins that have any.
        unsettled: Coins that the second venue could clear.
    """

    quotes: Quotes
    whole: RejectReason | None
    findings: Mapping[str, FieldReasons]
    unsettled: frozenset[str]


class _Level(Struct):
    """The last reported level of a value that is held back; `is_foreign`: its row is another coin's."""

    value: float
    since_ms: int
    seen_ms: int = 0
    times: int = 0
    is_foreign: bool = False

    def follow(self, value: float, at_ms: int, *, is_same: bool, is_blocked: bool) -> None:
        """Add an observation. A blocked one restarts the time."""
        if self.times and 0 <= self.seen_ms - at_ms <= LARGEST_GAP_MS and not is_blocked:
            return
        if not is_same or is_blocked or not 0 < at_ms - self.seen_ms <= LARGEST_GAP_MS:
            self.since_ms, self.times = at_ms, 0
        self.value, self.seen_ms = value, at_ms
        self.times += 1

    def has_persisted(self) -> bool:
        """Whether it was reported for long enough."""
        return self.seen_ms - self.since_ms >= PERSISTENCE_MS and self.times >= PERSISTENCE_TIMES


class Quarantine:
    """Checks the answers of all venues of one market."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, str, str], _Level] = {}
        self._now: dict[tuple[str, str, str], QuarantinedValue] = {}
        self._counts: Counter[str] = Counter()

    def forget(self) -> None:
        """Drop everything: another dataset begins."""
        self._levels.clear()
        self._now.clear()

    def report(self) -> QuarantineReport:
        """The current report."""
        return QuarantineReport(tuple(self._now[key] for key in sorted(self._now)), dict(sorted(self._counts.items())))

    def check(self, found: Quotes, source: str, baseline: Baseline) -> CheckedQuotes:
        """Hold back what fails. The same answer may be checked again once more is known.

        Args:
            found: Coins of one venue at one time.
            source: That venue.
            baseline: What they are compared with.
        """
        findings = {}
        for quote in found.quotes:
            found_in = self._check_coin(quote, source, baseline, found.observed_ms)
            if any(found_in):
                findings[quote.symbol] = found_in
        leaping = [symbol for symbol, found_in in findings.items() if _is_leap(symbol, found_in.price, baseline)]
        shown = sum(quote.price is not None for quote in found.quotes)
        whole = None
        if are_many(len(leaping), shown) and not _is_confirmed(found, findings, baseline):
            whole = RejectReason.COINS_LEAPING
        quotes = [
            _without(quote, findings[quote.symbol], baseline.accepted.get(quote.symbol))
            if quote.symbol in findings
            else quote
            for quote in found.quotes
        ]
        unsettled = frozenset(
            symbol
            for symbol, (price, funding, *_) in findings.items()
            if (price or funding) not in {None, RejectReason.PRICE_IMPOSSIBLE, RejectReason.FUNDING_CAP}
        )
        return CheckedQuotes(replace(found, quotes=quotes), whole, findings, unsettled)

    def note(self, checked: CheckedQuotes, source: str) -> None:
        """Count and log the result of an answer. Each coin and reason is logged once until it is cleared."""
        at_ms = checked.quotes.observed_ms
        held = {}
        waiting = {
            symbol for symbol, found_in in checked.findings.items() if RejectReason.PRICE_UNCONFIRMED in found_in
        }
        for symbol, found_in in checked.findings.items():
            for field, reason in found_in._asdict().items():
                if reason is not None:
                    held[symbol, field] = reason
        if checked.whole is not None:
            held[WHOLE, "answer"] = checked.whole
        for key in [key for key in self._now if key[0] == source and key[2] in _OF_QUOTES and key[1:] not in held]:
            del self._now[key]
        for (coin, field), reason in held.items():
            self.hold(source, coin, field, reason, at_ms, is_first=coin in waiting)

    def reject(self, source: str, reason: RejectReason, at_ms: int) -> None:
        """Count and log a whole answer that was not read."""
        self.hold(source, WHOLE, "answer", reason, at_ms)

    def count(self, source: str, reason: RejectReason, times: int) -> None:
        """Count dropped rows."""
        if times:
            self._counts[f"{source} ticker {reason}"] += times

    def hold(
        self, source: str, coin: str, field: str, reason: RejectReason, at_ms: int, *, is_first: bool = False
    ) -> None:
        """Count a value that is held back, and log it unless it is already held back for the same reason.

        Args:
            source: Source of the value.
            coin: A ticker, or `WHOLE`.
            field: One of `FieldReasons`, or a series without spaces: `bars-1d`, `payments`.
            reason: Why.
            at_ms: Observation time, epoch milliseconds.
            is_first: Whether it is a first value that waits for confirmation, which is normal.
        """
        self._counts[f"{source} {field} {reason}"] += 1
        before = self._now.get((source, coin, field))
        if before is None or before.reason is not reason:
            since_ms = at_ms if before is None else before.since_ms
            self._now[source, coin, field] = QuarantinedValue(source, coin, field, reason, since_ms)
            details = {"source": source, "coin": coin, "field": field, "reason": str(reason)}
            if is_first:
                _log.debug("A first value waits for confirmation.", extra=details)
            else:
                _log.warning("Quarantined: a value failed the plausibility check.", extra=details)

    def release(self, coin: str, field: str) -> None:
        """Remove a coin's series from the report, for every source."""
        for key in [key for key in self._now if key[1:] == (coin, field)]:
            del self._now[key]

    def _check_coin(self, quote: Quote, source: str, baseline: Baseline, at_ms: int) -> FieldReasons:
        known = _known(quote.symbol, baseline, at_ms)
        is_first = known.accepted is None or known.accepted.price is None
        if is_first and not baseline.was_second_asked:
            known = known._replace(bar=None)
        found = judge(quote, known, at_ms)
        if found.price is not RejectReason.PRICE_IMPOSSIBLE and is_misplaced(quote, known, baseline.accepted):
            funding = RejectReason.ROW_OF_ANOTHER if quote.funding is not None else None
            found = found._replace(price=RejectReason.ROW_OF_ANOTHER, funding=funding)
        if self._has_price_persisted(quote, found.price, source, known, baseline, at_ms):
            found = judge(quote, known, at_ms, is_cleared=True)
        if found.price is None and self._has_funding_persisted(quote, found.funding, source, at_ms):
            found = found._replace(funding=None)
        if found.volume is RejectReason.VOLUME_MOVED and self._has_size_persisted(
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
        self,
        quote: Quote,
        reason: RejectReason | None,
        source: str,
        known: CoinBaseline,
        baseline: Baseline,
        at_ms: int,
    ) -> bool:
        key, price = (source, quote.symbol, "price"), quote.price
        if reason is None and price is not None:
            self._levels.pop(key, None)
        if reason is None or price is None or reason is RejectReason.PRICE_IMPOSSIBLE:
            return False
        scale = known.bar.scale if known.bar else USUAL_SCALE
        level = self._levels.setdefault(key, _Level(price, at_ms))
        is_same = distance(price, level.value) <= largest_move(scale, at_ms - level.seen_ms)
        level.is_foreign = reason is RejectReason.ROW_OF_ANOTHER or (level.is_foreign and is_same)
        is_blocked = level.is_foreign or _is_blocked(price, reason, known, baseline)
        level.follow(price, at_ms, is_same=is_same, is_blocked=is_blocked)
        return level.has_persisted()

    def _has_funding_persisted(self, quote: Quote, reason: RejectReason | None, source: str, at_ms: int) -> bool:
        key, funding = (source, quote.symbol, "funding"), quote.funding
        if reason is None or funding is None:
            if funding is not None:
                self._levels.pop(key, None)
            return False
        level = self._levels.setdefault(key, _Level(funding, at_ms))
        is_same = abs(funding - level.value) <= max(LEAST_FUNDING_MOVE, abs(level.value))
        level.follow(funding, at_ms, is_same=is_same, is_blocked=reason in NEVER_BY_PERSISTENCE)
        return level.has_persisted()


def _known(symbol: str, baseline: Baseline, at_ms: int) -> CoinBaseline:
    accepted = baseline.accepted.get(symbol)
    known = CoinBaseline(accepted, baseline.bars.get(symbol), baseline.second.get(symbol), baseline.agreed.get(symbol))
    return usable(known, at_ms)


def _is_blocked(price: float, reason: RejectReason, known: CoinBaseline, baseline: Baseline) -> bool:
    """Whether time alone cannot clear a price: it is contradicted, or a possible confirmation is still due."""
    accepted, bar, second, _ = known
    if reason in NEVER_BY_PERSISTENCE or drifts(price, known):
        return True
    if reason is RejectReason.PRICE_UNCONFIRMED:
        return second is not None or not baseline.is_complete
    references = (accepted.price if accepted else None, bar.close if bar else None)
    return (
        second is not None
        and contradict(price, second.price, bar.scale if bar else USUAL_SCALE)
        and any(reference and is_same_asset(reference, second.price) for reference in references)
    )


def _is_leap(symbol: str, reason: RejectReason | None, baseline: Baseline) -> bool:
    """Whether a reason counts for `COINS_LEAPING`; of contradictions by the second venue those of first prices do."""
    accepted = baseline.accepted.get(symbol)
    is_first = accepted is None or accepted.price is None
    return reason in LEAPS or (reason is RejectReason.PRICE_SECOND_VENUE and is_first)


def _is_confirmed(found: Quotes, findings: Mapping[str, FieldReasons], baseline: Baseline) -> bool:
    """Whether the second venue confirms nearly all of the leaping coins that it has."""
    leaping = confirmed = 0
    for quote in found.quotes:
        symbol, known = quote.symbol, _known(quote.symbol, baseline, found.observed_ms)
        if known.second and judge(quote, known._replace(second=None), found.observed_ms).price in LEAPS:
            leaping += 1
            confirmed += symbol not in findings or findings[symbol].price is None
    return leaping >= LEAPING_COINS and confirmed >= CONFIRMED_SHARE * leaping


def _without(quote: Quote, found: FieldReasons, accepted: Quote | None) -> Quote:
    """A quote without what is held back. Fields without their own time keep their last accepted value."""
    if found.price is not None:
        quote = replace(quote, price=None, price_ms=None)
    if found.funding is not None:
        quote = replace(quote, funding=None, funding_ms=None)
    is_row = found.price in LEAPS or found.price is RejectReason.PRICE_SECOND_VENUE
    if is_row or found.volume:
        quote = replace(quote, volume_usd=accepted.volume_usd if accepted else 0.0)
    if found.previous:
        quote = replace(quote, prev_price=accepted.prev_price if accepted else None)
    if is_row or found.interest:
        quote = replace(quote, open_interest=accepted.open_interest if accepted else None)
    return quote


async def publish_report(
    document: Document[QuarantineReport], report: QuarantineReport, origin: str, now_ms: int
) -> None:
    """Store the report when held values change, and changed counts once a minute.

    Args:
        document: The document.
        report: The current report.
        origin: Dataset of the values.
        now_ms: Epoch milliseconds.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    current = document.current
    is_old = current.observed_ms is None or now_ms - current.observed_ms >= MINUTE_MS
    if current.value is None or current.value.now != report.now or (is_old and current.value.counts != report.counts):
        await document.put(origin, report, now_ms)
