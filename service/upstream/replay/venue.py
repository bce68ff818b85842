"""The venue's REST answers: request bytes and an instant in, status and bytes out."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

import msgspec
from msgspec.structs import replace

from service.clock import HOUR_MS, LATEST_MS
from service.upstream.replay.market import RecordedMarket
from service.upstream.replay.recording import MAIN_DEX, Candle, Context, FundingRow, Recording

Interval = Literal["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "3d", "1w", "1M"]
"""Every interval the venue knows; a recording holds `1h` and `1d`."""

_JSON: Final = "application/json"
_TEXT: Final = "text/plain; charset=utf-8"
_encode: Final = msgspec.json.Encoder().encode


class ReplayResponse(msgspec.Struct, frozen=True):
    """An HTTP answer without its transport."""

    status: int
    body: bytes
    content_type: str = _JSON


class _Request(msgspec.Struct, frozen=True, tag_field="type", rename="camel"):
    """A body of `POST /info`, tagged by `type`."""


class _Meta(_Request, frozen=True, tag="meta"):
    dex: str | None = MAIN_DEX


class _MetaAndAssetCtxs(_Request, frozen=True, tag="metaAndAssetCtxs"):
    dex: str | None = MAIN_DEX


class _AllMids(_Request, frozen=True, tag="allMids"):
    dex: str | None = MAIN_DEX


class _CandleRange(msgspec.Struct, frozen=True, rename="camel"):
    coin: str
    interval: Interval
    start_time: int
    end_time: int | None = None


class _CandleSnapshot(_Request, frozen=True, tag="candleSnapshot"):
    req: _CandleRange


class _FundingHistory(_Request, frozen=True, tag="fundingHistory", rename="camel"):
    coin: str
    start_time: int
    end_time: int | None = None


class _PredictedFundings(_Request, frozen=True, tag="predictedFundings"):
    pass


class _PerpDexs(_Request, frozen=True, tag="perpDexs"):
    pass


class _PerpConciseAnnotations(_Request, frozen=True, tag="perpConciseAnnotations"):
    pass


_OfDex = _Meta | _MetaAndAssetCtxs | _AllMids
_OfVenue = _PredictedFundings | _PerpDexs | _PerpConciseAnnotations
_OfCoin = _CandleSnapshot | _FundingHistory
_Question = _OfDex | _OfVenue | _OfCoin
_questions: Final[msgspec.json.Decoder[_Question]] = msgspec.json.Decoder(_Question)

_NONSENSE: Final = ReplayResponse(422, b"Failed to deserialize the JSON body into the target type", _TEXT)
_UNKNOWN_COIN: Final = ReplayResponse(200, b"null")
_UNKNOWN_DEX: Final = ReplayResponse(500, b"null")


class RecordedHyperliquid:
    """The recorded venue, asked at instants of the present.

    Args:
        recording: What it answers from.
    """

    def __init__(self, recording: Recording) -> None:
        self.tape = RecordedMarket(recording)
        self._recording = recording

    def reply(self, body: bytes, at_ms: int, shift_ms: int) -> ReplayResponse:
        """Answer `POST /info`.

        Args:
            body: The request's.
            at_ms: Now, in recorded time.
            shift_ms: What is added to recorded time on the way out, and taken off on the way in.
        """
        try:
            question = _questions.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return _NONSENSE
        if isinstance(question, _OfDex):
            return self._of_dex(question, at_ms)
        if isinstance(question, _OfVenue):
            return self._of_venue(question, at_ms, shift_ms)
        return self._of_coin(question.req if isinstance(question, _CandleSnapshot) else question, at_ms, shift_ms)

    def _of_venue(self, question: _OfVenue, at_ms: int, shift_ms: int) -> ReplayResponse:
        if isinstance(question, _PredictedFundings):
            return ReplayResponse(200, _encode(list(self._predictions(at_ms, shift_ms))))
        return ReplayResponse(
            200, self._recording.dexs if isinstance(question, _PerpDexs) else self._recording.annotations
        )

    def _of_coin(self, span: _CandleRange | _FundingHistory, at_ms: int, shift_ms: int) -> ReplayResponse:
        if not self.tape.knows(span.coin):
            return _UNKNOWN_COIN
        start_ms = span.start_time - shift_ms
        end_ms = (LATEST_MS if span.end_time is None else span.end_time) - shift_ms
        if isinstance(span, _CandleRange):
            bars = self.tape.candles(span.coin, span.interval, at_ms, start_ms, end_ms)
            return ReplayResponse(200, _encode([shifted(bar, shift_ms) for bar in bars]))
        rows = self.tape.funding(span.coin, at_ms, start_ms, end_ms)
        return ReplayResponse(200, _encode([_shifted_row(row, shift_ms) for row in rows]))

    @property
    def dexs(self) -> Sequence[str]:
        """Every dex, the main one first."""
        return tuple(self._recording.universes)

    def mids(self, dex: str, at_ms: int) -> Mapping[str, str]:
        """The mid price of every coin of a dex that is traded."""
        found = ((asset.name, self.tape.mid(asset, at_ms)) for asset in self.tape.universe_of(dex))
        return {coin: mid for coin, mid in found if mid is not None}

    def contexts(self, dex: str, at_ms: int) -> Sequence[Context]:
        """The context of every coin of a dex, in the universe's order."""
        return [self.tape.context(asset, at_ms) for asset in self.tape.universe_of(dex)]

    def _of_dex(self, question: _OfDex, at_ms: int) -> ReplayResponse:
        dex = question.dex or MAIN_DEX
        if dex not in self.dexs:
            return _UNKNOWN_DEX
        if isinstance(question, _Meta):
            return ReplayResponse(200, _encode(self._recording.universes[dex]))
        if isinstance(question, _AllMids):
            return ReplayResponse(200, _encode(self.mids(dex, at_ms)))
        return ReplayResponse(200, _encode((self._recording.universes[dex], self.contexts(dex, at_ms))))

    def _predictions(self, at_ms: int, shift_ms: int) -> Iterator[tuple[str, list[tuple[str, dict[str, object]]]]]:
        for asset in self.tape.universe:
            if not asset.is_delisted:
                rate = self.tape.context(asset, at_ms).funding
                next_ms = (at_ms // HOUR_MS + 1) * HOUR_MS + shift_ms
                row = {"fundingRate": rate, "nextFundingTime": next_ms, "fundingIntervalHours": 1}
                yield asset.name, [("HlPerp", row)]


def shifted(bar: Candle, shift_ms: int) -> Candle:
    """A bar in present time."""
    return replace(bar, open_ms=bar.open_ms + shift_ms, close_ms=bar.close_ms + shift_ms)


def _shifted_row(row: FundingRow, shift_ms: int) -> FundingRow:
    return replace(row, time_ms=row.time_ms + shift_ms)
