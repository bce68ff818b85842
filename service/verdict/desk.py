"""The room's front: the verdict on a coin, of what is known now or of what was known then."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from msgspec import Raw, Struct, structs

from service.clock import MINUTE_MS, SECOND_MS, Clock, iso, parse_iso
from service.errors import ServiceError
from service.market.desk import MarketDesk
from service.verdict.claims import claims
from service.verdict.decide import decide
from service.verdict.fanout import Observer
from service.verdict.inputs import InputStore
from service.verdict.ledger import ABSTAINED, Head, Ledger
from service.verdict.quality import judge
from service.verdict.recorded import Recorded
from service.verdict.scorecard import LiveSkill, Scorecards
from service.wire.envelope import Answer, encode
from service.wire.parameters import instant_ms
from service.wire.queries import SignalQuery
from service.wire.verdict import Record, Signal, Verdict, VerdictInputs

REACH_MS: Final = 30 * MINUTE_MS
"""How long what was written down stands for what was known: two quarters of an hour, so that one row may be late."""


HELD_MS: Final = 15 * SECOND_MS
"""How long a verdict is answered again although prices have moved: the interval at which the route is refreshed."""


class _Kept(Struct, frozen=True):
    """A verdict that was issued, when, of which history, and its answer with the record it was encoded with."""

    origin: str
    issued_ms: int
    inputs: VerdictInputs
    verdict: Verdict
    head: Head
    record: Record
    answer: Answer


class VerdictDesk:
    """Judges coins.

    Args:
        clock: Now.
        market: The coins there are.
        observer: What is known of them now.
        inputs: What was known of them.
        ledger: Where every verdict is written down before it is answered.
        scorecards: How past verdicts turned out.
    """

    def __init__(
        self,
        clock: Clock,
        market: MarketDesk,
        observer: Observer,
        inputs: InputStore,
        ledger: Ledger,
        scorecards: Scorecards,
    ) -> None:
        self._clock = clock
        self._market = market
        self._observer = observer
        self._inputs = inputs
        self._ledger = ledger
        self._scorecards = scorecards
        self._kept: dict[str, _Kept] = {}

    async def signal(self, symbol: str, as_of: str | None) -> Answer:
        """Judge a coin.

        Args:
            symbol: A ticker in any case; looked up before any source is asked.
            as_of: The instant whose knowledge is judged; null: now.

        Returns:
            The verdict with its claims and its record, as of the oldest of its inputs; not counted where evidence is
            insufficient.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no
                coin is known; `UNAVAILABLE` if the verdict could not be written down. With `as_of`: `BAD_REQUEST` for
                an instant ahead, `NOT_FOUND` with `{recorded_since}` where nobody wrote down what was known then.
        """
        coin = self._market.find(symbol)
        if as_of is None:
            return await self._judge_now(coin)
        return await self._judge_then(coin, self._then_ms(as_of))

    async def verdicts(self, symbols: Sequence[str]) -> Mapping[str, Verdict]:
        """The verdicts that `signal` would answer with now, by canonical ticker; nothing is written down."""
        found = {}
        for inputs, origin in await asyncio.gather(*map(self._observe, symbols)):
            kept = self._kept.get(inputs.symbol)
            holds = kept is not None and kept.origin == origin and self._holds(kept, inputs)
            found[inputs.symbol] = kept.verdict if kept is not None and holds else decide(inputs)
        return found

    async def quality(self, asset: str) -> Answer:
        """Tell how past verdicts turned out.

        Args:
            asset: A ticker in any case.

        Returns:
            The records, as of when the live one last changed; uncounted until one of them has an outcome.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no
                coin is known; `UNAVAILABLE` if the store cannot be read.
        """
        coin = self._market.find(asset)
        head, counted_ms = await self._ledger.head(), self._scorecards.counted_ms()
        found = judge(self._scorecards, coin, head)
        records = (found.record.live, found.record.backtested)
        counted = any(record is not None and record.all_coins for record in records)
        return Answer(found, self._clock.now_ms() if counted_ms is None else counted_ms, counted=counted)

    @property
    def scorecards(self) -> Scorecards:
        """What became of past verdicts."""
        return self._scorecards

    def check(self, query: SignalQuery) -> None:
        """Refuse what can be refused without looking anything up, before a question is set aside for it.

        Raises:
            ServiceError: As `signal`, but for what only the store knows.
        """
        self._market.find(query.symbol)
        if query.as_of is not None:
            self._then_ms(query.as_of)

    def _then_ms(self, as_of: str) -> int:
        at_ms = instant_ms(as_of, "as_of")
        if at_ms > self._clock.now_ms():
            raise ServiceError(
                "BAD_REQUEST",
                "as_of lies ahead: nobody knows yet what will be known then; leave it out to judge what is known now",
                details={"parameter": "as_of"},
            )
        return at_ms

    async def _judge_now(self, coin: str) -> Answer:
        """Judge what is known now. While that stays the same nothing is computed, and nothing is written."""
        inputs, origin = await self._observe(coin)
        kept = self._kept.get(coin)
        if kept is None or kept.origin != origin or not self._holds(kept, inputs):
            kept = await self._issue(inputs, origin)
        record = self._scorecards.track(kept.verdict, kept.head)
        if kept.record is not record:
            kept = structs.replace(kept, record=record, answer=_tell(kept.verdict, record, self._scorecards.skills()))
        self._kept[coin] = kept
        return kept.answer

    def _holds(self, kept: _Kept, inputs: VerdictInputs) -> bool:
        """Whether nothing has changed, or nothing but figures, a moment ago: every change would be a ledger's entry."""
        fresh = 0 <= self._clock.now_ms() - kept.issued_ms < HELD_MS
        return kept.inputs == inputs or (fresh and kept.inputs.sources == inputs.sources)

    async def _issue(self, inputs: VerdictInputs, origin: str) -> _Kept:
        """Judge, and write it down before anybody is told."""
        verdict, now_ms = decide(inputs), self._clock.now_ms()
        head = await self._ledger.issue(origin, verdict, now_ms)
        record = self._scorecards.track(verdict, head)
        return _Kept(origin, now_ms, inputs, verdict, head, record, _tell(verdict, record, self._scorecards.skills()))

    async def _observe(self, coin: str) -> tuple[VerdictInputs, str]:
        """What is known now, and of which history; once more where the market has turned to another meanwhile."""
        while True:
            origin = self._market.state.origin
            inputs = await self._observer.observe(coin)
            if self._market.state.origin == origin:
                return inputs, origin

    async def recorded(self, symbol: str, at_ms: int) -> Recorded | None:
        """The inputs of a coin that were stored at most half an hour before an instant; null where there are none.

        Args:
            symbol: Canonical ticker.
            at_ms: Epoch milliseconds UTC.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        known = await self._known_then(self._market.state.origin, symbol, at_ms)
        return None if known is None or at_ms - known.recorded_ms > REACH_MS else known

    async def _judge_then(self, coin: str, at_ms: int) -> Answer:
        """Judge what was known then: the rules' answer to it, which is no new verdict and is not written down."""
        origin = self._market.state.origin
        known = await self._known_then(origin, coin, at_ms)
        if known is None or at_ms - known.recorded_ms > REACH_MS:
            await self._refuse(origin, coin, at_ms, known)
        return _tell(decide(known.inputs), None)

    async def _known_then(self, origin: str, coin: str, at_ms: int) -> Recorded | None:
        """What was written down last; a verdict that was held at that instant before what was written down meanwhile.

        Who was answered then was answered that one.
        """
        issued = await self._ledger.inputs_before(origin, coin, at_ms)
        recorded = await self._inputs.newest(origin, coin, at_ms)
        if issued is None or recorded is None:
            return issued or recorded
        held = at_ms - issued.recorded_ms < HELD_MS and issued.inputs.sources == recorded.inputs.sources
        return issued if held or issued.recorded_ms >= recorded.recorded_ms else recorded

    async def _refuse(self, origin: str, coin: str, at_ms: int, last: Recorded | None) -> NoReturn:
        firsts = [await self._inputs.since(origin), await self._ledger.since(origin, coin)]
        since_ms = min((first for first in firsts if first is not None), default=None)
        if last is not None:
            there = f"the last record before it is of {iso(last.recorded_ms)}, more than half an hour earlier"
        elif since_ms is not None and since_ms > at_ms:
            there = f"records begin at {iso(since_ms)}"
        else:
            there = "there is no record of it from before"
        raise ServiceError(
            "NOT_FOUND",
            f"nobody wrote down what was known of {coin} at {iso(at_ms)}: {there}",
            details={"recorded_since": None if since_ms is None else iso(since_ms)},
        )


def _tell(verdict: Verdict, record: Record | None, live: Sequence[LiveSkill] = ()) -> Answer:
    told = None if record is None else claims(verdict, live)
    signal = Signal(**structs.asdict(verdict), claims=told, record=record)
    return Answer(Raw(encode(signal)), parse_iso(verdict.as_of), counted=verdict.verdict != ABSTAINED)
