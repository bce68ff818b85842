"""What an operator can do about an upstream that does not serve."""

import re
from http import HTTPStatus
from typing import Final

from service.operator.probes import Probe
from service.upstream.failure import UpstreamError

_BANNED: Final = 418
_GEOBLOCK: Final = re.compile(
    r"restricted location|block access from your country|not available in your (?:country|region)|error code: 1009"
    r"|banned the country or region",
    re.IGNORECASE,
)
"""How Binance, CloudFront and Cloudflare (error 1009) say that a region is refused."""

_OF_STAGE: Final = {
    "dns": "Check the network, the DNS resolver and {setting}.",
    "connect": "Check the network, the firewall and {setting}.",
    "tls": "Check this machine's clock and CA certificates, and {setting}.",
    "decode": "Unknown format: update Verdict, or report this line as a defect.",
}


def is_geoblock(error: UpstreamError) -> bool:
    """Whether an upstream refuses the region that it is asked from."""
    if error.upstream_status == HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS:
        return True
    return error.upstream_status == HTTPStatus.FORBIDDEN and _GEOBLOCK.search(error.body) is not None


def remedy_for(error: UpstreamError, probe: Probe) -> str:
    """Say what to do about a failure.

    Args:
        error: The failure.
        probe: What was asked.
    """
    if is_geoblock(error):
        return f"This region is refused. Run the service in another one, or set {probe.setting} to a mirror there."
    if error.upstream_status in {HTTPStatus.TOO_MANY_REQUESTS, _BANNED}:
        wait = f"{error.retry_after_s:.0f} s" if error.retry_after_s else "a few minutes"
        return f"Too many requests from this address. Wait {wait}; other programs here may use up the limit."
    if error.upstream_status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return f"The upstream refuses this client. Check {probe.setting} and the key, if there is one."
    if error.stage in _OF_STAGE:
        return _OF_STAGE[error.stage].format(setting=probe.setting)
    return f"Wait, and check the upstream's status page; {probe.setting} names its address."
