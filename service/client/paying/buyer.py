"""Buys one answer: reuses the open payment of the same request, or signs a new one below the ceilings.

A payment is signed as `TransferWithAuthorization` of EIP-3009, in the header of x402 version 2.
"""

import json
import logging
import os
import secrets
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import cache
from threading import Event
from typing import Final, NamedTuple, NoReturn

from service.client import config
from service.client.answer import RawAnswer, RefusedError, SentRequest, UnreachableError
from service.client.connection import ApiConnection, RequestParts
from service.client.errors import RefusalError
from service.client.files import state_dir
from service.client.paying.payment_store import SETTLING_S, PaymentStore, StoredPayment
from service.client.paying.receipt import ReceiptClient, receipt_record
from service.client.paying.terms import (
    Ceilings,
    OpenPaymentError,
    PaymentQuote,
    UnpaidError,
    known_payee_only,
    make_quote,
    terms_of,
    usdc_text,
)
from service.client.wallet import KEY, PASSWORD, Wallet, open_wallet
from service.clock import SECOND_MS, Clock, SystemClock, iso
from service.ethereum.typed_data import domain_separator, transfer_digest

Send = Callable[[Mapping[str, str]], RawAnswer]
"""Repeats the refused request with additional header fields."""

HEADER: Final = "PAYMENT-SIGNATURE"
NO_WALLET: Final = f"Set {KEY}, or name a keystore with `verdict config set keystore FILE`."
MAX_PRICE_USDC: Final = config.show_usdc(config.MAX_PRICE_MICRO_USD)
MAX_DAY_USDC: Final = config.show_usdc(config.MAX_DAY_MICRO_USD)

_TRIES: Final = 4
"""Attempts to send a payment before it is left to the next identical request."""

_PAUSE_S: Final = 2
_LONGEST_PAUSE_S: Final = 10
_NONCE_BYTES: Final = 32
_EARLIER_S: Final = 600
"""A payment is valid from so long ago: the chain's clock may be behind. The official clients do the same."""

_PAYMENT_REQUIRED: Final = 402
_CONFLICT: Final = 409
_UNAVAILABLE: Final = 503
_log: Final = logging.getLogger("verdict.client")


