"""`kill -9` in the middle of paid calls: no payment is lost, none is taken twice, each is resolved after the restart.

The money is counted by the facilitator, which is not ours: what it moved must be what was answered, what has a receipt
and what was entered into the usage. Half of those whose call was cut off send the same payment again, as the interface
tells them to; the others never come back, and the service has to find out by itself.
"""

import asyncio
import http.client
import json
import os
import random
import signal
import threading
from base64 import b64decode
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from aiohttp import web

from service.access.factory import open_admin
from service.access.secrets import open_secrets
from service.clock import SystemClock
from service.payments.audit import PaymentRow, audit_payments, read_payments
from service.settings import Settings
from service.storage.database import DATABASE, open_database
from tests.fakes.facilitator import Answer, Facilitator, facilitator
from tests.fakes.forked import forked
from tests.fakes.in_thread import in_thread
from tests.fakes.serving import PATIENCE_S, Serving, ended, run_verdict, wait_until
from tests.payments.signing import PAYEE, header, pay_v2, row, wallet

pytestmark = pytest.mark.process

RISK = "/api/cli/coin/risk/BTC"
HEADER = "PAYMENT-SIGNATURE"
STEPS: Final[Mapping[str, int]] = {"after begin_settlement": 0, "before record_settled": 1, "after record_settled": 1}
"""Where a process dies: before anybody was asked, while the money has moved and nobody knows, before the answer left;
and how much of its payment has moved by then."""

CONNECTIONS = 8
PAYMENTS = 24
LATEST_KILL_S = 0.25
LANES = 2
RETRIED = 0.5
CUT_OFF_AGAIN = 0.3
LOST = 0.05


class Dying(Serving):
    MODULE = "tests.service.dying"


class Sale(NamedTuple):
    """An answer to a request that carried a payment."""

    status: int
    fields: Mapping[str, str]
    body: bytes

    @property
    def transaction(self) -> str:
        said: str = json.loads(b64decode(self.fields["payment-response"]))["transaction"]
        return said


def settings_of(facilitator: Facilitator, data_dir: Path) -> dict[str, str]:
    return {
        "settlement": "remote",
        "facilitator_url": facilitator.url,
        "rpc_url": facilitator.rpc_url,
        "pay_to": PAYEE,
        "data_dir": str(data_dir),
        "rate_per_minute": "1000000000",
        "rate_burst": "1000000000",
    }


def signed(payer: Any) -> str:
    """A payment for one call, good for a minute from now."""
    return header(pay_v2(payer, row(), now_ms=SystemClock().now_ms()))


async def make_key(settings: Settings) -> str:
    async with open_database(settings.data_dir / DATABASE, SystemClock()) as database:
        admin = open_admin(settings, open_secrets(settings.data_dir), database, SystemClock())
        return (await admin.create_key("test")).key


async def books(data_dir: Path) -> list[PaymentRow]:
    """Every payment, after receipts have been compared with usage."""
    async with open_database(data_dir / DATABASE, SystemClock()) as database:
        assert await database.inspect(audit_payments) == []
        return await database.inspect(lambda connection: list(read_payments(connection)))


def settled_in(payments: Iterable[PaymentRow]) -> list[str]:
    return sorted(payment.transaction or "" for payment in payments if payment.settled_ms is not None)


def is_paid(running: Serving, key: str, payment: str) -> bool:
    """Whether a payment that is sent again has its answer; until it is settled, it is to be sent again."""
    status, fields, _ = running.ask(RISK, key, **{HEADER: payment})
    assert status in {200, 503}
    return status == 200 and fields["x-receipt-id"].startswith("rcp_")


