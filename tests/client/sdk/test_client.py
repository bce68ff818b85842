"""The Python client: typed answers, pages and streams, for threads and for asyncio."""

import asyncio
import sys
import threading
from collections.abc import Iterator
from inspect import signature
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
    VerdictError,
)  # fmt: skip
from service.client.client import EVENT_DATA
from service.client.methods import ApiMethods
from service.client.pool import MOST_CALLS, CallThreads
from service.wire.coins import CoinRow
from service.wire.market import RiskContext
from service.wire.offers import OFFERS
from service.wire.streams import STREAMS, GapLine
from tests.cli.recorded import ANSWERS
from tests.cli.streamed import CLOSE, HEARTBEAT, OPEN, event, line
from tests.client.sdk.peer import Reply, answers, peer, says
from tests.mcp.recorded import Recorded, load, recorded

KEY = "verdict_sk_test"
PATIENCE_S = 20.0
LAYER_1 = "Layer 1 (L1)"
CALLS = (
    call("manifest"), call("billing_tier"), call("question", "How is BTC?"), call("coin_risk", "BTC"), call("coins"),
    call("coins", symbols=["BTC", "ETH"], sort="change_7d"), call("coin_historical", "BTC", 30, unit="d"),
    call("signal", "BTC"), call("signal_quality", "BTC", "trend-following"), call("verdict_quality", "BTC"),
    call("category_info", LAYER_1), call("coin_lookup", symbol="FARTCOIN"), call("coin_by_id", "fartcoin"),
    call("coin_by_name", "Fartcoin"),
    call("coin_by_contract", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "ethereum"), call("resolve", "GAS"),
    call("market_prices", ["BTC", "ETH"], baselines=True), call("market_baselines", ["BTC", "ETH"]),
    call("market_global"), call("rwa_asset", "xyz:AAPL"), call("category_sentiment", LAYER_1),
    call("coin_sentiment", "BTC"), call("sentiment"), call("sentiment_categories"), call("narratives"),
    call("market_health", context=True), call("market_crossing"), call("funding_alerts", "BTC"), call("regime"),
    call("regime_signals"), call("regime_confidence"), call("regime_history", "BTC"), call("rwa_assets", "metal"),
    call("rwa_symbol", "AAPL"), call("walkforward_signals"), call("walkforward_positions"),
    call("walkforward_outcomes", "ETH"), call("transcripts", "BTC"), call("wallets"),
    call("wallet_movements", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2"), call("receipts"),
)  # fmt: skip
OFFER = {offer.id: offer for offer in OFFERS}


@pytest.fixture
def service() -> Iterator[Recorded]:
    with recorded() as there:
        yield there


def streamed(*lines: bytes) -> Reply:
    """An answer in lines without a length: it ends with the connection."""
    return Reply(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"".join(lines), hang_up=True)


def watched(*replies: Reply, **options: Any) -> tuple[list[Any], list[str]]:
    """The events of a stream and the targets of its requests."""
    with peer(*replies) as there, Verdict(there.url, KEY) as client:
        return list(client.watch(**{"stream": "prices", **options})), [heard.target for heard in there.heard]


async def test_each_call_is_answered_in_its_type_and_every_priced_route_has_one(service: Recorded) -> None:
    with Verdict(service.url, KEY) as client:
        for method in CALLS:
            service.heard.clear()
            result = method(client)
            assert isinstance(result.data, result.call.result)
            [heard] = service.heard
            offer = OFFER[result.call.offer]
            if offer.body is None:
                given = {name: str(value) for name, value in result.call.values.items() if value is not None}
                msgspec.convert(given, offer.parameters, strict=False)
                assert heard.query.items() <= given.items()
            else:
                msgspec.convert(heard.body, offer.body)
                assert heard.key
    async with AsyncVerdict(service.url, KEY) as asynchronous:
        found: list[ApiResult[Any]] = await asyncio.gather(*(method(asynchronous) for method in CALLS))
    assert all(isinstance(result.data, result.call.result) for result in found)
    assert {offer.id for offer in OFFERS if offer.payable} <= {result.call.offer for result in found}
    assert {heard.bearer for heard in service.heard} == {f"Bearer {KEY}"}


def test_a_method_shows_its_parameters_and_refuses_others() -> None:
    client = Verdict("http://127.0.0.1:1")
    shown = "(symbol: str, count: int = 24, unit: Literal['h', 'd'] = 'h') -> "
    assert str(signature(client.coin_historical)).startswith(shown)
    assert client.coin_historical.__doc__ == "Price and funding history of one coin."
    summaries = [method.__doc__ for name, method in vars(ApiMethods).items() if not name.startswith("_")]
    assert len(summaries) == len(set(summaries)), "each method says what it returns"
    with pytest.raises(TypeError, match="missing a required argument: 'symbol'"):
        client.coin_risk(coin="BTC")  # type: ignore[call-arg]


def test_a_list_is_also_taken_as_text_and_an_empty_part_of_a_path_is_not_sent(service: Recorded) -> None:
    with Verdict(service.url, KEY) as client:
        client.market_prices("BTC,ETH")
        client.market_baselines("BTC,ETH", "4h,24h")
        client.coins(symbols="BTC,ETH")
        client.market_prices()
        with pytest.raises(VerdictError, match=r"^`symbol` is empty\. Nothing was sent\.$"):
            client.coin_risk("")
    assert [heard.query.get("symbols") for heard in service.heard] == [*["BTC,ETH"] * 3, None]
    assert service.heard[1].query["horizons"] == "4h,24h"


def test_an_answer_says_how_old_it_is_what_is_left_and_its_rows(
    service: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(DataFrame=lambda rows: rows))
    service.headers = {"RateLimit": '"questions";r=9;t=60', "RateLimit-Policy": '"questions";q=10'}
    with Verdict(service.url, KEY) as client:
        result, coins = client.coin_risk("BTC"), client.coins()
        with pytest.raises(RefusedError) as raised:
            client.coin_risk("NOPE")
    assert (result.data.symbol, result.meta.as_of) == ("BTC", load("coin.risk")["meta"]["as_of"])
    assert (result.quota is not None and result.quota.left, raised.value.status) == (9, 404)
    [risk] = result.rows
    assert isinstance(risk, RiskContext)
    assert all(isinstance(row, CoinRow) for row in coins.rows)
    assert coins.to_frame() == load("coins")["data"]["coins"]
    answer = answers((ANSWERS / "transcripts.sources.json").read_bytes())
    with peer(answer) as there, Verdict(there.url, KEY) as client:
        assert len(client.transcript_sources().rows) == 3


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{}", b"\xff", b'{"data": {}, "meta": {}}', b'{"data": {"symbol": "\xff"}, "meta": {}}', b"[" * 100_000],
)
def test_an_answer_of_another_form_is_an_error_that_keeps_its_bytes(body: bytes) -> None:
    with (
        peer(answers(body, x_receipt_id="rcp_1")) as there,
        Verdict(there.url) as client,
        pytest.raises(UnreadableAnswerError, match=r"^The answer does not have the expected form: .*\.$") as caught,
    ):
        client.coin_risk("BTC")
    assert caught.value.body == body


async def test_pages_follow_the_cursor_to_the_last_one() -> None:
    first, second = load("coins"), load("coins")
    first["data"]["meta"]["next_cursor"], second["data"]["meta"]["next_cursor"] = "c1", None
    with peer(*[says(first), says(second)] * 2) as there:
        with Verdict(there.url, KEY) as client:
            found = [page.next_cursor for page in client.pages(client.coins(limit=10))]
        async with AsyncVerdict(there.url, KEY) as asynchronous:
            found += [page.next_cursor async for page in asynchronous.pages(asynchronous.coins(limit=10))]
    assert found == ["c1", None] * 2
    page = "/api/cli/coins?sort=rank&limit=10"
    assert [heard.target for heard in there.heard] == [page, f"{page}&cursor=c1"] * 2


@pytest.mark.parametrize("stream", STREAMS)
def test_events_of_each_stream_are_typed(stream: Any) -> None:
    lines = [text + b"\n" for text in (ANSWERS / f"watch.{stream}.ndjson").read_bytes().splitlines()]
    lines += [] if any(b'"close"' in text for text in lines) else [CLOSE]
    events, targets = watched(streamed(*lines), stream=stream, interval=10, max_events=1)
    assert targets == [f"/api/cli/watch/{stream}?interval=10&max=1"]
    assert len(events) == sum(b'"type":"event"' in text for text in lines)
    for found in events:
        msgspec.convert(msgspec.to_builtins(found.data), EVENT_DATA[stream])


def test_a_stream_resumes_at_its_cursor_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.client.stream.PAUSES_S", (0,))
    said: list[str] = []
    replies = (
        streamed(OPEN, HEARTBEAT, event(1)),
        streamed(OPEN, line(type="gap", reason="too-old", cursor="c2"), event(3), CLOSE),
    )
    [first, lost, last], targets = watched(*replies, cursor="c0", on_reconnect=said.append)
    assert isinstance(lost, GapLine)
    assert (first.meta.tick, last.meta.tick, len(said)) == (1, 3, 1)
    assert ["cursor=c0" in targets[0], "cursor=c1" in targets[1]] == [True, True]


@pytest.mark.parametrize(
    ("lines", "error", "said"),
    [
        ([OPEN, line(type="close", reason="revoked", cursor="c5")], StreamEndedError, "revoked"),
        ([OPEN], StreamEndedError, "connection broke"),
        ([OPEN, event(1, [1]), CLOSE], UnreadableAnswerError, "An event does not have the expected form"),
    ],
)
def test_a_stream_that_ends_early_or_cannot_be_read_is_an_error(
    monkeypatch: pytest.MonkeyPatch, lines: list[bytes], error: type[Exception], said: str
) -> None:
    monkeypatch.setattr("service.client.stream.PAUSES_S", ())
    with pytest.raises(error, match=said) as raised:
        watched(streamed(*lines))
    if said == "revoked":
        assert (raised.value.reason, raised.value.cursor) == ("revoked", "c5")  # type: ignore[attr-defined]


async def test_the_async_client_follows_a_stream_and_does_not_open_one_again_that_was_left() -> None:
    with peer(streamed(OPEN, event(1), event(2), CLOSE)) as there:
        async with AsyncVerdict(there.url, KEY) as client:
            ticks = [found.meta.tick async for found in client.watch("prices") if isinstance(found, StreamEvent)]
    assert ticks == [1, 2]
    said: list[str] = []
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(text), text) for text in (OPEN, event(1)))
    with peer(Reply(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks), streamed(CLOSE)) as there:
        client = AsyncVerdict(there.url, KEY)
        events = client.watch("prices", on_reconnect=said.append)
        await anext(events)
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        client.close()
        assert (len(there.heard), said) == (1, [])


