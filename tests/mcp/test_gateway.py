"""The way to the service: whose credential is used, how connections are kept, and when something is paid."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from service.client.answer import RefusedError
from service.client.paying.buyer import library_buyer
from service.client.paying.terms import UnpaidError
from service.client.wallet import Wallet
from service.mcp.gateway import (
    CONFIRMED_S,
    OUTAGE_S,
    REFUSED_S,
    Confirmations,
    Gateway,
    TokenStatus,
    bearer,
)
from service.mcp.tools import ToolRequest
from tests.client.paying.stand import SECRET, asking
from tests.fakes.clock import FakeClock
from tests.mcp.recorded import Recorded, Refusal, load
from tests.payments.signing import row

RISK = ToolRequest("coin.risk", {"symbol": "BTC"})
QUESTION = ToolRequest("question", {"messages": [{"role": "user", "content": "How is ETH doing?"}]})


DUE = Refusal(402, load("refused.402"), {"PAYMENT-REQUIRED": asking().headers["payment-required"]})


@pytest.fixture
def paying(service: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gateway]:
    """A gateway that pays up to 0.01 USDC for a call."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    buyer = library_buyer(Wallet(SECRET), "0.01", "1")
    with closing(Gateway(service.url, lambda _headers: "verdict_sk_own", buyer)) as gateway:
        yield gateway


def test_a_client_forgets_its_caller_once_it_has_asked(service: Recorded) -> None:
    with closing(Gateway(service.url, bearer)) as gateway:
        gateway.ask(RISK, {"authorization": "Bearer verdict_sk_one"})
        gateway.ask(RISK, {"authorization": "bearer verdict_sk_two"})
        gateway.ask(RISK, {})
        gateway.ask(RISK, None)
        assert [client.token for client in gateway.pool._idle] == [None]
    assert [heard.bearer for heard in service.heard] == ["Bearer verdict_sk_one", "Bearer verdict_sk_two", None, None]


def test_a_client_forgets_its_caller_also_where_the_service_says_no(service: Recorded) -> None:
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(401, {"error": {"code": "AUTH_INVALID", "message": "no"}})
    with closing(Gateway(service.url, bearer)) as gateway:
        with pytest.raises(RefusedError):
            gateway.ask(RISK, {"authorization": "Bearer verdict_sk_one"})
        assert [client.token for client in gateway.pool._idle] == [None]


def test_callers_at_the_same_time_are_each_themselves(service: Recorded) -> None:
    """Each asks about a coin of its own, so that the service hears who asked about which."""

    def ask(number: int) -> None:
        with pytest.raises(RefusedError):
            gateway.ask(
                ToolRequest("coin.risk", {"symbol": f"C{number}"}), {"authorization": f"Bearer verdict_sk_{number}"}
            )

    with closing(Gateway(service.url, bearer)) as gateway, ThreadPoolExecutor(16) as threads:
        list(threads.map(ask, range(100)))
    heard = {(heard.path.rpartition("/")[2], heard.bearer) for heard in service.heard}
    assert heard == {(f"C{number}", f"Bearer verdict_sk_{number}") for number in range(100)}


@pytest.mark.parametrize("field", ["", "Basic abc", "Bearer", "Bearer a b", "Bearer \x80", "verdict_sk_one"])
def test_what_is_no_bearer_is_nobody(field: str) -> None:
    assert bearer({"authorization": field}) is None


