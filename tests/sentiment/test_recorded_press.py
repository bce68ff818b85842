"""The room over the recorded press: every category answers, and a frozen replay gives the same bytes for ever."""

import json
import math
from pathlib import Path

import msgspec
import pytest

from fixtures.coins import COINS
from service.clock import DAY_MS, FrozenClock
from service.market.symbols import canonical
from service.sentiment.aggregation import Conclusions
from service.sentiment.refresh import SentimentMarket, SentimentRefresh
from service.sentiment.service import SentimentService
from service.sentiment.stance import Trading
from service.sentiment.store import NewsStore
from service.storage.database import open_database
from service.storage.documents import DocumentStore
from service.upstream.replay.recording import frozen_at, load_recording
from service.upstream.replay.server import replay_server
from service.wire.sentiment import CategorySentiment
from tests.fakes.loading import category_loading
from tests.sentiment.press import open_sources
from tests.upstream.conftest import FIXTURES

CATEGORIES = {
    name: tuple(canonical(coin.name) for coin in COINS if name in coin.categories)
    for name in sorted({name for coin in COINS for name in coin.categories})
}


def recorded_tape() -> dict[str, Trading]:
    recording = load_recording(FIXTURES)
    tape: dict[str, Trading] = {}
    for coin in COINS:
        closes = [float(bar.close) for bar in recording.days[coin.name]]
        week_ago = closes[-8] if len(closes) > 7 else None
        tape[canonical(coin.name)] = Trading(
            coin.title,
            100 * math.expm1(math.log(closes[-1] / closes[-2])),
            None if week_ago is None else 100 * math.expm1(math.log(closes[-1] / week_ago)),
            float(recording.contexts[coin.name].funding) * 876_000,
            None,
            recording.frozen_at_ms,
        )
    return tape


@pytest.fixture(scope="module")
def tape() -> dict[str, Trading]:
    return recorded_tape()


async def answers(folder: Path, tape: dict[str, Trading]) -> dict[str, tuple[bytes, int | None]]:
    clock = FrozenClock(frozen_at(FIXTURES))
    async with (
        replay_server(FIXTURES, clock, "frozen") as replay,
        open_sources(replay.url, clock) as sources,
        open_database(folder / "verdict.db", clock) as database,
    ):
        drawer = DocumentStore(database).document("sentiment.conclusions", Conclusions)
        desk = SentimentService(clock, drawer, CATEGORIES.__getitem__, category_loading)
        market = SentimentMarket(lambda: replay.origin, lambda: tape, lambda: CATEGORIES)
        await SentimentRefresh(clock, NewsStore(database), drawer, sources, market).round()
        said = {name: desk.category(name) for name in CATEGORIES}
        moods = {symbol: (msgspec.json.encode(desk.mood(symbol)), None) for symbol in tape}
    return {name: (msgspec.json.encode(answer.data), answer.as_of_ms) for name, answer in said.items()} | moods


async def test_a_frozen_replay_gives_the_same_bytes(tmp_path: Path, tape: dict[str, Trading]) -> None:
    assert await answers(tmp_path / "one", tape) == await answers(tmp_path / "two", tape)


async def test_every_category_answers_and_the_press_is_heard(tmp_path: Path, tape: dict[str, Trading]) -> None:
    said = await answers(tmp_path, tape)
    end_ms = frozen_at(FIXTURES)
    found = [msgspec.json.decode(said[name][0], type=CategorySentiment) for name in CATEGORIES]
    assert all(end_ms - DAY_MS < (said[name][1] or 0) <= end_ms for name in CATEGORIES)
    assert {coin.stance for each in found for coin in each.coins} > {"neutral"}
    assert sum(each.mentions > 3 and each.score is not None for each in found) > 10
    assert all(list(CATEGORIES[each.name]) == [coin.symbol for coin in each.coins] for each in found)
    assert all(json.loads(body, parse_constant=pytest.fail) for body, _ in said.values())
    assert len({each.summary for each in found}) > 10
