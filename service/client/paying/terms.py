"""Payment terms of a 402 response, accepted only if every part is understood, and the decision whether to pay them.

Sources: x402 specification v2 (`PaymentRequired`, `PaymentRequirements`, scheme `exact` on EVM chains), EIP-3009;
https://developers.circle.com/stablecoins/usdc-contract-addresses, EIP-712 domains as the tokens report them.
"""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple

from service.client import config
from service.client.address import read_address as read_url
from service.client.answer import RefusedError, SentRequest
from service.client.errors import VerdictError
from service.clock import SECOND_MS
from service.ethereum.addresses import read_address
from service.proxies import is_loopback
from service.units import MicroUsd, usdc

APART_S: Final = 60
"""How far the clocks of client and service may be apart."""

LONGEST_WINDOW_S: Final = 300
"""Longest validity of a signature, whatever the service asks for."""

_HEADER: Final = "payment-required"
_VERSION: Final = 2
_AMOUNT: Final = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
_WHAT_LETTERS: Final = 200


class UnpaidError(VerdictError):
    """A payment was required and was not made, or was refused; the message says what to do.

    `terms` are price, payee and token that the service asks for; None if they are not understood.
    """

    terms: "Terms | None" = None


class OpenPaymentError(VerdictError):
    """The outcome of a payment is not known yet. It is stored, and the same request sends it again.

    `unreachable` says whether no answer came at all.
    """

    def __init__(self, message: str, *, unreachable: bool) -> None:
        super().__init__(message)
        self.unreachable = unreachable


class Stablecoin(NamedTuple):
    """USDC on one chain: its CAIP-2 id (`network`) and EIP-155 number, its name for people, whether it is real money.

    `asset` is the token's address (EIP-55), `name` and `version` are those of its signing domain (EIP-712).
    """

    network: str
    chain_id: int
    shown: str
    is_real: bool
    asset: str
    name: str
    version: str


STABLECOINS: Final = {
    dollar.network: dollar
    for dollar in (
        Stablecoin(
            "eip155:84532", 84_532, "Base Sepolia, a test network: no real money", is_real=False,
            asset="0x036CbD53842c5426634e7929541eC2318f3dCF7e", name="USDC", version="2",
        ),
        Stablecoin(
            "eip155:8453", 8_453, "Base: real money", is_real=True,
            asset="0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", name="USD Coin", version="2",
        ),
    )
}  # fmt: skip
"""By network."""


class Payee(NamedTuple):
    """Who is paid, and where: CAIP-2 id of the chain, and an address in EIP-55's form."""

    network: str
    pay_to: str


class Terms(NamedTuple):
    """What one call costs: `amount` in millionths of a dollar, at least one; the payee's address (EIP-55); the token.

    A signature is valid for `window_s` seconds. `row` is the row of `accepts` as it came: it is sent back unchanged.
    """

    amount: int
    pay_to: str
    dollar: Stablecoin
    window_s: int
    row: Mapping[str, Any]

    @property
    def price_usdc(self) -> str:
        """The price as decimal USDC: `0.005`."""
        return usdc(MicroUsd(self.amount))

    @property
    def payee(self) -> Payee:
        """Who is paid, and where."""
        return Payee(self.dollar.network, self.pay_to)


def terms_of(refused: RefusedError) -> Terms | None:
    """The terms of a 402; None if they are not understood."""
    try:
        return read_terms(refused.headers.get(_HEADER))
    except UnpaidError:
        return None


def read_terms(header: str | None) -> Terms:
    """Read the value of `PAYMENT-REQUIRED` (None without one): the first of its rows that is understood.

    Raises:
        UnpaidError: If it cannot be read, or no row is understood; the message says what is wrong with the first row.
    """
    try:
        challenge = json.loads(b64decode(header or "", validate=True))
    except (ValueError, RecursionError):
        challenge = None
    understood = isinstance(challenge, dict) and challenge.get("x402Version") == _VERSION
    rows = challenge.get("accepts") if understood else None
    if not isinstance(rows, list) or not rows:
        raise UnpaidError(
            "The service requires a payment and does not say how: its PAYMENT-REQUIRED header is not x402 version 2. "
            "Nothing was paid."
        )
    faults = []
    for row in rows:
        try:
            return _understand(row if isinstance(row, dict) else {})
        except ValueError as error:
            faults.append(str(error))
    raise UnpaidError(f"The service asks for a payment that cannot be made here: {faults[0]} Nothing was paid.")


