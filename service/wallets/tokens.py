"""What token contracts say of themselves, and amounts as people write them. A contract may say anything.

Sources: https://eips.ethereum.org/EIPS/eip-20, https://docs.soliditylang.org/en/latest/abi-spec.html.
"""

import re
from typing import Final

from service.upstream.json_rpc import RevertedError
from service.wallets.chain import Node
from service.wallets.store import TokenContract

DECIMALS: Final = "0x313ce567"
SYMBOL: Final = "0x95d89b41"
_SYMBOL: Final = re.compile(r"[A-Za-z0-9$\u20ae][A-Za-z0-9$\u20ae.+_/-]{0,31}\Z")
"""Letters, digits and what joins them: `USDC.e`, `UNI-V2`, `1INCH`, `$MEME`, and Tether's own sign in `USD\u20ae0`."""

_MOST_DECIMALS: Final = 255
_WORD: Final = 32


async def describe(node: Node, contract: str) -> TokenContract:
    """Ask a contract what it is.

    Args:
        node: Who runs the calls.
        contract: Its address, in lower case.

    Returns:
        What it says; null what it does not say, or not in a way that can be used.

    Raises:
        UpstreamError: If the node does not tell.
    """
    return TokenContract(
        contract,
        read_symbol(await _answer(node, contract, SYMBOL)),
        read_decimals(await _answer(node, contract, DECIMALS)),
    )


async def _answer(node: Node, contract: str, selector: str) -> bytes:
    """What a contract returns; nothing where it refuses the call, as one does that knows no such function."""
    try:
        return await node.call(contract, selector)
    except RevertedError:
        return b""


def read_decimals(answer: bytes) -> int | None:
    """Read a `uint8`; null where it is none."""
    number = int.from_bytes(answer[:_WORD])
    return number if len(answer) >= _WORD and number <= _MOST_DECIMALS else None


def read_symbol(answer: bytes) -> str | None:
    """Read a `string`, or a `bytes32` as contracts older than the standard return it (MKR's).

    Returns:
        The symbol; null where it is none. Tokens are sent to watched wallets to have their symbols read: what is longer
        than a symbol, holds blanks or markup, or letters that look like others, tells people something else.
    """
    raw = answer.rstrip(b"\0") if len(answer) == _WORD else _read_string(answer)
    text = raw.decode(errors="replace")
    return text if _SYMBOL.match(text) else None


def _read_string(answer: bytes) -> bytes:
    """Where its length stands, then its length, then itself; nothing where it is not all there."""
    at = int.from_bytes(answer[:_WORD]) + _WORD
    size = int.from_bytes(answer[at - _WORD : at])
    return answer[at : at + size] if at + size <= len(answer) else b""


def whole(amount: int, decimals: int | None) -> str:
    """An amount in whole tokens, exactly.

    Args:
        amount: In smallest units, not negative.
        decimals: How many digits stand behind the point; null for none.

    Returns:
        Digits, with a point only where something other than zero stands behind it.
    """
    if not decimals:
        return str(amount)
    digits = str(amount).rjust(decimals + 1, "0")
    return f"{digits[:-decimals]}.{digits[-decimals:]}".rstrip("0").rstrip(".")
