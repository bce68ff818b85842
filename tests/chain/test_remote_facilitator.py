"""Remote mode with the official facilitator and real chains: an unfunded wallet, and a success that is no success.

The facilitator and the service read a chain each, with the same balances: what the facilitator settles on its own
chain has not happened on the service's.
"""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from eth_account import Account

from service.clock import SystemClock
from tests.chain.evm import ETHER, Evm, now_s
from tests.chain.node import Node, serving_node
from tests.chain.test_official_clients import PAYEE, PAYER, PURSE, RISK, official_facilitator, spent_key
from tests.fakes.serving import Serving, ended, wait_until
from tests.payments.signing import answer

pytestmark = [pytest.mark.chain, pytest.mark.timeout(300)]

UNFUNDED = Account.from_key(b"\x44" * 32)
PRICE = 5_000
SENDING = "eth_sendRawTransaction"
YOUNGER_S = 60


class Sale(NamedTuple):
    """A service that sells, and the chains of its facilitator and its own.

    Attributes:
        later_s: Seconds that the makers of the service's blocks are ahead.
    """

    service: Serving
    theirs: Node
    ours: Node
    later_s: list[int]
    token: str

    def pay(self, payer: Any) -> tuple[int, dict[str, str], Any]:
        """Answer the challenge, as a client does."""
        header = self.service.ask(RISK, self.token)[1]["payment-required"]
        return self.service.ask(RISK, self.token, **answer(payer, header, now_ms=SystemClock().now_ms()))


@pytest.fixture
def sale(tmp_path: Path) -> Iterator[Sale]:
    later_s = [0]
    dollars, ether = {PAYER.address: PURSE}, {Account.from_key(b"\x33" * 32).address: ETHER}
    with ExitStack() as stack:
        theirs = stack.enter_context(serving_node(Evm(now_s, dollars=dollars, ether=ether)))
        ours = stack.enter_context(serving_node(Evm(lambda: now_s() + later_s[0], dollars=dollars)))
        url = stack.enter_context(official_facilitator(theirs))
        service = Serving(
            data_dir=str(tmp_path), pay_to=PAYEE, rpc_url=ours.url, settlement="remote", facilitator_url=url
        )
        stack.enter_context(ended(service))
        service.wait_for("ready")
        yield Sale(service, theirs, ours, later_s, spent_key(service))


@pytest.mark.promise("pay.verify-first")
def test_an_unfunded_wallet_gets_its_402_before_anything_is_settled(sale: Sale) -> None:
    status, headers, body = sale.pay(UNFUNDED)
    assert (status, body["error"]["details"]) == (402, {"reason": "insufficient_funds"})
    assert "payment-required" in headers
    assert SENDING not in sale.theirs.asked
    assert sale.pay(PAYER)[0] == 200, "who has the money buys"


@pytest.mark.promise("pay.reports-checked", "pay.false-report-stops")
def test_a_success_that_the_chain_does_not_show_stops_the_facilitator(sale: Sale) -> None:
    status, headers, _ = sale.pay(PAYER)
    told = msgspec.json.decode(b64decode(headers["payment-response"]))
    assert (status, told["success"]) == (200, True)
    assert (sale.theirs.evm.dollars(PAYEE), sale.ours.evm.dollars(PAYEE)) == (PRICE, 0)
    with sale.ours.held() as evm:
        sale.later_s[0] = YOUNGER_S
        evm.mine()
    wait_until(lambda: sale.pay(PAYER)[0] == 503)
    assert "Payments are stopped" in sale.pay(PAYER)[2]["error"]["message"]
    assert sale.theirs.asked.count(SENDING) == sale.theirs.evm.dollars(PAYEE) // PRICE
