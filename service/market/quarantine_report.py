"""Writing down what a quarantine holds back, for the other processes, the metrics and `verdict doctor`."""

from service.clock import MINUTE_MS
from service.market.quarantine import Report
from service.market.shelf import Drawer


async def publish(drawer: Drawer[Report], report: Report, origin: str, now_ms: int) -> None:
    """Write down what is held back when that changes, and how often values were once a minute.

    Args:
        drawer: Where it is kept.
        report: What is held back now.
        origin: The history that the values belong to.
        now_ms: Epoch milliseconds.

    Raises:
        ServiceError: `UNAVAILABLE` if the store cannot be written.
    """
    kept = drawer.now
    is_old = kept.observed_ms is None or now_ms - kept.observed_ms >= MINUTE_MS
    if kept.value is None or kept.value.now != report.now or (is_old and kept.value.counts != report.counts):
        await drawer.put(origin, report, now_ms)
