"""Errors for data that is not available: the upstream failed, or loading has only begun."""

import math
from typing import Final, NoReturn

from service.errors import ServiceError, upstream_code
from service.market.loading import LEAST_WAIT_S, LoadProgress
from service.storage.documents import FetchFailure

_RETRY_AFTER_S: Final = 5
_CONFIRM_AFTER_S: Final = 15


def raise_unavailable(
    upstream: str, failure: FetchFailure | None, what: str, progress: LoadProgress | None = None
) -> NoReturn:
    """Raise the error that explains why there is no data.

    Args:
        upstream: Name of the source (`hyperliquid`).
        failure: The last failed request; null if none was made yet.
        what: The missing data, for the message (`prices`).
        progress: How far the required data is loaded, if known.

    Raises:
        ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UPSTREAM_UNREACHABLE` with `{upstream, upstreamStatus,
            upstreamBody}` after a failure; otherwise `UNAVAILABLE` with `Retry-After`.
    """
    if failure is None:
        raise_still_loading(what, progress)
    raise ServiceError(
        upstream_code(failure.status),
        f"No {what} from {upstream} for too long: its last request failed. Retry later.",
        details={"upstream": upstream, "upstreamStatus": failure.status, "upstreamBody": failure.body},
    )


def raise_still_loading(what: str, progress: LoadProgress | None) -> NoReturn:
    """Raise the error for data that is still loading.

    Args:
        what: The missing data, for the message (`prices`).
        progress: How far the required data is loaded; null if unknown.

    Raises:
        ServiceError: `UNAVAILABLE` with the progress in its message and an estimated `Retry-After` in whole seconds.
    """
    remaining_s = None if progress is None else progress.remaining_s
    wait_s = _RETRY_AFTER_S if remaining_s is None else max(LEAST_WAIT_S, math.ceil(remaining_s))
    loaded = "history" if progress is not None and progress.of == "coins" else "data"
    detail = "" if progress is None else f" ({progress})"
    verb = "are" if what.partition(" of ")[0].endswith("s") else "is"
    raise ServiceError(
        "UNAVAILABLE",
        f"{what[0].upper()}{what[1:]} {verb} not available yet: {loaded} is loading{detail}. Retry in {wait_s} s.",
        headers={"Retry-After": str(wait_s)},
    )


def raise_unconfirmed(upstream: str, symbol: str) -> NoReturn:
    """Raise the error for a coin or asset without any value that passed the plausibility check.

    Args:
        upstream: Source of the values.
        symbol: Ticker.

    Raises:
        ServiceError: `UNAVAILABLE` with `Retry-After`.
    """
    raise ServiceError(
        "UNAVAILABLE",
        f"The price of {symbol} is not confirmed yet: no recent value from {upstream} passed the plausibility check. "
        f"Retry in {_CONFIRM_AFTER_S} s.",
        headers={"Retry-After": str(_CONFIRM_AFTER_S)},
    )
