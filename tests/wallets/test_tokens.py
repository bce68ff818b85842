"""What contracts say of themselves, and amounts."""

import re
from decimal import Context, Decimal, Inexact

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.upstream.failures import UpstreamError
from service.wallets.chain import Node
from service.wallets.prices import COINS, contract_of
from service.wallets.store import TokenContract
from service.wallets.tokens import DECIMALS, SYMBOL, describe, read_decimals, read_symbol, whole
from tests.wallets.simulated import COIN, Chain, SimulatedNode, word


def string(text: bytes, *, offset: int = 32, size: int | None = None) -> bytes:
    padded = text + bytes(-len(text) % 32)
    return offset.to_bytes(32) + (len(text) if size is None else size).to_bytes(32) + padded


@pytest.mark.parametrize(
    ("answer", "symbol"),
    [
        (string(b"USDC"), "USDC"),
        (string(b"USDC.e"), "USDC.e"),
        (string(b"UNI-V2"), "UNI-V2"),
        (string(b"$MEME"), "$MEME"),
        (string("USD\u20ae0".encode()), "USD\u20ae0"),
        (b"MKR".ljust(32, b"\0"), "MKR"),
        (b"A" * 32, "A" * 32),
    ],
)
def test_symbols_are_read_as_string_or_as_bytes32(answer: bytes, symbol: str) -> None:
    assert read_symbol(answer) == symbol


@pytest.mark.parametrize(
    "answer",
    [
        string(b"", size=0),
        bytes(32),
        b"",
        b"\x01",
        string(b"USDC", size=2**255),
        string(b"USDC", offset=2**255),
        string(b"USDC")[:64],
        string(b"\xff\xfe"),
        b"\xff" * 32,
        string(b"   "),
        string(b"A" * 33),
        string(b"USDC\n"),
        string(b"\x1b[2JUSDC"),
        string("US\u200bDC".encode()),
        string("U\u202eSDC".encode()),
        string("USD\u0421".encode()),
        string(b"claim at reward.example"),
        string(b"<b>USDC</b>"),
        string(b".com"),
    ],
)
def test_what_is_no_symbol_is_none_so_that_nobody_reads_a_lure_or_a_letter_that_looks_like_another(
    answer: bytes,
) -> None:
    assert read_symbol(answer) is None


@given(st.binary(max_size=200))
def test_whatever_a_contract_returns_is_a_short_visible_symbol_or_none(answer: bytes) -> None:
    symbol = read_symbol(answer)
    assert symbol is None or re.fullmatch(r"[\w$\u20ae.+/-]{1,32}", symbol)


@pytest.mark.parametrize(
    ("answer", "decimals"),
    [
        (bytes(32), 0),
        ((6).to_bytes(32), 6),
        ((255).to_bytes(32), 255),
        ((18).to_bytes(32) + b"more", 18),
        ((256).to_bytes(32), None),
        (b"\xff" * 32, None),
        (b"", None),
        (b"\x06", None),
    ],
)
def test_decimals_are_one_small_number(answer: bytes, decimals: int | None) -> None:
    assert read_decimals(answer) == decimals


async def test_a_contract_that_says_nothing_is_known_to_say_nothing() -> None:
    simulated = SimulatedNode(Chain())
    node = Node(simulated)
    assert await describe(node, COIN) == TokenContract(COIN, None, None)
    simulated.says = {(COIN, SYMBOL): "0x" + string(b"GEM").hex(), (COIN, DECIMALS): word(9)}
    assert await describe(node, COIN) == TokenContract(COIN, "GEM", 9)
    simulated.down = True
    with pytest.raises(UpstreamError):
        await describe(node, COIN)


@given(st.integers(0, 2**256 - 1), st.none() | st.integers(0, 255))
def test_amounts_are_exact(amount: int, decimals: int | None) -> None:
    text = whole(amount, decimals)
    exact = Context(prec=400, traps=[Inexact])
    assert exact.create_decimal(text) == exact.scaleb(Decimal(amount), -(decimals or 0))
    assert text.strip("0123456789.") == ""
    assert not text.endswith(".")
    assert "." not in text or not text.endswith("0")
    assert text == "0" or not text.startswith("00")


@pytest.mark.parametrize(
    ("amount", "decimals", "text"),
    [
        (0, 18, "0"),
        (100, 0, "100"),
        (100, None, "100"),
        (1_500_000, 6, "1.5"),
        (1, 18, "0." + "0" * 17 + "1"),
        (100, 1, "10"),
    ],
)
def test_amounts_are_written_as_people_write_them(amount: int, decimals: int | None, text: str) -> None:
    assert whole(amount, decimals) == text


def test_priced_contracts_are_written_as_they_are_compared() -> None:
    assert all(contract == contract.lower() and len(contract) == 42 for _, contract in COINS)


def test_a_coin_has_a_contract_on_its_chain_or_else_on_the_first_that_knows_it() -> None:
    assert all(contract_of(coin.symbol, chain) == contract for (chain, contract), coin in COINS.items())
    assert contract_of("LINK", 8453) == contract_of("LINK", None) == contract_of("LINK", 1)
    assert contract_of("SOL", 1) is None
