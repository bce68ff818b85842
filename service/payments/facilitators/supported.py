"""What a facilitator says it settles: `GET /supported`.

Source: x402 specification v2, §7.3. Versions of payments differ in what they call a chain.
"""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from service.payments.networks import NETWORKS, ChainId
from service.upstream.counterpart import Counterpart
from service.upstream.failure import UpstreamError

_SCHEME: Final = "exact"
_OK: Final = 200


class _Kind(Struct, rename={"x402_version": "x402Version"}):
    x402_version: int
    scheme: str
    network: str


class _Supported(Struct):
    kinds: list[_Kind]


async def missing_kinds(facilitator: Counterpart, headers: Mapping[str, str], chain: ChainId) -> Sequence[str]:
    """Ask a facilitator whether it settles what this service sells.

    Args:
        facilitator: Who is asked; nothing moves.
        headers: What it wants to know us by.
        chain: Where payments come from.

    Returns:
        One sentence for each kind of payment that it does not settle.

    Raises:
        UpstreamError: If it does not say.
    """
    reply = await facilitator.get("/supported", headers)
    if reply.status != _OK:
        raise UpstreamError(facilitator.name, reply.status, reply.body)
    try:
        said = msgspec.json.decode(reply.body, type=_Supported)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise UpstreamError(facilitator.name, reply.status, b"no list of kinds") from error
    known = {(kind.x402_version, kind.scheme, kind.network) for kind in said.kinds}
    wanted = ((1, NETWORKS[chain].v1_name), (2, chain))
    return [
        f"it does not settle `{_SCHEME}` on {network} as x402 v{version} has it"
        for version, network in wanted
        if (version, _SCHEME, network) not in known
    ]
