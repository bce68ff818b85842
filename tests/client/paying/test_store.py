"""Payments are stored before they are used, by their owner alone, and believed only whole; crashes lose nothing."""

import fcntl
import json
import multiprocessing
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from service.client.paying.payment_store import PaymentStore, StoredPayment
from service.client.paying.terms import Ceilings, UnpaidError
from service.clock import DAY_MS, day_of
from tests.client.paying.stand import ASKED, BODY, Stand, asking, lost, sold
from tests.fakes.clock import START_MS, FakeClock

KEPT = StoredPayment(
    "http://x", "GET /", 5_000, "eip155:84532", "0xa", "0xb", "0xc", START_MS // 1_000 + 60, START_MS, "h"
)
MOST = 60


@pytest.fixture
def store(tmp_path: Path) -> PaymentStore:
    return PaymentStore(tmp_path, FakeClock())


class KilledError(BaseException):
    """Nothing after this happens, no clean-up either."""


class Machine:
    """Counts steps; at one of them the process ends, or the disk is full from then on."""

    STEPS = ((os, "open"), (os, "fsync"), (os, "replace"), (os, "unlink"), (os, "mkdir"), (fcntl, "flock"))
    """What a purchase asks of the system, beside closing files, which happens to dead processes as well."""

    def __init__(self, last: int, fault: BaseException) -> None:
        self.done, self._last, self._fault = 0, last, fault

    def step(self) -> None:
        self.done += 1
        if self.done >= self._last:
            raise self._fault

    @contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with monkeypatch.context() as patched:
            for module, name in self.STEPS:
                patched.setattr(module, name, self._counting(getattr(module, name)))
            yield

    def _counting(self, real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            self.step()
            return real(*given, **named)

        return call


def buy_in_steps(stand: Stand, machine: Machine) -> None:
    """Buy something: sending the payment is a step, and receiving the answer another."""

    def send(headers: Any) -> Any:
        machine.step()
        answer = stand.send(headers)
        machine.step()
        return answer

    stand.buyer().buy(asking(), send, stand)


@pytest.mark.promise("cli.pay-once")
def test_a_process_killed_before_any_step_has_counted_and_stored_what_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = []
    for last in range(1, MOST):
        stand, machine = Stand(tmp_path / str(last), sold()), Machine(last, KilledError())
        try:
            with machine.running(monkeypatch):
                buy_in_steps(stand, machine)
        except KilledError:
            ends.append(len(stand.sent))
        else:
            assert machine.done < last
            break
        later = Stand(stand.state, sold())
        assert later.store.spent_today() >= 5_000 * len(stand.sent)
        bought = list((stand.store.folder / "receipts").glob("*.json"))
        assert later.buy().body == BODY
        if stand.sent and not bought:
            assert later.signatures == stand.signatures, f"paid twice when killed at step {last}"
    assert last < MOST - 1  # it came to its end at last
    assert {0, 1} == set(ends)


def test_a_disk_that_is_full_from_any_step_on_has_nothing_sent_or_its_answer_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for last in range(1, MOST):
        stand, machine = Stand(tmp_path / str(last), sold()), Machine(last, OSError(28, "No space left on device"))
        said = ""
        try:
            with machine.running(monkeypatch):
                assert stand.buy().body == BODY
        except UnpaidError as error:
            said = str(error)
        assert len(stand.sent) == (f"Cannot write {stand.store.folder}: No space left" not in said)
        assert stand.store.spent_today() >= 5_000 * len(stand.sent)
        if machine.done < last:
            break
    assert last < MOST - 1


def _spend(folder: Path, me: str, start: Barrier) -> None:
    """Take twelve payments, or as many as the ceiling of the day allows."""
    store = PaymentStore(folder, FakeClock())
    start.wait(60)
    with suppress(UnpaidError):
        for number in range(12):
            kept = replace(KEPT, payer=me, nonce=str(number))
            asked = ASKED._replace(request=f"{me} {number}".encode())
            store.take(asked, 70_000, Ceilings(), lambda kept=kept: kept)  # type: ignore[misc]


@pytest.mark.process
def test_processes_at_once_never_pass_the_ceiling_together(store: PaymentStore, tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(2)
    processes = [context.Process(target=_spend, args=(tmp_path, str(number), start)) for number in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0, 0]
    assert (store.spent_today(), len(store.opened())) == (14 * 70_000, 14)


def test_an_amount_is_counted_before_it_is_signed_and_a_second_process_gets_the_stored_payment(
    store: PaymentStore, tmp_path: Path
) -> None:
    def sign() -> StoredPayment:
        assert store.spent_today() == 5_000
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.take(ASKED, 5_000, Ceilings(day=10_000), sign)
    assert (store.spent_today(), store.opened()) == (5_000, [])
    assert store.take(ASKED, 5_000, Ceilings(day=10_000), lambda: KEPT) == KEPT
    other = PaymentStore(tmp_path, FakeClock())
    assert other.take(ASKED, 5_000, Ceilings(day=10_000), sign) == other.find(ASKED) == KEPT
    assert (other.spent_today(), other.opened()) == (10_000, [KEPT])
    with pytest.raises(UnpaidError, match=r"0\.01 USDC of 0\.01 USDC for today"):
        other.take(ASKED._replace(url="v"), 1, Ceilings(day=10_000), sign)
    changes = {"url": "v", "request": ASKED.request + b"{}", "caller": "cd" * 32}
    assert [store.find(ASKED._replace(**{name: value})) for name, value in changes.items()] == [None] * 3  # type: ignore[arg-type]


def test_only_the_owner_reads_what_is_stored(tmp_path: Path) -> None:
    stand = Stand(tmp_path / "state", sold())
    stand.buy()
    stand.store.take(ASKED, 1, Ceilings(day=10_000), lambda: KEPT)
    everything = list((tmp_path / "state").rglob("*"))
    assert {path.name for path in everything} >= {"spent.json", "payees.json", "open", "lock", "receipts"}
    for path in everything:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize(
    ("name", "contents"),
    [
        ("spent.json", ["", "{}", "[]", "null", '{"spent": {"x": 1}}', '{"spent": {"1": -1}}', '{"spent": {"1": 1.5}}',
                        '{"spent": [1]}', "[" * 100_000]),
        ("payees.json", ["", "[]", "{}", '{"payees": []}', '{"payees": {"x": 1}}', '{"payees": {"x": ["a", 1]}}',
                         '{"payees": {"x": ["a"]}}']),
        ("open", ["", "[]", "null", "{}", '{"url": 1}', json.dumps({**asdict(KEPT), "amount": "5000"})]),
    ],
)  # fmt: skip
def test_nothing_is_signed_if_what_is_stored_cannot_be_understood(
    tmp_path: Path, name: str, contents: list[str]
) -> None:
    stand = Stand(tmp_path, lost())
    if name == "open":
        with pytest.raises(Exception, match="is not known yet"):
            stand.buy()
    [path] = (stand.store.folder / name).glob("*") if name == "open" else [stand.store.folder / name]
    path.parent.mkdir(exist_ok=True)
    before = len(stand.sent)
    for content in contents:
        path.write_text(content)
        with pytest.raises(UnpaidError, match=r"json is damaged"):
            stand.buy()
    path.unlink()
    path.mkdir()
    with pytest.raises(UnpaidError, match="Cannot read"):
        stand.buy()
    assert (len(stand.sent), stand.opened) == (before, int(name == "open"))


def test_old_days_and_old_payments_are_deleted_but_not_while_they_may_settle(tmp_path: Path) -> None:
    clock = FakeClock()
    store, today, later = PaymentStore(tmp_path, clock), day_of(START_MS), replace(KEPT, valid_before_s=2**40)
    store.folder.mkdir()
    (store.folder / "spent.json").write_text(json.dumps({"spent": {str(today - day): 1 for day in range(50)}}))
    store.take(ASKED, 1, Ceilings(day=10), lambda: KEPT)
    store.take(ASKED._replace(url="u"), 1, Ceilings(day=10), lambda: later)
    days = json.loads((store.folder / "spent.json").read_text())["spent"]
    assert sorted(map(int, days)) == list(range(today - 39, today + 1))
    clock.set_wall(START_MS + DAY_MS)
    assert len(store.opened()) == 2
    clock.set_wall(START_MS + DAY_MS + 1)
    assert (store.opened(), store.find(ASKED)) == ([later], None)
    store.take(ASKED._replace(url="v"), 1, Ceilings(day=10), lambda: KEPT)
    assert len(list((store.folder / "open").iterdir())) == 2


def test_a_payment_that_was_replaced_meanwhile_is_not_dropped_for_the_old_one(store: PaymentStore) -> None:
    store.take(ASKED, 1, Ceilings(day=10), lambda: KEPT)
    store.drop(ASKED, replace(KEPT, nonce="0xd"))
    assert store.find(ASKED) == KEPT
    store.drop(ASKED, KEPT)
    store.drop(ASKED, KEPT)
    assert store.find(ASKED) is None
