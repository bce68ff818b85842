"""Evaluates alert rules in the leader, on accepted and fresh data only.

Prices are judged every five seconds, verdicts once a minute. Funding zones, regimes and breadth crossings are events
that the market package has recorded; an event is sent once, under an id made of the rule and the event.
"""

import asyncio
import logging
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Final, NamedTuple

from msgspec.structs import astuple

from service.clock import DAY_MS, MINUTE_MS, Clock, iso, parse_iso
from service.formats import label, percent, usd
from service.market.factory import MarketData
from service.market.freshness import QUOTE, Freshness
from service.notify.messages import AlertDetails, AlertMessage
from service.notify.rules import ParsedRule, RuleKind, parse_rule, price_state
from service.notify.store import RuleStore, RuleUpdate, StoredRule
from service.verdict.ledger import ABSTAINED
from service.verdict.service import VerdictService
from service.wire.envelope import encode

NEWS_MS: Final = 2 * DAY_MS
"""Events that are found this long after they happened are not sent."""

VERDICTS_EVERY_S: Final = 60.0
HOLD_MS: Final = 5 * MINUTE_MS
"""A new verdict counts once it has held this long, so that a score on a boundary does not alternate."""

_RULES_AT_ONCE: Final = 500
"""Rules judged before other work of the process gets its turn."""

_UPDATES_AT_ONCE: Final = 200
"""Updates in a transaction."""

_log: Final = logging.getLogger("verdict.notify")


class Occurrence(NamedTuple):
    """Something that happened: `key` names it among those of its kind and symbol, `at_ms` is when it was observed."""

    kind: RuleKind
    symbol: str | None
    key: str
    at_ms: int
    value: float | str
    message: str


