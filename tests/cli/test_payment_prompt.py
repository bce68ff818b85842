"""Paying at a terminal: what is shown before somebody agrees, who may agree without one, and how it ends."""

import io
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from service.cli.payment_prompt import pay
from service.client.answer import RawAnswer, RefusedError
from service.client.errors import UNAVAILABLE, UNPAID, UNREACHABLE, RefusalError
from tests.cli.commanding import Terminal
from tests.client.paying.stand import (
    ASKED,
    BODY,
    NAME,
    PAYEE,
    SECRET,
    Step,
    answered,
    asking,
    lost,
    payment_in,
    refused,
    sold,
)
from tests.payments.signing import row

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens at the port that discards."""

OTHER = "0x3333333333333333333333333333333333333333"


class Desk:
    """Somebody at a terminal, and a service that does what a test says."""

    def __init__(self, home: Path, patch: pytest.MonkeyPatch) -> None:
        self.environment = {"HOME": str(home), "VERDICT_URL": NOWHERE, "VERDICT_WALLET_KEY": SECRET.hex()}
        self.script: list[Step] = [sold()]
        self.sent: list[Mapping[str, str]] = []
        self._patch = patch
        self.sit("")
        patch.setattr("threading.Event.wait", lambda _event, _seconds: False)

    def sit(self, reply: str, *, stdin: bool = True, stderr: bool = True) -> io.StringIO:
        """Type something; what is said is read from what this gives."""
        said = Terminal() if stderr else io.StringIO()
        self._patch.setattr(sys, "stdin", Terminal(reply) if stdin else io.StringIO(reply))
        self._patch.setattr(sys, "stderr", said)
        return said

    def send(self, headers: Mapping[str, str]) -> RawAnswer:
        self.sent.append(headers)
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        if isinstance(step, Exception):
            raise step
        return step

    def pay(self, due: RefusedError | None = None, *, yes: bool = False, max_price: int | None = None) -> RawAnswer:
        due = due or asking(date_ms=None, asked=ASKED._replace(url=NOWHERE))
        return pay(due, self.send, self.environment, url=None, yes=yes, max_price=max_price)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    return Desk(tmp_path, monkeypatch)


SHOWN = f"""\
This call costs  0.005 USDC
            for  GET /api/cli/coin/risk/BTC at {NOWHERE}
             to  {PAYEE}
             on  Base Sepolia, a test network: no real money
          today  0 USDC of 1 USDC signed for
