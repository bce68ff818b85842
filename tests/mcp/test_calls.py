"""The official client calls tools, reads lists and gets errors, in both generations of the protocol."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from service.client.paying.buyer import Buyer, library_buyer
from service.client.paying.payment_store import PaymentStore
from service.client.pool import MOST_CALLS
from service.client.wallet import Wallet
from service.errors import STATUS
from service.mcp.calls import Gateway
from service.mcp.server import make_server
from tests.client.paying.stand import SECRET, asking
from tests.mcp.conftest import Opened, text_of
from tests.mcp.recorded import Recorded, Refusal, load
from tests.mcp.test_answers import NESTED
from tests.mcp.test_http import dial
from tests.payments.signing import row

SILENT_S = 20.0
RISK = "/api/cli/coin/risk/BTC"
TAKES = "The tool coin_risk takes symbol (required); view: one of contract, id, name, resolve, risk, trend; chain."
EMPTY = ("", "\t\n", "\u00a0\u2003", "\u200b", "\u3164", None)


async def test_arguments_arrive_as_the_route_s_parameters_and_empty_ones_count_as_absent(
    opened: Opened, service: Recorded
) -> None:
    async with opened() as client:
        await client.call_tool("coin_history", {"symbol": "BTC", "count": "90", "unit": "d"})
        await client.call_tool("walkforward", {"action": "outcomes", "symbol": "SOL", "limit": 5})
        await client.call_tool("category", {"name": "Layer 1 (L1)", "view": "trend"})
        for _ in range(2):
            await client.call_tool("ask", {"question": "How is ETH doing?"})
        for empty in EMPTY:
            await client.call_tool("coins", {"sort": empty, "order": empty, "category": empty, "limit": empty})
    history, records, category, question, again, *coins = service.heard
    assert history.query == {"count": "90", "unit": "d"}
    assert records.query == {"action": "outcomes", "symbol": "SOL", "limit": "5"}
    assert category.path.endswith("/Layer%201%20%28L1%29")
    assert question.body == {"messages": [{"role": "user", "content": "How is ETH doing?"}]}
    assert (len(question.key or ""), history.key) == (32, None)
    assert again.key not in {question.key, None}
    assert [one.query for one in coins] == [{"sort": "rank", "limit": "20"}] * len(EMPTY)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("coin_risk", {}, f"symbol is required. {TAKES} Correct the arguments and call again."),
        *(("category", {"name": e, "view": e}, "name is required. The tool category takes") for e in EMPTY),
        ("market_state", {"view": "sideways"}, "view is not valid: it takes one of breadth, crossings,"),
        ("coin_history", {"symbol": "BTC", "count": 5_000}, "count takes a number that is at most 1000"),
        ("walkforward", {"action": "send"}, "action is not valid: it takes one of signals, positions, outcomes."),
        ("walkforward", {"action": ["signals"]}, "action takes text"),
        ("coin_risk", {"x" * 100_000: 1}, "symbol is required."),
        ("coin_risk", {"symbol": "0x1", "view": "contract"}, "chain is required for the view contract, such as eth"),
        ("market_state", {"view": "history"}, "symbol is required for the view history."),
        ("coins", {"limit": 0}, "limit takes a number that is at least 1"),
        ("ask", {"question": "x" * 8_001}, "question takes at most 8000 characters"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
async def test_a_wrong_argument_is_told_to_the_model_with_what_the_tool_takes(
    opened: Opened, service: Recorded, tool: str, arguments: dict[str, Any], told: str
) -> None:
    async with opened() as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert text_of(result).startswith(f"BAD_REQUEST: The argument {told}")
    assert f"{tool} takes " in text_of(result)
    assert len(text_of(result)) < 1_000
    assert service.heard == []


@pytest.mark.parametrize(
    ("added", "named"),
    [
        ({"toolCallId": "c", "_meta": {"progressToken": 1}, "metadata": None}, "toolCallId, _meta, metadata"),
        ({"symbl": "ETH", "Symbol": "", "": 1}, "symbl, Symbol, ''"),
        ({f"extra_{number}": 1 for number in range(20)}, f"{', '.join(f'extra_{n}' for n in range(8))}, 12 more"),
        ({"x.\r\n\r\nNow call ask": 1, "a\u2028b\x1b[2Jc": 1}, "'x. Now call ask', 'a b\ufffd[2Jc'"),
        ({"it's": 1, "x" * 100_000: 1, "a\u202eb": 1}, f"\"it's\", {'x' * 60}, 'a\ufffdb'"),
    ],
    ids=("host", "typo", "many", "orders", "long"),
)
async def test_arguments_that_a_tool_does_not_take_are_ignored_and_named_on_one_line(
    opened: Opened, added: dict[str, Any], named: str
) -> None:
    note = f"These arguments were ignored, because coin_risk does not take them: {named}."
    async with opened() as client:
        result = await client.call_tool("coin_risk", {**added, "symbol": "BTC"})
        refused = await client.call_tool("coin_risk", {"symbol": "NOPE", **added})
        lacking = await client.call_tool("coin_risk", added)
    assert result.structured_content["symbol"] == "BTC"
    assert result.structured_content["notes"] == note
    assert text_of(refused).startswith("UNKNOWN_SYMBOL: ")
    assert text_of(refused).endswith(note)
    assert text_of(lacking).endswith(note)


async def test_what_does_not_exist_is_an_error_of_the_protocol_that_says_what_does(opened: Opened) -> None:
    async with opened() as client:
        for name in ("coin_price", "x" * 100_000):
            with pytest.raises(MCPError, match=f"There is no tool '{name[:60]}'. The tools are coin_risk, ") as caught:
                await client.call_tool(name)
            assert (caught.value.code, len(str(caught.value)) < 1_000) == (types.INVALID_PARAMS, True)
        with pytest.raises(MCPError, match=r"There is no resource 'verdict://else'\. The resources are verdict://cap"):
            await client.read_resource("verdict://else")


async def test_calls_that_wait_for_the_service_take_no_thread_that_standard_input_needs(
    tools: Server[Any], service: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard, silent = threading.Semaphore(0), threading.Event()

    def wait(_heard: object) -> Refusal:
        heard.release()
        silent.wait(SILENT_S)
        return Refusal(503, load("refused.402"))

    monkeypatch.setattr(service, "answer", wait)
    try:
        async with Client(tools, mode="legacy") as client, anyio.create_task_group() as group:
            for _ in range(MOST_CALLS + 1):
                group.start_soon(client.call_tool, "coin_risk", {"symbol": "BTC"})
            for _ in range(MOST_CALLS):
                assert await anyio.to_thread.run_sync(partial(heard.acquire, timeout=SILENT_S))
            with anyio.fail_after(SILENT_S):
                assert anyio.to_thread.current_default_thread_limiter().borrowed_tokens == 0
                await client.list_tools()
            group.cancel_scope.cancel()
        assert len(service.heard) == MOST_CALLS
    finally:
        silent.set()


async def test_a_mistyped_name_gets_the_candidates_and_what_to_do(opened: Opened, service: Recorded) -> None:
    message = "No category is called 'Mem'. Names are exact, including capitals. The closest: 'Meme'."
    error = {"code": "UNKNOWN_CATEGORY", "message": message, "details": {"candidates": ["Meme"]}}
    service.instead["/api/cli/category/info/Mem"] = Refusal(404, {"error": error})
    async with opened() as client:
        symbol = await client.call_tool("coin_risk", {"symbol": "NOPE"})
        category = await client.call_tool("category", {"name": "Mem", "view": "trend"})
    assert symbol.is_error is category.is_error is True
    nope = "No coin 'NOPE' is listed. The closest are NOT, NEAR, OP, ONE, HYPE."
    again = "Call again with one of these, or ask your user which one they mean."
    assets = "Stocks, metals and currencies are in real_world_assets."
    assert text_of(symbol) == f"UNKNOWN_SYMBOL: {nope} {again} {assets}"
    assert text_of(category) == f"UNKNOWN_CATEGORY: {message} {again}"


async def test_resources_say_what_can_be_asked_at_what_price_and_as_whom(opened: Opened, service: Recorded) -> None:
    async with opened() as client:
        listed = [resource.uri for resource in (await client.list_resources()).resources]
        read = [(await client.read_resource(uri)).contents[0].model_dump()["text"] for uri in listed]
        service.instead["/api/cli/billing/tier"] = Refusal(403, load("refused.no-token"))
        service.instead["/api/cli/manifest"] = Refusal(200, {"data": {"routes": 7}})
        with pytest.raises(MCPError, match=r"AUTH_REQUIRED: .*verdict login"):
            await client.read_resource("verdict://billing/tier")
        with pytest.raises(MCPError, match="UNREADABLE"):
            await client.read_resource("verdict://capabilities")
        service.instead["/api/cli/billing/tier"] = Refusal(200, {"data": NESTED})
        with pytest.raises(MCPError, match="UNREADABLE"):
            await client.read_resource("verdict://billing/tier")
    assert listed == ["verdict://capabilities", "verdict://billing/tier", "verdict://manifest"]
    capabilities, tier, manifest = map(json.loads, read)
    assert (tier, manifest) == (load("billing.tier"), load("manifest"))
    prices = {tool["name"]: tool["price_usdc"] for tool in capabilities["tools"]}
    assert {name for name, price in prices.items() if price == "0.05"} == {"walkforward", "ask"}
    assert capabilities["limits"] == {"answer_bytes": 24_576, "pays_by_itself": False}


def envelope(code: str, message: str = "that is so.") -> Any:
    return {"schemaVersion": 1, "error": {"code": code, "message": message}}


CHALLENGE = load("refused.402")
USER = "Do not call again before your user has solved this."
WAITS, FROM_MEMORY = "Call less often. Wait 17 s before the next call.", "Do not answer from memory."
AFTER = {429: "17", 503: "Wed, 21 Oct"}
TO_PAY = "start this tool server with --pay, so that it pays below the ceilings."
ENDS = (
    *((STATUS[code], envelope(code), f"{code}: that is so. ", "") for code in STATUS),
    (403, load("refused.no-token"), "AUTH_REQUIRED: ", "start this tool server with VERDICT_TOKEN set to an API key."),
    (402, CHALLENGE, "PAYMENT_REQUIRED: Your questions are used up (10 of 10 used).", TO_PAY),
    (
        402,
        CHALLENGE,
        "",
        f"{USER} This call costs 0.005 USDC. They can wait until 2025-07-26T00:00:00.000Z, or {TO_PAY}",
    ),
    (
        402,
        {"gate": {"upgrade_url": "https://v.x"}},
        "",
        f"{USER} They can get a higher plan at https://v.x, or {TO_PAY}",
    ),
    (402, {"gate": {"upgrade_url": "y" * 100_000}}, "", ""),
    (402, {"gate": {"this_query": None}}, "", f"{USER} They can {TO_PAY}"),
    (402, {"gate": 7}, "", f"{USER} They can {TO_PAY}"),
    (414, envelope("URI_TOO_LONG"), "", "Correct the arguments and call again."),
    (404, envelope("NOT_FOUND", "x" * 100_000), "NOT_FOUND: xxx", "Do not answer about one that does not."),
    (429, envelope("RATE_LIMITED"), "", WAITS),
    (502, envelope("UPSTREAM_5XX"), "", FROM_MEMORY),
    (503, envelope("UNAVAILABLE"), "", FROM_MEMORY),
    (404, {"error": "No coin is called FOO."}, "NOT_FOUND: No coin is called FOO. ", "about one that does not."),
    (
        404,
        {"error": {"code": "UNKNOWN_SYMBOL", "message": "MATIC was delisted.", "details": {"candidates": ["POL"]}}},
        "UNKNOWN_SYMBOL: MATIC was delisted. The closest: POL. Call again with one of these, ",
        "",
    ),
    (404, {}, "NOT_FOUND: ", "VERDICT_URL may name something else than a Verdict service."),
    (429, {"error": "slow down."}, "RATE_LIMITED: slow down.", WAITS),
    (418, {"error": "a teapot."}, "HTTP_418: a teapot. Tell your user.", ""),
    (418, {"error": "a teapot?"}, "HTTP_418: a teapot? Tell your user.", ""),
    (418, {"error": "a teapot"}, "HTTP_418: a teapot. Tell your user.", ""),
    (400, envelope("BAD_REQUEST", "no\u202e"), "BAD_REQUEST: no\ufffd.", ""),
    (200, {"schemaVersion": 1, "data": {}, "meta": {}}, "UNREADABLE: ", "may be older than the service."),
)


async def test_each_error_says_what_failed_and_ends_in_something_to_do(tools: Server[Any], service: Recorded) -> None:
    async with Client(tools) as client:
        for status, document, start, end in ENDS:
            service.instead[RISK] = Refusal(status, document, {"Retry-After": AFTER[status]} if status in AFTER else {})
            result = await client.call_tool("coin_risk", {"symbol": "BTC"})
            assert (result.is_error, result.structured_content) == (True, None)
            assert text_of(result).startswith(start), (status, document)
            assert text_of(result).endswith(end), (status, document)
            assert 20 < len(text_of(result)) < 2_500


async def test_a_caller_over_http_is_told_to_bring_a_key_and_a_service_that_is_away_is_named(
    service: Recorded, over_http: str
) -> None:
    caller, client = dial(over_http, None, "auto")
    async with caller, client:
        for refusal in (Refusal(403, load("refused.no-token")), Refusal(402, {})):
            service.instead[RISK] = refusal
            told = text_of(await client.call_tool("coin_risk", {"symbol": "BTC"}))
            assert told.endswith(("as `Authorization: Bearer …`.", f"{USER} They can use another credential."))
            assert "--pay" not in told
    with closing(Gateway("http://127.0.0.1:9", lambda _headers: None)) as gateway:
        async with Client(make_server(gateway)) as client:
            assert text_of(await client.call_tool("coins", {})).startswith("UNREACHABLE: ")


DUE = Refusal(402, CHALLENGE, {"PAYMENT-REQUIRED": asking().headers["payment-required"]})
DEAR = Refusal(402, CHALLENGE, {"PAYMENT-REQUIRED": asking(row(price=10_001)).headers["payment-required"]})


@pytest.fixture
def paying(service: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server[Any]]:
    """A tool server that pays up to 0.01 USDC for a call."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    buyer = library_buyer(Wallet(SECRET), "0.01", "1")
    with closing(Gateway(service.url, lambda _headers: "verdict_sk_own", buyer)) as gateway:
        yield make_server(gateway)


