"""Which stories are new, what they say, whom they are about."""

import pytest

from service.clock import DAY_MS, HOUR_MS, LATEST_MS
from service.feeds.dates import AHEAD_MS
from service.sentiment.aggregation import HORIZON_MS, ScoredItem
from service.sentiment.reader import Reader, known_as
from service.sentiment.sources.rss import Story
from service.sentiment.stance import Trading

NOW_MS = 1_753_444_800_000
TAPE = {"SOL": Trading("Solana"), "LINK": Trading("Chainlink"), "OP": Trading("Optimism")}
READER = Reader(TAPE, {"Meme": (), "Oracle": ("LINK",)})


def story(title: str, at_ms: int | None = NOW_MS, key: str = "") -> Story:
    return Story(key or title, title, "https://news.example/a", at_ms)


def read(*stories: Story, held: tuple[ScoredItem, ...] = ()) -> list[ScoredItem]:
    return READER.read("coindesk", stories, held, NOW_MS)


def test_a_story_becomes_an_item_scored_and_attributed() -> None:
    (found,) = read(story("Solana surges as meme coins rally", NOW_MS - HOUR_MS))
    assert (found.source, found.published_ms, found.scored_ms) == ("coindesk", NOW_MS - HOUR_MS, NOW_MS)
    assert (found.coins, found.categories) == (("SOL",), ("Meme",))
    assert found.score > 0.5


def test_a_name_is_not_praise() -> None:
    assert read(story("Optimism Foundation moves"))[0].score == read(story("Solana Foundation moves"))[0].score


@pytest.mark.parametrize("at_ms", [None, NOW_MS + AHEAD_MS + 1, NOW_MS + HOUR_MS, NOW_MS + DAY_MS, LATEST_MS])
def test_an_item_without_a_date_or_from_the_future_does_not_count(at_ms: int | None) -> None:
    assert [each.title for each in read(story("a coin", at_ms), story("another coin"))] == ["another coin"]


def test_an_item_of_a_publisher_whose_clock_is_minutes_ahead_is_dated_now() -> None:
    assert read(story("a coin", NOW_MS + AHEAD_MS))[0].published_ms == NOW_MS


def test_what_is_too_old_to_enter_anything_is_left_out() -> None:
    assert len(read(story("older", NOW_MS - HORIZON_MS - 1), story("old", NOW_MS - HORIZON_MS))) == 1


def test_one_story_is_counted_once_whoever_passes_it_on() -> None:
    first = read(story("Solana rises, again!", key="a"))
    assert read(story("other words", key="a"), held=tuple(first)) == []
    assert read(story("SOLANA RISES AGAIN", key="b", at_ms=NOW_MS - DAY_MS), held=tuple(first)) == []
    assert len(read(story("Solana rises again", key="c", at_ms=NOW_MS - DAY_MS - 1), held=tuple(first))) == 1
    assert len(read(story("twice", key="d"), story("Twice!", key="e"))) == 1


def test_items_are_attributed_anew_only_where_that_changes_something() -> None:
    items = read(story("Aptos rises"), story("Solana rises"))
    wider = Reader({**TAPE, "APT": Trading("Aptos")}, {"Meme": ()})
    (changed,) = wider.attribute(items)
    assert (changed.title, changed.coins) == ("Aptos rises", ("APT",))
    assert READER.attribute(items) == []


def test_a_venues_ticker_of_a_thousand_is_read_only_where_the_venue_trades_so() -> None:
    reader = Reader({"PEPE": Trading("Pepe", units=1_000), "HYPE": Trading("Hyperliquid")}, {})
    found = reader.read("coindesk", [story("kPEPE rises"), story("kHYPE rises")], (), NOW_MS)
    assert [item.coins for item in found] == [("PEPE",), ()]


def test_a_name_that_comes_to_be_known_later_is_no_praise_any_more() -> None:
    early = Reader({"SOL": Trading("Solana")}, {})
    items = early.read("coindesk", [story("Optimism Foundation moves")], (), NOW_MS)
    (heard,) = READER.attribute(items)
    assert heard.score < items[0].score
    assert (heard.coins, heard.scored_ms) == (("OP",), items[0].scored_ms)
    assert [heard] == read(story("Optimism Foundation moves"))


def test_what_texts_are_searched_for_has_a_name_of_its_own() -> None:
    name = known_as(TAPE, {"Meme": ("SOL",)})
    assert name == known_as(dict(reversed(TAPE.items())), {"Meme": ["SOL"]})
    assert known_as({**TAPE, "SOL": Trading("Solana", units=1_000)}, {"Meme": ("SOL",)}) != name
    assert len({name, known_as({}, {"Meme": ("SOL",)}), known_as(TAPE, {"Meme": ()}), known_as(TAPE, {})}) == 4
