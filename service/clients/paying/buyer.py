"""Buys one answer: with the payment that is out for it already, or with a new one below the ceilings."""

import secrets
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, NoReturn

from service.clients.paying.authorization import HEADER, Wallet, authorize
from service.clients.paying.bill import Bill, Ceilings, dollars, draw
from service.clients.paying.drawer import SETTLING_S, Drawer, Kept
from service.clients.paying.receipt import Asks, keep_receipt, prove, receipt_id
from service.clients.paying.refusal import OpenPaymentError, UnpaidError
from service.clients.sdk.answer import Answer, Asked, RefusedError, UnreachableError
from service.clients.signin.wallet import KEY
from service.clock import SECOND_MS, Clock, iso

Send = Callable[[Mapping[str, str]], Answer]
"""Sends the request that was refused once more, with these header fields beside its own."""

NO_WALLET: Final = f"set {KEY}, or name a wallet's file with `verdict config set keystore FILE`"

TRIES: Final = 4
"""How often a payment is sent before it is left to the next identical request."""

LONGEST_PAUSE_S: Final = 10

_PAUSE_S: Final = 2
_PAUSE_DIGITS: Final = 9
_NONCE_BYTES: Final = 32
_NOT_GOOD: Final = 402
_USED: Final = 409
_UNAVAILABLE: Final = 503
_NOT_TAKEN: Final = frozenset({_NOT_GOOD, _USED})


class Buyer(NamedTuple):
    """Pays for one user.

    Attributes:
        drawer: What is kept about it.
        ceilings: Which hold.
        agree: Raises `UnpaidError` where whoever pays does not want to.
        open_wallet: Gives the wallet; called when something is to be signed, and not before. None where there is none.
        tell: Takes a line about what was done with the money.
        pause: Waits so many seconds.
        clock: Time.
    """

    drawer: Drawer
    ceilings: Ceilings
    agree: Callable[[Bill], object]
    open_wallet: Callable[[], Wallet] | None
    tell: Callable[[str], object]
    pause: Callable[[float], object]
    clock: Clock

    def buy(self, refused: RefusedError, send: Send, client: Asks) -> Answer:
        """Pay for a request that was refused with 402, and give its answer.

        Args:
            refused: The 402.
            send: Sends the same request again.
            client: Fetches the receipt, as the same caller.

        Raises:
            UnpaidError: If nothing was paid: not understood, above a ceiling, not wanted, or refused.
            OpenPaymentError: If a payment is out and nobody can say yet what becomes of it.
            RefusedError: If the request with its payment was refused for another reason.
            UnreadableError: If its answer is none of this interface.
        """
        asked = refused.asked
        if asked is None:
            raise UnpaidError("it is not known which request is to be paid for; nothing was paid")
        kept = self.drawer.find(asked)
        answer = None if kept is None else self._send_old(asked, kept, send, client)
        return answer or self._send_new(asked, self._sign(asked, refused), send, client)

    def _sign(self, asked: Asked, refused: RefusedError) -> Kept:
        before = self.drawer.payee(asked.url)
        bill = draw(asked, refused, self.drawer.spent_today(), self.ceilings, self.clock.now_ms(), before)
        if self.open_wallet is None:
            raise UnpaidError(f"{refused.message}; to pay {dollars(bill.terms.amount)} for it, {NO_WALLET}")
        self.agree(bill)
        wallet, terms = self.open_wallet(), bill.terms

        def sign() -> Kept:
            now_ms = self.clock.now_ms()
            signed = authorize(terms, wallet, now_ms // SECOND_MS, secrets.token_bytes(_NONCE_BYTES))
            return Kept(
                asked.url, bill.what, terms.amount, terms.dollar.network, terms.pay_to, signed.payer, signed.nonce,
                signed.valid_before_s, now_ms, signed.header,
            )  # fmt: skip

        return self.drawer.take(asked, terms.amount, self.ceilings, sign)

    def _send_new(self, asked: Asked, kept: Kept, send: Send, client: Asks) -> Answer:
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status == _NOT_GOOD:
                _refuse(kept, error)
            self.tell(f"the payment of {dollars(kept.amount)} is kept for the same request, until {_end(kept)}")
            raise

    def _send_old(self, asked: Asked, kept: Kept, send: Send, client: Asks) -> Answer | None:
        """Send a payment that is out already; None where it has bought nothing, and cannot any more."""
        self.tell(f"sending the payment of {dollars(kept.amount)} of {iso(kept.signed_ms)} again, not a new one")
        try:
            return self._send(asked, kept, send, client)
        except RefusedError as error:
            if error.status not in _NOT_TAKEN:
                raise
            if self.drawer.may_settle(kept):
                _refuse(kept, error)
            if error.status == _USED:
                self.drawer.drop(asked, kept)
                raise
        self.drawer.drop(asked, kept)
        self.tell("it has bought nothing, and cannot any more")
        return None

    def _send(self, asked: Asked, kept: Kept, send: Send, client: Asks) -> Answer:
        """Send a payment until something is said about it, and keep the receipt."""
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
                self._wait(left, kept, error, _pause_s(error))
            else:
                self._bought(asked, kept, answer, client, reader)
                return answer

    def _wait(self, left: int, kept: Kept, error: RefusedError | UnreachableError, pause_s: float) -> None:
        if left == 0:
            raise OpenPaymentError(
                f"nobody can say yet what becomes of the payment of {dollars(kept.amount)} ({error}); it is kept: "
                "run the same command again, and the same payment is sent, never a second one",
                unreachable=isinstance(error, UnreachableError),
            ) from error
        self.pause(pause_s)

    def _bought(self, asked: Asked, kept: Kept, answer: Answer, client: Asks, reader: Wallet | None) -> None:
        name = receipt_id(answer)
        if name is None:
            # Some answers cost nothing. What was signed could be taken all the same: it stays until it cannot.
            self.tell(f"the service took nothing for this answer; {dollars(kept.amount)} count for today all the same")
            return
        proof = {} if reader is None else prove(reader, name, self.clock.now_ms() // SECOND_MS)
        try:
            faults = keep_receipt(self.drawer, client, asked, kept, answer, proof)
        except UnpaidError as error:
            faults = [f"it could not be kept ({error})"]
        paid = f"paid {dollars(kept.amount)} on {kept.network} to {kept.pay_to}; receipt {name}"
        self.tell("; ".join((paid, *faults)))


def _refuse(kept: Kept, error: RefusedError) -> NoReturn:
    raise UnpaidError(
        f"the service refused the payment ({error.message}); it counts for today all the same, "
        f"and another for this request can be signed after {_end(kept)}"
    ) from error


def _end(kept: Kept) -> str:
    return iso((kept.valid_before_s + SETTLING_S) * SECOND_MS)


def _pause_s(error: RefusedError) -> float:
    told = error.headers.get("retry-after", "")
    known = told.isascii() and told.isdigit() and len(told) <= _PAUSE_DIGITS
    return min(int(told), LONGEST_PAUSE_S) if known else _PAUSE_S