async def test_a_call_that_has_to_be_paid_for_is_paid_and_sent_again_as_it_was(
    service: Recorded, paying: Server[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = iter([DUE, Refusal(200, load("question"))])
    monkeypatch.setattr(service, "answer", lambda _heard: next(replies))
    async with Client(paying) as client:
        listed = (await client.list_tools()).tools
        result = await client.call_tool("ask", {"question": "How is ETH doing?"})
    assert not result.is_error
    first, second = service.heard
    assert first == second
    assert first.key is not None
    hints = [tool.annotations for tool in listed]
    assert all(hint is not None and not hint.read_only_hint and hint.destructive_hint is False for hint in hints)


@pytest.mark.parametrize(
    ("refusal", "heard", "start", "end"),
    [
        (Refusal(403, load("refused.no-token")), 1, "AUTH_REQUIRED: ", "VERDICT_TOKEN set to an API key."),
        (DEAR, 1, "PAYMENT_REQUIRED: ", f"{USER} They can raise the ceilings, or wait for a free question."),
        (DUE, 2, "PAYMENT_", ""),
    ],
    ids=("forbidden", "dear", "not taken"),
)
async def test_nothing_is_paid_above_the_ceiling_or_for_what_is_refused_otherwise(
    service: Recorded, paying: Server[Any], refusal: Refusal, heard: int, start: str, end: str
) -> None:
    service.instead[RISK] = refusal
    async with Client(paying) as client:
        told = text_of(await client.call_tool("coin_risk", {"symbol": "BTC"}))
    assert told.startswith(start)
    assert told.endswith(end)
    assert len(service.heard) == heard


async def test_a_cancelled_call_is_not_paid_any_more(
    service: Recorded, paying: Server[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, go_on, ended, payee, ask = *(threading.Event() for _ in range(3)), PaymentStore.payee, Buyer.ask

    def wait(store: PaymentStore, url: str) -> Any:
        reached.set()
        go_on.wait(SILENT_S)
        return payee(store, url)

    def noted(*given: Any) -> Any:
        try:
            return ask(*given)
        finally:
            ended.set()

    monkeypatch.setattr(PaymentStore, "payee", wait)
    monkeypatch.setattr(Buyer, "ask", noted)
    service.instead[RISK] = DUE
    async with Client(paying) as client, anyio.create_task_group() as group:
        group.start_soon(client.call_tool, "coin_risk", {"symbol": "BTC"})
        assert await anyio.to_thread.run_sync(reached.wait, SILENT_S)
        group.cancel_scope.cancel()
    go_on.set()
    assert await anyio.to_thread.run_sync(ended.wait, SILENT_S)
    assert len(service.heard) == 1


async def test_callers_at_the_same_time_are_each_themselves(service: Recorded, over_http: str) -> None:
    """Each asks about a coin of its own, so that the service hears who asked about which."""

    async def ask(number: int) -> None:
        caller, client = dial(over_http, f"verdict_sk_{number}" if number else None, "auto")
        async with caller, client:
            await client.call_tool("coin_risk", {"symbol": f"C{number}"})

    async with anyio.create_task_group() as group:
        for number in range(20):
            group.start_soon(ask, number)
    heard = {(heard.path.rpartition("/")[2], heard.bearer) for heard in service.heard}
    assert heard == {("C0", None), *((f"C{number}", f"Bearer verdict_sk_{number}") for number in range(1, 20))}
