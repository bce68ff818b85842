"""What is answered when there is nothing to say: the upstream's failure, or that we have only just begun."""

from typing import Final, NoReturn

from service.errors import ServiceError, upstream_code
from service.market.observed import Failure

_RETRY_AFTER_S: Final = 5


def nothing_to_say(upstream: str, failure: Failure | None, what: str) -> NoReturn:
    """Refuse to answer, and say why.

    Args:
        upstream: Who should have told (`hyperliquid`).
        failure: How the last attempt to ask it failed; null where it has not been asked yet.
        what: What is missing, for a person (`prices`).

    Raises:
        ServiceError: `UPSTREAM_4XX`, `UPSTREAM_5XX` or `UPSTREAM_UNREACHABLE` with `{upstream, upstreamStatus,
            upstreamBody}` after a failure; else `UNAVAILABLE` with `Retry-After`.
    """
    if failure is None:
        raise ServiceError(
            "UNAVAILABLE",
            f"no recent {what} yet: this service is still fetching; try again in a few seconds "
            "(if this lasts, the clock of the service's machine may be wrong)",
            headers={"Retry-After": str(_RETRY_AFTER_S)},
        )
    raise ServiceError(
        upstream_code(failure.status),
        f"{upstream} has given no {what} for too long",
        details={"upstream": upstream, "upstreamStatus": failure.status, "upstreamBody": failure.body},
    )
