"""Which coins and categories a text is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.sentiment.matcher import Known, Matcher
from tests.sentiment.labelled import rows

KNOWN = [Known(symbol, title, 1_000 if symbol == "PEPE" else 1) for symbol, title, _ in rows("coins.tsv")]
CATEGORIES = [
    "Meme", "Artificial Intelligence (AI)", "Layer 1 (L1)", "Decentralized Finance (DeFi)", "Privacy",
    "Payment Solutions", "Real World Assets (RWA)", "Solana Ecosystem", "Oracle",
]  # fmt: skip
MATCHER = Matcher(KNOWN, CATEGORIES)


def coins(text: str) -> tuple[str, ...]:
    return MATCHER.read(text).coins


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$LINK is moving", ("LINK",)),
        ("watching $link and $one", ("LINK", "ONE")),
        ("$ME, $S and $T", ("ME", "S", "T")),
        ("LINK/USDT and NEAR-PERP volumes", ("LINK", "NEAR")),
        ("SOLUSDT rises", ("SOL",)),
        ("SOL slides, ARB too", ("SOL", "ARB")),
        ("Chainlink and the Ethereum network", ("LINK", "ETH")),
        ("Ether's fall, Bitcoin's rise", ("ETH", "BTC")),
        ("Bitcoin\u2019s rise", ("BTC",)),
        ("bitcoin and ethereum", ("BTC", "ETH")),
        ("BITCOIN JUMPS AS ETHER STALLS", ("BTC", "ETH")),
        ("Bitcoin Cash is not the other one", ("BCH",)),
        ("Ethereum Classic forks", ("ETC",)),
        ("Lido votes", ("LDO",)),
        ("PEPE, kPEPE and 1000PEPE are one coin", ("PEPE",)),
        ("Shiba Inu and SHIB", ("SHIB",)),
        ("Kaspa grows", ("KAS",)),
        ("Harmony (ONE) returns", ("ONE",)),
        ("ONE token holders vote", ("ONE",)),
        ("NEAR jumps 8%", ("NEAR",)),
        ("The S token of Sonic", ("S",)),
        ("the W coin", ("W",)),
        ("Magic Eden says its ME is safe", ("ME",)),
        ("Story's IP slides", ("IP",)),
        ("Optimism Foundation grants", ("OP",)),
        ("Optimism and OP", ("OP",)),
        ("Avalanche jumps 9%", ("AVAX",)),
        ("Ripple and the SEC", ("XRP",)),
        ("Fetch.ai, io.net", ("FET", "IO")),
        ("Aave pauses markets.", ("AAVE",)),
        ("Stacks token, Render network", ("STX", "RENDER")),
        ("#BTC rises", ("BTC",)),
        ("HARMONY TOKEN (ONE) RETURNS, ONE HOPES", ("ONE",)),
        ("Optimism surges 13%", ("OP",)),
        ("S sinks 11%", ("S",)),
        ("IP leads gainers with 14%", ("IP",)),
        ("Aave, aAve", ("AAVE",)),
    ],
)
def test_a_coin_is_found(text: str, expected: tuple[str, ...]) -> None:
    assert coins(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "One more thing near the link",
        "ONE MORE THING NEAR THE LINK",
        "Tell me about gas, the flow of funds and the story so far",
        "Optimism returns to crypto",
        "Near the deadline, traders wait for tokens",
        "An avalanche of selling",
        "AI start-ups and IP lawyers check your ID",
        "AI token rally",
        "Ripple effects of a rate cut",
        "It costs $1 or $2.5",
        "THE W AND THE S ON THE T",
        "ALL OF IT: ARB AND TAO RISE AGAIN",
        "BITCOINER'S TOKEN",
        "ripple through the market",
        "sui generis",
        "aave, in Finnish",
        "Trump to speak",
        "a one-off",
        "The gala of the year",
        "We move people",
        "the T is late",
        "solana-like",
        "Avalanche of liquidations hits crypto",
        "Stacks of cash leave DeFi",
        "The graph shows how far crypto has come",
        "A regulatory sandbox: the sandbox approach to tokens",
        "Bitcoin SV delisted, Bitcoin Gold too",
        "Baby Doge up 20%",
        "Ethereum Name Service votes on fees",
        "Warren Buffett, the Oracle of Omaha, and crypto",
    ],
)
def test_a_word_is_no_coin(text: str) -> None:
    assert coins(text) == (() if text != "solana-like" else ("SOL",))


def test_mentions_say_where() -> None:
    text = "On Monday Optimism's token, $OP, rose"
    assert [text[found.start : found.end] for found in MATCHER.read(text).mentions] == ["Optimism's", "$OP"]


def test_a_name_that_two_coins_share_is_neithers() -> None:
    matcher = Matcher([Known("POL", "Polygon"), Known("MATIC", "Polygon")])
    assert matcher.read("Polygon network upgrade").coins == ()
    assert matcher.read("MATIC and POL").coins == ("MATIC", "POL")


def test_a_whole_title_goes_before_what_is_left_of_a_longer_one() -> None:
    longer, whole = Known("A", "Babel Network"), Known("B", "Babel")
    for known in ([longer, whole], [whole, longer]):
        matcher = Matcher(known)
        assert matcher.read("Babel").coins == ("B",)
        assert matcher.read("Babel Network").coins == ("A",)


def test_a_coins_own_ticker_goes_before_that_within_another_ones() -> None:
    thousands, other = Known("KBONK", "Bonkers"), Known("BONK", "Bonk")
    for known in ([thousands, other], [other, thousands]):
        assert Matcher(known).read("$BONKS, $BONK and $KBONK").coins == ("BONK", "KBONK")


def test_what_is_named_after_a_coin_is_not_that_coin_though_it_is_not_listed_itself() -> None:
    matcher = Matcher([Known("BTC", "Bitcoin"), Known("ETH", "Ethereum"), Known("DOGE", "Dogecoin")])
    for text in ("Bitcoin Cash halves", "Bitcoin SV delisted", "Ethereum Classic forks", "Baby Doge up 20%"):
        assert matcher.read(text).coins == ()
    assert matcher.read("Bitcoin beats Bitcoin Cash").coins == ("BTC",)
    assert Matcher([Known("BTC", "Bitcoin"), Known("BCH", "Bitcoin Cash")]).read("Bitcoin Cash").coins == ("BCH",)


@pytest.mark.parametrize(
    ("coin", "text", "found"),
    [
        (Known("KAVA", "Kava"), "AVA rises", False),
        (Known("KAVA", "Kava"), "KAVA rises", True),
        (Known("K", "Kinto"), "K token", True),
        (Known("AVA", "Travala"), "KAVA rises", False),
        (Known("PEPE", "Pepe", 1_000), "KPEPE rises", True),
        (Known("PEPE", "Pepe", 1_000), "kPEPE rises", True),
        (Known("XYZ", "", 1_000), "1000XYZ rises", True),
        (Known("XYZ", "", 1_000), "KXYZ rises", False),
        (Known("W", "Wormhole"), "a 3.5 kW miner", False),
        (Known("S", "Sonic"), "$1000S of gains", False),
        (Known("HYPE", "Hyperliquid"), "kHYPE and KHYPE rise", False),
        (Known("XYZ", ""), "XYZ rises", True),
        (Known("POL", "POL (ex-MATIC)"), "POL rises", True),
        (Known("MEME", "Memecoin"), "a memecoin season", False),
    ],
)
def test_tickers_follow_from_the_coin(coin: Known, text: str, *, found: bool) -> None:
    assert MATCHER.read("").coins == ()
    assert bool(Matcher([coin]).read(text).coins) is found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Meme coins slump", ("Meme",)),
        ("AI tokens and DeFi", ("Artificial Intelligence (AI)", "Decentralized Finance (DeFi)")),
        ("other layer-1 chains", ("Layer 1 (L1)",)),
        ("privacy matters, payments too", ()),
        ("privacy coins and payment solutions", ("Privacy", "Payment Solutions")),
        ("the Solana ecosystem", ("Solana Ecosystem",)),
        ("tokenized treasuries", ("Real World Assets (RWA)",)),
        ("memecoins", ("Meme",)),
        ("mememecoinss", ()),
        ("Warren Buffett, the Oracle of Omaha, and crypto", ()),
        ("Price oracles fail", ("Oracle",)),
        ("An oracle network grows", ("Oracle",)),
    ],
)
def test_a_category_is_found_by_the_words_texts_have_for_it(text: str, expected: tuple[str, ...]) -> None:
    assert MATCHER.read(text).categories == expected


@given(
    st.text(max_size=300)
    | st.lists(st.sampled_from([*(coin.symbol for coin in KNOWN), "$", "'s", " ", "/USDT"])).map("".join)
)
def test_any_text_is_read_and_every_mention_lies_in_it(text: str) -> None:
    about = MATCHER.read(text)
    assert set(about.coins) == {mention.symbol for mention in about.mentions} <= {coin.symbol for coin in KNOWN}
    assert all(0 <= mention.start < mention.end <= len(text) for mention in about.mentions)
    assert MATCHER.read(text) == about
