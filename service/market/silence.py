"""What is answered when there is nothing to say: the upstream's failure, or that we have only just begun."""

import math
from typing import Final, NoReturn

from service.errors import ServiceError, upstream_code
from service.market.filling import LEAST_WAIT_S, Filling
from service.market.observed import Failure

_RETRY_AFTER_S: Final = 5
_CONFIRM_AFTER_S: Final = 15


def nothing_to_say(upstream: str, failure: Failure | None, what: str, filling: Filling | None = None) -> NoReturn:
    """Refuse to answer, and say why.

    Args:
        upstream: Who should have told (`hyperliquid`).
        failure: How the last attempt to ask it failed; null where it has not been asked yet.
        what: What is missing, for a person (`prices`).
        filling: How far the data that it needs is loaded, where that is known.

    Raises:
        ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UPSTREAM_UNREACHABLE` with `{upstream, upstreamStatus,
            upstreamBody}` after a failure; else `UNAVAILABLE` with `Retry-After`.
    """
    if failure is None:
        refuse_until_loaded(what, filling)
    raise ServiceError(
        upstream_code(failure.status),
        f"{upstream} has given no {what} for too long",
        details={"upstream": upstream, "upstreamStatus": failure.status, "upstreamBody": failure.body},
    )


def refuse_until_loaded(what: str, filling: Filling | None) -> NoReturn:
    """Refuse to answer from data that is still being loaded.

    Args:
        what: What is missing, for a person (`prices`).
        filling: How far the data that it needs is loaded; null where that is not known.

    Raises:
        ServiceError: `UNAVAILABLE` with the progress in its message, and `Retry-After` (whole seconds, an estimate).
    """
    remaining_s = None if filling is None else filling.remaining_s
    wait_s = _RETRY_AFTER_S if remaining_s is None else max(LEAST_WAIT_S, math.ceil(remaining_s))
    loaded = "history" if filling is not None and filling.of == "coins" else "data"
    progress = "" if filling is None else f" ({filling})"
    verb = "are" if what.partition(" of ")[0].endswith("s") else "is"
    raise ServiceError(
        "UNAVAILABLE",
        f"{what[0].upper()}{what[1:]} {verb} not available yet: {loaded} is loading{progress}. Retry in {wait_s} s.",
        headers={"Retry-After": str(wait_s)},
    )


def refuse_until_confirmed(upstream: str, symbol: str) -> NoReturn:
    """Refuse to answer of what has no value that passed the plausibility check yet.

    Args:
        upstream: Who gave the values.
        symbol: What they are of.

    Raises:
        ServiceError: `UNAVAILABLE` with `Retry-After`.
    """
    raise ServiceError(
        "UNAVAILABLE",
        f"The price of {symbol} is not confirmed yet: no recent value of {upstream} has passed the check. "
        f"Retry in {_CONFIRM_AFTER_S} s.",
        headers={"Retry-After": str(_CONFIRM_AFTER_S)},
    )
