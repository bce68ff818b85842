"""Pays for a command: asks whoever sits at the terminal, or takes `--yes` for it, and sends the request again.

What it says goes to stderr; stdout is the command's.
"""

import argparse
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from service.clients.cli.refusal import UNAVAILABLE, UNPAID, UNREACHABLE, RefusalError
from service.clients.cli.screen import safe
from service.clients.cli.terminal import is_terminal
from service.clients.paying.bill import Bill, dollars, known_payee_only
from service.clients.paying.buyer import Buyer, Send
from service.clients.paying.drawer import Drawer
from service.clients.paying.opening import ceilings_of, find_wallet
from service.clients.paying.refusal import OpenPaymentError, UnpaidError
from service.clients.profile import config
from service.clients.profile.caller import open_client
from service.clients.profile.folders import state_dir
from service.clients.sdk.answer import Answer, RefusedError
from service.clock import SystemClock

_YES: Final = frozenset({"y", "yes"})
_LONGEST_REPLY: Final = 100


def settle(refused: RefusedError, send: Send, arguments: argparse.Namespace, environment: Mapping[str, str]) -> Answer:
    """Pay for a request that was refused with 402, if that is wanted and below the ceilings.

    Args:
        refused: The 402.
        send: Sends the same request again with these header fields beside its own, and gives its whole answer.
        arguments: With `yes` and `max_price` of `PAYING`, and `url`.
        environment: Of the process.

    Raises:
        RefusalError: If nothing was paid (`UNPAID`), or nobody can say yet what becomes of the payment (`UNAVAILABLE`,
            `UNREACHABLE`).
        RefusedError: If the request with its payment was refused for another reason.
    """
    chosen, clock = config.read(environment), SystemClock()
    buyer = Buyer(
        drawer=Drawer(state_dir(environment), clock),
        ceilings=ceilings_of(chosen, arguments.max_price),
        agree=_agreement(refused, wanted=arguments.yes),
        open_wallet=find_wallet(environment, chosen),
        tell=_tell,
        pause=threading.Event().wait,
        clock=clock,
    )
    try:
        return buyer.buy(refused, send, open_client(arguments, environment))
    except UnpaidError as error:
        # What was refused with a payment could be taken all the same: how to pay is not offered to programs again then.
        raise RefusalError(str(error), UNPAID) from (error if isinstance(error.__cause__, RefusedError) else refused)
    except OpenPaymentError as error:
        raise RefusalError(str(error), UNREACHABLE if error.unreachable else UNAVAILABLE) from refused


def _agreement(refused: RefusedError, *, wanted: bool) -> Callable[[Bill], None]:
    def agree(bill: Bill) -> None:
        if wanted:
            known_payee_only(bill)
            return
        if not (is_terminal(sys.stdin) and is_terminal(sys.stderr)):
            raise UnpaidError(f"{refused.message}; with --yes, {dollars(bill.terms.amount)} are paid for it unasked")
        if not _asked(bill):
            raise UnpaidError("nothing was paid")

    return agree


def _asked(bill: Bill) -> bool:
    terms, ceiling = bill.terms, dollars(bill.ceilings.day)
    shown = (
        ("This call costs", dollars(terms.amount)),
        ("for", f"{bill.what} at {bill.url}"),
        ("to", terms.pay_to),
        ("on", terms.dollar.shown),
        *_moved(bill),
        ("today", f"{dollars(bill.spent)} of {ceiling} signed for"),
    )
    sys.stderr.writelines(f"{name:>15}  {safe(text)}\n" for name, text in shown)
    sys.stderr.write("Pay? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline(_LONGEST_REPLY).strip().lower() in _YES


def _moved(bill: Bill) -> Iterator[tuple[str, str]]:
    if bill.moved_from is not None:
        yield "NOT AS BEFORE", f"until now it was paid at {bill.moved_from.pay_to} ({bill.moved_from.network})"


def _tell(line: str) -> None:
    sys.stderr.write(f"{safe(line)}\n")
