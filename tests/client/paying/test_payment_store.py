"""What is kept about money is written before it is used, by its owner alone, and believed only whole."""

import json
import stat
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from service.client.paying.payment_store import PaymentStore, StoredPayment
from service.client.paying.terms import Ceilings, UnpaidError
from service.clock import DAY_MS, day_of
from tests.client.paying.stand import ASKED, Stand, lost, payment_in, sold
from tests.fakes.clock import START_MS, FakeClock

OPEN, SPENT = "open", "spent.json"
KEPT = StoredPayment(
    "http://x", "GET /", 5_000, "eip155:84532", "0xa", "0xb", "0xc", START_MS // 1_000 + 60, START_MS, "h"
)


def never() -> StoredPayment:
    raise AssertionError("nothing is to be signed")


def test_an_amount_is_counted_before_it_is_signed_for_and_kept_before_it_is_given_out(tmp_path: Path) -> None:
    store = PaymentStore(tmp_path, FakeClock())

    def sign() -> StoredPayment:
        assert store.spent_today() == 5_000
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.take(ASKED, 5_000, Ceilings(day=10_000), sign)
    assert (store.spent_today(), store.opened()) == (5_000, [])
    assert store.take(ASKED, 5_000, Ceilings(day=10_000), lambda: KEPT) == KEPT
    assert (store.spent_today(), store.opened()) == (10_000, [KEPT])


def test_a_second_process_gets_the_payment_that_the_first_has_signed(tmp_path: Path) -> None:
    PaymentStore(tmp_path, FakeClock()).take(ASKED, 5_000, Ceilings(day=5_000), lambda: KEPT)
    other = PaymentStore(tmp_path, FakeClock())
    assert other.take(ASKED, 5_000, Ceilings(day=5_000), never) == other.find(ASKED) == KEPT
    assert other.spent_today() == 5_000


def test_requests_of_others_or_for_other_things_have_payments_of_their_own(tmp_path: Path) -> None:
    store = PaymentStore(tmp_path, FakeClock())
    store.take(ASKED, 5_000, Ceilings(day=5_000), lambda: KEPT)
    for other in (
        ASKED._replace(url="http://127.0.0.1:8403"),
        ASKED._replace(request=b"GET /api/cli/coin/risk/ETH\n"),
        ASKED._replace(request=ASKED.request + b"{}"),
        ASKED._replace(caller="cd" * 32),
    ):
        assert store.find(other) is None


def test_only_the_owner_reads_what_is_kept(tmp_path: Path) -> None:
    stand = Stand(tmp_path / "state", sold())
    stand.buy()
    stand.store.take(ASKED, 1, Ceilings(day=10_000), lambda: KEPT)
    everything = list((tmp_path / "state").rglob("*"))
    assert {path.name for path in everything} >= {SPENT, OPEN, "lock", "receipts"}
    for path in everything:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b'{"spent": {"x": 1}}', b'{"spent": {"1": -1}}',
                                     b'{"spent": {"1": 1.5}}', b'{"spent": [1]}', b"[" * 100_000, b"\xff"])  # fmt: skip
def test_where_it_is_not_known_what_was_spent_nothing_is(tmp_path: Path, content: bytes) -> None:
    stand = Stand(tmp_path, sold())
    stand.store.folder.mkdir()
    (stand.store.folder / SPENT).write_bytes(content)
    with pytest.raises(UnpaidError, match=r"spent\.json is not as it was written"):
        stand.buy()
    assert (stand.sent, stand.opened) == ([], 0)


@pytest.mark.parametrize("content", [b"", b"[]", b"null", b"{}", b'{"url": 1}'])
def test_a_kept_payment_that_cannot_be_read_is_not_replaced_by_another(tmp_path: Path, content: bytes) -> None:
    stand = Stand(tmp_path, lost())
    with pytest.raises(Exception, match="is not known yet"):
        stand.buy()
    (path,) = (stand.store.folder / OPEN).glob("*.json")
    path.write_bytes(content)
    with pytest.raises(UnpaidError, match="is not as it was written"):
        stand.buy()
    path.write_text(json.dumps({**asdict(KEPT), "amount": "5000"}))
    with pytest.raises(UnpaidError, match="is not as it was written"):
        stand.store.opened()
    assert len({payment_in(sent)["payload"]["signature"] for sent in stand.sent}) == 1


def test_where_nothing_can_be_kept_nothing_is_paid(tmp_path: Path) -> None:
    (tmp_path / "paying").write_text("a file stands where the folder should")
    stand = Stand(tmp_path, sold())
    with pytest.raises(UnpaidError, match="cannot be written"):
        stand.buy()
    assert stand.sent == []


def test_what_cannot_be_read_is_not_taken_for_nothing(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    (stand.store.folder / SPENT).mkdir(parents=True)
    with pytest.raises(UnpaidError, match="cannot be read"):
        stand.buy()
    assert stand.sent == []


def test_days_long_past_are_forgotten(tmp_path: Path) -> None:
    stand = Stand(tmp_path, sold())
    today = day_of(stand.clock.at_ms)
    stand.store.folder.mkdir()
    (stand.store.folder / SPENT).write_text(json.dumps({"spent": {str(today - day): 1 for day in range(50)}}))
    stand.buy()
    kept = json.loads((stand.store.folder / SPENT).read_text())["spent"]
    assert sorted(map(int, kept)) == list(range(today - 39, today + 1))


def test_a_payment_is_forgotten_a_day_after_it_was_signed_but_not_while_it_could_be_taken(tmp_path: Path) -> None:
    clock = FakeClock()
    store = PaymentStore(tmp_path, clock)
    store.take(ASKED, 1, Ceilings(day=10), lambda: KEPT)
    store.take(ASKED._replace(url="u"), 1, Ceilings(day=10), lambda: replace(KEPT, valid_before_s=2**40))
    clock.set_wall(START_MS + DAY_MS)
    assert len(store.opened()) == 2
    clock.set_wall(START_MS + DAY_MS + 1)
    assert store.opened() == [replace(KEPT, valid_before_s=2**40)]
    assert store.find(ASKED) is None
    store.take(ASKED._replace(url="v"), 1, Ceilings(day=10), lambda: KEPT)
    assert len(list((store.folder / OPEN).iterdir())) == 2  # the new one, and the one that could be taken


def test_a_payment_that_was_replaced_meanwhile_is_not_dropped_for_the_old_one(tmp_path: Path) -> None:
    store = PaymentStore(tmp_path, FakeClock())
    store.take(ASKED, 1, Ceilings(day=10), lambda: KEPT)
    store.drop(ASKED, replace(KEPT, nonce="0xd"))
    assert store.find(ASKED) == KEPT
    store.drop(ASKED, KEPT)
    store.drop(ASKED, KEPT)
    assert store.find(ASKED) is None