Pay? [y/N] """


@pytest.mark.parametrize("reply", ["y\n", "Yes\n", " YES \n"])
def test_a_person_sees_amount_payee_network_and_what_for_and_agrees(desk: Desk, reply: str) -> None:
    said = desk.sit(reply)
    assert desk.pay().body == BODY
    shown, _, told = said.getvalue().partition("[y/N] ")
    assert shown + "[y/N] " == SHOWN
    assert told.startswith(
        f"Paid 0.005 USDC on eip155:84532 to {PAYEE}. The receipt is {NAME}. The receipt could not be fetched: "
    )


@pytest.mark.parametrize("reply", ["\n", "", "n\n", "yep\n", "no, y\n", "y" * 500])
def test_anything_but_yes_pays_nothing(desk: Desk, reply: str) -> None:
    desk.sit(reply)
    with pytest.raises(RefusalError, match=r"^Nothing was paid\.$") as caught:
        desk.pay()
    assert (caught.value.code, desk.sent) == (UNPAID, [])


@pytest.mark.parametrize(("stdin", "stderr"), [(False, True), (True, False), (False, False)])
def test_where_nobody_sits_nothing_is_paid_without_yes(desk: Desk, stdin: bool, stderr: bool) -> None:
    said = desk.sit("y\n", stdin=stdin, stderr=stderr)
    due = asking(date_ms=None)
    with pytest.raises(
        RefusalError, match=r"your questions are spent\. Use --yes to pay 0\.005 USDC for it without a prompt\."
    ) as caught:
        desk.pay(due)
    assert (caught.value.code, caught.value.__cause__, desk.sent, said.getvalue()) == (UNPAID, due, [], "")
    desk.pay(due, yes=True)
    assert len(desk.sent) == 1


def test_yes_does_not_lift_a_ceiling_but_max_price_does(desk: Desk) -> None:
    due = asking(row(price=100_001, pay_to=PAYEE), date_ms=None)
    with pytest.raises(RefusalError, match="--max-price"):
        desk.pay(due, yes=True)
    with pytest.raises(RefusalError, match="--max-price"):
        desk.pay(yes=True, max_price=4_999)
    assert desk.sent == []
    desk.pay(due, yes=True, max_price=100_001)
    (sent,) = desk.sent
    assert payment_in(sent)["payload"]["authorization"]["value"] == "100001"


def test_yes_does_not_pay_a_service_elsewhere_than_before_and_whoever_is_asked_sees_that(desk: Desk) -> None:
    desk.pay(yes=True)
    moved = asking(row(pay_to=OTHER), date_ms=None, asked=ASKED._replace(url=NOWHERE))
    with pytest.raises(RefusalError, match=f"asks for payment to {OTHER}") as caught:
        desk.pay(moved, yes=True)
    assert (caught.value.code, caught.value.__cause__) == (UNPAID, moved)
    said = desk.sit("y\n")
    desk.pay(moved)
    assert f"  NOT AS BEFORE  until now it was paid at {PAYEE} (eip155:84532)\n" in said.getvalue()
    desk.pay(moved, yes=True)
    assert [payment_in(sent)["payload"]["authorization"]["to"] for sent in desk.sent] == [PAYEE, OTHER, OTHER]


def test_how_to_pay_is_not_offered_again_while_what_was_paid_could_still_be_taken(desk: Desk) -> None:
    due = asking(date_ms=None)
    desk.script = [asking(date_ms=None)]
    with pytest.raises(RefusalError, match="refused the payment") as caught:
        desk.pay(due, yes=True)
    assert not isinstance(caught.value.__cause__, RefusedError)


def test_without_a_wallet_nobody_is_asked_anything(desk: Desk) -> None:
    del desk.environment["VERDICT_WALLET_KEY"]
    said = desk.sit("y\n")
    with pytest.raises(RefusalError, match="Set VERDICT_WALLET_KEY, or name") as caught:
        desk.pay()
    assert (caught.value.code, said.getvalue()) == (UNPAID, "")


def test_a_key_that_is_none_is_not_told_again(desk: Desk) -> None:
    desk.environment["VERDICT_WALLET_KEY"] = "0xsecret"
    with pytest.raises(RefusalError, match="is not a private key") as caught:
        desk.pay(yes=True)
    assert "secret" not in str(caught.value)
    assert desk.sent == []


@pytest.mark.parametrize(("step", "code"), [(refused(503), UNAVAILABLE), (lost(), UNREACHABLE)])
def test_an_end_that_is_not_known_is_told_as_such_and_the_next_command_goes_on(
    desk: Desk, step: Exception, code: int
) -> None:
    desk.script = [step]
    with pytest.raises(RefusalError, match="Send the same request again") as caught:
        desk.pay(yes=True)
    assert caught.value.code == code
    desk.script = [sold()]
    said = desk.sit("", stdin=False)
    desk.pay()
    assert len({headers["PAYMENT-SIGNATURE"] for headers in desk.sent}) == 1
    assert said.getvalue().startswith("Sending the payment of 0.005 USDC of ")


def test_a_refusal_for_another_reason_is_the_commands_own(desk: Desk) -> None:
    desk.script = [refused(404, "no such coin")]
    with pytest.raises(RefusedError, match="no such coin"):
        desk.pay(yes=True)


def test_what_a_service_says_cannot_steer_the_terminal(desk: Desk) -> None:
    desk.script = [answered()]
    said = desk.sit("y\n")
    hostile = ASKED._replace(url=NOWHERE, request=b"GET /\x1b[2J\r\x9b\n")
    desk.pay(asking(date_ms=None, asked=hostile))
    assert not {"\x1b", "\r", "\x9b"} & set(said.getvalue())
