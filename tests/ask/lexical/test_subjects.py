"""Who a question is about, and who is left out."""

import pytest

from service.ask.query import Subject
from tests.ask.parser.reading import WALLET, read


def subject(question: str) -> Subject:
    (query,) = read(question).queries
    return query.subject


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("price of btc and eth", Subject(coins=("BTC", "ETH"))),
        ("gold price", Subject(scope="assets", assets=("xyz:GOLD",))),
        ("top 3 stocks by 24h change", Subject(scope="assets", asset_type="equity")),
        ("top memes by volume", Subject(scope="category", categories=("Meme",))),
        ("what did the market do today", Subject(scope="market")),
        ("top 3 coins by volume", Subject(scope="all")),
        ("top 3 alts by volume", Subject(scope="all", excluded=("BTC",))),
        (f"transfers of {WALLET} today", Subject(scope="wallets", wallets=(WALLET,))),
        ("what was said on chain reaction", Subject(scope="shows", shows=("chain-reaction",))),
        ("top 5 by volume excluding BTC and ETH", Subject(scope="all", excluded=("BTC", "ETH"))),
        ("top gainers except btc, eth and sol", Subject(scope="all", excluded=("BTC", "ETH", "SOL"))),
        ("top 5 by volume, not the memes", Subject(scope="all", excluded_categories=("Meme",))),
        ("top memes except pepe", Subject(scope="category", categories=("Meme",), excluded=("PEPE",))),
        ("pepe price", Subject(coins=("PEPE",))),
        ("compare the funding of pepe and btc", Subject(coins=("PEPE", "BTC"))),
        ("kPEPE price", Subject(coins=("PEPE",))),
    ],
)
def test_a_question_is_about_what_it_names_and_not_what_it_leaves_out(question: str, expected: Subject) -> None:
    assert subject(question) == expected


def test_of_coins_named_none_can_be_left_out() -> None:
    assert read("price of BTC minus ETH").refusal is not None
