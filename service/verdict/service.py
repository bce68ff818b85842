"""Verdicts on a coin, from its inputs now or at an earlier instant."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from msgspec import Raw, Struct, structs

from service.clock import MINUTE_MS, Clock, iso, parse_iso
from service.errors import ServiceError
from service.market.service import MarketService
from service.verdict.claims import claims
from service.verdict.decide import decide
from service.verdict.inputs import InputStore
from service.verdict.ledger import ABSTAINED, Ledger, LedgerHead, RecordedInputs
from service.verdict.quality import judge_verdicts
from service.verdict.scorecard import LiveSkill, Scorecards
from service.verdict.sources import InputCollector
from service.wire.envelope import Answer, encode
from service.wire.parameters import instant_ms
from service.wire.queries import SignalDetail, SignalQuery
from service.wire.verdict import BriefSignal, CoinVerdict, HorizonRecord, Outcomes, Signal, TrackRecord, VerdictInputs

REACH_MS: Final = 30 * MINUTE_MS
"""Longest age of stored inputs that count for an instant: two rows of 15 minutes, so that one row may be late."""


class _IssuedVerdict(Struct, frozen=True):
    """The newest verdict of a coin: its dataset, its inputs, and its encoded answers with the record in them."""

    origin: str
    inputs: VerdictInputs
    verdict: CoinVerdict
    head: LedgerHead
    record: TrackRecord
    answers: Mapping[SignalDetail, Answer]


class VerdictService:
    """Answers verdicts and their record.

    Args:
        clock: The time.
        market: Finds coins.
        collector: Collects the inputs of a coin now.
        inputs: Inputs stored every 15 minutes.
        ledger: Every verdict is appended here before it is answered.
        scorecards: Outcomes of past verdicts.
    """

    def __init__(
        self,
        clock: Clock,
        market: MarketService,
        collector: InputCollector,
        inputs: InputStore,
        ledger: Ledger,
        scorecards: Scorecards,
    ) -> None:
        self._clock = clock
        self._market = market
        self._collector = collector
        self._inputs = inputs
        self._ledger = ledger
        self._scorecards = scorecards
        self._kept: dict[str, _IssuedVerdict] = {}

    async def signal(self, query: SignalQuery) -> Answer:
        """Judge a coin.

        Args:
            query: A ticker in any case; with `as_of`, the inputs known at that instant are judged.

        Returns:
            The verdict with its claims and its record, as of the oldest of its inputs; not counted if evidence is
            insufficient.

        Raises:
            ServiceError: `UNKNOWN_SYMBOL` with candidates; `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UNAVAILABLE` while no
                coin is known; `UNAVAILABLE` if the ledger cannot be written. With `as_of`: `BAD_REQUEST` for an
                instant in the future, `NOT_FOUND` with `{recorded_since}` if no inputs are stored for it.
        """
        coin = self._market.find(query.symbol)
        if query.as_of is None:
            answers = await self._judge_now(coin)
        else:
            answers = await self._judge_stored(coin, self._past_instant_ms(query.as_of))
        return answers[query.detail]

    async def verdicts(self, symbols: Sequence[str]) -> Mapping[str, CoinVerdict]:
        """The verdicts that `signal` would answer with now, by canonical ticker. The ledger does not change."""
        found = {}
        for inputs, origin in await asyncio.gather(*map(self._collect, symbols)):
            kept = self._issued(inputs, origin)
            found[inputs.symbol] = decide(inputs) if kept is None else kept.verdict
        return found

    async def quality(self, asset: str) -> Answer:
        """The record of past verdicts on a coin.

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
        found = judge_verdicts(self._scorecards, coin, head)
        records = (found.record.live, found.record.backtested)
        counted = any(record is not None and record.all_coins for record in records)
        return Answer(found, self._clock.now_ms() if counted_ms is None else counted_ms, counted=counted)

    @property
    def scorecards(self) -> Scorecards:
        """Outcomes of past verdicts."""
        return self._scorecards

    def check(self, query: SignalQuery) -> None:
        """Check a query from memory, before a question is reserved for it.

        Raises:
            ServiceError: As `signal`, except for errors that need the store.
        """
        self._market.find(query.symbol)
        if query.as_of is not None:
            self._past_instant_ms(query.as_of)

    def _past_instant_ms(self, as_of: str) -> int:
        at_ms = instant_ms(as_of, "as_of")
        if at_ms > self._clock.now_ms():
            raise ServiceError(
                "BAD_REQUEST",
                "The instant as_of is in the future. Leave it out for a verdict on what is known now.",
                details={"parameter": "as_of"},
            )
        return at_ms

    async def _judge_now(self, coin: str) -> Mapping[SignalDetail, Answer]:
        """Judge the inputs of now. While they stay the same, nothing is computed or written."""
        inputs, origin = await self._collect(coin)
        kept = self._issued(inputs, origin) or await self._issue(inputs, origin)
        record = self._scorecards.track(kept.verdict, kept.head)
        if kept.record is not record:
            kept = structs.replace(
                kept, record=record, answers=_answers(kept.verdict, record, self._scorecards.skills())
            )
        self._kept[coin] = kept
        return kept.answers

    def _issued(self, inputs: VerdictInputs, origin: str) -> _IssuedVerdict | None:
        """The newest verdict of a coin if it was given on the same inputs; null otherwise."""
        kept = self._kept.get(inputs.symbol)
        return kept if kept is not None and (kept.origin, kept.inputs) == (origin, inputs) else None

    async def _issue(self, inputs: VerdictInputs, origin: str) -> _IssuedVerdict:
        """Judge, and append to the ledger before anything is answered."""
        verdict = decide(inputs)
        head = await self._ledger.issue(origin, verdict, self._clock.now_ms())
        record = self._scorecards.track(verdict, head)
        return _IssuedVerdict(
            origin, inputs, verdict, head, record, _answers(verdict, record, self._scorecards.skills())
        )

    async def _collect(self, coin: str) -> tuple[VerdictInputs, str]:
        """Collect the inputs of now and their dataset; again if the dataset changed meanwhile."""
        while True:
            origin = self._market.state.origin
            inputs = await self._collector.collect(coin)
            if self._market.state.origin == origin:
                return inputs, origin

    async def recorded(self, symbol: str, at_ms: int) -> RecordedInputs | None:
        """The inputs of a coin stored at most half an hour before an instant; null if there are none.

        Args:
            symbol: Canonical ticker.
            at_ms: Epoch milliseconds UTC.

        Raises:
            ServiceError: `UNAVAILABLE` if the store cannot be read.
        """
        known = await self._stored_inputs(self._market.state.origin, symbol, at_ms)
        return None if known is None or at_ms - known.recorded_ms > REACH_MS else known

    async def _judge_stored(self, coin: str, at_ms: int) -> Mapping[SignalDetail, Answer]:
        """Judge stored inputs. The result is not a new verdict and is not appended to the ledger."""
        origin = self._market.state.origin
        known = await self._stored_inputs(origin, coin, at_ms)
        if known is None or at_ms - known.recorded_ms > REACH_MS:
            await self._refuse(origin, coin, at_ms, known)
        return _answers(decide(known.inputs), None)

    async def _stored_inputs(self, origin: str, coin: str, at_ms: int) -> RecordedInputs | None:
        """The newest stored inputs at an instant; of those of one instant, those of a verdict that was given."""
        issued = await self._ledger.inputs_before(origin, coin, at_ms)
        recorded = await self._inputs.newest(origin, coin, at_ms)
        if issued is None or recorded is None:
            return issued or recorded
        return issued if issued.recorded_ms >= recorded.recorded_ms else recorded

    async def _refuse(self, origin: str, coin: str, at_ms: int, last: RecordedInputs | None) -> NoReturn:
        firsts = [await self._inputs.since(origin), await self._ledger.since(origin, coin)]
        since_ms = min((first for first in firsts if first is not None), default=None)
        if last is not None:
            hint = f"The newest one before it is from {iso(last.recorded_ms)}, more than half an hour earlier."
        elif since_ms is not None and since_ms > at_ms:
            hint = f"The first one is from {iso(since_ms)}."
        else:
            hint = "None exists before that time."
        raise ServiceError(
            "NOT_FOUND",
            f"No stored inputs of {coin} cover {iso(at_ms)}. {hint}",
            details={"recorded_since": None if since_ms is None else iso(since_ms)},
        )


