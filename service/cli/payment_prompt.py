"""Pays for a command after the user agrees at the terminal or with `--yes`; messages go to stderr."""

import sys
import threading
from collections.abc import Callable, Mapping

from service.cli.terminal import agrees, can_ask, safe, tell
from service.client import config
from service.client.answer import RawAnswer, RefusedError
from service.client.caller import open_client
from service.client.errors import UNAVAILABLE, UNPAID, UNREACHABLE, RefusalError
from service.client.files import state_dir
from service.client.paying.buyer import Buyer, Send, ceilings_of, find_wallet
from service.client.paying.payment_store import PaymentStore
from service.client.paying.terms import OpenPaymentError, PaymentQuote, UnpaidError, known_payee_only, usdc_text
from service.clock import SystemClock


def pay(
    refused: RefusedError,
    send: Send,
    environment: Mapping[str, str],
    *,
    url: str | None,
    yes: bool,
    max_price: int | None,
) -> RawAnswer:
    """Pay for a request that was refused with 402, if the user agrees and the ceilings allow it.

    Args:
        refused: The 402.
        send: Repeats the request with additional header fields and returns the answer.
        environment: Of the process.
        url: The text of `--url`.
        yes: Whether to pay without asking.
        max_price: Most that the call may cost, micro-USD; None for what is configured.

    Raises:
        RefusalError: If nothing was paid (`UNPAID`), or the outcome is not known yet (`UNAVAILABLE`, `UNREACHABLE`).
        RefusedError: If the request with its payment was refused for another reason.
    """
    chosen, clock = config.read(environment), SystemClock()
    buyer = Buyer(
        store=PaymentStore(state_dir(environment), clock),
        ceilings=ceilings_of(chosen, max_price),
        agree=_agreement(refused, wanted=yes),
        open_wallet=find_wallet(environment, chosen),
        tell=tell,
        pause=threading.Event().wait,
        clock=clock,
    )
    try:
        return buyer.buy(refused, send, open_client(url, environment))
    except UnpaidError as error:
        # A refused payment may still settle. In this case the terms of payment are not shown to programs again.
        raise RefusalError(str(error), UNPAID) from (error if isinstance(error.__cause__, RefusedError) else refused)
    except OpenPaymentError as error:
        raise RefusalError(str(error), UNREACHABLE if error.unreachable else UNAVAILABLE) from refused


def _agreement(refused: RefusedError, *, wanted: bool) -> Callable[[PaymentQuote], None]:
    def agree(quote: PaymentQuote) -> None:
        if wanted:
            known_payee_only(quote)
            return
        if not can_ask():
            raise UnpaidError(f"{refused} Use --yes to pay {usdc_text(quote.terms.amount)} for it without a prompt.")
        if not _asked(quote):
            raise UnpaidError("Nothing was paid.")

    return agree


def _asked(quote: PaymentQuote) -> bool:
    terms, before, ceiling = quote.terms, quote.moved_from, usdc_text(quote.ceilings.day)
    shown = (
        ("This call costs", usdc_text(terms.amount)),
        ("for", f"{quote.what} at {quote.url}"),
        ("to", terms.pay_to),
        ("on", terms.dollar.shown),
        *([("NOT AS BEFORE", f"until now it was paid at {before.pay_to} ({before.network})")] if before else []),
        ("today", f"{usdc_text(quote.spent)} of {ceiling} signed for"),
    )
    sys.stderr.writelines(f"{name:>15}  {safe(text)}\n" for name, text in shown)
    return agrees("Pay?")
