"""Buys one answer: reuses the open payment of the same request, or signs a new one below the ceilings."""

import logging
import os
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from threading import Event
from typing import Final, NamedTuple, NoReturn

from service.client import config
from service.client.answer import RawAnswer, RefusedError, SentRequest, UnreachableError
from service.client.connection import ApiConnection, RequestParts
from service.client.errors import RefusalError
from service.client.files import state_dir
from service.client.paying.authorization import HEADER, authorize
from service.client.paying.payment_quote import Ceilings, PaymentQuote, known_payee_only, make_quote, usdc_text
from service.client.paying.payment_store import SETTLING_S, PaymentStore, StoredPayment
from service.client.paying.receipt import ReceiptClient, keep_receipt, prove
from service.client.paying.terms import OpenPaymentError, UnpaidError, terms_of
from service.client.wallet import KEY, PASSWORD, Wallet, open_wallet
from service.clock import SECOND_MS, Clock, SystemClock, iso

Send = Callable[[Mapping[str, str]], RawAnswer]
"""Repeats the refused request with additional header fields."""

NO_WALLET: Final = f"set {KEY}, or name a wallet's file with `verdict config set keystore FILE`"

MAX_PRICE_USDC: Final = config.show_usdc(config.MAX_PRICE_MICRO_USD)
MAX_DAY_USDC: Final = config.show_usdc(config.MAX_DAY_MICRO_USD)

TRIES: Final = 4
"""Attempts to send a payment before it is left to the next identical request."""

LONGEST_PAUSE_S: Final = 10

_PAUSE_S: Final = 2
_NONCE_BYTES: Final = 32
_NOT_GOOD: Final = 402
_USED: Final = 409
_UNAVAILABLE: Final = 503
_NOT_TAKEN: Final = frozenset({_NOT_GOOD, _USED})
_log: Final = logging.getLogger("verdict.client")


