"""Questions about wallets and talk: what they are taken for, what is looked up, and whom they name."""

from collections.abc import Sequence
from typing import Any

import pytest

from service.ask.acquaintances import MOST_WALLETS, Acquaintances
from service.ask.hashes import is_hash, shortened, twins
from service.ask.plan import plan
from service.ask.reading.topics import find_topics
from service.ask.tokens import coin_of, contract_of, is_token
from service.wallets.prices import COINS
from service.wallets.watchlist import Watched
from service.wire.ask import Classification, Entities, Intent, Message, Period, Question, Refusal
from service.wire.envelope import Answer
from service.wire.transcripts import MACRO, TranscriptSources, TranscriptsQuery
from tests.ask.asking import classified, planned
from tests.ask.followed_findings import show

NOON = 1_753_444_800_000
"""2025-07-25 12:00 UTC."""

WETH = "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2"
LINK = "0x514910771af9ca656af840dff83e8264ecf986ca"
BASE_WETH = "0x4200000000000000000000000000000000000006"
SOURCES = ("transcripts", {"action": "sources"})
WATCHLIST = [("wallets", {"action": "watchlist"})]
FUND, DESK = f"0x{'f' * 40}", f"0x{'d' * 40}"


def recent(days: int = 1, limit: int = 10) -> list[tuple[str, dict[str, object]]]:
    return [("wallets.recent", {"days": days, "limit": limit})]


def moved(contract: str, limit: int = 10) -> list[tuple[str, dict[str, object]]]:
    return [("wallets", {"action": "movements", "contract": contract, "limit": limit})]


def heard(**of: object) -> tuple[str, dict[str, object]]:
    return ("transcripts", {"action": "highlights", **of, "limit": 5})


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("what are whales doing", recent()),
        ("10 largest transfers this week", recent(7, 10)),
        ("top 3 whale moves in the last 30 hours", recent(2, 3)),
        ("whale moves in the last 90 days", recent(30)),
        ("whale moves in the last hour", recent()),
        ("are whales buying meme coins", recent()),
        ("did whales move any eth today", moved(WETH)),
        ("who moved LINK", moved(LINK)),
        ("biggest LINK transfer this week", moved(LINK)),
        ("did whales move WETH or $weth", moved(WETH)),
        ("biggest transfer of the day", recent()),
        ("did anyone move a lot of link", moved(LINK)),
        ("show me tracked wallets", WATCHLIST),
        ("who do you follow", WATCHLIST),
        ("who are you tracking", WATCHLIST),
        ("list of whale wallets", WATCHLIST),
        ("top 3 wallets on your watchlist", [("wallets", {"action": "watchlist", "limit": 3})]),
        ("podcasts on SOL and defi", [heard(coin="SOL"), heard(sector="Decentralized Finance (DeFi)"), SOURCES]),
        ("what do podcasts say about rate cuts", [heard(macro="rates"), SOURCES]),
        ("podcasts about gold", [heard(), SOURCES]),
        ("podcast quotes on btc since monday", [heard(coin="BTC", since="2025-07-21T00:00:00.000Z"), SOURCES]),
        ("latest transcripts", [heard(), SOURCES]),
        ("which podcasts do you follow", [SOURCES]),
        ("do you listen to bankless", [SOURCES]),
        ("what are you listening to", [SOURCES]),
        ("quotes about inflation", [heard(macro="inflation"), SOURCES]),
        ("which podcasts mention SOL", [heard(coin="SOL"), SOURCES]),
        ("who do you follow on youtube", [SOURCES]),
    ],
)
def test_what_is_asked_is_looked_up(text: str, steps: object) -> None:
    assert planned(text) == steps


@pytest.mark.promise("question.honest")
@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("top holders of LINK", "not-available"),
        ("what's in wallet 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "not-available"),
        ("0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045 activity", "not-available"),
        ("exchange inflows for ETH", "not-available"),
        ("big transfers to exchanges", "not-available"),
        ("is vitalik selling eth", "not-available"),
        ("track jump trading's address", "not-available"),
        ("whale activity SOL", "not-available"),
        ("are whales buying SOL or HYPE", "not-available"),
        ("whale activity on $BLORP", "unknown-symbol"),
        ("what did podcasts say about $BLORP", "unknown-symbol"),
    ],
)
def test_what_nobody_here_follows_is_refused(text: str, refusal: Refusal) -> None:
    taken = classified(text)
    assert (taken.refusal, planned(text)) == (refusal, [])


