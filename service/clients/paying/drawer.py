"""What is kept about payments: how much was signed for on which day, and every payment whose end is not known.

In `paying/` of the state folder: `spent.json`, `payees.json` (whom each service had paid), a file for each open payment
in `open/`, a file for each receipt in `receipts/`. All that changes what may be spent happens under one lock, whichever
process it is in.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from service.clients.paying.bill import Ceilings, check_day
from service.clients.paying.refusal import UnpaidError
from service.clients.paying.terms import Payee
from service.clients.profile.private import locked, read_whole, write_whole
from service.clients.sdk.answer import Asked
from service.clock import DAY_MS, SECOND_MS, Clock, day_of

FOLDER: Final = "paying"
SPENT: Final = "spent.json"
PAYEES: Final = "payees.json"
OPEN: Final = "open"
RECEIPTS: Final = "receipts"

SETTLING_S: Final = 60
"""How long after its window a payment may still be found settled: what came in time is written down by then."""

ANSWER_KEPT_MS: Final = DAY_MS
"""How long a service keeps what a payment has bought."""

_DAYS_KEPT: Final = 40
_NAME_DIGITS: Final = 40

T = TypeVar("T")


class Kept(NamedTuple):
    """A payment that was signed, for one request of one caller.

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


class Drawer:
    """The folder of one user's payments.

    Args:
        state: The user's state folder.
        clock: Time.

    Attributes:
        folder: Where it all is; need not exist.
    """

    def __init__(self, state: Path, clock: Clock) -> None:
        self.folder = state / FOLDER
        self._clock = clock

    def spent_today(self) -> int:
        """What was signed for since 00:00 UTC, in millionths of a dollar; days that are still to come count as well.

        Raises:
            UnpaidError: If what is kept about it cannot be read.
        """
        return _since(self._days(), day_of(self._clock.now_ms()))

    def payee(self, url: str) -> Payee | None:
        """Whom a service had paid the last time; None where nothing was paid to it yet.

        Raises:
            UnpaidError: If what is kept about it cannot be read.
        """
        return self._payees().get(url)

    def find(self, asked: Asked) -> Kept | None:
        """The open payment of a request, if there is one whose end may still be learnt.

        Raises:
            UnpaidError: If what is kept cannot be read: then nobody knows, and nothing new is to be signed.
        """
        return self._read(self._path(asked))

    def take(self, asked: Asked, amount: int, ceilings: Ceilings, sign: Callable[[], Kept]) -> Kept:
        """Count an amount, have it signed for, and keep that; or give what is kept for the request already.

        Args:
            asked: What is paid for.
            amount: Millionths of a dollar.
            ceilings: Of which the day's holds here; that of a call is held before anybody is asked.
            sign: Signs; called when the amount is counted and written down.

        Raises:
            UnpaidError: If the day's ceiling would be passed, or something cannot be written.
        """
        with self._locked():
            kept = self.find(asked)
            if kept is None:
                self._count(amount, ceilings)
                kept = sign()
                self._remember(asked.url, Payee(kept.network, kept.pay_to))
                write_whole(self._path(asked), json.dumps(kept._asdict()).encode())
            return kept

    def drop(self, asked: Asked, kept: Kept) -> None:
        """Forget the open payment of a request, whose end is known; not another that was signed for it meanwhile.

        Raises:
            UnpaidError: If the folder cannot be written.
        """
        with self._locked():
            if self._read(self._path(asked)) == kept:
                self._path(asked).unlink()

    def finish(self, asked: Asked, kept: Kept, record: Mapping[str, Any]) -> None:
        """Keep what was bought, then forget that it was open.

        Args:
            asked: What was paid for.
            kept: With what.
            record: What is to be known of it later on.

        Raises:
            UnpaidError: If the folder cannot be written; the payment is open still.
        """
        with self._locked():
            # By what is ours alone: a service that names two receipts alike, or like another's, overwrites nothing.
            path = self.folder / RECEIPTS / f"{kept.nonce[2:][:_NAME_DIGITS]}.json"
            write_whole(path, json.dumps(record, indent=1).encode())
        self.drop(asked, kept)

    def may_settle(self, kept: Kept) -> bool:
        """Whether somebody may still take what was signed, or may have and not have said so."""
        return self._clock.now_ms() // SECOND_MS <= kept.valid_before_s + SETTLING_S

    def opened(self) -> list[Kept]:
        """Payments whose end is not known, the oldest first.

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

    def _read(self, path: Path) -> Kept | None:
        kept = _understood(path, kept_of)
        gone = kept is not None and self._clock.now_ms() > kept.signed_ms + ANSWER_KEPT_MS
        return None if kept is None or (gone and not self.may_settle(kept)) else kept

    def _path(self, asked: Asked) -> Path:
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
    """What a file says; None where there is none. Where it is not known what was spent, nothing is."""
    try:
        content = read_whole(path)
        return None if content is None else read(json.loads(content))
    except OSError as error:
        raise UnpaidError(f"{path} cannot be read ({error.strerror}); nothing is paid until it can") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise UnpaidError(
            f"{path} is not as it was written, and nothing is paid until it is; delete it if you know what it said"
        ) from error


def kept_of(document: Any) -> Kept:
    """Read a payment that was written as JSON.

    Raises:
        TypeError: If it has other fields.
        ValueError: If one is of another kind.
    """
    kept = Kept(**document)
    if any(type(value) is not kind for value, kind in zip(kept, Kept.__annotations__.values(), strict=True)):
        raise ValueError("a field is of another kind")
    return kept


def _since(days: Mapping[int, int], today: int) -> int:
    # What was signed for by a clock that ran ahead counts until its day is over: setting it back gives nothing.
    return sum(amount for day, amount in days.items() if day >= today)


def _payees_of(document: Any) -> dict[str, Payee]:
    payees = {url: Payee(*told) for url, told in document["payees"].items()}
    if not all(isinstance(text, str) for payee in payees.values() for text in payee):
        raise ValueError("a payee is none")
    return payees


def _days_of(document: Any) -> dict[int, int]:
    days = {int(day): amount for day, amount in document["spent"].items()}
    if not all(type(amount) is int and amount >= 0 for amount in days.values()):
        raise ValueError("an amount is none")
    return days
