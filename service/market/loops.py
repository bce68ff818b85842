"""A loop that outlives whatever happens in it."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from service.clock import Clock
from service.errors import ServiceError

LONGEST_PAUSE_S: Final = 60.0

_log: Final = logging.getLogger("verdict.market")


async def keep_doing(name: str, step: Callable[[], Awaitable[None]], every_s: float, clock: Clock) -> None:
    """Do something again and again, whatever happens, until cancelled.

    A failure is logged where it is another than the one before, and doubles the pause, up to a minute. So a slow loop
    tries again sooner after a failure than after a success. A pause that an upstream asks for is its session's to keep:
    a step may have somebody else to ask.

    Args:
        name: What it is, for the log.
        step: What to do.
        every_s: Seconds from start to start.
        clock: Where time is waited for.
    """
    failures, logged = 0, ""
    while True:
        started_s, pause_s = clock.monotonic(), every_s
        try:
            await step()
        except ServiceError as error:
            failures += 1
            pause_s = _back_off(every_s, failures)
            level = logging.DEBUG if error.code == logged else logging.WARNING
            logged = error.code
            _log.log(level, "a refresh failed", extra={"loop": name, "code": error.code, "pause_s": pause_s})
        except Exception:  # noqa: BLE001 - a loop outlives every defect; the log has its trace
            failures += 1
            pause_s = _back_off(every_s, failures)
            _log.exception("a refresh is defective", extra={"loop": name, "pause_s": pause_s})
        else:
            failures, logged = 0, ""
        await clock.sleep(max(0.0, started_s + pause_s - clock.monotonic()))


def _back_off(every_s: float, failures: int) -> float:
    return min(every_s * 2.0 ** min(failures - 1, 10), LONGEST_PAUSE_S)
