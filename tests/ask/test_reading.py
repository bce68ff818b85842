"""What reading makes of a text as a whole: its masked words, its traits, its bounds."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.parser.known import Known
from service.ask.reading.reader import Reader
from service.ask.parser.spelling import KEYWORDS, Speller, is_within
from service.ask.parser.tokens import LONGEST
from service.ask.parser.words import bag
from service.market.symbols import Directory
from tests.ask.universe import known, reader


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("What's the funding on DOGE & SOL over 7 days?", "whats the funding on COIN and COIN over PERIOD"),
        ("btc's price, don't you know?", "COIN price dont you know"),
        ("open walk-forward positions on ETH/BTC", "open walk forward positions on COIN COIN"),
        ("top 5 meme coins except btc by 24h change", "top 5 CATEGORY coins except EXCLUDED by PERIOD change"),
        ("hold $10k long ETH", "hold AMOUNT long COIN"),
        ("gold vs. pepe", "ASSET vs UNKNOWN"),
        ("eth change last week", "COIN change PERIOD"),
        ("whats the fundng rate", "whats the funding rate"),
        ("is it risk-off today", "is it risk off today"),
        ("  BTC\u200b \u00a0price\n", "COIN price"),
        ("\uff22\uff34\uff23 price", "COIN price"),  # full-width letters
        ("caf\u00e9 price", "cafe price"),
        ("", ""),
        ("?!", ""),
    ],
)
def test_what_is_recognised_is_masked_and_the_rest_is_plain_words(text: str, masked: str) -> None:
    assert reader().read(text).masked == masked


TRAITS = """
which coins are in an uptrend: trend=UP
coins trending down weekly: trend=DOWN timeframe=weekly
all coins down on the weekly: trend=DOWN timeframe=weekly
which coins are going up: trend=UP
coins in hodl: trend=HODL
weekly or daily: timeframe=None
daily trend of btc: timeframe=daily
highest funding: metric=funding_apr order=most
most negative funding: metric=funding_apr order=least
who pays most: metric=funding_apr order=most
which perps are shorts paying the most on: metric=funding_apr order=least
biggest open interest: metric=open_interest_usd order=most
least correlated with btc: metric=btc_correlation order=least
most traded coins: metric=volume_usd order=most
top gainers: metric=change_24h order=most
biggest losers: metric=change_24h order=least
coins that dropped the most: metric=change_24h order=least
cheapest coins: metric=price order=least
hello: metric=None order=None trend=None timeframe=None type=None side=None term=None
list stocks: type=equity
list commodities: type=commodity
stock indices: type=index
etfs: type=etf
fx pairs: type=fx
metals: type=metal
how long has btc been up: side=None
is btc a short term buy: side=None
longs or shorts: side=None
do longs pay on btc: side=long
i am short sol: side=short
what is supertrend: term=supertrend
explain open interest: term=open-interest
"""


@pytest.mark.parametrize("line", TRAITS.strip().split("\n"))
def test_the_words_between_the_names_say_what_is_asked_of_them(line: str) -> None:
    text, _, wanted = line.partition(":")
    entities = reader().read(text).entities
    for pair in wanted.split():
        name, _, value = pair.partition("=")
        assert str(getattr(entities, name)) == value, name


@given(st.text(max_size=300))
def test_anything_is_read_and_always_alike(text: str) -> None:
    reading = reader().read(text)
    assert reading == reader().read(text)
    assert set(reading.entities.coins) <= set(known().directory)
    assert set(reading.entities.categories) <= set(known().categories)
    assert set(reading.entities.assets) <= set(known().assets.values())
    assert reading.text == " ".join(reading.text.split())


WORDS = sorted(
    bag("""
    btc near NEAR $gas one pepe FOO blorp gold oil meme coins ai price of and vs not except for 3 days last
    week top $5k half a in july 1st (ETH) btc's solanna the graph , ? is up what about S&P 500 1000PEPE
    ethusdt BTC/USD since monday long short will doge coin