async def test_calls_wait_for_a_free_thread_and_a_cancelled_one_keeps_its_own_until_it_ends() -> None:
    threads, begun, silent = CallThreads(), threading.Semaphore(0), threading.Event()

    def wait() -> bool:
        begun.release()
        return silent.wait(PATIENCE_S)

    left = [asyncio.create_task(threads.run(wait)) for _ in range(MOST_CALLS)]
    for _ in left:
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_S)
    for task in left:
        task.cancel()
    next_one = asyncio.create_task(threads.run(lambda: "answered"))
    await asyncio.wait(left)
    assert not next_one.done()
    silent.set()
    assert await asyncio.wait_for(next_one, PATIENCE_S) == "answered"
    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 // 0)


async def test_a_thread_that_cannot_be_started_takes_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("can't start new thread")

    threads = CallThreads()
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", fail)
        for _ in range(MOST_CALLS + 1):
            with pytest.raises(RuntimeError, match="can't start"):
                await asyncio.wait_for(threads.run(lambda: 1), PATIENCE_S)
    assert await asyncio.wait_for(threads.run(lambda: 7), PATIENCE_S) == 7


def test_a_call_that_is_under_way_does_not_keep_the_process() -> None:
    begun, silent, found = threading.Event(), threading.Event(), list[threading.Thread]()

    def wait() -> bool:
        found.append(threading.current_thread())
        begun.set()
        return silent.wait(PATIENCE_S)

    async def leave() -> asyncio.Task[bool]:
        task = asyncio.create_task(CallThreads().run(wait))
        await asyncio.to_thread(begun.wait, PATIENCE_S)
        return task  # cancelled with its loop

    asyncio.run(leave())
    assert found[0].daemon
    silent.set()  # its loop is gone: it ends without an error
    found[0].join(PATIENCE_S)
    assert not found[0].is_alive()
