"""What a passage of speech is about."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.sentiment.matcher import Known
from service.transcripts import macro_others, sectors
from service.transcripts.macro_money import MONEY
from service.transcripts.macro_world import WORLD
from service.transcripts.phrases import Phrases, words_of
from service.transcripts.sectors import SPOKEN
from service.transcripts.spoken_coins import SHORT
from service.transcripts.tagging import Tagger, Tags
from service.transcripts.topics import Topics, TopicWords
from service.wire.transcripts import MACRO
from tests.transcripts.evaluation import categories, known

TAGGER = Tagger(known(), categories())


@pytest.mark.parametrize(
    ("text", "coins"),
    [
        ("So bitcoin's up and ether isn't, and doge, don't ask.", ("BTC", "ETH", "DOGE")),
        ("Between Arbitrum and Optimism there isn't much.", ("ARB", "OP")),
        ("Optimism about Solana is back.", ("SOL",)),
        ("Maker was the first that put real world assets in there.", ("MKR",)),
        ("Maker was first.", ()),
        ("There's a lot of optimism, and one market maker near the end.", ()),
        ("I like the thing with Avalanche, honestly.", ("AVAX",)),
        ("Avalanche on Solana, I mean, why not.", ("AVAX", "SOL")),
        ("Avalanche! That's what the sign said.", ()),
        ("solana and avalanche are fast and the curve is a thing", ("SOL", "AVAX")),
        ("an avalanche of people", ()),
        ("THIS IS ALL IN CAPITALS AND NEAR THE END", ()),
        ("I said NEAR, not near.", ("NEAR",)),
        ("He bought the Trump coin, and the Notcoin token.", ("TRUMP", "NOT")),
        ("Trump said so, and it's not a gas token.", ()),
        ("Chain link and layer zero, that's what the machine heard.", ("LINK", "ZRO")),
        ("You do OP_VAULT and OP_CAT, see op.xyz or https://sol.example/eth", ()),
        ("It's a ZK proof of a ZK thing.", ()),
        ("The ZK token and ZKsync.", ("ZK",)),
        ("Arb desks arb it. Arb is up.", ("ARB",)),
        ("Bitcoin Cash isn't Bitcoin.", ("BCH", "BTC")),
    ],
)
def test_coins_are_told_as_people_say_them(text: str, coins: tuple[str, ...]) -> None:
    assert TAGGER.tag(text).coins == coins


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("DeFi and layer twos, and all those L2s.", ("Decentralized Finance (DeFi)", "Layer 2 (L2)")),
        ("An AI agent launched a token.", ("AI Agents",)),
        ("NEAR is an AI company now.", ("Artificial Intelligence (AI)",)),
        ("Texas builds for AI, and Bitcoin is there too.", ()),
        ("Tokenized treasuries are real world assets.", ("Real World Assets (RWA)",)),
        ("Perp DEXs.", ("Decentralized Exchange (DEX)", "Perpetuals")),
        ("Privacy on Lightning is hard with Bitcoin.", ()),
        ("Privacy is why Monero exists.", ("Privacy",)),
        ("We put it in cold storage and played video games with Solana.", ()),
        ("Zuckerberg's metaverse.", ()),
        ("A concert in the metaverse.", ("Metaverse",)),
        ("I'm in the Solana ecosystem, on the launchpads.", ("Solana Ecosystem", "Launchpad")),
        ("I think Harmony had the bridges for games.", ("Interoperability", "Gaming (GameFi)")),
    ],
)
def test_sectors_are_told_where_a_kind_is_spoken_of(text: str, found: tuple[str, ...]) -> None:
    assert sorted(TAGGER.tag(text).sectors) == sorted(found)


def test_a_category_without_spoken_words_is_told_by_its_name() -> None:
    tagger = Tagger(known(), ["Very Odd Coins", "Perpetuals"])
    assert tagger.tag("I like perps and very odd coins").sectors == ("Perpetuals", "Very Odd Coins")


@pytest.mark.parametrize(
    ("text", "macro"),
    [
        ("The regional banks sit on it.", ("banking",)),
        ("Banks have too many deposits.", ("banking",)),
        ("You can bank on it, be your own bank.", ()),
        ("The dollar's down against everything.", ("dollar",)),
        ("It lost its peg to the dollar.", ()),
        ("The dollar broke its peg.", ()),
        ("It's pegged, a hundred dollars in, a hundred out.", ()),
        ("The midterms are in November.", ("elections",)),
        ("The delegates had an election.", ()),
        ("Oil is at sixty and electricity is cheap.", ("energy",)),
        ("There was such good energy, and gas fees were low.", ()),
        ("The ETF flows were big.", ("etf",)),
        ("They'll raise the debt ceiling.", ("fiscal",)),
        ("The DAO's budget.", ()),
        ("A ceasefire, at last.", ("geopolitics",)),
        ("Iran and Israel again.", ("geopolitics",)),
        ("There's a war in the comments.", ()),
        ("GDP was fine, the economy's fine.", ("growth",)),
        ("The token economy of that game.", ()),
        ("CPI on Tuesday.", ("inflation",)),
        ("Inflation is sticky.", ("inflation",)),
        ("The token has eight percent inflation for validators.", ()),
        ("Solana's inflation is falling.", ()),
        ("Payrolls on Friday.", ("jobs",)),
        ("Our team had layoffs.", ()),
        ("Global liquidity and M2.", ("liquidity",)),
        ("The pool has no liquidity.", ()),
        ("The Fed will hold rates.", ("rates",)),
        ("The Fed is done with QT.", ("liquidity",)),
        ("The Fed balance sheet.", ("liquidity",)),
        ("Funding rates are up, and the yield comes from Aave.", ()),
        ("He'll cut, I don't care about the CPI.", ("rates", "inflation")),
        ("Give me a sec, the SEC called.", ("regulation",)),
        ("Senators play golf.", ()),
        ("The senate and the regulators.", ("regulation",)),
        ("The MIT license.", ()),
        ("Tariffs on imports from China.", ("trade",)),
        ("He exports the key and imports it.", ()),
        ("After the CPI print, Solana fell.", ("inflation",)),
    ],
)
def test_topics_of_the_economy_are_told_and_what_only_sounds_like_one_is_not(text: str, macro: tuple[str, ...]) -> None:
    assert TAGGER.tag(text).macro == macro


def test_tags_come_with_where_coins_are_named_for_a_name_is_no_praise() -> None:
    text = "Between Optimism and chain link, CPI."
    tags = TAGGER.tag(text)
    assert [text[start:end] for start, end in tags.names] == ["Optimism", "chain link"]
    assert tags == Tags(("OP", "LINK"), (), ("inflation",), ((8, 16), (21, 31)))
    assert tags.count == 3


def test_a_passage_about_nothing_known_has_no_tag() -> None:
    assert TAGGER.tag("I had a sandwich.") == Tagger([], []).tag("Bitcoin and DeFi.") == Tags()


def test_a_name_that_begins_a_sentence_is_borne_out_by_any_kind_of_coin() -> None:
    tagger = Tagger(known(), ["Very Odd Coins"])
    assert tagger.tag("Maker had an idea, and very odd coins came of it.").coins == ("MKR",)
    assert tagger.tag("Maker had an idea.").coins == ()


def test_names_go_without_their_last_word_where_writers_leave_it_out() -> None:
    assert TAGGER.tag("I was in Curve and in Threshold back then.").coins == ("CRV", "T")
    assert Tagger([Known("DAO", "DAO"), Known("NET", "Base Network")], []).tag("A DAO on Base.").coins == ("NET",)


def test_a_word_that_two_coins_are_called_by_is_neithers() -> None:
    tagger = Tagger([Known("AAA", "Aurora"), Known("BBB", "Aurora Network"), Known("CCC", "Jupiter")], [])
    assert tagger.tag("I like Aurora and Jupiter.").coins == ("CCC",)


def test_a_phrase_is_the_longest_at_its_place_and_says_which_words_it_is() -> None:
    phrases: Phrases[str] = Phrases(
        [("cut", "rate cut/cuts"), ("rate", "rate"), ("both", "x-ray/zed now"), ("zed", "zed now")]
    )
    found = list(phrases.find(words_of("A rate cut, a Rate, rate-cuts and Zed now; x ray now")))
    assert [(one.means, one.start, one.end) for one in found] == [
        ("cut", 1, 3), ("rate", 4, 5), ("cut", 5, 7), ("both", 8, 10), ("zed", 8, 10), ("both", 10, 13),
    ]  # fmt: skip
    assert list(Phrases([]).find(words_of("nothing"))) == []


def test_a_phrase_with_a_capital_needs_it_and_others_are_found_in_any_case() -> None:
    phrases: Phrases[str] = Phrases([("sec", "the SEC"), ("fed", "fed up")])
    assert [one.means for one in phrases.find(words_of("The SEC, the sec, the Sec"))] == ["sec"]
    assert [one.means for one in phrases.find(words_of("FED UP and Fed up"))] == ["fed", "fed"]


def test_words_part_at_hyphens_and_lose_their_possessive() -> None:
    words = words_of("The Fed's re-pricing at 3.5 in the U.S. won't, Ann\u2019s")
    assert words.said == ["The", "Fed", "re", "pricing", "at", "3", "5", "in", "the", "U.S", "won't", "Ann"]
    assert words.starts[1] == 4


def test_a_topic_is_told_by_company_besides_the_phrase_itself_and_never_among_aliens() -> None:
    topics = Topics(
        {
            "t": TopicWords(
                said="surely", plain="plainly", alien="alien", faint="faint, friend", company="friend beside"
            )
        },
        "not surely",
    )

    def told(text: str, *beside: str) -> bool:
        return bool(topics.find(words_of(text), beside))

    assert told("surely alien")
    assert not told("not surely")
    assert told("plainly")
    assert not told("plainly alien")
    assert not told("plainly", "alien")
    assert not told("faint")
    assert not told("friend")
    assert told("faint friend")
    assert told("faint", "beside")
    assert not told("faint friend alien")


def test_every_topic_has_its_words_and_every_table_is_well_formed() -> None:
    topics = {**MONEY, **WORLD}
    assert sorted(topics) == sorted(MACRO)
    tables = [*topics.values(), *SPOKEN.values()]
    phrases = [table for topic in tables for table in (topic.said, topic.plain, topic.faint)]
    phrases += [macro_others.OTHERS, sectors.OTHERS, *SHORT.values()]
    spelt = [part for table in phrases for phrase in table.split(",") for part in re.split(r"[ /-]", phrase.strip())]
    lonely = [word for topic in tables for word in f"{topic.alien} {topic.company}".split()]
    assert [part for part in spelt if words_of(part).said != [part] and part] == []
    assert [word for word in lonely if words_of(word).lowered != [word]] == []
    assert not re.search(r"(?<=[/-])[\s,/-]|[\s,](?=[/-])", "\n".join(phrases))


@given(st.text())
def test_any_text_is_tagged_and_names_stand_in_it(text: str) -> None:
    tags = TAGGER.tag(text)
    assert all(0 <= start < end <= len(text) for start, end in tags.names)
    assert len(tags.coins) <= len(tags.names)
    assert len(set(tags.macro)) == len(tags.macro)