""")
)


@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_words_that_mean_something_are_read_in_any_order(words: list[str]) -> None:
    entities = reader().read(" ".join(words)).entities
    assert set(entities.coins) <= set(known().directory)
    assert set(entities.candidates) <= {*entities.unknown}
    assert entities.limit is None or entities.limit > 0
    assert entities.period is None or entities.period.count > 0


@given(
    st.sampled_from(sorted(known().directory)),
    st.sampled_from(["${}", "price of {}", "{} funding rate", "verdict on {}"]),
)
def test_every_ticker_is_found_in_a_coins_place(symbol: str, form: str) -> None:
    assert reader().read(form.format(symbol)).entities.coins == (symbol,)
    if form in {"${}", "price of {}"}:
        assert reader().read(form.format(symbol.lower())).entities.coins == (symbol,)


@given(
    st.sampled_from(sorted({*known().directory.names} - {"memecoin"})),
    st.sampled_from(["price of {}", "{} funding", "is {} bullish?"]),
)
def test_every_title_is_found_in_a_coins_place(name: str, form: str) -> None:
    entities = reader().read(form.format(name)).entities
    symbol = known().directory.names[name]
    thousands = known().directory.listing(symbol).venue_symbol.startswith("k")
    assert (entities.candidates.get(name) if thousands else entities.coins) == (symbol,)


@given(st.sampled_from(known().categories))
def test_every_category_is_found_by_its_exact_name(name: str) -> None:
    assert name in reader().read(f"how is the {name} category doing").entities.categories


HOSTILE = [
    "x",
    "a ",
    "near ",
    "1 ",
    "$5 ",
    "btc ",
    "1,",
    "9",
    "1a",
    "a'",
    "\ufdfa",
    "\u6bd4",
    "a\u0301\u0302",
    "FOO ",
    "$ABC ",
    "blorp fundng ",
    "not except dont ",
    "price of ",
    "near and link ",
    "3 days ",
    "capitulatiom ",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_cut_to_so_many_words(text: str) -> None:
    reading = reader().read(text * (LONGEST // len(text)))
    assert len(reading.masked.split()) <= 500
    assert len(reading.entities.unknown) <= 5 + 48
    assert len(reading.text) <= LONGEST


def test_of_a_long_text_the_beginning_and_the_end_are_read() -> None:
    reading = reader().read("price of btc. " + "so it goes and on it goes. " * 200 + "and what about near?")
    assert reading.entities.coins == ("BTC", "NEAR")


def test_only_so_many_words_of_a_text_are_mended(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    mend = Speller.mend

    def counting(speller: Speller, word: str) -> str | None:
        asked.append(word)
        return mend(speller, word)

    monkeypatch.setattr(Speller, "mend", counting)
    Reader(Known(Directory(), {}, ())).read("zzqv " * 400)
    assert len(asked) == 48


def distance(one: str, other: str) -> int:
    """Optimal string alignment, the textbook's whole table."""
    table = {(row, 0): row for row in range(len(one) + 1)} | {(0, column): column for column in range(len(other) + 1)}
    for row in range(1, len(one) + 1):
        for column in range(1, len(other) + 1):
            differs = one[row - 1] != other[column - 1]
            best = min(table[row - 1, column] + 1, table[row, column - 1] + 1, table[row - 1, column - 1] + differs)
            if row > 1 and column > 1 and one[row - 1] == other[column - 2] and one[row - 2] == other[column - 1]:
                best = min(best, table[row - 2, column - 2] + 1)
            table[row, column] = best
    return table[len(one), len(other)]


@given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 3))
def test_mistakes_are_counted_as_the_textbook_counts_them(one: str, other: str, most: int) -> None:
    assert is_within(one, other, most) == (distance(one, other) <= most)


SPELLER = Speller({word: word for word in KEYWORDS})


@given(st.sampled_from(sorted(KEYWORDS)), st.data())
def test_a_mended_word_is_never_far_from_what_was_written(word: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(word) - 1))
    written = word[:at] + data.draw(st.sampled_from("abcdez")) + word[at + data.draw(st.integers(0, 1)) :]
    mended = SPELLER.mend(written)
    assert mended is None or distance(written, mended) <= (2 if len(written) >= 7 else 1)


@pytest.mark.parametrize(
    ("words", "written", "mended"),
    [
        (("bitcoin", "solana"), "bitcon", "bitcoin"),
        (("bitcoin", "solana"), "sol", None),
        (("bitcoin", "solana"), "s0lana", None),
        (("cardano",), "cardona", "cardano"),
        (("cardano",), "dardona", None),
        (("horse", "house"), "hoese", None),
        (("crate", "grate"), "frate", None),
        (("price", "prices"), "pricee", "price"),
        (("price", "prices"), "pricess", "prices"),
        (("tron",), "torn", "tron"),
        (("tron",), "trom", None),
        (("apple",), "aple", "apple"),
        (("bittensor",), "x" * 30, None),
    ],
)
def test_a_typo_is_mended_where_one_word_alone_is_meant(
    words: tuple[str, ...], written: str, mended: str | None
) -> None:
    assert Speller({word: word for word in words}).mend(written) == mended


def test_of_two_names_of_one_thing_either_mends_a_typo() -> None:
    same: Mapping[str, object] = {"amazon": "xyz:AMZN", "amzn": "xyz:AMZN"}
    assert Speller(same).mend("amazn") in same
