"""Stores payments of one user: amounts signed per day, payees, open payments and receipts.

In `paying/` of the state folder: `spent.json`, `payees.json` (last payee of each service), one file per open payment in
`open/`, one file per receipt in `receipts/`. One file lock guards every change of what may be spent, across processes.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from service.client.answer import SentRequest
from service.client.files import locked, read_whole, write_whole
from service.client.paying.payment_quote import Ceilings, check_day
from service.client.paying.terms import Payee, UnpaidError
from service.clock import DAY_MS, SECOND_MS, Clock, day_of

FOLDER: Final = "paying"
SPENT: Final = "spent.json"
PAYEES: Final = "payees.json"
OPEN: Final = "open"
RECEIPTS: Final = "receipts"

SETTLING_S: Final = 60
"""Seconds after its window in which a payment may still be reported as settled."""

ANSWER_KEPT_MS: Final = DAY_MS
"""How long a service keeps a bought answer."""

_DAYS_KEPT: Final = 40
_NAME_DIGITS: Final = 40

T = TypeVar("T")


class StoredPayment(NamedTuple):
    """A signed payment for one request of one caller.

    Attributes:
        url: The service.
        what: Method and path, for people.
        amount: Millionths of a dollar.
        network: CAIP-2 id of the chain.
        pay_to: Who is paid (EIP-55).
        payer: Who pays (EIP-55).
        nonce: 0x and 64 digits.
        valid_before_s: Good until the second before this one (epoch).
        signed_ms: When it was signed (epoch milliseconds).
        header: The value of `PAYMENT-SIGNATURE`.
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