class Buyer(NamedTuple):
    """Pays for one user.

    Attributes:
        store: Stored payments.
        ceilings: Limits per call and day.
        agree: Raises `UnpaidError` if the user does not agree.
        open_wallet: Opens the wallet, only to sign; None if there is no wallet.
        tell: Receives a line about each payment.
        pause: Sleeps for a number of seconds.
        clock: Time.
    """

    store: PaymentStore
    ceilings: Ceilings
    agree: Callable[[PaymentQuote], object]
    open_wallet: Callable[[], Wallet] | None
    tell: Callable[[str], object]
    pause: Callable[[float], object]
    clock: Clock

    def ask(self, client: ApiConnection, request: RequestParts) -> RawAnswer:
        """Send a request, and pay for it if it is refused with 402.

        Raises:
            VerdictError: As `buy` and `ApiConnection.ask`.
        """

        def send(more: Mapping[str, str]) -> RawAnswer:
            return client.ask(*request._replace(headers={**request.headers, **more}))

        try:
            return send({})
        except RefusedError as refused:
            if refused.status != _NOT_GOOD:
                raise
            return self.buy(refused, send, client)

    def buy(self, refused: RefusedError, send: Send, client: ReceiptClient) -> RawAnswer:
        """Pay for a request that was refused with 402 and return its answer.

        Args:
            refused: The 402.
            send: Repeats the request.
            client: Fetches the receipt, as the same caller.

        Raises:
            UnpaidError: If nothing was paid: terms not understood, above a ceiling, no consent, or refused.
            OpenPaymentError: If a payment was sent and its outcome is not known yet.
            RefusedError: If the request with its payment was refused for another reason.
            UnreadableAnswerError: If its answer is not one of this API.
        """
        asked = refused.asked
        if asked is None:
            raise UnpaidError("it is not known which request is to be paid for; nothing was paid")
        try:
            kept = self.store.find(asked)
            answer = None if kept is None else self._send_old(asked, kept, send, client)
            return answer or self._send_new(asked, self._sign(asked, refused), send, client)
        except UnpaidError as error:
            error.terms = terms_of(refused)
            raise

    def _sign(self, asked: SentRequest, refused: RefusedError) -> StoredPayment:
        before = self.store.payee(asked.url)
        bill = make_quote(asked, refused, self.store.spent_today(), self.ceilings, self.clock.now_ms(), before)
        if self.open_wallet is None:
            raise UnpaidError(f"{refused.message}; to pay {usdc_text(bill.terms.amount)} for it, {NO_WALLET}")
        self.agree(bill)
        wallet, terms = self.open_wallet(), bill.terms

        def sign() -> StoredPayment:
            now_ms = self.clock.now_ms()
            signed = authorize(terms, wallet, now_ms // SECOND_MS, secrets.token_bytes(_NONCE_BYTES))
            return StoredPayment(
                asked.url, bill.what, terms.amount, terms.dollar.network, terms.pay_to, signed.payer, signed.nonce,
                signed.valid_before_s, now_ms, signed.header,
            )  # fmt: skip

        return self.store.take(asked, terms.amount, self.ceilings, sign)

    def _send_new(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer:
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status == _NOT_GOOD:
                _refuse(kept, error)
            self.tell(f"the payment of {usdc_text(kept.amount)} is kept for the same request, until {_end(kept)}")
            raise

    def _send_old(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer | None:
        """Send a stored payment again; None if it bought nothing and no longer can."""
        self.tell(f"sending the payment of {usdc_text(kept.amount)} of {iso(kept.signed_ms)} again, not a new one")
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status not in _NOT_TAKEN:
                raise
            if self.store.may_settle(kept):
                _refuse(kept, error)
            if error.status == _USED:
                self.store.drop(asked, kept)
                raise
        self.store.drop(asked, kept)
        self.tell("it has bought nothing, and cannot any more")
        return None

    def _send(self, asked: SentRequest, kept: StoredPayment, send: Send, client: ReceiptClient) -> RawAnswer:
        """Send a payment until the service answers, and store the receipt."""
        # Open the wallet before anything is sent: if it cannot be opened, nothing has been paid.
        reader = self.open_wallet() if client.token is None and self.open_wallet is not None else None
        left = TRIES
        while True:
            left -= 1
            try:
                answer = send({HEADER: kept.header})
            except UnreachableError as error:
                self._wait(left, kept, error, _PAUSE_S)
            except RefusedError as error:
                if error.status != _UNAVAILABLE:
                    raise
                wait_s = _PAUSE_S if error.retry_after_s is None else min(error.retry_after_s, LONGEST_PAUSE_S)
                self._wait(left, kept, error, wait_s)
            else:
                self._bought(asked, kept, answer, client, reader)
                return answer

    def _wait(self, left: int, kept: StoredPayment, error: RefusedError | UnreachableError, pause_s: float) -> None:
        if left == 0:
            raise OpenPaymentError(
                f"the outcome of the payment of {usdc_text(kept.amount)} is not known yet ({error}); send the same "
                "request again: it carries the stored payment, never a second one",
                unreachable=isinstance(error, UnreachableError),
            ) from error
        self.pause(pause_s)

    def _bought(
        self, asked: SentRequest, kept: StoredPayment, answer: RawAnswer, client: ReceiptClient, reader: Wallet | None
    ) -> None:
        name = answer.receipt_id
        if name is None:
            # The answer was free. The signed amount could still be taken: keep the payment until it cannot.
            self.tell(f"the service took nothing for this answer; {usdc_text(kept.amount)} still count for today")
            return
        proof = {} if reader is None else prove(reader, name, self.clock.now_ms() // SECOND_MS)
        try:
            faults = keep_receipt(self.store, client, asked, kept, answer, proof)
        except UnpaidError as error:
            faults = [f"it could not be kept ({error})"]
        paid = f"paid {usdc_text(kept.amount)} on {kept.network} to {kept.pay_to}; receipt {name}"
        self.tell("; ".join((paid, *faults)))


def _refuse(kept: StoredPayment, error: RefusedError) -> NoReturn:
    raise UnpaidError(
        f"the service refused the payment ({error.message}); it counts for today all the same, "
        f"and another for this request can be signed after {_end(kept)}"
    ) from error


def _end(kept: StoredPayment) -> str:
    return iso((kept.valid_before_s + SETTLING_S) * SECOND_MS)


def ceilings_of(chosen: config.Config, max_price: int | None) -> Ceilings:
    """The effective ceilings: typed, else configured, else 0.10 USDC per call and 1.00 per day.

    Args:
        chosen: The configuration.
        max_price: Most that this call may cost, millionths of a USDC, if that was typed; it may be more than what is
            configured. The day's ceiling holds all the same.
    """
    usual = Ceilings()
    call = usual.call if chosen.max_price_micro_usd is None else chosen.max_price_micro_usd
    day = usual.day if chosen.max_day_micro_usd is None else chosen.max_day_micro_usd
    return Ceilings(call if max_price is None else max_price, day)


def find_wallet(environment: Mapping[str, str], chosen: config.Config) -> Callable[[], Wallet] | None:
    """A function that opens the wallet: the key in `VERDICT_WALLET_KEY`, else the configured keystore.

    Returns:
        Opens it once, may ask for a password, raises `RefusalError` on failure. None if no wallet is configured.
    """
    keystore = None if environment.get(KEY) else chosen.keystore
    if keystore is None and not environment.get(KEY):
        return None
    return cache(lambda: open_wallet(environment, keystore))


def library_buyer(wallet: Wallet, max_price_usdc: str, max_day_usdc: str) -> Buyer:
    """A buyer for a program: pays below the ceilings, only to the known payee, and logs what it pays.

    It shares its store with the command line: `$XDG_STATE_HOME/verdict`.

    Args:
        wallet: Whose money it is.
        max_price_usdc: Most that one call may cost, decimal USDC.
        max_day_usdc: Most that is signed for in a UTC day.

    Raises:
        ValueError: If a ceiling is not an amount.
    """
    clock = SystemClock()
    return Buyer(
        store=PaymentStore(state_dir(os.environ), clock),
        ceilings=Ceilings(config.read_usdc(max_price_usdc), config.read_usdc(max_day_usdc)),
        agree=known_payee_only,
        open_wallet=lambda: wallet,
        tell=_log.info,
        pause=Event().wait,
        clock=clock,
    )


def unattended_buyer(
    environment: Mapping[str, str], clock: Clock, tell: Callable[[str], object], pause: Callable[[float], object]
) -> Buyer:
    """A buyer without prompts: pays below the ceilings, only to the known payee.

    Its wallet is opened once, at the start.

    Args:
        environment: Of the process.
        clock: Time.
        tell: As `Buyer` has it.
        pause: As `Buyer` has it.

    Raises:
        RefusalError: If there is no wallet that opens without a prompt.
    """
    chosen = config.read(environment)
    found = find_wallet(environment, chosen)
    if found is None:
        raise RefusalError(f"there is no wallet to pay with: {NO_WALLET}")
    if not environment.get(KEY) and not environment.get(PASSWORD):
        raise RefusalError(f"nobody can be asked for the password of {chosen.keystore}: set {PASSWORD}")
    found()
    return Buyer(
        store=PaymentStore(state_dir(environment), clock),
        ceilings=ceilings_of(chosen, None),
        agree=known_payee_only,
        open_wallet=found,
        tell=tell,
        pause=pause,
        clock=clock,
    )