class RuleEvaluator:
    """Evaluates all rules; `round` is one evaluation.

    Args:
        clock: The time.
        store: Rules, and the outbox of their messages.
        market: Prices, funding zones, regimes and breadth.
        verdict: Verdicts.
        source: `live` or `fixtures`, named in every message.
    """

    def __init__(
        self, clock: Clock, store: RuleStore, market: MarketData, verdict: VerdictService, source: str
    ) -> None:
        self._clock = clock
        self._store = store
        self._market = market
        self._verdict = verdict
        self._source = source
        self._sent: dict[str, int] = {}
        self._changing: dict[tuple[int, int], tuple[str, int]] = {}
        self._unreadable: set[int] = set()
        self._verdicts_s: float | None = None

    async def round(self) -> None:
        """Evaluate all rules once.

        Raises:
            ServiceError: `UNAVAILABLE` if the store could not be used; the next round finds the same events.
        """
        origin, now_ms = self._market.coins.state.origin, self._clock.now_ms()
        rules = self._parsed(await self._store.rules())
        known = {(stored.id, stored.created_ms) for stored, _ in rules}
        self._changing = {rule: seen for rule, seen in self._changing.items() if rule in known}
        if not rules or not origin:
            return
        labels = await self._labels({rule.symbol for _, rule in rules if rule.kind == "verdict" and rule.symbol})
        happened: dict[tuple[RuleKind, str | None], list[Occurrence]] = {}
        for each in await self._happened(origin, now_ms):
            happened.setdefault((each.kind, each.symbol), []).append(each)
        updates: list[RuleUpdate] = []
        for place, (stored, rule) in enumerate(rules, 1):
            updates += self._judge(stored, rule, origin, labels, happened.get((rule.kind, rule.symbol), ()))
            if place % _RULES_AT_ONCE == 0:
                await asyncio.sleep(0)
        for start in range(0, len(updates), _UPDATES_AT_ONCE):
            part = updates[start : start + _UPDATES_AT_ONCE]
            await self._store.record(part, now_ms)
            self._sent |= {update.event[0]: now_ms for update in part if update.event}
        self._sent = {event: at_ms for event, at_ms in self._sent.items() if now_ms - at_ms <= NEWS_MS}

    def _parsed(self, rules: Iterable[StoredRule]) -> list[tuple[StoredRule, ParsedRule]]:
        """Rules that can be read. One that cannot is logged once and left alone."""
        parsed = []
        for stored in rules:
            try:
                parsed.append((stored, parse_rule(stored.rule)))
            except ValueError:
                if stored.id not in self._unreadable:
                    _log.error("A stored alert rule cannot be read.", extra={"rule": stored.id})
                self._unreadable.add(stored.id)
        return parsed

    def _judge(
        self,
        stored: StoredRule,
        rule: ParsedRule,
        origin: str,
        labels: Mapping[str, tuple[str, int]] | None,
        happened: Iterable[Occurrence],
    ) -> Iterator[RuleUpdate]:
        state = stored.state if stored.origin == origin else None
        if rule.kind in {"price-above", "price-below"}:
            yield from self._judge_price(stored, rule, origin, state)
        elif rule.kind == "verdict" and labels is not None:
            yield from self._judge_verdict(stored, rule, origin, state, labels)
        for each in happened:
            if each.at_ms > stored.created_ms and _event_id(stored, each) not in self._sent:
                yield RuleUpdate(stored, stored.origin, stored.state, self._event(stored, each))

    def _judge_price(
        self, stored: StoredRule, rule: ParsedRule, origin: str, state: str | None
    ) -> Iterator[RuleUpdate]:
        coin = self._market.coins.view().get(str(rule.symbol))
        if coin is None or coin.price is None or coin.price_ms is None:
            return
        if QUOTE.judge(coin.price_ms, self._clock.now_ms()) is not Freshness.FRESH:
            return
        found = price_state(rule, coin.price, state)
        if found == state and stored.origin == origin:
            return
        event = None
        if (state, found) == ("armed", "fired"):
            side = "above" if rule.kind == "price-above" else "below"
            message = f"{rule.symbol} is {side} {usd(rule.threshold)}: {usd(coin.price)}."
            event = self._event(
                stored, Occurrence(rule.kind, rule.symbol, str(coin.price_ms), coin.price_ms, coin.price, message)
            )
        yield RuleUpdate(stored, origin, found, event)

    def _judge_verdict(
        self,
        stored: StoredRule,
        rule: ParsedRule,
        origin: str,
        state: str | None,
        labels: Mapping[str, tuple[str, int]],
    ) -> Iterator[RuleUpdate]:
        held = (stored.id, stored.created_ms)
        found, at_ms = labels.get(str(rule.symbol), (state, 0))
        if found is None or found == state:
            self._changing.pop(held, None)
            return
        now_ms = self._clock.now_ms()
        if state is None:
            yield RuleUpdate(stored, origin, found, None)
            return
        seen, since_ms = self._changing.get(held, ("", 0))
        if seen != found:
            self._changing[held] = (found, now_ms)
        elif now_ms - since_ms >= HOLD_MS:
            message = f"The verdict on {rule.symbol} changed from {label(state)} to {label(found)}."
            occurrence = Occurrence("verdict", rule.symbol, f"{state}>{found} {now_ms}", at_ms, found, message)
            yield RuleUpdate(stored, origin, found, self._event(stored, occurrence))

    async def _labels(self, symbols: set[str]) -> Mapping[str, tuple[str, int]] | None:
        """Verdicts whose four sources are all fresh, with the time of their oldest input; null if not their minute."""
        now_s = self._clock.monotonic()
        if not symbols or (self._verdicts_s is not None and now_s - self._verdicts_s < VERDICTS_EVERY_S):
            return None
        self._verdicts_s = now_s
        found = await self._verdict.verdicts(sorted(symbols & self._market.coins.view().keys()))
        return {
            symbol: (verdict.verdict, parse_iso(verdict.as_of))
            for symbol, verdict in found.items()
            if verdict.verdict != ABSTAINED and set(astuple(verdict.sources)) == {"fulfilled"}
        }

    async def _happened(self, origin: str, now_ms: int) -> list[Occurrence]:
        since_ms = now_ms - NEWS_MS
        found = [*await self._zones(origin, since_ms), *self._reported(origin)]
        return [each for each in found if since_ms < each.at_ms <= now_ms]

    async def _zones(self, origin: str, since_ms: int) -> list[Occurrence]:
        found = []
        for at_ms, alert in await self._market.alerts.transitions(origin, since_ms):
            zone = label(alert.triggerZone)
            if alert.clearedAt is None:
                rate = percent(alert.fundingAtTrigger, 2)
                message = f"Funding of {alert.asset} became {zone}: {rate} per year."
                found.append(Occurrence("funding", alert.asset, alert.id, at_ms, alert.triggerZone, message))
            else:
                message = f"Funding of {alert.asset} is no longer {zone}."
                found.append(
                    Occurrence(
                        "funding", alert.asset, f"{alert.id} cleared", at_ms, f"left {alert.triggerZone}", message
                    )
                )
        return found

    def _reported(self, origin: str) -> Iterator[Occurrence]:
        """Regime changes and breadth crossings of the daily report, which closed bars alone make."""
        report = self._market.daily_report.current
        if report.value is None or report.origin != origin:
            return
        for run in report.value.runs[-2:]:
            message = f"The market's regime is now {run.regime}."
            yield Occurrence("regime", None, str(run.since_ms), run.since_ms, run.regime, message)
        for signal in report.value.signals:
            message = f"The regime of {signal.symbol} is now {signal.regime}."
            yield Occurrence("regime", signal.symbol, signal.firedAt, parse_iso(signal.firedAt), signal.regime, message)
        for crossing in report.value.crossings:
            message = f"Breadth: {crossing.direction}, {crossing.up} coins are up and {crossing.down} down."
            at_ms = parse_iso(crossing.at)
            yield Occurrence("breadth", None, crossing.id, at_ms, crossing.direction, message)

    def _event(self, stored: StoredRule, occurrence: Occurrence) -> tuple[str, bytes]:
        event_id = _event_id(stored, occurrence)
        data = AlertDetails(
            id=event_id,
            alert=stored.id,
            rule=stored.rule,
            symbol=occurrence.symbol,
            message=occurrence.message,
            value=occurrence.value,
            as_of=iso(occurrence.at_ms),
            source=self._source,
        )
        return event_id, encode(AlertMessage(f"alert.{occurrence.kind}", iso(occurrence.at_ms), data))


def _event_id(stored: StoredRule, occurrence: Occurrence) -> str:
    key = f"{stored.id} {stored.created_ms} {occurrence.kind} {occurrence.key}"
    return f"evt_{sha256(key.encode()).hexdigest()[:32]}"