def test_of_several_coins_those_that_are_tokens_are_looked_up() -> None:
    assert planned("are whales buying SOL or LINK") == moved(LINK)


@pytest.mark.parametrize(
    ("said", "steps"),
    [
        (("what did podcasts say about SOL", "and inflation?"), [heard(macro="inflation"), SOURCES]),
        (("what did podcasts say about inflation", "and SOL?"), [heard(coin="SOL"), SOURCES]),
        (
            ("what did podcasts say about inflation", "and in the last 2 days?"),
            [heard(macro="inflation", since="2025-07-23T00:00:00.000Z"), SOURCES],
        ),
        (("what are whales doing", "with LINK?"), moved(LINK)),
        (("what are whales doing", "and this week?"), recent(7)),
        (("top holders of LINK", "and UNI?"), []),
        (("which podcasts do you follow", "and inflation?"), [heard(macro="inflation"), SOURCES]),
    ],
)
def test_a_question_goes_on_where_the_one_before_ended(said: Sequence[str], steps: object) -> None:
    assert planned(*said) == steps


def test_quotes_are_shared_out_among_all_that_is_named() -> None:
    coins = ("BTC", "ETH", "SOL", "LINK", "UNI", "DOGE")
    asked = Classification(intent="transcripts", entities=Entities(coins=coins, limit=50))
    steps = plan(asked, NOON).steps
    assert [step.args.get("coin") for step in steps] == [*coins[:5], None]
    assert {step.args.get("limit") for step in steps[:5]} == {4}
    alone = plan(Classification(intent="transcripts", entities=Entities(limit=50)), NOON)
    assert alone.steps[0].args["limit"] == 20


def test_a_coin_is_looked_up_as_the_token_of_the_chain_that_is_followed() -> None:
    asked = Classification(intent="wallets", entities=Entities(coins=("ETH", "LINK")))
    assert [step.args["contract"] for step in plan(asked, NOON, 8453).steps] == [BASE_WETH, LINK]
    assert [step.args["contract"] for step in plan(asked, NOON, None).steps] == [WETH, LINK]


def test_movements_of_wallets_that_are_named_are_theirs() -> None:
    about = Entities(coins=("ETH",), wallets=(FUND, DESK))
    asked = Classification(intent="wallets", entities=about)
    assert [step.args["address"] for step in plan(asked, NOON).steps] == [FUND, DESK]
    alone = Classification(intent="wallets", entities=Entities(wallets=(FUND,), coins=("SOL",)))
    assert [dict(step.args) for step in plan(alone, NOON).steps] == [{"action": "watchlist", "address": FUND}]
    many = Classification(intent="wallets", entities=Entities(wallets=tuple("abcdefg"), coins=("ETH", "LINK")))
    assert len(plan(many, NOON).steps) == 5


def test_talk_of_shows_that_are_named_is_theirs() -> None:
    asked = Classification(intent="transcripts", entities=Entities(coins=("ETH",), shows=("a", "b")))
    assert [step.args.get("source") for step in plan(asked, NOON).steps] == ["a", "b", None]


def test_every_contract_that_is_valued_is_a_token_of_its_coin() -> None:
    for (chain, contract), coin in COINS.items():
        assert contract_of(coin.symbol, chain) == contract
        assert coin_of(contract.upper().replace("0X", "0x")) == coin.symbol
    assert contract_of("ETH", 10) == WETH
    assert contract_of("SOL", 1) is None
    assert coin_of(FUND) is None
    assert not is_token("SOL")


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("inflation and the cpi", ("inflation",)),
        ("a trade war and rate cuts", ("trade", "rates")),
        ("funding rates of COIN", ()),
        ("the funding rate and interest rates", ("rates",)),
        ("bank runs on the labor market", ("banking", "jobs")),
        ("nothing", ()),
    ],
)
def test_topics_are_named_by_plain_words(text: str, topics: tuple[str, ...]) -> None:
    assert find_topics(text.split()) == topics


def test_every_topic_can_be_named_by_its_own_name_but_trade() -> None:
    assert {topic for topic in MACRO if find_topics([topic]) != (topic,)} == {"trade"}