class PaymentStore:
    """The stored payments of one user.

    Args:
        state: The user's state folder.
        clock: Time.

    Attributes:
        folder: Its folder; need not exist.
    """

    def __init__(self, state: Path, clock: Clock) -> None:
        self.folder = state / FOLDER
        self._clock = clock

    def spent_today(self) -> int:
        """Amount signed since 00:00 UTC in micro-USD; future days (of a clock that ran ahead) count too.

        Raises:
            UnpaidError: If the stored data cannot be read.
        """
        return _since(self._days(), day_of(self._clock.now_ms()))

    def payee(self, url: str) -> Payee | None:
        """The payee of the last payment to a service; None if there was none.

        Raises:
            UnpaidError: If the stored data cannot be read.
        """
        return self._payees().get(url)

    def find(self, asked: SentRequest) -> StoredPayment | None:
        """The open payment of a request whose outcome may still become known.

        Raises:
            UnpaidError: If it cannot be read; nothing new may be signed then.
        """
        return self._read(self._path(asked))

    def take(
        self, asked: SentRequest, amount: int, ceilings: Ceilings, sign: Callable[[], StoredPayment]
    ) -> StoredPayment:
        """Count an amount, sign and store a payment; or return the one stored for the request.

        Args:
            asked: The request.
            amount: Millionths of a dollar.
            ceilings: The day's ceiling is checked here; the call's was checked before the prompt.
            sign: Signs; called after the amount is stored.

        Raises:
            UnpaidError: If the day's ceiling would be exceeded, or a write fails.
        """
        with self._locked():
            kept = self.find(asked)
            if kept is None:
                self._count(amount, ceilings)
                kept = sign()
                self._remember(asked.url, Payee(kept.network, kept.pay_to))
                write_whole(self._path(asked), json.dumps(kept._asdict()).encode())
            return kept

    def drop(self, asked: SentRequest, kept: StoredPayment) -> None:
        """Delete the open payment of a request, unless another was signed meanwhile.

        Raises:
            UnpaidError: If the folder cannot be written.
        """
        with self._locked():
            if self._read(self._path(asked)) == kept:
                self._path(asked).unlink()

    def finish(self, asked: SentRequest, kept: StoredPayment, record: Mapping[str, Any]) -> None:
        """Store the receipt, then delete the open payment.

        Args:
            asked: The request.
            kept: The payment.
            record: The receipt to store.

        Raises:
            UnpaidError: If a write fails; the payment stays open.
        """
        with self._locked():
            # Named by our nonce: a service that repeats a receipt id cannot overwrite another receipt.
            path = self.folder / RECEIPTS / f"{kept.nonce[2:][:_NAME_DIGITS]}.json"
            write_whole(path, json.dumps(record, indent=1).encode())
        self.drop(asked, kept)

    def may_settle(self, kept: StoredPayment) -> bool:
        """Whether the payment may still settle, or may have settled without a report."""
        return self._clock.now_ms() // SECOND_MS <= kept.valid_before_s + SETTLING_S

    def opened(self) -> list[StoredPayment]:
        """Payments with unknown outcome, oldest first.

        Raises:
            UnpaidError: If one cannot be read.
        """
        found = [self._read(path) for path in (self.folder / OPEN).glob("*.json")]
        return sorted(filter(None, found), key=lambda kept: kept.signed_ms)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with _writing(self.folder), locked(self.folder / "lock"):
            self._sweep()
            yield

    def _read(self, path: Path) -> StoredPayment | None:
        kept = _understood(path, stored_payment_of)
        gone = kept is not None and self._clock.now_ms() > kept.signed_ms + ANSWER_KEPT_MS
        return None if kept is None or (gone and not self.may_settle(kept)) else kept

    def _path(self, asked: SentRequest) -> Path:
        parts = (asked.url.encode(), asked.caller.encode(), asked.request)
        name = sha256(b"\0".join(parts)).hexdigest()[:_NAME_DIGITS]
        return self.folder / OPEN / f"{name}.json"

    def _count(self, amount: int, ceilings: Ceilings) -> None:
        days, today = self._days(), day_of(self._clock.now_ms())
        check_day(amount, _since(days, today), ceilings)
        days[today] = days.get(today, 0) + amount
        newest = {day: spent for day, spent in days.items() if day > today - _DAYS_KEPT}
        write_whole(self.folder / SPENT, json.dumps({"spent": newest}).encode())

    def _remember(self, url: str, payee: Payee) -> None:
        payees = self._payees()
        if payees.get(url) != payee:
            write_whole(self.folder / PAYEES, json.dumps({"payees": {**payees, url: payee}}).encode())

    def _payees(self) -> dict[str, Payee]:
        return _understood(self.folder / PAYEES, _payees_of) or {}

    def _days(self) -> dict[int, int]:
        return _understood(self.folder / SPENT, _days_of) or {}

    def _sweep(self) -> None:
        for path in (self.folder / OPEN).glob("*.json"):
            if self._read(path) is None:
                path.unlink()


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnpaidError(f"{folder} cannot be written ({error.strerror}); what is not kept is not paid") from error


def _understood(path: Path, read: Callable[[Any], T]) -> T | None:
    """A file's content; None if it does not exist. Without knowing what was spent, nothing is paid."""
    try:
        content = read_whole(path)
        return None if content is None else read(json.loads(content))
    except OSError as error:
        raise UnpaidError(f"{path} cannot be read ({error.strerror}); nothing is paid until it can") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnpaidError(
            f"{path} is not as it was written, and nothing is paid until it is; delete it if you know what it said"
        ) from error


def stored_payment_of(document: Any) -> StoredPayment:
    """Decode a stored payment.

    Raises:
        TypeError: If it has other fields.
        ValueError: If a field has another type.
    """
    kept = StoredPayment(**document)
    if any(type(value) is not kind for value, kind in zip(kept, StoredPayment.__annotations__.values(), strict=True)):
        raise ValueError("a field is of another kind")
    return kept


def _since(days: Mapping[int, int], today: int) -> int:
    # An amount signed with a clock that ran ahead counts until its day is over.
    return sum(amount for day, amount in days.items() if day >= today)


def _payees_of(document: Any) -> dict[str, Payee]:
    payees = {url: Payee(*payee) for url, payee in document["payees"].items()}
    if not all(isinstance(text, str) for payee in payees.values() for text in payee):
        raise ValueError("a payee is none")
    return payees


def _days_of(document: Any) -> dict[int, int]:
    days = {int(day): amount for day, amount in document["spent"].items()}
    if not all(type(amount) is int and amount >= 0 for amount in days.values()):
        raise ValueError("an amount is none")
    return days
