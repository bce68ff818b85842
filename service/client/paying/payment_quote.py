"""The price of one call, checked against ceilings, transport security, clocks and the known payee."""

from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from typing import Final, NamedTuple

from service.client.address import read_address
from service.client.answer import RefusedError, SentRequest
from service.client.config import MAX_DAY_MICRO_USD, MAX_PRICE_MICRO_USD
from service.client.paying.terms import HEADER, Payee, Terms, UnpaidError, read_terms
from service.clock import SECOND_MS
from service.units import MicroUsd, usdc

APART_S: Final = 60
"""How far the clocks of client and service may be apart."""

_WHAT_LETTERS: Final = 200


class Ceilings(NamedTuple):
    """Most that is paid for one call and for the calls of one UTC day, in millionths of a dollar."""

    call: int = MAX_PRICE_MICRO_USD
    day: int = MAX_DAY_MICRO_USD


class PaymentQuote(NamedTuple):
    """The price of one call, to be agreed to.

    Attributes:
        terms: Price, payee and token.
        what: Method and path.
        url: The service.
        spent: Signed for today, in millionths of a dollar.
        ceilings: The limits.
        before: The payee of the last payment to this service; None if there was none.
    """

    terms: Terms
    what: str
    url: str
    spent: int
    ceilings: Ceilings
    before: Payee | None

    @property
    def moved_from(self) -> Payee | None:
        """The payee until now, if the service names another one."""
        return None if self.before == self.terms.payee else self.before


def make_quote(
    asked: SentRequest, refused: RefusedError, spent: int, ceilings: Ceilings, now_ms: int, before: Payee | None
) -> PaymentQuote:
    """The quote of a request that was refused with 402. Arguments are those of `PaymentQuote`.

    Raises:
        UnpaidError: If it is not understood, above a limit, or unsafe to pay.
    """
    terms = read_terms(refused.headers.get(HEADER))
    _check_way(asked.url, terms)
    _check_clocks(refused.headers.get("date"), now_ms)
    if terms.amount > ceilings.call:
        raise UnpaidError(
            f"this call costs {usdc_text(terms.amount)}, above the limit of {usdc_text(ceilings.call)} for one call "
            "(`verdict config set max-price`, --max-price, or max_price_usdc in Python); nothing was paid"
        )
    check_day(terms.amount, spent, ceilings)
    return PaymentQuote(terms, describe_request(asked), asked.url, spent, ceilings, before)


def known_payee_only(bill: PaymentQuote) -> None:
    """Agree without a prompt, but only to the first payee of a service.

    Raises:
        UnpaidError: If the service names another payee than until now.
    """
    if bill.moved_from is not None:
        raise UnpaidError(
            f"{bill.url} was paid at {bill.moved_from.pay_to} ({bill.moved_from.network}) until now, and wants it at "
            f"{bill.terms.pay_to} on {bill.terms.dollar.shown}: if its operator says so too, agree to that once at a "
            "terminal, without --yes; nothing was paid"
        )


def check_day(amount: int, spent: int, ceilings: Ceilings) -> None:
    """Check an amount against the limit of the day; all in millionths of a dollar.

    Raises:
        UnpaidError: If it exceeds the limit.
    """
    if spent + amount > ceilings.day:
        raise UnpaidError(
            f"this call costs {usdc_text(amount)}, and {usdc_text(spent)} of {usdc_text(ceilings.day)} for today are "
            "signed for; wait for 00:00 UTC, or raise the limit (`verdict config set max-day`, or max_day_usdc in "
            "Python); nothing was paid"
        )


def describe_request(asked: SentRequest) -> str:
    """Method and path of a request, for people."""
    return asked.request.partition(b"\n")[0].decode("latin-1")[:_WHAT_LETTERS]


def usdc_text(amount: int) -> str:
    """Write millionths of a dollar: `0.005 USDC`."""
    return f"{usdc(MicroUsd(amount))} USDC"


def _check_way(url: str, terms: Terms) -> None:
    address = read_address(url)
    if terms.dollar.is_real and not address.secure and not _is_here(address.host):
        raise UnpaidError(f"{url} is neither encrypted nor on this machine: no real money goes there; nothing was paid")


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_clocks(date: str | None, now_ms: int) -> None:
    if date is None:
        return
    try:
        apart_s = now_ms // SECOND_MS - int(parsedate_to_datetime(date).timestamp())
    except (ValueError, OverflowError):
        raise UnpaidError("the service does not say the time as HTTP does; nothing was paid") from None
    if abs(apart_s) > APART_S:
        raise UnpaidError(
            f"the clock here is {abs(apart_s)} s {'ahead of' if apart_s > 0 else 'behind'} the service's; what is "
            "signed would be refused, or good for longer than meant; nothing was paid"
        )
