"""The Python client: typed answers, pages, streams that resume, for threads and for asyncio."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from operator import methodcaller as call
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from service.client import (
    ApiResult,
    AsyncVerdict,
    RefusedError,
    StreamEndedError,
    StreamEvent,
    UnreadableAnswerError,
    Verdict,
)
from service.client.client import EVENT_DATA
from service.client.connection import ApiConnection
from service.wire.coins import CoinRow
from service.wire.market import RiskContext
from service.wire.offers import OFFERS
from service.wire.streams import STREAMS, GapLine
from tests.cli.recorded import ANSWERS
from tests.cli.streamed import CLOSE, HEARTBEAT, OPEN, event, line
from tests.client.sdk.peer import Reply, answers, peer
from tests.mcp.recorded import Recorded, Refusal, load, recorded

KEY = "verdict_sk_test"


LAYER_1 = "Layer 1 (L1)"
CALLS = (
    call("manifest"),
    call("billing_tier"),
    call("question", "How is BTC?"),
    call("coin_risk", "BTC"),
    call("coins"),
    call("coins", symbols=["BTC", "ETH"], sort="change_7d"),
    call("coin_historical", "BTC", 30, "d"),
    call("signal", "BTC"),
    call("signal_quality", "BTC"),
    call("verdict_quality", "BTC"),
    call("category_info", LAYER_1),
    call("coin_lookup", "FARTCOIN"),
    call("coin_by_id", "fartcoin"),
    call("coin_by_name", "Fartcoin"),
    call("coin_by_contract", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "ethereum"),
    call("resolve", "GAS"),
    call("market_prices", ["BTC", "ETH"], baselines=True),
    call("market_baselines", ["BTC", "ETH"]),
    call("market_global"),
    call("rwa_asset", "xyz:AAPL"),
    call("category_sentiment", LAYER_1),
    call("coin_sentiment", "BTC"),
    call("sentiment"),
    call("sentiment_categories"),
    call("narratives"),
    call("market_health", context=True),
    call("market_crossing"),
    call("funding_alerts", "BTC"),
    call("regime"),
    call("regime_signals"),
    call("regime_confidence"),
    call("regime_history", "BTC"),
    call("rwa_assets", "metal"),
    call("rwa_symbol", "AAPL"),
    call("walkforward_signals"),
    call("walkforward_positions"),
    call("walkforward_outcomes", "ETH"),
    call("transcripts", "BTC"),
    call("wallets"),
    call("wallet_movements", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"),
    call("receipts"),
)
OFFER = {offer.id: offer for offer in OFFERS}


@pytest.fixture
def service() -> Iterator[Recorded]:
    with recorded() as there:
        yield there


def streamed(*lines: bytes) -> Reply:
    """An answer in lines without a length: it ends with the connection."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nConnection: close\r\n\r\n"
    return Reply(head + b"".join(lines), hang_up=True)


def chunked(*lines: bytes) -> Reply:
    """The beginning of an answer in chunks; more could come."""
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return Reply(head + b"".join(b"%x\r\n%b\r\n" % (len(text), text) for text in lines))


@pytest.mark.parametrize("method", CALLS, ids=repr)
def test_a_call_is_answered_in_its_type_and_asks_what_the_route_takes(
    service: Recorded, method: Callable[[Any], Any]
) -> None:
    with Verdict(service.url, KEY) as client:
        result = method(client)
    assert isinstance(result.data, result.call.result)
    [heard] = service.heard
    assert heard.bearer == f"Bearer {KEY}"
    offer = OFFER[result.call.offer]
    if offer.body is None:
        given = {name: str(value) for name, value in result.call.values.items() if value is not None}
        msgspec.convert(given, offer.parameters, strict=False)
        assert heard.query.items() <= given.items()
    else:
        msgspec.convert(heard.body, offer.body)
        assert heard.key


def test_sources_of_transcripts_are_read_in_their_type() -> None:
    answer = answers((ANSWERS / "transcripts.sources.json").read_bytes())
    with peer(answer) as there, Verdict(there.url, KEY) as client:
        assert len(client.transcript_sources().rows) == 3


def test_an_answer_says_how_old_it_is_and_what_is_left(service: Recorded) -> None:
    service.headers = {
        "RateLimit": '"questions";r=9;t=60',
        "RateLimit-Policy": '"questions";q=10',
    }
    with Verdict(service.url, KEY) as client:
        result = client.coin_risk("BTC")
    assert (result.data.symbol, result.meta.as_of) == ("BTC", load("coin.risk")["meta"]["as_of"])
    assert result.quota is not None
    assert result.quota.left == 9


def test_what_is_refused_says_why(service: Recorded) -> None:
    with Verdict(service.url) as client, pytest.raises(RefusedError) as raised:
        client.coin_risk("NOPE")
    assert raised.value.status == 404


@pytest.mark.parametrize("body", [b"[]", b"{}", b"\xff", b'{"data": {}, "meta": {}}'])
def test_an_answer_of_another_form_is_an_error(body: bytes) -> None:
    with (
        peer(answers(body)) as there,
        Verdict(there.url) as client,
        pytest.raises(UnreadableAnswerError, match="expected form"),
    ):
        client.coin_risk("BTC")


def test_rows_are_the_list_or_the_one_object(service: Recorded) -> None:
    with Verdict(service.url, KEY) as client:
        rows = client.coins().rows
        assert all(isinstance(row, CoinRow) for row in rows)
        assert len(rows) == len(load("coins")["data"]["coins"])
        [risk] = client.coin_risk("BTC").rows
    assert isinstance(risk, RiskContext)


