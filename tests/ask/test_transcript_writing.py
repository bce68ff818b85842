"""What is told of talk: other people's words, verbatim and attributed, and nothing that they could do here."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.evidence import Evidence
from service.ask.generate import LEFT_OUT, generate
from service.ask.grounding import check
from service.ask.writing import transcripts
from service.wire.ask import Classification, Entities, Plan
from tests.ask.followed_findings import ORDER, highlights, said, show, shows
from tests.ask.telling import PERSONAS, tell

PLAIN = "Jupiter is where every swap on Solana goes through."
CUTS = "If core CPI goes back over three, then the 2 cuts are off the table."


def test_a_passage_is_quoted_with_who_said_it_where_and_when() -> None:
    told = tell(transcripts, highlights(said(CUTS), total=2, macro="inflation"), shows(show()))
    assert told.paragraphs[0] == "**2 passages on `inflation`**, the newest episodes first:"
    assert told.paragraphs[1] == f"- Tobias in The Macro Hour, 2025-07-24, at 12:34: “{CUTS}”"
    assert told.paragraphs[2] == "These are the words of those who spoke, not of this service."
    assert told.paragraphs[3] == "Followed here: The Macro Hour."
    assert told.unbound == ()


@pytest.mark.parametrize(("seconds", "place"), [(0, "0:00"), (59, "0:59"), (3_600, "1:00:00"), (36_061, "10:01:01")])
def test_where_in_an_episode_is_told_as_its_player_shows_it(seconds: int, place: str) -> None:
    told = tell(transcripts, highlights(said(PLAIN, seconds)), shows(show()))
    assert f", at {place}: “" in told.text
    assert told.unbound == ()


def test_each_coin_has_its_own_passages_and_the_time_that_was_asked_for() -> None:
    since = "2025-07-18T00:00:00.000Z"
    told = tell(
        transcripts,
        highlights(said(PLAIN), coin="SOL", since=since),
        highlights(id="s2", coin="ETH"),
        shows(show()),
        coins=["SOL", "ETH"],
    )
    assert "**1 passage on SOL** since 2025-07-18 00:00 UTC, the newest" in told.text
    assert "**Nothing was said on `ETH`** in what is followed." in told.text
    assert told.unbound == ()


def test_where_nothing_is_named_all_is_told_and_where_nothing_was_said_that() -> None:
    assert tell(transcripts, highlights(said(PLAIN), total=84), shows(show())).main == "84 passages"
    none = tell(transcripts, highlights(), shows(show()))
    assert none.main == "Nothing was said"
    assert "These are the words" not in none.text


def test_titles_are_told_to_who_wants_everything() -> None:
    told = tell(transcripts, highlights(said(PLAIN)), shows(show()), persona="analyst")
    assert "in The Macro Hour, “A growth scare, \u2039b\u203anot\u2039/b\u203a a recession”, 2025-07-24" in told.text
    assert told.unbound == ()


def test_who_wants_it_short_is_not_told_whose_words_they_are_twice() -> None:
    told = tell(transcripts, highlights(said(PLAIN)), shows(show()), persona="trader")
    assert "These are the words" not in told.text
    assert "Followed here: The Macro Hour." in told.text


def test_what_talk_is_not_told_apart_by_is_said() -> None:
    told = tell(transcripts, highlights(said(PLAIN)), shows(show()), assets=["xyz:GOLD"])
    assert "What is said is not told apart by `xyz:GOLD`." in told.text
    assert told.unbound == ()


def test_the_shows_that_are_followed_are_named_and_those_that_failed() -> None:
    failing = show("Onchain Desk", "onchain-desk", status="failing")
    told = tell(transcripts, highlights(said(PLAIN)), shows(show(), failing))
    assert "Followed here: The Macro Hour and Onchain Desk." in told.text
    assert "Not read last time: Onchain Desk." in told.text


def test_who_asks_for_the_shows_is_shown_them() -> None:
    waiting = show(
        "Onchain Desk", "desk", kind="video", language=None, lastEpisodeAt=None, episodes=0, status="waiting"
    )
    told = tell(transcripts, shows(show(), waiting), action="sources")
    assert told.main == "2 shows are followed"
    assert "| The Macro Hour | podcast | en-gb | 4 | 2025-07-24 | ok |" in told.text
    assert "| Onchain Desk | video |  | 0 | none yet | waiting |" in told.text
    assert told.unbound == ()
    assert tell(transcripts, shows(show())).main == "1 show is followed"


def test_where_nothing_is_followed_that_is_said_and_nothing_else() -> None:
    for steps in ((highlights(), shows()), (shows(),)):
        told = tell(transcripts, *steps)
        assert told.text == "**No podcasts or videos are followed here**: the operator of this service has listed none."


def test_a_show_that_is_not_listed_any_more_is_told_by_its_id() -> None:
    told = tell(transcripts, highlights(said(PLAIN)), shows(show("Onchain Desk", "onchain-desk")))
    assert "- Tobias in macro-hour, 2025-07-24" in told.text
    assert tell(transcripts, highlights(said(PLAIN))).unbound == ()


@pytest.mark.promise("question.data-is-data")
def test_what_somebody_said_is_quoted_and_never_obeyed() -> None:
    told = tell(transcripts, highlights(said(ORDER), said(PLAIN), coin="SOL"), shows(show()), coins=["SOL"])
    assert f"- Tobias in The Macro Hour, 2025-07-24, at 12:34: “{ORDER}”" in told.text
    assert told.text.replace(ORDER, "").count("instructions") == 0
    assert told.unbound == ()


@pytest.mark.promise("question.data-is-data")
@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("S&amp;P 500 and R&amp;D are up.", "S&P 500 and R&D are up."),
        ("&lt;script&gt;alert(1)&lt;/script&gt;", "\u2039script\u203aalert(1)\u2039/script\u203a"),
        ("[click](https://evil.example) ![x](y)", "(click)(https evil.example) !(x)(y)"),
        ("`rm -rf` | **bold** ~~gone~~", "'rm -rf' / bold gone"),
        ("He said “buy now” and left.", 'He said "buy now" and left.'),
        ("&amp;amp;lt;b&amp;gt; five million", "\u2039b\u203a five million"),
    ],
)
def test_markup_of_a_quote_is_neutralised(quote: str, shown: str) -> None:
    told = tell(transcripts, highlights(said(quote), said(PLAIN)), shows(show()))
    assert f"“{shown}”" in told.text
    assert told.unbound == ()


@pytest.mark.parametrize("speaker", ["Seven", "MAX", "two", "bullish", "<b>", "SOL", "100x", "Jo Doe"])
def test_whoever_speaks_is_named_if_that_can_be_told(speaker: str) -> None:
    for persona in PERSONAS:
        asked = Classification(intent="transcripts", entities=Entities(coins=("SOL",)))
        steps = [
            highlights(said(PLAIN, speaker=speaker), said(CUTS, speaker=None), coin="SOL"),
            shows(show("MAX", "max")),
        ]
        paragraphs = generate(asked, Plan(()), steps, persona)
        assert LEFT_OUT not in paragraphs
        assert "".join(paragraphs).count("“") >= 2
        assert "- Somebody in macro-hour" in "\n".join(paragraphs)


def test_a_speaker_who_cannot_be_named_is_somebody() -> None:
    told = tell(transcripts, highlights(said(PLAIN, speaker="77"), said(CUTS)), shows(show()))
    assert "- Somebody in The Macro Hour, 2025-07-24, at 12:34: “Jupiter" in told.text
    assert "- Tobias in The Macro Hour" in told.text
    assert told.unbound == ()


def test_a_quote_that_cannot_pass_the_check_is_left_out_and_not_the_others() -> None:
    told = tell(transcripts, highlights(said("1 2 3"), said(PLAIN)), shows(show()))
    assert f"“{PLAIN}”" in told.text
    assert "1 2 3" not in told.text
    assert "A part of what was said is left out: it could not be quoted safely." in told.text
    assert told.unbound == ()


def test_a_show_whose_name_cannot_be_told_is_left_out_and_not_the_others() -> None:
    odd = show("24", "numbers")
    told = tell(transcripts, highlights(said(PLAIN)), shows(show(), odd))
    assert "Followed here: The Macro Hour." in told.text
    assert told.unbound == ()
    listed = tell(transcripts, shows(show(), odd))
    assert "| The Macro Hour |" in listed.text
    assert "A part of this list is left out" in listed.text
    assert listed.unbound == ()
    assert "Followed" not in tell(transcripts, highlights(said(PLAIN)), shows(odd)).text


@given(st.lists(st.text(max_size=120), min_size=1, max_size=3), st.text(max_size=30), st.text(max_size=30))
def test_no_words_break_an_answer_or_get_markup_through(quotes: list[str], speaker: str, name: str) -> None:
    steps = [highlights(*(said(quote, speaker=speaker) for quote in quotes)), shows(show(name))]
    asked = Classification(intent="transcripts", entities=Entities())
    text = "\n".join(generate(asked, Plan(()), steps, "base"))
    assert not re.search(r"[<>\[\]\\`]|://", text)
    assert check(text, Evidence(steps)) == ()


@pytest.mark.parametrize(
    "text",
    [
        f"On SOL: “{CUTS}”",
        "12:34 is where it was said.",
        "At 0:12:34 of it.",
        "2 passages on ETH.",
        "1 passage on SOL at 12:35.",
        "1 passage on SOL at 12:34 UTC.",
        "1 passage on SOL at 754.",
    ],
)
def test_words_on_one_coin_are_not_told_of_another(text: str) -> None:
    steps = [highlights(said(PLAIN), coin="SOL"), highlights(said(CUTS, 99, coins=["ETH"]), coin="ETH", id="s2")]
    known = {f"On SOL: “{PLAIN}”", "12:34 is where it was said."}
    assert (check(text, Evidence(steps)) == ()) is (text in known)
