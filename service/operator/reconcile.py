"""`verdict payments reconcile`: ask now how open payments ended, instead of waiting until the service asks again."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Final

from service.access.ledger import void_paid
from service.access.meter import open_meter
from service.clients.cli.refusal import DONE, FAILED, RefusalError
from service.operator.folder import Folder, run_in_folder
from service.operator.output import print_json, print_table
from service.payments.listing import read_open
from service.payments.payment import Entry
from service.payments.room import Payments, open_payments

_WORTH_ASKING: Final = frozenset({"settling", "failed"})
"""A failed payment may have been submitted by somebody else since; then the chain says so."""


def reconcile(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Ask about open payments: exit code 0 where the end of each is known now, 1 where one stays open.

    The service may run meanwhile: a settlement that both ask for is recorded once.

    Raises:
        RefusalError: If there is no payment of that id.
    """
    entries = run_in_folder(environment, lambda folder: _ask(folder, arguments.payment))
    if arguments.json:
        print_json({"payments": [_plain(entry) for entry in entries]})
    else:
        rows = [[entry.receipt_id, entry.state, entry.transaction or entry.reason] for entry in entries]
        print_table(
            ["ID", "STATE", "TRANSACTION OR REASON"],
            rows,
            nothing="Nothing is open: of every payment it is known how it ended.",
            whole={"ID", "STATE"},
        )
    still_open = sum(entry.state == "settling" for entry in entries)
    if still_open:
        sys.stderr.write(f"{still_open} still open: the service goes on asking; nothing is charged twice\n")
    return FAILED if still_open else DONE


async def _ask(folder: Folder, receipt_id: str | None) -> Sequence[Entry]:
    async with _open(folder) as payments:

        async def ask(wanted: str) -> Entry:
            entry = await payments.ledger.find(wanted)
            if entry is None:
                raise RefusalError(f"there is no payment {wanted}; `verdict payments list` shows all")
            return await payments.cashier.resolve(entry) if entry.state in _WORTH_ASKING else entry

        if receipt_id is not None:
            return [await ask(receipt_id)]
        found = await folder.database.inspect(read_open)
        return await asyncio.gather(*(ask(wanted) for wanted, _ in found))


@asynccontextmanager
async def _open(folder: Folder) -> AsyncIterator[Payments]:
    settings, database, clock = folder.settings, folder.database, folder.clock
    async with (
        open_meter(database, clock) as meter,
        # Who leads goes round by itself; this is one who asks once.
        open_payments(
            settings, database, clock, meter.enter_paid, meter.run_id, lambda: False, void=void_paid
        ) as payments,
    ):
        yield payments


def _plain(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.receipt_id,
        "state": entry.state,
        "transaction": entry.transaction,
        "reason": entry.reason,
    }