def test_a_frame_has_a_row_for_each_entry(service: Recorded, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows: rows))
    with Verdict(service.url, KEY) as client:
        frame = client.coins().to_frame()
    assert frame == load("coins")["data"]["coins"]


def paged(service: Recorded) -> None:
    """Two pages of coins: the second has no cursor."""
    first, second = load("coins"), load("coins")
    first["data"]["meta"]["next_cursor"] = "c1"
    second["data"]["meta"]["next_cursor"] = None
    answer = service.answer

    def turn(heard: Any) -> Refusal:
        service.instead[heard.path] = Refusal(200, second if "cursor" in heard.query else first)
        return answer(heard)

    service.answer = turn  # type: ignore[method-assign]


def test_pages_follow_the_cursor_to_the_last_one(service: Recorded) -> None:
    paged(service)
    with Verdict(service.url, KEY) as client:
        assert len(list(client.pages(client.coins(limit=10)))) == 2
    assert [heard.query.get("cursor") for heard in service.heard] == [None, "c1"]
    assert [heard.query["limit"] for heard in service.heard] == ["10", "10"]


@pytest.mark.parametrize("stream", STREAMS)
def test_events_of_each_stream_are_typed(stream: Any) -> None:
    lines = [text + b"\n" for text in (ANSWERS / f"watch.{stream}.ndjson").read_bytes().splitlines()]
    if not any(b'"close"' in text for text in lines):
        lines.append(CLOSE)
    with peer(streamed(*lines)) as there, Verdict(there.url, KEY) as client:
        events = list(client.watch(stream, interval=10, max_events=1))
    assert there.heard[0].target == f"/api/cli/watch/{stream}?interval=10&max=1"
    assert len(events) == sum(b'"type":"event"' in text for text in lines)
    for found in events:
        assert isinstance(found, StreamEvent)
        msgspec.convert(msgspec.to_builtins(found.data), EVENT_DATA[stream])


def test_a_stream_resumes_where_it_broke_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.client.stream.PAUSES_S", (0,))
    said: list[str] = []
    gap = line(type="gap", reason="too-old", cursor="c2")
    with (
        peer(streamed(OPEN, HEARTBEAT, event(1)), streamed(OPEN, gap, event(3), CLOSE)) as there,
        Verdict(there.url, KEY) as client,
    ):
        first, lost, last = client.watch("prices", cursor="c0", on_reconnect=said.append)
    assert isinstance(first, StreamEvent)
    assert isinstance(lost, GapLine)
    assert isinstance(last, StreamEvent)
    assert [first.meta.tick, last.meta.tick] == [1, 3]
    assert ["cursor=c0" in there.heard[0].target, "cursor=c1" in there.heard[1].target] == [True, True]
    assert len(said) == 1


def test_a_stream_that_ends_early_is_an_error_with_its_cursor() -> None:
    revoked = line(type="close", reason="revoked", cursor="c5")
    with (
        peer(streamed(OPEN, revoked)) as there,
        Verdict(there.url, KEY) as client,
        pytest.raises(StreamEndedError, match="revoked") as raised,
    ):
        list(client.watch("prices"))
    assert (raised.value.reason, raised.value.cursor) == ("revoked", "c5")


def test_a_stream_that_keeps_breaking_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.client.stream.PAUSES_S", ())
    with (
        peer(streamed(OPEN)) as there,
        Verdict(there.url, KEY) as client,
        pytest.raises(StreamEndedError, match="connection broke"),
    ):
        list(client.watch("prices"))


def test_an_event_of_another_form_is_an_error() -> None:
    with (
        peer(streamed(OPEN, event(1, [1]), CLOSE)) as there,
        Verdict(there.url, KEY) as client,
        pytest.raises(UnreadableAnswerError, match="event"),
    ):
        list(client.watch("prices"))


async def test_the_async_client_sends_calls_at_once_and_every_priced_route_has_one(service: Recorded) -> None:
    async with AsyncVerdict(service.url, KEY) as client:
        found: list[ApiResult[Any]] = await asyncio.gather(*(method(client) for method in CALLS))
        assert all(isinstance(result.data, result.call.result) for result in found)
        assert {offer.id for offer in OFFERS if offer.payable} <= {result.call.offer for result in found}
        paged(service)
        assert [page.next_cursor async for page in client.pages(client.coins())] == ["c1", None]
    assert {heard.bearer for heard in service.heard} == {f"Bearer {KEY}"}


async def test_the_async_client_follows_a_stream() -> None:
    with peer(streamed(OPEN, event(1), event(2), CLOSE)) as there:
        async with AsyncVerdict(there.url, KEY) as client:
            ticks = [found.meta.tick async for found in client.watch("prices") if isinstance(found, StreamEvent)]
    assert ticks == [1, 2]


async def test_a_stream_that_is_left_is_not_opened_again() -> None:
    said: list[str] = []
    with peer(chunked(OPEN, event(1)), streamed(CLOSE)) as there:
        client = AsyncVerdict(there.url, KEY)
        events = client.watch("prices", on_reconnect=said.append)
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        client.close()
        assert len(there.heard) == 1
    assert said == []


def test_a_token_that_is_none_is_refused_at_once() -> None:
    for kind in (Verdict, AsyncVerdict):
        with pytest.raises(ValueError, match="token"):
            kind("http://127.0.0.1:1", "two words")


def test_interrupting_a_connection_that_is_not_open_does_nothing() -> None:
    ApiConnection("http://127.0.0.1:1").interrupt()
