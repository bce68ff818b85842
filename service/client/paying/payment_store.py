"""Stores payments of one user: amounts signed per day, payees, open payments and receipts.

In `paying/` of the state folder: `spent.json`, `payees.json` (last payee of each service), one file per open payment in
`open/`, one file per receipt in `receipts/`. One file lock guards all changes, across processes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from service.client.answer import SentRequest
from service.client.files import locked, read_whole, write_whole
from service.client.paying.terms import Ceilings, Payee, UnpaidError, check_day
from service.clock import DAY_MS, SECOND_MS, Clock, day_of

SETTLING_S: Final = 60
"""Seconds after its window in which a payment may still be reported as settled."""

ANSWER_KEPT_MS: Final = DAY_MS
"""How long a service keeps a bought answer."""

_DAYS_KEPT: Final = 40
_NAME_DIGITS: Final = 40

T = TypeVar("T")


class StoredPayment(Struct, frozen=True, forbid_unknown_fields=True):
    """A signed payment for one request (`what`: method and path) of one caller to one service.

    `amount` is in millionths of a dollar, `network` the CAIP-2 id of the chain; addresses are in EIP-55's form, the
    nonce is 0x and 64 digits. Valid until the second before `valid_before_s` (epoch). `header` is the value of
    `PAYMENT-SIGNATURE`.
    """

    url: str
    what: str
    amount: int
    network: str
    pay_to: str
    payer: str
    nonce: str
    valid_before_s: int
    signed_ms: int
    header: str


class StoredReceipt(NamedTuple):
    """A stored receipt: the payment without its signature, the receipt's id, whether it agrees with the purchase."""

    paid: StoredPayment
    name: str
    proven: bool
    record: dict[str, Any]
    path: Path


class _Spent(Struct):
    spent: dict[int, Annotated[int, Meta(ge=0)]]


class _Payees(Struct):
    payees: dict[str, Payee]


class PaymentStore:
    """The stored payments of one user, by the user's state folder; `folder` need not exist.

    Every method raises `UnpaidError` if what it needs cannot be read or written.
    """

    def __init__(self, state: Path, clock: Clock) -> None:
        self.folder = state / "paying"
        self._clock = clock

    def spent_today(self) -> int:
        """Amount signed since 00:00 UTC in micro-USD; future days (of a clock that ran ahead) count too."""
        today = day_of(self._clock.now_ms())
        return sum(amount for day, amount in self._days().items() if day >= today)

    def payee(self, url: str) -> Payee | None:
        """The payee of the last payment to a service; None if there was none."""
        return self._payees().get(url)

    def find(self, asked: SentRequest) -> StoredPayment | None:
        """The open payment of a request whose outcome may still become known."""
        return self._read(self._path(asked))

    def take(
        self,
        asked: SentRequest,
        amount: int,
        ceilings: Ceilings,
        sign: Callable[[], StoredPayment],
        check: Callable[[], object] = lambda: None,
    ) -> StoredPayment:
        """Count an amount (millionths of a dollar), sign and store a payment; or return the one stored for the request.

        The day's ceiling is checked here, under the lock; `check` raises `UnpaidError` if nothing is to be signed any
        more. `sign` is called after the amount is stored.
        """
        with self._locked():
            kept = self.find(asked)
            if kept is None:
                check()
                self._count(amount, ceilings)
                kept = sign()
                self._remember(asked.url, Payee(kept.network, kept.pay_to))
                write_whole(self._path(asked), msgspec.json.encode(kept))
            return kept

    def drop(self, asked: SentRequest, kept: StoredPayment) -> None:
        """Delete the open payment of a request, unless another was signed meanwhile."""
        with self._locked():
            if self.find(asked) == kept:
                self._path(asked).unlink()

    def finish(self, asked: SentRequest, kept: StoredPayment, record: Mapping[str, Any]) -> None:
        """Store the record of the receipt, then delete the open payment; if a write fails, the payment stays open."""
        with self._locked():
            # Named by our nonce: a service that repeats a receipt id cannot overwrite another receipt.
            path = self.folder / "receipts" / f"{kept.nonce[2:][:_NAME_DIGITS]}.json"
            write_whole(path, json.dumps(record, indent=1).encode())
        self.drop(asked, kept)

    def may_settle(self, kept: StoredPayment) -> bool:
        """Whether the payment may still settle, or may have settled without a report."""
        return self._clock.now_ms() // SECOND_MS <= kept.valid_before_s + SETTLING_S

    def opened(self) -> list[StoredPayment]:
        """Payments with unknown outcome, oldest first."""
        found = map(self._read, (self.folder / "open").glob("*.json"))
        return sorted(filter(None, found), key=lambda kept: kept.signed_ms)

    def receipts(self) -> list[StoredReceipt]:
        """Every stored receipt, newest first. Other files are skipped."""
        found = []
        for path in (self.folder / "receipts").glob("*.json"):
            with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
                record = json.loads(path.read_bytes())
                paid = msgspec.convert({**record["paid"], "header": ""}, StoredPayment)
                found.append(StoredReceipt(paid, str(record["id"]), not record["faults"], record, path))
        return sorted(found, key=lambda bought: (-bought.paid.signed_ms, bought.path))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with locked(self.folder / "lock"):
                for path in (self.folder / "open").glob("*.json"):
                    if self._read(path) is None:
                        path.unlink()
                yield
        except OSError as error:
            raise UnpaidError(
                f"Cannot write {self.folder}: {error.strerror}. A payment that cannot be stored is not made."
            ) from error

    def _read(self, path: Path) -> StoredPayment | None:
        kept = _decoded(path, StoredPayment)
        if kept is None or self._clock.now_ms() <= kept.signed_ms + ANSWER_KEPT_MS or self.may_settle(kept):
            return kept
        return None

    def _path(self, asked: SentRequest) -> Path:
        parts = (asked.url.encode(), asked.caller.encode(), asked.request)
        name = sha256(b"\0".join(parts)).hexdigest()[:_NAME_DIGITS]
        return self.folder / "open" / f"{name}.json"

    def _count(self, amount: int, ceilings: Ceilings) -> None:
        check_day(amount, self.spent_today(), ceilings)
        days, today = self._days(), day_of(self._clock.now_ms())
        days[today] = days.get(today, 0) + amount
        newest = {day: spent for day, spent in days.items() if day > today - _DAYS_KEPT}
        write_whole(self.folder / "spent.json", msgspec.json.encode(_Spent(newest)))

    def _remember(self, url: str, payee: Payee) -> None:
        payees = self._payees()
        if payees.get(url) != payee:
            write_whole(self.folder / "payees.json", msgspec.json.encode(_Payees({**payees, url: payee})))

    def _payees(self) -> dict[str, Payee]:
        stored = _decoded(self.folder / "payees.json", _Payees)
        return {} if stored is None else stored.payees

    def _days(self) -> dict[int, int]:
        stored = _decoded(self.folder / "spent.json", _Spent)
        return {} if stored is None else stored.spent


def _decoded(path: Path, kind: type[T]) -> T | None:
    """A file's content; None if it does not exist. If it cannot be read, nothing is paid."""
    try:
        content = read_whole(path)
        return None if content is None else msgspec.json.decode(content, type=kind)
    except OSError as error:
        raise UnpaidError(f"Cannot read {path}: {error.strerror}. Nothing is paid until it can be read.") from error
    except (ValueError, RecursionError) as error:
        raise UnpaidError(
            f"{path} is damaged. Nothing is paid until it is repaired. Delete it if you know what it contained."
        ) from error
