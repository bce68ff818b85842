"""GET /api/cli/wallets: what it takes, and that the desk's answer is handed on."""

import pytest

from service.access.caller import Caller
from service.routes.call import Call
from service.routes.datasets import wallets
from service.wire.envelope import Answer
from service.wire.wallets import WalletsQuery, Watchlist, WatchlistMeta
from tests.routes.queries import NO_WHOLE_NUMBERS, Asked

ROUTE = Asked(WalletsQuery, "/api/cli/wallets")
TOKEN = "0x036CbD53842c5426634e7929541eC2318f3dCF7e"


@pytest.mark.promise("wallets.actions", "wallets.parameters")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", WalletsQuery()),
        ("action=watchlist&limit=200&cursor=abc-_9", WalletsQuery(limit=200, cursor="abc-_9")),
        (f"action=movements&contract={TOKEN}", WalletsQuery(action="movements", contract=TOKEN)),
        (
            f"action=movements&contract={TOKEN.lower()}&address=0x{TOKEN[2:].upper()}&limit=1",
            WalletsQuery("movements", TOKEN.lower(), f"0x{TOKEN[2:].upper()}", 1),
        ),
        (f"address={TOKEN}", WalletsQuery(address=TOKEN)),
    ],
)
def test_an_action_a_contract_an_address_a_size_and_a_cursor_are_taken(query: str, expected: WalletsQuery) -> None:
    assert ROUTE.decode(query) == expected


@pytest.mark.promise("wallets.contract")
@pytest.mark.parametrize("query", ["action=movements", f"action=movements&address={TOKEN}&limit=5"])
def test_movements_without_a_contract_are_refused_saying_that_it_is_required_for_that_action(query: str) -> None:
    error = ROUTE.error(query)
    assert error.code == "BAD_REQUEST"
    assert error.message == "contract is required when action=movements."
    assert (error.details or {})["parameter"] == "contract"


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("action=holdings", "action"), ("action=Movements", "action"), ("action=", "action"),
        (f"contract={TOKEN}", "contract"), (f"action=watchlist&contract={TOKEN}", "contract"),
        ("action=movements&contract=USDC", "contract"), (f"action=movements&contract={TOKEN}0", "contract"),
        (f"action=movements&contract={TOKEN}%0A", "contract"), (f"action=movements&contract={TOKEN[2:]}", "contract"),
        (f"address={TOKEN[:-1]}g", "address"), (f"address={TOKEN.upper()}", "address"), ("address=", "address"),
        (f"address={TOKEN}&address={TOKEN}", "address"),
        ("cursor=a%3Db", "cursor"), ("cursor=" + "a" * 201, "cursor"), ("symbol=BTC", "symbol"),
        *((f"limit={value}", "limit") for value in (*NO_WHOLE_NUMBERS, "201")),
    ],
)  # fmt: skip
def test_what_it_does_not_take_is_refused_by_name(query: str, parameter: str) -> None:
    assert ROUTE.refusal(query) == parameter


async def test_the_desks_answer_is_handed_on() -> None:
    answer = Answer(Watchlist([], WatchlistMeta(0, None, None, None)), 1)

    class Desk:
        asked: WalletsQuery | None = None

        async def wallets(self, query: WalletsQuery) -> Answer:
            self.asked = query
            return answer

    desk, query = Desk(), WalletsQuery()
    assert await wallets(desk, Call(query, None, Caller(1, "api_key", 1))) is answer  # type: ignore[arg-type]
    assert desk.asked is query
