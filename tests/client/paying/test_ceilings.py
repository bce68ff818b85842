"""The ceilings hold, whatever is asked for, whenever, by however many at once."""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.client.answer import SentRequest
from service.client.paying.payment_store import PaymentStore
from service.client.paying.terms import Ceilings, UnpaidError
from service.clock import DAY_MS, day_of
from tests.client.paying.stand import PAYEE, URL, Stand, answered, asking, payment_in, refused, sold
from tests.fakes.clock import START_MS, FakeClock
from tests.payments.signing import row

amounts = st.integers(1, 400_000)
steps = st.lists(st.tuples(amounts, st.integers(-2 * DAY_MS, 2 * DAY_MS)), min_size=1, max_size=12)


def request(number: int) -> SentRequest:
    return SentRequest(URL, b"GET /%d\n" % number, "")


def due(amount: int, number: int, at_ms: int = START_MS) -> Any:
    return asking(row(price=amount, pay_to=PAYEE), asked=request(number), date_ms=at_ms)


@settings(max_examples=30, deadline=None)
@given(steps, st.integers(0, 300_000), st.integers(0, 800_000))
@example([(1, 0), (1, DAY_MS // 2), (1, -1)], 1, 1)  # a day, the next one, and back
def test_no_call_passes_its_ceiling_and_no_day_its_own_however_the_clock_is_set(
    asked: list[tuple[int, int]], call: int, day: int
) -> None:
    with TemporaryDirectory() as folder:
        stand = Stand(Path(folder), answered())
        signed: list[tuple[int, int]] = []
        for number, (amount, moved_ms) in enumerate(asked):
            stand.clock.set_wall(stand.clock.at_ms + moved_ms)
            now_ms = stand.clock.at_ms
            later = sum(paid for on, paid in signed if on >= day_of(now_ms))
            if amount > call or later + amount > day:
                with pytest.raises(UnpaidError, match="nothing was paid"):
                    stand.buy(due(amount, number, now_ms), Ceilings(call, day))
            else:
                stand.buy(due(amount, number, now_ms), Ceilings(call, day))
                signed.append((day_of(now_ms), amount))
            # What is signed for days to come counts now: a clock that is set back gives nothing.
            assert stand.store.spent_today() == sum(paid for on, paid in signed if on >= day_of(now_ms))
            assert sum(paid for on, paid in signed if on == day_of(now_ms)) <= day
        sent = [int(payment_in(headers)["payload"]["authorization"]["value"]) for headers in stand.sent]
        assert sent == [paid for _, paid in signed]


@pytest.mark.promise("cli.pay-ceilings")
def test_the_ceilings_are_ten_cents_a_call_and_a_dollar_a_day(tmp_path: Path) -> None:
    assert Ceilings() == (100_000, 1_000_000)
    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError, match=r"costs 0\.100001 USDC, above the limit of 0\.1 USDC"):
        stand.buy(due(100_001, 0))
    for number in range(10):
        stand.buy(due(100_000, number))
    with pytest.raises(UnpaidError, match=r"costs 0\.000001 USDC, and 1 USDC of 1 USDC for today"):
        stand.buy(due(1, 11))
    stand.clock.set_wall((day_of(START_MS) + 1) * DAY_MS)
    stand.buy(due(1, 11, stand.clock.at_ms))
    assert stand.store.spent_today() == 1


def test_what_a_service_says_it_did_not_take_counts_all_the_same(tmp_path: Path) -> None:
    stand = Stand(tmp_path, refused(402, "not this one"))
    for number in range(10):
        with pytest.raises(UnpaidError, match="counts for today all the same"):
            stand.buy(due(100_000, number))
    with pytest.raises(UnpaidError, match="nothing was paid"):
        stand.buy(due(100_000, 11))
    assert len(stand.sent) == 10


RACER = """
import sys
from pathlib import Path
from service.client.paying.terms import Ceilings
from service.client.paying.payment_store import PaymentStore, StoredPayment
from service.client.paying.terms import UnpaidError
from service.client.answer import SentRequest
from tests.fakes.clock import FakeClock

folder, me = Path(sys.argv[1]), sys.argv[2]
store = PaymentStore(folder, FakeClock())
print("ready", flush=True)
sys.stdin.readline()
for number in range(12):
    kept = StoredPayment("u", "w", 70_000, "n", "p", "q", me, 2**40, 1_753_444_800_000, str(number))
    try:
        store.take(SentRequest("u", f"{me} {number}".encode(), ""), 70_000, Ceilings(), lambda: kept)
    except UnpaidError:
        break
    print(number, flush=True)
"""


@pytest.mark.process
def test_processes_at_once_never_pass_the_ceiling_together(tmp_path: Path) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, str(tmp_path), str(number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(2)
    ]  # fmt: skip
    try:
        for racer in racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"
        said = [racer.communicate("go\n", timeout=60)[0].split() for racer in racers]
    finally:
        for racer in racers:
            racer.kill()
            racer.wait(60)
    assert sum(map(len, said)) == 14
    store = PaymentStore(tmp_path, FakeClock())
    assert store.spent_today() == 14 * 70_000
    assert len(store.opened()) == 14


def test_a_process_that_was_faster_leaves_no_room_and_nothing_is_signed(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    other = Stand(tmp_path, sold())
    buyer = stand.buyer()._replace(agree=lambda _bill: [other.buy(due(100_000, number)) for number in range(10)])
    with pytest.raises(UnpaidError, match=r"1 USDC of 1 USDC for today are signed"):
        buyer.buy(due(100_000, 99), stand.send, stand)
    assert stand.sent == []
    assert stand.store.spent_today() == 1_000_000
