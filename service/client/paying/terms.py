"""Payment terms of a 402 response, accepted only if every part is understood; and the tokens that can pay.

Sources: x402 specification v2 (`PaymentRequired`, `PaymentRequirements`, scheme `exact` on EVM chains), EIP-3009;
https://developers.circle.com/stablecoins/usdc-contract-addresses, EIP-712 domains as the tokens report them.
"""

import json
import re
from base64 import b64decode
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from service.client.answer import RefusedError
from service.client.errors import VerdictError
from service.ethereum.addresses import read_address
from service.units import MicroUsd, usdc


class UnpaidError(VerdictError):
    """A payment was required and was not made, or was refused; the message says what to do.

    Attributes:
        terms: Price, payee and token that the service asks for; None if they are not understood.
    """

    terms: "Terms | None" = None


class OpenPaymentError(VerdictError):
    """The outcome of a payment is not known yet. It is stored, and the same request sends it again.

    Args:
        message: One line that says what to do.
        unreachable: Whether no answer came at all.
    """

    def __init__(self, message: str, *, unreachable: bool) -> None:
        super().__init__(message)
        self.unreachable = unreachable


class Stablecoin(NamedTuple):
    """USDC on one chain.

    Attributes:
        network: CAIP-2 id of the chain.
        chain_id: EIP-155 number of the chain.
        shown: Its name, for people.
        is_real: Whether it is worth anything.
        asset: Address of the token (EIP-55).
        name: Of the token's signing domain (EIP-712).
        version: Likewise.
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


HEADER: Final = "payment-required"
LONGEST_WINDOW_S: Final = 300
"""Most seconds that a signature is good for, whatever is asked for."""

_VERSION: Final = 2
_SCHEME: Final = "exact"
_METHOD: Final = "eip3009"
_AMOUNT: Final = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)


class Payee(NamedTuple):
    """Who is paid, and where.

    Attributes:
        network: CAIP-2 id of the chain.
        pay_to: An address in EIP-55's form.
    """

    network: str
    pay_to: str


class Terms(NamedTuple):
    """What one call costs.

    Attributes:
        amount: Millionths of a dollar, at least one.
        pay_to: Who is paid: an address in EIP-55's form.
        dollar: What is paid with, and where.
        window_s: How long the signature is to be good for.
        row: The row of `accepts` as it came: it is sent back word for word.
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
        return read_terms(refused.headers.get(HEADER))
    except UnpaidError:
        return None


def read_terms(header: str | None) -> Terms:
    """Read a challenge: the first of its rows that is understood.

    Args:
        header: The value of `PAYMENT-REQUIRED`; None where there is none.

    Raises:
        UnpaidError: If it cannot be read, or no row is understood; then with what is wrong with the first.
    """
    faults = []
    for row in _rows(header):
        try:
            return _understand(row)
        except ValueError as error:
            faults.append(str(error))
    raise UnpaidError(f"the service asks for a payment that cannot be made from here: {faults[0]}; nothing was paid")


def _rows(header: str | None) -> list[object]:
    try:
        challenge = json.loads(b64decode(header or "", validate=True))
    except (ValueError, RecursionError):
        challenge = None
    if isinstance(challenge, dict) and challenge.get("x402Version") == _VERSION:
        rows = challenge.get("accepts")
        if isinstance(rows, list) and rows:
            return rows
    raise UnpaidError(
        "the service wants to be paid and does not say how: its PAYMENT-REQUIRED is not of x402 version 2; "
        "nothing was paid"
    )


def _understand(row: object) -> Terms:
    """Raises `ValueError` with what is not understood, in our words: what came may be anything."""
    if not isinstance(row, dict):
        raise ValueError("what it accepts is no object")  # noqa: TRY004 - all that is wrong with a row is a ValueError
    dollar = _dollar(row)
    extra = row.get("extra")
    if not isinstance(extra, dict) or (extra.get("name"), extra.get("version")) != (dollar.name, dollar.version):
        raise ValueError("the token's signing domain is not the one that its contract has")
    if row.get("scheme") != _SCHEME or extra.get("assetTransferMethod", _METHOD) != _METHOD:
        raise ValueError("the only way of paying that is known here is `exact` by EIP-3009")
    amount = row.get("amount")
    if not isinstance(amount, str) or not _AMOUNT.fullmatch(amount):
        raise ValueError("the amount is not a whole number of millionths, at least one")
    return Terms(int(amount), _payee(row), dollar, _window_s(row), row)


def _dollar(row: Mapping[str, object]) -> Stablecoin:
    network, asset = row.get("network"), row.get("asset")
    dollar = STABLECOINS.get(network) if isinstance(network, str) else None
    if dollar is None:
        raise ValueError(f"the network is none of {', '.join(STABLECOINS)}")
    if not isinstance(asset, str) or asset.lower() != dollar.asset.lower():
        raise ValueError(f"the asset is not USDC on {dollar.network} ({dollar.asset})")
    return dollar


def _payee(row: Mapping[str, object]) -> str:
    pay_to = row.get("payTo")
    try:
        return read_address(pay_to if isinstance(pay_to, str) else "")
    except ValueError:
        raise ValueError("the payee is no address, or one with a wrong character") from None


def _window_s(row: Mapping[str, object]) -> int:
    timeout_s = row.get("maxTimeoutSeconds")
    if type(timeout_s) is not int or timeout_s < 1:
        raise ValueError("the time that it leaves for paying is no number of seconds")
    return min(timeout_s, LONGEST_WINDOW_S)
