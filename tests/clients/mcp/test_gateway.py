"""The way to the service: whose credential is used, how connections are kept, and when something is paid."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any, cast

import pytest

from service.clients.mcp.gateway import Gateway, bearer
from service.clients.mcp.tools import ToolRequest
from service.clients.paying.buyer import Buyer
from service.clients.paying.terms import UnpaidError
from service.clients.sdk.answer import RawAnswer, RefusedError
from tests.clients.mcp.recorded import Recorded, Refusal, load

RISK = ToolRequest("coin.risk", {"symbol": "BTC"})
QUESTION = ToolRequest("question", {"messages": [{"role": "user", "content": "How is ETH doing?"}]})


class Purse:
    """Pays, or does not, and remembers what for."""

    def __init__(self, *, willing: bool = True) -> None:
        self.asked: list[RefusedError] = []
        self._willing = willing

    def buy(self, refused: RefusedError, send: Callable[[Mapping[str, str]], RawAnswer], _client: object) -> RawAnswer:
        self.asked.append(refused)
        if not self._willing:
            raise UnpaidError("above the ceiling")
        return send({"PAYMENT-SIGNATURE": "signed"})


def paying(service: Recorded, purse: Purse) -> Gateway:
    return Gateway(service.url, lambda _headers: "verdict_sk_own", cast(Buyer, purse))


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
    service: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    purse = Purse()
    refusal = Refusal(402, {"error": "your questions are spent"})
    answers = iter([refusal, Refusal(200, load("question"))])
    monkeypatch.setattr(service, "answer", lambda _heard: next(answers))
    with closing(paying(service, purse)) as gateway:
        assert gateway.pays
        assert gateway.ask(QUESTION, None).document == load("question")
    first, second = service.heard
    assert first == second
    assert first.key is not None
    assert [refused.status for refused in purse.asked] == [402]


def test_nothing_is_paid_for_what_is_refused_otherwise(service: Recorded) -> None:
    purse = Purse()
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(403, load("refused.no-token"))
    with closing(paying(service, purse)) as gateway, pytest.raises(RefusedError):
        gateway.ask(RISK, None)
    assert purse.asked == []


def test_what_is_above_the_ceiling_stays_unpaid(service: Recorded) -> None:
    service.instead["/api/cli/coin/risk/BTC"] = Refusal(402, load("refused.402"))
    with closing(paying(service, Purse(willing=False))) as gateway, pytest.raises(UnpaidError):
        gateway.ask(RISK, None)
    assert len(service.heard) == 1


def test_every_question_has_a_key_of_its_own(service: Recorded) -> None:
    with closing(Gateway(service.url, bearer)) as gateway:
        gateway.ask(QUESTION, None)
        gateway.ask(QUESTION, None)
    keys: set[Any] = {heard.key for heard in service.heard}
    assert len(keys) == 2
