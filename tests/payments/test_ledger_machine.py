"""Whatever happens in whatever order, money moved, receipts and usage are the same.

Two processes claim, settle, ask again, reconcile, and die between any two steps; facilitators lie by silence, the
chain takes transactions late, strangers submit payments and payers cancel them. A model says what may come of it.
"""

import asyncio
import logging
import shutil
import tempfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec import Struct
from msgspec.structs import replace

from service.clock import HOUR_MS, SECOND_MS
from service.payments.audit import audit_payments
from service.payments.records import Payment, PaymentRecord, Purchase, has_time_left, new_claim
from service.payments.settlement import Reconciler, Settlement
from service.storage.engine import SqliteConnection, connect
from service.storage.response_store import KEPT_MS, StoredResponse
from tests.fakes.clock import FakeClock
from tests.fakes.stores import open_database
from tests.payments.chain_model import MODES, Chain, Mode, Teller
from tests.payments.shop import ANSWER, Shop, purchase
from tests.payments.signing import PRICE, payment
from tests.soak.machine import Machine, run_machine

T = TypeVar("T")

PROCESSES = st.integers(0, 1)
ANY = st.integers(0, 9)
ORDERS = st.builds(purchase, st.integers(1, 2), st.sampled_from(["GET /a\n", "GET /b\n"]))
SIGNED = payment()
FOR_EVER_S = 30 * HOUR_MS // SECOND_MS


class Bought(Struct):
    """What the model knows of a payment: `record` is what is stored of it."""

    payment: Payment
    purchase: Purchase | None = None
    record: PaymentRecord | None = None
    answered_ms: int = 0
    preempted: bool = False

    def answer(self) -> StoredResponse:
        assert self.purchase is not None
        return replace(
            ANSWER, body=f"{self.payment.nonce} {self.purchase.user_id} {self.purchase.request_hash}".encode()
        )


class Process:
    """A process that lives, and who settles in it."""

    def __init__(self, shop: Shop, chain: Chain, clock: FakeClock, life: int, *, chain_reader: bool) -> None:
        self.shop = shop
        self.life = life
        self.teller = Teller(chain)
        self.settlement = Settlement(shop.ledger, self.teller, self.teller if chain_reader else None, clock)
        self.reconciler = Reconciler(shop.ledger, self.settlement, clock, lambda: True)


class Claim(NamedTuple):
    """A claim in the memory of a process, by its number and its incarnation."""

    bought: Bought
    record: PaymentRecord
    number: int
    life: int


Flights = dict[int, tuple[Process, Mode, Callable[[PaymentRecord], Coroutine[Any, Any, PaymentRecord]]]]
"""Who asks for one payment at once: processes, how their facilitators behave, and what they ask for."""