def _answers(
    verdict: CoinVerdict, record: TrackRecord | None, live: Sequence[LiveSkill] = ()
) -> Mapping[SignalDetail, Answer]:
    claimed = None if record is None else claims(verdict, live)
    signal = Signal(**structs.asdict(verdict), claims=claimed, record=record)
    forms: dict[SignalDetail, Signal | BriefSignal] = {"full": signal, "brief": brief(signal)}
    as_of, counted = parse_iso(verdict.as_of), verdict.verdict != ABSTAINED
    return {detail: Answer(Raw(encode(form)), as_of, counted=counted) for detail, form in forms.items()}


def brief(signal: Signal) -> BriefSignal:
    """A verdict without its inputs, claims without a probability, and records without outcomes."""
    omitted = {"raw": 1}
    claimed = signal.claims and [claim for claim in signal.claims if claim.probability is not None]
    if claimed is not None and signal.claims is not None:
        omitted["claims"] = len(signal.claims) - len(claimed)
    record = signal.record
    if record is not None:
        live = _with_outcomes(record.live, "record.live", omitted)
        backtested = record.backtested and _with_outcomes(record.backtested, "record.backtested", omitted)
        record = structs.replace(record, live=live, backtested=backtested)
    same = {name: getattr(signal, name) for name in CoinVerdict.__struct_fields__ if name != "raw"}
    price = None if signal.raw.risk is None else signal.raw.risk.price
    left_out = {path: count for path, count in omitted.items() if count}
    return BriefSignal(**same, price=price, claims=claimed, record=record, omitted=left_out)


def _with_outcomes(outcomes: Outcomes, path: str, omitted: dict[str, int]) -> Outcomes:
    kept: dict[str, list[HorizonRecord]] = {}
    for name in Outcomes.__struct_fields__:
        rows: list[HorizonRecord] = getattr(outcomes, name)
        kept[name] = [row for row in rows if row.outcomes]
        omitted[f"{path}.{name}"] = len(rows) - len(kept[name])
    return Outcomes(**kept)
