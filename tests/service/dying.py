"""The service, started like `python -m service`, but it kills itself at a named step of a paid call.

`DIES` is `before` or `after`, a step of the ledger, and whose payment is fatal: `after begin_settlement 0x…`.
"""

import os
import signal
import sys
from typing import Any

from service.payments.ledger import PaymentLedger
from service.payments.records import PaymentRecord


def arm(when: str, step: str, payer: str) -> None:
    honest = getattr(PaymentLedger, step)

    async def armed(ledger: PaymentLedger, record: PaymentRecord, *arguments: Any, **named: Any) -> PaymentRecord:
        fatal = record.payment.payer == payer
        if fatal and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done: PaymentRecord = await honest(ledger, record, *arguments, **named)
        if fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(PaymentLedger, step, armed)


if __name__ == "__main__":
    from service.__main__ import main

    arm(*os.environ["DIES"].split(" "))
    sys.exit(main())
