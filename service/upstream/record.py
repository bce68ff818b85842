"""Capture the live venue into a fixture set, the same that the generator writes and the replay serves."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from service.clock import DAY_MS, HOUR_MS, day_of, iso
from service.upstream.fixture_set import FixtureError, Metadata, pack, write_set
from service.upstream.replay.recording import (
    CONTEXTS_FILE,
    DAILY,
    DEXS_FILE,
    FUNDING,
    HOURLY,
    VENUE,
    Candle,
    Context,
    FundingRow,
    Universe,
)
from service.upstream.session import Fetched, UpstreamSession

T = TypeVar("T")

DAYS: Final = 400
HOURLY_DAYS: Final = 30
_WEIGHT: Final = 20
_CANDLES_A_WEIGHT: Final = 60
_FUNDING_PAGE: Final = 500
_FUNDING_PAGE_WEIGHT: Final = _WEIGHT + _FUNDING_PAGE // 20
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9]{1,20}\Z")

_contexts: Final = msgspec.json.Decoder(tuple[Universe, list[Context]])
_dexs: Final = msgspec.json.Decoder(list[msgspec.Raw])
_candles: Final = msgspec.json.Decoder(list[Candle])
_funding: Final = msgspec.json.Decoder(list[FundingRow])


async def record(session: UpstreamSession, directory: Path, coins: Sequence[str] = ()) -> Metadata:
    """Capture 400 daily bars, 30 days of hourly ones and of funding, up to the last whole UTC day by the venue's clock.

    The venue's weight budget sets the pace: about twelve seconds a coin.

    Args:
        session: To the live venue.
        directory: Where the set is written, once everything has been captured.
        coins: Which; empty is all that are listed.

    Raises:
        UpstreamError: If the venue fails; nothing is written then.
        FixtureError: If a coin is not listed.
    """
    snapshot = await _ask(session, {"type": "metaAndAssetCtxs"}, _WEIGHT, _contexts)
    meta, contexts = snapshot.value
    chosen = [
        (asset, context)
        for asset, context in zip(meta.universe, contexts, strict=True)
        if (asset.name in coins or not coins) and _FILE_NAME.match(asset.name)
    ]
    unknown = set(coins) - {asset.name for asset, _ in chosen}
    if unknown:
        raise FixtureError(f"{', '.join(sorted(unknown))}: not listed by {session.name}; names are case-sensitive")
    end_ms = day_of(snapshot.date_ms) * DAY_MS
    dexs = await _ask(session, {"type": "perpDexs"}, _WEIGHT, _dexs)
    narrowed = msgspec.structs.replace(meta, universe=[asset for asset, _ in chosen])
    files = {
        CONTEXTS_FILE: msgspec.json.encode([narrowed, [context for _, context in chosen]]),
        DEXS_FILE: msgspec.json.encode(dexs.value),
    }
    for asset, _ in chosen:
        if not asset.is_delisted:
            files.update(await _capture(session, asset.name, end_ms))
    metadata = Metadata(
        made=f"recorded from {session.name} at {iso(snapshot.date_ms)} by `verdict record`",
        licence="subject to the venue's terms of use; check them before passing it on",
        seed=None,
        last_day=iso(end_ms - 1)[:10],
        frozen_at=end_ms - 1,
        files={},
    )
    return write_set(directory, files, metadata)


async def _capture(session: UpstreamSession, coin: str, end_ms: int) -> dict[str, bytes]:
    hours_from_ms = end_ms - HOURLY_DAYS * DAY_MS
    days = await _bars(session, coin, "1d", end_ms - DAYS * DAY_MS, end_ms, DAYS)
    hours = await _bars(session, coin, "1h", hours_from_ms, end_ms, HOURLY_DAYS * 24)
    funding = await _payments(session, coin, hours_from_ms, end_ms)
    series: dict[str, object] = {DAILY: days, HOURLY: hours, FUNDING: funding}
    return {f"{VENUE}/{kind}/{coin}.json.gz": pack(rows) for kind, rows in series.items()}


async def _bars(
    session: UpstreamSession, coin: str, interval: str, start_ms: int, end_ms: int, expected: int
) -> list[Candle]:
    span = {"coin": coin, "interval": interval, "startTime": start_ms, "endTime": end_ms - 1}
    weight = _WEIGHT + expected // _CANDLES_A_WEIGHT
    rows = await _ask(session, {"type": "candleSnapshot", "req": span}, weight, _candles)
    return [row for row in rows.value if start_ms <= row.open_ms and row.close_ms < end_ms]


async def _payments(session: UpstreamSession, coin: str, start_ms: int, end_ms: int) -> list[FundingRow]:
    rows: list[FundingRow] = []
    while True:
        question = {"type": "fundingHistory", "coin": coin, "startTime": start_ms, "endTime": end_ms - 1}
        page = (await _ask(session, question, _FUNDING_PAGE_WEIGHT, _funding)).value
        rows += page
        if not page or not start_ms <= page[-1].time_ms < end_ms - HOUR_MS:
            return rows
        start_ms = page[-1].time_ms + 1


async def _ask(
    session: UpstreamSession, question: dict[str, object], weight: int, decoder: msgspec.json.Decoder[T]
) -> Fetched[T]:
    return await session.post_json("/info", question, weight=weight, decoder=decoder)