def test_a_call_that_has_to_be_paid_for_is_paid_and_sent_again_as_it_was(
    service: Recorded, paying: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter([DUE, Refusal(200, load("question"))])
    monkeypatch.setattr(service, "answer", lambda _heard: next(answers))
    assert paying.pays
    assert paying.ask(QUESTION, None).document == load("question")
    first, second = service.heard
    assert first == second
    assert first.key is not None


def test_nothing_is_paid_for_what_is_refused_otherwise(service: Recorded, paying: Gateway) -> None:
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(403, load("refused.no-token"))
    with pytest.raises(RefusedError):
        paying.ask(RISK, None)
    assert len(service.heard) == 1


def test_what_is_above_the_ceiling_stays_unpaid(service: Recorded, paying: Gateway) -> None:
    dear = asking(row(price=10_001)).headers["payment-required"]
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(402, load("refused.402"), {"PAYMENT-REQUIRED": dear})
    with pytest.raises(UnpaidError):
        paying.ask(RISK, None)
    assert len(service.heard) == 1


def test_every_question_has_a_key_of_its_own(service: Recorded) -> None:
    with closing(Gateway(service.url, bearer)) as gateway:
        gateway.ask(QUESTION, None)
        gateway.ask(QUESTION, None)
    keys: set[Any] = {heard.key for heard in service.heard}
    assert len(keys) == 2


ANSWERS = {
    "accepted": Refusal(200, load("billing.tier")),
    "refused": Refusal(401, {"error": {"code": "AUTH_INVALID", "message": "no"}}),
    "limited": Refusal(429, {"error": {"code": "RATE_LIMITED", "message": "no"}}, {"Retry-After": "9"}),
    "failing": Refusal(500, {"error": {"code": "INTERNAL", "message": "no"}}),
    "forbidden": Refusal(403, {}),
    "down": Refusal(503, {}, {"Retry-After": "9"}),
}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def confirmations(service: Recorded, clock: FakeClock) -> Iterator[Confirmations]:
    with closing(Confirmations(service.url, clock)) as made:
        yield made


def says(service: Recorded, what: str) -> None:
    service.instead["/api/cli/billing/tier"] = ANSWERS[what]


@pytest.mark.parametrize(
    ("answer", "known"),
    [
        ("accepted", TokenStatus("accepted")),
        ("refused", TokenStatus("refused")),
        ("limited", TokenStatus("limited", "9")),
        ("failing", TokenStatus("unknown")),
        ("forbidden", TokenStatus("unknown")),
        ("down", TokenStatus("unknown")),
    ],
)
async def test_the_service_says_how_a_token_stands(
    service: Recorded, confirmations: Confirmations, answer: str, known: TokenStatus
) -> None:
    says(service, answer)
    assert await confirmations.token_status("verdict_sk_one") == known
    (heard,) = service.heard
    assert (heard.path, heard.bearer) == ("/api/cli/billing/tier", "Bearer verdict_sk_one")


@pytest.mark.parametrize(
    ("answer", "lasts_s"), [("accepted", CONFIRMED_S), ("refused", REFUSED_S), ("limited", 0), ("down", 0)]
)
async def test_what_the_service_says_of_a_token_is_remembered_for_a_bounded_time(
    service: Recorded, clock: FakeClock, confirmations: Confirmations, answer: str, lasts_s: int
) -> None:
    says(service, answer)
    first = await confirmations.token_status("verdict_sk_one")
    for wait_s, asked in [(0, 1), (lasts_s - 1, 1), (1, 2)] if lasts_s else [(0, 2)]:
        await clock.advance(wait_s)
        assert await confirmations.token_status("verdict_sk_one") == first
        assert len(service.heard) == asked


async def test_a_revoked_token_is_refused_as_soon_as_it_is_asked_about(
    service: Recorded, clock: FakeClock, confirmations: Confirmations
) -> None:
    assert (await confirmations.token_status("one")).kind == "accepted"
    says(service, "refused")
    assert (await confirmations.token_status("one")).kind == "accepted"
    await clock.advance(CONFIRMED_S)
    assert (await confirmations.token_status("one")).kind == "refused"
    says(service, "down")
    await clock.advance(REFUSED_S)
    assert (await confirmations.token_status("one")).kind == "unknown"


@pytest.mark.parametrize("answer", ["limited", "failing", "down", "forbidden"])
async def test_an_accepted_token_outlasts_an_outage_of_an_hour_and_no_longer(
    service: Recorded, clock: FakeClock, confirmations: Confirmations, answer: str
) -> None:
    assert (await confirmations.token_status("one")).kind == "accepted"
    says(service, answer)
    await clock.advance(OUTAGE_S - 1)
    assert (await confirmations.token_status("one")).kind == "accepted"
    assert (await confirmations.token_status("one")).kind == "accepted"
    assert len(service.heard) == 2
    await clock.advance(REFUSED_S)
    assert (await confirmations.token_status("one")).kind == ("limited" if answer == "limited" else "unknown")


async def test_invented_tokens_displace_no_accepted_one(
    service: Recorded, confirmations: Confirmations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.mcp.gateway.MOST_REMEMBERED", 3)
    for number in range(3):
        assert (await confirmations.token_status(f"valid-{number}")).kind == "accepted"
    says(service, "refused")
    for number in range(7):
        assert (await confirmations.token_status(f"invented-{number}")).kind == "refused"
    assert {(await confirmations.token_status(f"valid-{number}")).kind for number in range(3)} == {"accepted"}
    says(service, "accepted")
    assert (await confirmations.token_status("valid-3")).kind == "accepted"


async def test_requests_at_once_with_one_token_ask_once(service: Recorded, confirmations: Confirmations) -> None:
    found = await asyncio.gather(*(confirmations.token_status(f"key-{number % 2}") for number in range(40)))
    assert {one.kind for one in found} == {"accepted"}
    assert len(service.heard) == 2


async def test_a_caller_that_leaves_does_not_stop_the_answer_for_others(
    service: Recorded, confirmations: Confirmations
) -> None:
    leaving = asyncio.create_task(confirmations.token_status("one"))
    await asyncio.sleep(0)
    staying = asyncio.create_task(confirmations.token_status("one"))
    await asyncio.sleep(0)
    leaving.cancel()
    assert (await staying).kind == "accepted"
    assert len(service.heard) == 1