@pytest.mark.promise("pay.settled-after-run", "pay.replay", "pay.reconciled")
def test_a_process_killed_before_during_or_after_a_settlement_takes_the_money_once_and_its_payment_gets_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with in_thread(facilitator()) as beside:
        settings = settings_of(beside, tmp_path)
        key = asyncio.run(make_key(Settings(data_dir=tmp_path)))
        owed = ""
        for number, (step, moved) in enumerate([*STEPS.items(), ("never record_settled", 0)]):
            payer = wallet(100 + number)
            monkeypatch.setenv("DIES", f"{step} {payer.address.lower()}")
            running = Dying(**settings)
            with ended(running):
                running.wait_for("ready")
                if owed:
                    wait_until(partial(is_paid, running, key, owed))
                    assert len(beside.moved) == number
                if step not in STEPS:
                    continue
                owed = signed(payer)
                with pytest.raises((ConnectionError, http.client.HTTPException)):
                    running.ask(RISK, key, **{HEADER: owed})
                assert running.process.wait(PATIENCE_S) == -signal.SIGKILL
                assert len(beside.moved) == number + moved
        payments = asyncio.run(books(tmp_path))
        assert [payment.state for payment in payments] == ["delivered"] * len(STEPS)
        assert settled_in(payments) == sorted(moved.transaction for moved in beside.moved)