def _understand(row: Mapping[str, Any]) -> Terms:
    """Raises `ValueError` with a sentence that repeats nothing of the row, because it is not trusted."""
    network, asset, extra, amount = (row.get(name) for name in ("network", "asset", "extra", "amount"))
    dollar = STABLECOINS.get(network) if isinstance(network, str) else None
    if dollar is None:
        raise ValueError(f"The network is not one of {', '.join(STABLECOINS)}.")
    if not isinstance(asset, str) or asset.lower() != dollar.asset.lower():
        raise ValueError(f"The asset is not USDC on {dollar.network} ({dollar.asset}).")
    if not isinstance(extra, dict) or (extra.get("name"), extra.get("version")) != (dollar.name, dollar.version):
        raise ValueError("The signing domain is not that of the token's contract.")
    if row.get("scheme") != "exact" or extra.get("assetTransferMethod", "eip3009") != "eip3009":
        raise ValueError("Only the scheme `exact` by EIP-3009 is supported.")
    if not isinstance(amount, str) or not _AMOUNT.fullmatch(amount):
        raise ValueError("The amount is not a positive whole number of millionths.")
    pay_to, timeout_s = row.get("payTo"), row.get("maxTimeoutSeconds")
    try:
        payee = read_address(pay_to if isinstance(pay_to, str) else "")
    except ValueError:
        raise ValueError("The payee is not an address, or its checksum is wrong.") from None
    if type(timeout_s) is not int or timeout_s < 1:
        raise ValueError("The time limit is not a positive number of seconds.")
    return Terms(int(amount), payee, dollar, min(timeout_s, LONGEST_WINDOW_S), row)


class Ceilings(NamedTuple):
    """Most that is paid for one call and for the calls of one UTC day, in millionths of a dollar."""

    call: int = config.MAX_PRICE_MICRO_USD
    day: int = config.MAX_DAY_MICRO_USD


class PaymentQuote(NamedTuple):
    """The price of one call, to be agreed to: its terms, method and path (`what`), the service's URL, and the limits.

    `spent` is the amount signed today in millionths of a dollar, `before` the payee of the last payment to this
    service; None if there was none.
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
    terms = read_terms(refused.headers.get(_HEADER))
    address = read_url(asked.url)
    if terms.dollar.is_real and not address.secure and not is_loopback(address.host):
        raise UnpaidError(
            f"{asked.url} is neither encrypted nor on this machine, so no real money is sent there. Nothing was paid."
        )
    _check_clocks(refused.headers.get("date"), now_ms)
    if terms.amount > ceilings.call:
        raise UnpaidError(
            f"This call costs {usdc_text(terms.amount)}, above the limit of {usdc_text(ceilings.call)} for one call. "
            "Raise the limit with --max-price, `verdict config set max-price`, or max_price_usdc in Python. Nothing "
            "was paid."
        )
    check_day(terms.amount, spent, ceilings)
    what = asked.request.partition(b"\n")[0].decode("latin-1")[:_WHAT_LETTERS]
    return PaymentQuote(terms, what, asked.url, spent, ceilings, before)


def known_payee_only(quote: PaymentQuote) -> None:
    """Agree without a prompt, but only to the first payee of a service.

    Raises:
        UnpaidError: If the service names another payee than until now.
    """
    if quote.moved_from is not None:
        raise UnpaidError(
            f"Until now {quote.url} was paid at {quote.moved_from.pay_to} ({quote.moved_from.network}). It now asks "
            f"for payment to {quote.terms.pay_to} on {quote.terms.dollar.shown}. If its operator confirms this, agree "
            "once at a terminal, without --yes. Nothing was paid."
        )


def check_day(amount: int, spent: int, ceilings: Ceilings) -> None:
    """Check an amount against the limit of the day; all in millionths of a dollar.

    Raises:
        UnpaidError: If it exceeds the limit.
    """
    if spent + amount > ceilings.day:
        raise UnpaidError(
            f"This call costs {usdc_text(amount)}, and {usdc_text(spent)} of {usdc_text(ceilings.day)} for today are "
            "already signed. Wait for 00:00 UTC, or raise the limit with `verdict config set max-day`, or max_day_usdc "
            "in Python. Nothing was paid."
        )


def usdc_text(amount: int) -> str:
    """Write millionths of a dollar: `0.005 USDC`."""
    return f"{usdc(MicroUsd(amount))} USDC"


def _check_clocks(date: str | None, now_ms: int) -> None:
    if date is None:
        return
    try:
        apart_s = now_ms // SECOND_MS - int(parsedate_to_datetime(date).timestamp())
    except (ValueError, TypeError, LookupError, OverflowError):
        raise UnpaidError("The service's Date header is not valid. Nothing was paid.") from None
    if abs(apart_s) > APART_S:
        raise UnpaidError(
            f"The clock of this machine is {abs(apart_s)} s {'ahead of' if apart_s > 0 else 'behind'} the service's. "
            "A signature would be refused, or be valid for too long. Nothing was paid."
        )