class Payments(Machine):
    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.path = Path(tempfile.mkdtemp(dir=self.folder)) / "shop.db"
        self.clock = FakeClock()
        self.chain = Chain(self.clock)
        self.processes: dict[int, Process] = {}
        self.lives = 0
        self.known: list[Bought] = []
        self.claims: list[Claim] = []
        self.looking: SqliteConnection | None = None

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    @initialize(chain_reader=st.booleans())
    def start(self, chain_reader: bool) -> None:
        self.chain_reader = chain_reader
        shutil.copy(self.folder / "empty.db", self.path)
        self.looking = connect(self.path, query_only=True)

    def process(self, number: int) -> Process:
        if number not in self.processes:
            self.lives += 1
            shop = self.run(Shop(self.path, self.clock).open())
            self.processes[number] = Process(shop, self.chain, self.clock, self.lives, chain_reader=self.chain_reader)
        return self.processes[number]

    def held(self) -> list[Claim]:
        """Claims of processes that live."""
        return [
            claim
            for claim in self.claims
            if claim.number in self.processes and self.processes[claim.number].life == claim.life
        ]

    def asked(self) -> list[Bought]:
        """Payments whose settlement was begun."""
        return [bought for bought in self.known if bought.record is not None]

    @rule(number=PROCESSES, wanted=ORDERS, mode=st.none() | st.sampled_from(MODES))
    def buy(self, number: int, wanted: Purchase, mode: Mode | None) -> None:
        """Claim a new payment, and perhaps go on to sell at once."""
        now_s = self.clock.now_ms() // SECOND_MS
        signed = replace(SIGNED, nonce=f"0x{len(self.known) + 1:064x}", valid_before_s=now_s + 60)
        self.known.append(Bought(signed))
        self.claim(self.known[-1], number, wanted)
        if mode is not None:
            self.sell(len(self.held()) - 1, mode, None)

    @precondition(lambda self: self.known)
    @rule(which=ANY, number=PROCESSES, wanted=ORDERS)
    def use_again(self, which: int, number: int, wanted: Purchase) -> None:
        """Claim a payment for this request or another one, also while the other process holds it."""
        self.claim(chosen(self.known, which), number, wanted)

    def claim(self, bought: Bought, number: int, wanted: Purchase) -> None:
        process = self.process(number)
        record = new_claim(wanted, bought.payment, self.clock.now_ms())
        self.claims.append(Claim(bought, record, number, process.life))

    @precondition(lambda self: self.held())
    @rule(which=ANY, mode=st.sampled_from(MODES), beside=st.none() | st.sampled_from(MODES))
    def sell(self, which: int, mode: Mode, beside: Mode | None) -> None:
        """The route has run: settle. Perhaps somebody sends the same payment to the other process meanwhile."""
        claim = chosen(self.held(), which)
        bought, process = claim.bought, self.process(claim.number)
        self.claims.remove(claim)
        if bought.record is not None:
            found = self.run(process.shop.ledger.begin_settlement(claim.record, ANSWER))
            assert (found.receipt_id, found.purchase) == (bought.record.receipt_id, bought.purchase)
            if found.state != "settling":
                self.judge(bought, found)
            return
        bought.purchase = claim.record.purchase
        record = self.run(process.shop.ledger.begin_settlement(claim.record, bought.answer()))
        if not has_time_left(bought.payment, self.clock.now_ms()):
            assert record == claim.record, "what has expired is not stored"
            bought.purchase = None
            return
        assert (record.state, record.receipt_id) == ("settling", claim.record.receipt_id)
        bought.record, bought.answered_ms = record, self.clock.now_ms()
        attempts: Flights = {claim.number: (process, mode, process.settlement.settle)}
        if beside is not None:
            other = self.process(1 - claim.number)
            attempts[1 - claim.number] = (other, beside, other.settlement.resolve)
        self.fly(bought, record, attempts)
        self.bury(attempts)

    @precondition(lambda self: self.asked())
    @rule(which=ANY, modes=st.dictionaries(PROCESSES, st.sampled_from(MODES), min_size=1))
    def send_again(self, which: int, modes: dict[int, Mode]) -> None:
        bought = chosen(self.asked(), which)
        attempts: Flights = {}
        for number, mode in modes.items():
            process = self.process(number)
            attempts[number] = (process, mode, process.settlement.resolve)
        assert bought.record is not None
        record = self.run(self.process(min(modes)).shop.ledger.get(bought.record.id))
        assert record is not None
        if record.state == "settling":
            self.fly(bought, record, attempts)
        else:
            self.judge(bought, record)
        self.bury(attempts)

    def fly(self, bought: Bought, record: PaymentRecord, attempts: Flights) -> None:
        for process, mode, _ in attempts.values():
            process.teller.mode = mode
        outcomes = self.run(together([ask(record) for _, _, ask in attempts.values()]))
        for outcome in outcomes:
            if isinstance(outcome, PaymentRecord):
                self.judge(bought, outcome)
            else:
                assert isinstance(outcome, asyncio.CancelledError), outcome

    def bury(self, attempts: Flights) -> None:
        """Let those die who were to, asked or not: which of two comes first is no choice of the machine's."""
        for number, (_, mode, _) in attempts.items():
            if mode in {"dies", "dies after"}:
                self.die(number)

    def judge(self, bought: Bought, record: PaymentRecord) -> None:
        """What a payer may be told."""
        moved = self.chain.moved.get(bought.payment.nonce)
        assert record.state in {"settling", "failed", "settled", "delivered"}
        if record.state in {"settled", "delivered"}:
            assert record.transaction == moved, "nothing is sold unpaid"
            if self.clock.now_ms() < bought.answered_ms + KEPT_MS:
                assert record.answer == bought.answer(), "what was paid for is handed out, and nothing else"
        if record.state == "failed":
            assert moved is None or bought.preempted, "nobody is told that a payment failed which has moved money"

    @precondition(lambda self: self.asked())
    @rule(which=ANY, number=PROCESSES)
    def hand_over(self, which: int, number: int) -> None:
        record = chosen(self.asked(), which).record
        assert record is not None
        ledger = self.process(number).shop.ledger

        async def deliver() -> None:
            ledger.delivered(record)

        self.run(deliver())

    @rule(number=PROCESSES, mode=st.sampled_from(MODES[:-2]), blind=st.booleans())
    def reconcile(self, number: int, mode: Mode, blind: bool) -> None:
        process = self.process(number)
        process.teller.mode, process.teller.blind = mode, blind
        self.run(process.reconciler.round())
        process.teller.blind = False
        self.run(process.shop.ledger.prune())  # a round does so once an hour

    @precondition(lambda self: self.processes)
    @rule(number=PROCESSES)
    def kill(self, number: int) -> None:
        self.die(number)

    def die(self, number: int) -> None:
        process = self.processes.pop(number, None)
        if process is not None:
            self.run(process.settlement.close())
            self.run(process.shop.die())

    @rule(seconds=st.sampled_from([1, 5, 45, 61, 130, 1_000, 3_700, 90_000]))
    def wait(self, seconds: int) -> None:
        self.chain.mine()
        self.run(self.clock.advance(seconds))

    @precondition(lambda self: self.chain_reader and self.asked())
    @rule(which=ANY, how=st.sampled_from(["submit", "cancel"]))
    def interfere(self, which: int, how: str) -> None:
        """A stranger submits what it saw of a payment, or its payer cancels it. Only a witness can tell."""
        bought = chosen(self.asked(), which)
        if not self.chain.is_open(bought.payment):
            return
        if how == "submit":
            self.chain.move(bought.payment)
            bought.preempted = True
        else:
            self.chain.cancelled.add(bought.payment.nonce)

    @invariant()
    def money_receipts_and_usage_agree(self) -> None:
        if self.looking is None:
            return
        assert audit_payments(self.looking) == []
        rows = self.looking.execute(
            "SELECT nonce, settled_ms IS NOT NULL, tx, due_ms IS NOT NULL FROM payments"
        ).fetchall()
        for nonce, settled, transaction, is_open in rows:
            if settled:
                assert self.chain.moved[nonce] == transaction, "a receipt stands for money that moved"
            elif nonce in self.chain.moved:
                assert is_open, "money that moved is receipted, or still being asked about"
        assert self.chain.moved.keys() <= {row[0] for row in rows}

    def teardown(self) -> None:
        try:
            if self.looking is not None:
                self.settle_down()
        finally:
            for number in list(self.processes):
                self.die(number)
            if self.looking is not None:
                self.looking.close()
            self.runner.close()
            shutil.rmtree(self.path.parent)

    def settle_down(self) -> None:
        """In the end, with everybody honest, everything is known."""
        self.chain.mine()
        process = self.process(0)
        process.teller.mode = "honest"
        for _ in range(3):
            self.run(self.clock.advance(FOR_EVER_S))
            for _ in range(1 + len(self.known) // 16):
                self.run(process.reconciler.round())
        assert self.looking is not None
        settled = {
            nonce: (value, user_id)
            for nonce, value, user_id in self.looking.execute(
                "SELECT nonce, value, user_id FROM payments WHERE settled_ms IS NOT NULL"
            )
        }
        assert settled.keys() == self.chain.moved.keys()
        assert sum(value for value, _ in settled.values()) == PRICE * len(self.chain.moved)
        paid = self.run(process.shop.paid())
        assert sorted(user_id for user_id, _ in paid) == sorted(user_id for _, user_id in settled.values())
        unknown = "SELECT count(*) FROM payments WHERE state = 'settling'"
        if self.chain_reader:
            assert self.looking.execute(unknown).fetchone() == (0,)
        assert self.run(process.shop.meter.verify()) == []


def chosen(among: list[T], which: int) -> T:
    return among[which % len(among)]


async def together(asked: list[Coroutine[Any, Any, PaymentRecord]]) -> list[PaymentRecord | BaseException]:
    return await asyncio.gather(*asked, return_exceptions=True)


def hold(folder: Path, seed: int, histories: int) -> int:
    """Run the machine that often, in stores made from one that is empty: migrating takes longer than a whole run."""

    async def make() -> None:
        async with open_database(folder / "empty.db", FakeClock()):
            pass

    asyncio.run(make())
    Payments.folder = folder
    return run_machine(Payments, seed, histories)


@pytest.mark.slow
@pytest.mark.promise("pay.settled-after-run", "pay.reconciled", "pay.replay", "pay.unknown-503")
def test_money_moved_is_receipts_is_usage_whatever_happens(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seed: int
) -> None:
    caplog.set_level(logging.CRITICAL)
    assert hold(tmp_path, seed, 30) > 0


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_two_thousand_histories_of_payments_lose_and_double_nothing(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    seed: int,
    patience: int,
    record_property: Callable[[str, object], None],
) -> None:
    caplog.set_level(logging.CRITICAL)
    record_property("histories", 20 * patience)
    record_property("steps", hold(tmp_path, seed, 20 * patience))