class Lane:
    """One data folder whose service is killed again and again while payments are spent on it.

    Attributes:
        sold: The first answer that each payment got.
        owed: Payments that were sent and not answered.
        left: Those of them that will never be sent again.
    """

    def __init__(self, data_dir: Path, facilitator: Facilitator, seed: int) -> None:
        self.dice = random.Random(seed)  # noqa: S311 -- a replayable schedule, not a secret
        self.facilitator = facilitator
        self.settings = settings_of(facilitator, data_dir)
        self.data_dir = data_dir
        self.sold: dict[str, Sale] = {}
        self.owed: set[str] = set()
        self.left: set[str] = set()
        self.cut_off = 0
        self.key = ""
        facilitator.before = self._late(random.Random(seed))  # noqa: S311 -- the same
        facilitator.after = self._lost(random.Random(seed + 1))  # noqa: S311 -- the same

    def run(self, kills: int) -> None:
        self.key = asyncio.run(make_key(Settings(data_dir=self.data_dir)))
        for _ in range(kills):
            self._live_and_die()
        self._end()

    def end_life(self, pid: int) -> None:
        """How its service dies."""
        os.kill(pid, signal.SIGKILL)

    def begin_anew(self) -> None:
        """What has to be done before it can live again."""

    def _live_and_die(self) -> None:
        with forked(self.settings) as running:
            fresh = [signed(wallet()) for _ in range(PAYMENTS)]
            running.wait_until_ready()
            again = self._sent_again()
            if self.dice.random() > CUT_OFF_AGAIN:
                asyncio.run(self._spend(running.port, again))
                assert not self.owed, "a service that lives answers every payment"
                again = deque()
            timer = threading.Timer(self.dice.uniform(0.0, LATEST_KILL_S), self.end_life, (running.pid,))
            timer.start()
            asyncio.run(self._spend(running.port, deque([*again, *fresh])))
            timer.join()
        self.begin_anew()
        self.cut_off += len(self.owed)
        moved = {moved.transaction for moved in self.facilitator.moved}
        assert {sale.transaction for sale in self.sold.values()} <= moved

    def _end(self) -> None:
        """Let what is open be resolved, by whoever comes back and by the service itself; then compare the books."""
        with forked(self.settings) as running:
            running.wait_until_ready()
            asyncio.run(self._spend(running.port, self._sent_again()))
            wait_until(lambda: all(row.state != "settling" for row in asyncio.run(books(self.data_dir))))
        assert not self.owed
        moved = [moved.transaction for moved in self.facilitator.moved]
        assert {sale.transaction for sale in self.sold.values()} <= set(moved)
        assert self.facilitator.verified >= len(moved), "no money is asked for that was not verified"
        payments = asyncio.run(books(self.data_dir))
        assert {payment.state for payment in payments} <= {"settled", "delivered"}
        assert settled_in(payments) == sorted(moved)
        doctor = run_verdict("admin", "doctor", **self.settings)
        assert doctor.returncode == 0, doctor.stdout

    def _sent_again(self) -> "deque[str]":
        """Who comes back: some whose call was cut off, and some who had their answer."""
        gone = {payment for payment in sorted(self.owed) if self.dice.random() > RETRIED}
        self.left |= gone
        self.owed -= gone
        had = self.dice.sample(list(self.sold)[-PAYMENTS:], min(4, len(self.sold)))
        return deque([*sorted(self.owed), *had])

    async def _spend(self, port: int, purse: "deque[str]") -> None:
        """Spend payments on some connections until there are none, or the service is gone."""

        async def go_on() -> None:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    await self._spend_on(reader, writer, purse)
                finally:
                    writer.close()
                    await writer.wait_closed()

        async with asyncio.timeout(PATIENCE_S):
            await asyncio.gather(*(go_on() for _ in range(CONNECTIONS)))

    async def _spend_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, purse: "deque[str]") -> None:
        while purse:
            payment = purse.popleft()
            self.owed.add(payment)
            sale = await self._send(reader, writer, payment)
            if sale.status == http.HTTPStatus.SERVICE_UNAVAILABLE:
                purse.append(payment)  # as it says: send the same payment again
                continue
            self._check(payment, sale)
            self.owed.discard(payment)

    def _check(self, payment: str, sale: Sale) -> None:
        assert sale.status == http.HTTPStatus.OK, sale
        first = self.sold.setdefault(payment, sale)
        assert (sale.body, sale.transaction, sale.fields["x-receipt-id"]) == (
            first.body,
            first.transaction,
            first.fields["x-receipt-id"],
        )

    async def _send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, payment: str) -> Sale:
        fields = f"Host: 127.0.0.1\r\nAuthorization: Bearer {self.key}\r\n{HEADER}: {payment}\r\n"
        writer.write(f"GET {RISK} HTTP/1.1\r\n{fields}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        said = {name.lower(): value for name, value in (line.split(": ", 1) for line in head[1:-2])}
        return Sale(int(head[0].split(" ")[1]), said, await reader.readexactly(int(said["content-length"])))

    def _late(self, dice: random.Random) -> Answer:
        """Take some milliseconds, so that kills find settlements under way."""

        async def wait(_: web.Request) -> None:
            await asyncio.sleep(dice.uniform(0.0, 0.01))

        return wait

    def _lost(self, dice: random.Random) -> Answer:
        """Settle, and now and then hang up instead of saying so."""

        async def lose(request: web.Request) -> None:
            if dice.random() < LOST and request.transport is not None:
                request.transport.abort()

        return lose


def check_kills(kind: type[Lane], directory: Path, kills: int, seed: int) -> dict[str, int]:
    """Let lanes of a kind live and die side by side; what came of it, by name."""

    def run(number: int) -> Lane:
        with in_thread(facilitator()) as beside:
            lane = kind(directory / str(number), beside, seed + number)
            lane.run(kills // LANES)
        return lane

    with ThreadPoolExecutor(LANES) as threads:
        lanes = list(threads.map(run, range(LANES)))
    figures = {
        "payments answered": sum(len(lane.sold) for lane in lanes),
        "cut off": sum(lane.cut_off for lane in lanes),
        "never sent again": sum(len(lane.left) for lane in lanes),
        "settled": sum(len(lane.facilitator.moved) for lane in lanes),
    }
    assert figures["settled"] >= figures["payments answered"]
    return figures


@pytest.mark.promise("pay.claimed", "pay.replay", "pay.reconciled")
@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_thousand_kills_at_random_points_of_paid_calls_lose_no_payment_and_take_none_twice(
    tmp_path: Path, seed: int, patience: int, record_property: Callable[[str, object], None]
) -> None:
    record_property("kills", 10 * patience)
    for name, figure in check_kills(Lane, tmp_path, 10 * patience, seed).items():
        record_property(name, figure)
