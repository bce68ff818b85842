"""Asks the contract of a wallet whether a signature is its own (EIP-1271), created already or not (ERC-6492)."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from service.access.caller import invalid_credential
from service.errors import ServiceError
from service.ethereum.contract_signatures import ACCEPTED, deployment, question, unwrap
from service.upstream.http_client import HttpClient, open_http_client
from service.upstream.json_rpc import Data, NodeError, RevertedError, RpcNode

_DEADLINE_S: Final = 5.0
_LARGEST_ANSWER: Final = 65_536
_log: Final = logging.getLogger("verdict.access")


class ContractWallets:
    """The contract wallets of one chain, as one node knows them.

    Args:
        node: HTTP client of the node.
        chain_id: The expected chain.
    """

    def __init__(self, node: HttpClient, chain_id: int) -> None:
        self._node = RpcNode(node, chain_id)
        self._chain_id = chain_id

    async def check(self, address: str, digest: bytes, signature: bytes) -> None:
        """Accept a signature that the wallet's contract accepts at the newest block.

        Args:
            address: The wallet's.
            digest: 32 bytes, what was signed.
            signature: In the contract's own form, or wrapped (ERC-6492).

        Raises:
            ServiceError: `AUTH_INVALID` if it is not accepted; `UNAVAILABLE` if the node does not tell.
        """
        try:
            accepted = await self._accepts(address, digest, signature)
        except ValueError as error:
            raise invalid_credential(f"The signature is not valid: {error}.") from error
        except NodeError as error:
            _log.warning("A contract wallet could not be checked.", extra={"reason": str(error)})
            raise ServiceError(
                "UNAVAILABLE",
                "Whether the wallet's contract accepts the signature is not known: the service's node gave no usable "
                "answer. Try again.",
            ) from error
        if not accepted:
            raise invalid_credential(
                "The signature is not the one of the wallet the message names: it is not by the key of that address, "
                f"and no contract at that address on chain {self._chain_id} accepts it."
            )

    async def _accepts(self, address: str, digest: bytes, signature: bytes) -> bool:
        undeployed = unwrap(signature)
        plain = signature if undeployed is None else undeployed.signature
        if await self._call(question(digest, plain), address):
            return True
        return undeployed is not None and await self._call(
            deployment(bytes.fromhex(address[2:]), digest, undeployed), None
        )

    async def _call(self, data: bytes, to: str | None) -> bool:
        asked = {"data": "0x" + data.hex()} if to is None else {"to": to, "data": "0x" + data.hex()}
        try:
            return bytes.fromhex((await self._node.ask("eth_call", Data, asked, "latest"))[2:]) == ACCEPTED
        except RevertedError:
            return False


@asynccontextmanager
async def open_contract_wallets(url: str | None, chain_id: int) -> AsyncIterator[ContractWallets | None]:
    """Open a way to the contract wallets of a chain; null without a node. Nothing is asked yet.

    Args:
        url: JSON-RPC of the node. It may hold a key: it never reaches an error or a log.
        chain_id: The chain it should be on.
    """
    if url is None:
        yield None
        return
    async with open_http_client("node", url, deadline_s=_DEADLINE_S, most=_LARGEST_ANSWER) as node:
        yield ContractWallets(node, chain_id)