def test_a_hash_is_shortened_to_what_tells_it_from_others() -> None:
    one, other = f"0x12345{'0' * 30}6789a", f"0x12345{'1' * 30}6789a"
    assert is_hash(one)
    assert is_hash(f"0x{'a' * 64}")
    assert not is_hash(f"0x{'a' * 41}")
    assert not is_hash(one[2:])
    assert shortened(one) == "0x1234…789a"
    assert twins([{"a": one}, [one.upper().replace("0X", "0x"), 7, None]]) == frozenset()
    assert twins([{"a": one}, {"b": [{"c": other}]}]) == {"0x1234…789a"}


class Known:
    """Who follows wallets and shows, for somebody who asks whom."""

    def __init__(self, *wallets: Watched) -> None:
        self._wallets = wallets
        self.asked = 0

    async def watched(self) -> Sequence[Watched]:
        self.asked += 1
        return self._wallets

    async def transcripts(self, query: TranscriptsQuery) -> Answer:
        assert query.action == "sources"
        return Answer(TranscriptSources([show(), show("Onchain Desk", "onchain-desk")]))


WATCHED = (
    Watched(FUND, "Copperfield Capital, main", "fund"),
    Watched(DESK, None, "whale"),
    Watched(f"0x{'a' * 40}", "X", None),
)


async def recognised(*said: str, known: Known | None = None, taken: Classification | None = None) -> Classification:
    who: Any = known or Known(*WATCHED)
    messages = [Message("user", text) for text in said]
    return await Acquaintances(who, who).recognise(Question(messages=messages), taken or classified(*said))


@pytest.mark.parametrize(
    ("text", "wallets"),
    [
        (f"what's in wallet {FUND}", (FUND,)),
        (f"what moved at {DESK.upper().replace('0X', '0x')}?", (DESK,)),
        ("what has copperfield capital been up to", (FUND,)),
        ("Did Copperfield Capital's wallet move SOL?", (FUND,)),
        (f"compare {FUND} and {DESK}", (FUND, DESK)),
    ],
)
async def test_a_question_that_names_who_is_watched_is_about_them(text: str, wallets: tuple[str, ...]) -> None:
    taken = await recognised(text)
    assert (taken.intent, taken.refusal, taken.entities.wallets) == ("wallets", None, wallets)
    assert taken.entities.unknown == ()


@pytest.mark.parametrize(
    "text",
    [
        "what's in wallet 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045",
        "what did copperfields do",
        "x marks the spot",
        "top holders of LINK",
        "what are whales doing",
        "price of BTC",
        "will SOL hit 500 if copperfield capital moves it",
        "¿Qué compra Copperfield Capital esta semana?",
    ],
)
async def test_all_others_stay_what_they_are(text: str) -> None:
    assert await recognised(text) == classified(text)


async def test_who_is_watched_is_asked_only_where_that_may_matter() -> None:
    known = Known(*WATCHED)
    await recognised("price of BTC", known=known)
    assert known.asked == 0
    assert (await recognised("is copperfield capital buying eth", known=known)).intent == "wallets"
    assert known.asked == 1


async def test_what_was_named_before_counts_where_a_question_leans_on_it() -> None:
    taken: Classification = Classification(intent="wallets", entities=Entities(coins=("ETH",)), follow_up=True)
    said = ("what has copperfield capital moved", "and eth?")
    assert (await recognised(*said, taken=taken)).entities.wallets == (FUND,)
    alone = Classification(intent="wallets", entities=Entities(coins=("ETH",)))
    assert (await recognised(*said, taken=alone)).entities.wallets == ()


async def test_of_many_that_are_meant_some_are_looked_up() -> None:
    many = [Watched(f"0x{number:040x}", "Copperfield Capital", None) for number in range(9)]
    assert len((await recognised("copperfield capital wallets", known=Known(*many))).entities.wallets) == MOST_WALLETS


@pytest.mark.parametrize(
    ("text", "shows"),
    [
        ("what did the Macro Hour say about eth", ("macro-hour",)),
        ("macro hour and Onchain-Desk podcast on eth", ("macro-hour", "onchain-desk")),
        ("what did bankless say about eth", ()),
    ],
)
async def test_a_show_that_is_followed_is_known_by_its_name(text: str, shows: tuple[str, ...]) -> None:
    assert (await recognised(text)).entities.shows == shows


@pytest.mark.parametrize("intent", ["wallets", "transcripts"])
def test_a_time_narrows_them_down(intent: Intent) -> None:
    steps = plan(Classification(intent=intent, entities=Entities(period=Period(2, "d"))), NOON).steps
    assert steps[0].args.get("days", steps[0].args.get("since")) in {2, "2025-07-23T00:00:00.000Z"}
