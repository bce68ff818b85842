"""The service on the bundled recording, its clock standing at the instant for which the banks were written.

The banks name days, such as "October 5". At another instant these would be other days, or none of the recording.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from service.clock import FrozenClock
from service.walkforward.refresh import WalkforwardScheduler
from service.wiring import clocks
from tests.fakes.serving import WHOLE, ended, wait_until
from tests.service.asking import UNBOUNDED, Caller, Still, Whole, wait_for_all

AT_MS: Final = 1_795_437_000_000
"""2026-11-23 12:30 UTC."""


class Dated(Still):
    """A `verdict serve` at that instant."""

    MODULE = "tests.ask.banks.dated"


@contextmanager
def dated_market(data_dir: Path) -> Iterator[Whole]:
    """A service that knows the whole recording."""
    service = Dated(data_dir=str(data_dir), **UNBOUNDED, **WHOLE)
    with ended(service):
        service.wait_for("ready")
        whole = Whole(service, Caller(service.port, service.make_key("--tier", "pro")))
        wait_for_all(whole)
        wait_until(lambda: _is_read(whole))
        yield whole


def _is_read(whole: Whole) -> bool:
    """Whether wallets, shows and the record of past verdicts have been read."""
    wallets, shows = whole.pro.ask("wallets"), whole.pro.ask("transcripts?action=sources")
    read = all(show["status"] != "waiting" for show in shows.body["data"]["sources"])
    blocks = wallets.status == 200 and wallets.body["data"]["meta"]["through_block"] is not None
    return read and blocks and whole.pro.data("signal/BTC")["record"]["backtested"] is not None


if __name__ == "__main__":
    from service.__main__ import main
    from tests.service.still import stay  # it replaces the walk as it is imported, which no test should find

    WalkforwardScheduler.round = stay  # type: ignore[method-assign]
    clocks.SystemClock = partial(FrozenClock, AT_MS)  # type: ignore[assignment, attr-defined]
    sys.exit(main())
