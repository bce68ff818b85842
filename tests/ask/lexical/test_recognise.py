"""Recognising a text: every listed name, any text, hostile texts."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.parser.language import MOST_CORRECTED, Speller
from service.ask.parser.recognise import Recogniser
from service.ask.parser.tokens import LONGEST, tidy, tokenise
from tests.ask.lexical.reading import named, recognise
from tests.ask.universe import known

WORDS = """
btc near NEAR $gas one pepe FOO blorp gold oil meme coins ai price of and vs not except for 3 days last
week top $5k half a in july 1st (ETH) btc's solanna the graph , ? is up what about S&P 500 1000PEPE
ethusdt BTC/USD since monday long short will doge coin
"""


@given(st.text(max_size=300))
def test_any_text_is_read_and_always_alike(text: str) -> None:
    assert recognise(text) == recognise(text)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=25))
def test_names_are_in_order_and_none_overlaps_another(words: list[str]) -> None:
    names = recognise(" ".join(words)).names
    assert all(one.end <= other.start for one, other in pairwise(names))


@given(st.sampled_from(sorted(known().directory)), st.sampled_from(["${}", "price of {}", "{} funding rate"]))
def test_every_ticker_is_found_in_a_coins_place(symbol: str, form: str) -> None:
    assert named(form.format(symbol)) == symbol
    if form != "{} funding rate" and len(symbol) > 1:
        assert named(form.format(symbol.lower())) == symbol


@given(
    st.sampled_from(sorted(set(known().directory) - {"NOT", "BTC"})),
    st.sampled_from(
        [
            "why did {} drop yesterday",
            "has {} gone up this month",
            "{} over the last week",
            "what is the market cap of {}",
            "is {} overbought",
            "does {} beat btc this week",
        ]
    ),
)
def test_a_ticker_in_capitals_is_found_wherever_it_stands(symbol: str, form: str) -> None:
    assert symbol in named(form.format(symbol)).split(" + ")


@given(
    st.sampled_from(sorted({*known().directory.names} - {"memecoin"})),
    st.sampled_from(["price of {}", "{} funding", "is {} bullish?"]),
)
def test_every_title_is_found_in_a_coins_place(title: str, form: str) -> None:
    symbol = known().directory.names[title]
    (name,) = recognise(form.format(title.partition("(")[0].strip())).names
    assert name.value == (symbol,)


@given(st.sampled_from(sorted({thing.keys[0] for thing in known().topics.values()})))
def test_every_category_is_found_by_its_exact_name(name: str) -> None:
    assert name in named(f"how is the {name} category doing").split(" + ")


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "a ",
        "near ",
        "1 ",
        "$5 ",
        "btc ",
        "1,",
        "a'",
        "\ufdfa",
        "\u6bd4",
        "FOO ",
        "$ABC ",
        "blorp fundng ",
        "price of ",
    ],
)
def test_of_a_hostile_text_few_unknown_names_are_told(text: str) -> None:
    tidied = tidy(text * (LONGEST // len(text)))
    names = Recogniser(known(), {}, {}).read(tokenise(tidied)[:400], tidied).names
    assert sum(name.kind == "unknown" for name in names) <= 5


def test_only_so_many_words_of_a_text_are_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counting(_: Speller, word: str) -> None:
        asked.append(word)

    monkeypatch.setattr(Speller, "correct", counting)
    tokens = tokenise("zzqv " * 400)
    Recogniser(known(), {}, {})._corrected(tokens)
    assert len(asked) == MOST_CORRECTED


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("whats the fundng rate of btc", "whats the funding rate of btc"),
        ("volumme of etherem", "volume of ethereum"),
        ("fundng", "funding"),
        ("RSII of btc", "rsii of btc"),
        ("shw me teh top gainrs", "show me the top gainers"),
        ("litcoin on octobr 10", "litecoin on october 10"),
        ("price of xpr", "price of xrp"),
        ("preis von steht", "preis von steht"),
        ("i brought it late, white noise, absolutely", "i brought it late white noise absolutely"),
    ],
)
def test_typos_of_words_and_names_are_corrected(text: str, words: str) -> None:
    assert " ".join(recognise(text).words) == words


def test_a_correlation_to_bitcoin_names_no_bitcoin() -> None:
    assert named("btc correlation of eth") == "ETH"


def test_a_single_small_letter_is_a_word_and_no_ticker() -> None:
    assert named("price of s") == ""
    assert named("price of S") == "S"


def test_a_word_that_stands_where_only_a_ticker_can_is_the_coin_of_that_ticker() -> None:
    assert named("When did the last hot funding alert for AR fire?") == "AR"
