"""Capture the live venue into a fixture set, the same that the generator writes and the replay serves."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from service.clock import DAY_MS, HOUR_MS, day_of, iso
from service.upstream.fixture_set import FixtureError, Metadata, pack_rows, write_set
from service.upstream.replay.recording import (
    ANNOTATIONS_FILE,
    DAILY,
    DEXS_FILE,
    FUNDING,
    HOURLY,
    MAIN_DEX,
    Asset,
    Candle,
    Context,
    FundingRow,
    Universe,
    contexts_file,
    series_file,
)
from service.upstream.session import Fetched, UpstreamSession

T = TypeVar("T")

DAYS: Final = 900
HOURLY_DAYS: Final = 90
DEXS: Final = (MAIN_DEX, "xyz")
"""Whose perpetuals are captured: the venue's own, and the builder's of real-world assets."""

_WEIGHT: Final = 20
_CANDLES_A_WEIGHT: Final = 60
_FUNDING_PAGE: Final = 500
_FUNDING_PAGE_WEIGHT: Final = _WEIGHT + _FUNDING_PAGE // 20
_FILE_NAME: Final = re.compile(r"([a-z0-9]{1,20}:)?[A-Za-z0-9]{1,20}\Z")

_contexts: Final = msgspec.json.Decoder(tuple[Universe, list[Context]])
_dexs: Final = msgspec.json.Decoder(list[dict[str, object] | None])
_annotations: Final = msgspec.json.Decoder(list[tuple[str, dict[str, object]]])
_encode: Final = msgspec.json.Encoder().encode
_candles: Final = msgspec.json.Decoder(list[Candle])
_funding: Final = msgspec.json.Decoder(list[FundingRow])


async def record(session: UpstreamSession, directory: Path, coins: Sequence[str] = ()) -> Metadata:
    """Capture 900 daily bars, 90 days of hourly ones and of funding, up to the last whole UTC day by the venue's clock.

    Of the venue's own dex and of the real-world assets' (`xyz:AAPL`). The venue's weight budget sets the pace: about
    twenty seconds a coin.

    Args:
        session: To the live venue.
        directory: Where the set is written, once everything has been captured.
        coins: Which; empty is all that are listed.

    Raises:
        UpstreamError: If the venue fails; nothing is written then.
        FixtureError: If a coin is not listed.
    """
    snapshots = {dex: await _ask(session, _universe_of(dex), _WEIGHT, _contexts) for dex in DEXS}
    chosen = {dex: _chosen(snapshot.value, coins) for dex, snapshot in snapshots.items()}
    listed = {asset.name for rows in chosen.values() for asset, _ in rows}
    if unknown := set(coins) - listed:
        raise FixtureError(f"{session.name} does not list {', '.join(sorted(unknown))}. Names are case-sensitive.")
    first = snapshots[MAIN_DEX]
    end_ms = day_of(first.date_ms) * DAY_MS
    dexs = (await _ask(session, {"type": "perpDexs"}, _WEIGHT, _dexs)).value
    notes = (await _ask(session, {"type": "perpConciseAnnotations"}, _WEIGHT, _annotations)).value
    files = {
        DEXS_FILE: _encode([dex for dex in dexs if dex is None or dex["name"] in DEXS]),
        ANNOTATIONS_FILE: _encode([(coin, note) for coin, note in notes if coin in listed]),
    }
    for dex, rows in chosen.items():
        meta, _ = snapshots[dex].value
        narrowed = msgspec.structs.replace(meta, universe=[asset for asset, _ in rows])
        files[contexts_file(dex)] = _encode([narrowed, [context for _, context in rows]])
        for asset, _ in rows:
            files.update(await _capture(session, asset.name, end_ms))
    metadata = Metadata(
        made=f"recorded from {session.name} at {iso(first.date_ms)} by `verdict admin record`",
        licence="subject to the venue's terms of use; check them before passing it on",
        seed=None,
        last_day=iso(end_ms - 1)[:10],
        frozen_at=end_ms - 1,
        files={},
    )
    return write_set(directory, files, metadata)


def _universe_of(dex: str) -> dict[str, object]:
    return {"type": "metaAndAssetCtxs", "dex": dex} if dex else {"type": "metaAndAssetCtxs"}


def _chosen(snapshot: tuple[Universe, list[Context]], coins: Sequence[str]) -> list[tuple[Asset, Context]]:
    meta, contexts = snapshot
    return [
        (asset, context)
        for asset, context in zip(meta.universe, contexts, strict=True)
        if (asset.name in coins or not coins) and _FILE_NAME.match(asset.name)
    ]


async def _capture(session: UpstreamSession, coin: str, end_ms: int) -> dict[str, bytes]:
    hours_from_ms = end_ms - HOURLY_DAYS * DAY_MS
    series: dict[str, Sequence[msgspec.Struct]] = {
        DAILY: await _bars(session, coin, "1d", end_ms - DAYS * DAY_MS, end_ms, DAYS),
        HOURLY: await _bars(session, coin, "1h", hours_from_ms, end_ms, HOURLY_DAYS * 24),
        FUNDING: await _payments(session, coin, hours_from_ms, end_ms),
    }
    return {series_file(kind, coin): pack_rows(rows) for kind, rows in series.items() if rows}


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