class Buyer(NamedTuple):
    """Pays for one user.

    `agree` raises `UnpaidError` if the user does not agree. `open_wallet` is called only to sign; None if there is no
    wallet. `tell` receives a line about each payment; `pause` sleeps for a number of seconds. Nothing is signed once
    `is_cancelled`.
    """

    store: PaymentStore
    ceilings: Ceilings
    agree: Callable[[PaymentQuote], object]
    open_wallet: Callable[[], Wallet] | None
    tell: Callable[[str], object]
    pause: Callable[[float], object]
    clock: Clock
    is_cancelled: Callable[[], bool] = lambda: False

    def ask(self, client: ApiConnection, request: RequestParts) -> RawAnswer:
        """Send a request, and pay for it if it is refused with 402. Raises as `buy` and `ApiConnection.ask`."""

        def send(more: Mapping[str, str]) -> RawAnswer:
            return client.ask(*request._replace(headers={**request.headers, **more}))

        try:
            return send({})
        except RefusedError as refused:
            if refused.status != _PAYMENT_REQUIRED:
                raise
            return self.buy(refused, send, client)

    def buy(self, refused: RefusedError, send: Send, client: ReceiptClient) -> RawAnswer:
        """Pay for a request that was refused with 402 and return its answer. `client` fetches the receipt.

        Raises:
            UnpaidError: If nothing was paid: terms not understood, above a ceiling, no consent, or refused.
            OpenPaymentError: If a payment was sent and its outcome is not known yet.
            RefusedError: If the request with its payment was refused for another reason.
            UnreadableAnswerError: If its answer is not one of this API.
        """
        asked = refused.asked
        if asked is None:
            raise UnpaidError("The request to pay for is not known. Nothing was paid.")
        try:
            self._check_cancelled()
            kept = self.store.find(asked)
            answer = None if kept is None else self._send_old(asked, kept, send, client)
            return answer or self._send_new(asked, self._sign(asked, refused), send, client)
        except UnpaidError as error:
            error.terms = terms_of(refused)
            raise

    def _sign(self, asked: SentRequest, refused: RefusedError) -> StoredPayment:
        before = self.store.payee(asked.url)
        quote = make_quote(asked, refused, self.store.spent_today(), self.ceilings, self.clock.now_ms(), before)
        if self.open_wallet is None:
            price = usdc_text(quote.terms.amount)
            raise UnpaidError(f"{refused} To pay {price} for this call, you need a wallet. {NO_WALLET}")
        self.agree(quote)
        wallet = self.open_wallet()
        return self.store.take(
            asked,
            quote.terms.amount,
            self.ceilings,
            lambda: sign_payment(quote, wallet, self.clock.now_ms(), secrets.token_bytes(_NONCE_BYTES)),
            self._check_cancelled,
        )

    def _check_cancelled(self) -> None:
        if self.is_cancelled():
            raise UnpaidError("The call was cancelled. Nothing was paid.")

    def _send_new(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer:
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status == _PAYMENT_REQUIRED:
                _refuse(kept, error)
            self.tell(f"The payment of {_price(kept)} is stored for the same request, until {_end(kept)}.")
            raise

    def _send_old(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer | None:
        """Send a stored payment again; None if it bought nothing and no longer can."""
        self.tell(f"Sending the payment of {_price(kept)} of {iso(kept.signed_ms)} again. It is not a new one.")
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status not in {_PAYMENT_REQUIRED, _CONFLICT}:
                raise
            if self.store.may_settle(kept):
                _refuse(kept, error)
            self.store.drop(asked, kept)
            if error.status == _CONFLICT:
                raise
        self.tell("That payment bought nothing, and can no longer be used.")
        return None

    def _send(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer:
        """Send a payment until the service answers, and store the receipt."""
        # Open the wallet before anything is sent: if it cannot be opened, nothing has been paid.
        reader = self.open_wallet() if client.token is None and self.open_wallet is not None else None
        tries = 0
        while True:
            tries, pause_s = tries + 1, _PAUSE_S
            try:
                answer = send({HEADER: kept.header})
            except (UnreachableError, RefusedError) as error:
                if isinstance(error, RefusedError):
                    if error.status != _UNAVAILABLE:
                        raise
                    pause_s = _PAUSE_S if error.retry_after_s is None else min(error.retry_after_s, _LONGEST_PAUSE_S)
                if tries == _TRIES:
                    raise OpenPaymentError(
                        f"The outcome of the payment of {_price(kept)} is not known yet: {error} Send the same request "
                        "again. It carries the stored payment, never a second one.",
                        unreachable=isinstance(error, UnreachableError),
                    ) from error
                self.pause(pause_s)
            else:
                self._bought(asked, kept, answer, client, reader)
                return answer

    def _bought(
        self, asked: SentRequest, kept: StoredPayment, answer: RawAnswer, client: ReceiptClient, reader: Wallet | None
    ) -> None:
        if answer.receipt_id is None:
            # The answer was free. The signed amount could still be taken: keep the payment until it cannot.
            self.tell(f"The service took nothing for this answer. The signed {_price(kept)} still count for today.")
            return
        record = receipt_record(client, asked, kept, answer, reader, self.clock.now_ms() // SECOND_MS)
        faults = record["faults"]
        try:
            self.store.finish(asked, kept, record)
        except UnpaidError as error:
            faults = [f"The receipt could not be stored: {error}"]
        paid = f"Paid {_price(kept)} on {kept.network} to {kept.pay_to}. The receipt is {answer.receipt_id}."
        self.tell(" ".join((paid, *faults)))


def sign_payment(quote: PaymentQuote, wallet: Wallet, now_ms: int, nonce: bytes) -> StoredPayment:
    """Sign a payment of exactly these terms. `nonce` is 32 bytes that were never used."""
    terms, dollar, payer = quote.terms, quote.terms.dollar, wallet.address
    after_s, before_s = now_ms // SECOND_MS - _EARLIER_S, now_ms // SECOND_MS + terms.window_s
    nonce_text = f"0x{nonce.hex()}"
    digest = transfer_digest(
        domain_separator(dollar.name, dollar.version, dollar.chain_id, dollar.asset),
        sender=payer, receiver=terms.pay_to, value=terms.amount, valid_after_s=after_s, valid_before_s=before_s,
        nonce=nonce_text,
    )  # fmt: skip
    authorization = {
        "from": payer, "to": terms.pay_to, "value": str(terms.amount), "validAfter": str(after_s),
        "validBefore": str(before_s), "nonce": nonce_text,
    }  # fmt: skip
    payload = {"signature": f"0x{wallet.sign_digest(digest).hex()}", "authorization": authorization}
    header = b64encode(json.dumps({"x402Version": 2, "accepted": terms.row, "payload": payload}).encode()).decode()
    return StoredPayment(
        quote.url, quote.what, terms.amount, dollar.network, terms.pay_to, payer, nonce_text, before_s, now_ms, header
    )


def _refuse(kept: StoredPayment, error: RefusedError) -> NoReturn:
    raise UnpaidError(
        f"The service refused the payment: {error} The payment counts for today all the same. Another payment for this "
        f"request can be signed after {_end(kept)}."
    ) from error


def _price(kept: StoredPayment) -> str:
    return usdc_text(kept.amount)


def _end(kept: StoredPayment) -> str:
    return iso((kept.valid_before_s + SETTLING_S) * SECOND_MS)


def ceilings_of(chosen: config.Config, max_price: int | None) -> Ceilings:
    """The effective ceilings: `max_price` as typed (micro-USD), else configured, else 0.10 USDC a call and 1.00 a day.

    `max_price` may exceed the configured price; the ceiling of the day still holds.
    """
    own = {"call": chosen.max_price_micro_usd if max_price is None else max_price, "day": chosen.max_day_micro_usd}
    return Ceilings(**{name: amount for name, amount in own.items() if amount is not None})


def find_wallet(environment: Mapping[str, str], chosen: config.Config) -> Callable[[], Wallet] | None:
    """A function that opens the wallet: the key in `VERDICT_WALLET_KEY`, else the configured keystore; None without.

    It opens the wallet once, may ask for a password, and raises `RefusalError` on failure.
    """
    keystore = None if environment.get(KEY) else chosen.keystore
    if keystore is None and not environment.get(KEY):
        return None
    return cache(lambda: open_wallet(environment, keystore))


def library_buyer(wallet: Wallet, max_price_usdc: str, max_day_usdc: str) -> Buyer:
    """A buyer for a program: pays below the ceilings (decimal USDC), only to the known payee, and logs what it pays.

    It shares its store with the command line: `$XDG_STATE_HOME/verdict`.

    Raises:
        ValueError: If a ceiling is not an amount.
    """
    ceilings = Ceilings(config.read_usdc(max_price_usdc), config.read_usdc(max_day_usdc))
    clock = SystemClock()
    store = PaymentStore(state_dir(os.environ), clock)
    return Buyer(store, ceilings, known_payee_only, lambda: wallet, _log.info, Event().wait, clock)


def unattended_buyer(
    environment: Mapping[str, str], clock: Clock, tell: Callable[[str], object], pause: Callable[[float], object]
) -> Buyer:
    """A buyer for a process without a terminal: pays below the configured ceilings, only to the known payee.

    Raises:
        RefusalError: If there is no wallet that opens without a prompt.
    """
    chosen = config.read(environment)
    found = find_wallet(environment, chosen)
    if found is None:
        raise RefusalError(f"There is no wallet to pay with. {NO_WALLET}")
    if not environment.get(KEY) and not environment.get(PASSWORD):
        raise RefusalError(f"The password of {chosen.keystore} is missing, and there is no prompt. Set {PASSWORD}.")
    found()
    store = PaymentStore(state_dir(environment), clock)
    return Buyer(store, ceilings_of(chosen, None), known_payee_only, found, tell, pause, clock)
