"""Reading stories: which are new, what they say, whom they are about. Pure but for the lexicon, which it loads once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS
from service.feeds.dates import past_date
from service.sentiment.aggregation import HORIZON_MS, ScoredItem
from service.sentiment.classifier import headline_classifier
from service.sentiment.matcher import Attribution, Known, Matcher
from service.sentiment.sources.rss import Story
from service.sentiment.stance import Trading
from service.wire.envelope import encode

SAME_STORY_MS: Final = DAY_MS
"""Two items with one title, published within a day, are one story that was passed on."""

SCORED_BY: Final = "headline-model-1"
"""Part of `known_as`: raise it with the model, so that stored items are scored again."""

_LETTERS: Final = re.compile(r"[\W_]+")


class Reader:
    """Reads stories for the coins and categories that are known.

    Args:
        tape: How coins trade, by symbol; their titles are what texts call them.
        categories: Name → symbols of its coins.
    """

    def __init__(self, tape: Mapping[str, Trading], categories: Mapping[str, Sequence[str]]) -> None:
        self._matcher = Matcher([Known(symbol, view.title, view.units) for symbol, view in tape.items()], categories)

    def read(self, source: str, stories: Iterable[Story], held: Iterable[ScoredItem], now_ms: int) -> list[ScoredItem]:
        """Score and attribute the stories that are not held yet.

        Args:
            source: Whose feed it is.
            stories: As the feed had them.
            held: What is known already.
            now_ms: Stories published more than eight days before, or after it, or at an unknown time, are left out.
        """
        ids, published_by_title = set(), {}
        for item in held:
            ids.add(item.id)
            published_by_title[_comparable(item.title)] = item.published_ms
        fresh = []
        for story in stories:
            published_ms = past_date(story.published_ms, now_ms)
            if published_ms is None:
                continue
            title = _comparable(story.title)
            twice = title in published_by_title and abs(published_by_title[title] - published_ms) <= SAME_STORY_MS
            if story.id in ids or twice or published_ms < now_ms - HORIZON_MS:
                continue
            ids.add(story.id)
            published_by_title[title] = published_ms
            fresh.append(self._item(source, story, published_ms, now_ms))
        return fresh

    def attribute(self, items: Iterable[ScoredItem]) -> list[ScoredItem]:
        """Say again which coins items are about and how they sound: a name that is known now is no praise any more.

        Returns:
            Those for which that has changed.
        """
        changed = []
        for item in items:
            about, score = self._hear(item.title)
            if (about.coins, about.categories, score) != (item.coins, item.categories, item.score):
                changed.append(replace(item, coins=about.coins, categories=about.categories, score=score))
        return changed

    def _item(self, source: str, story: Story, published_ms: int, now_ms: int) -> ScoredItem:
        about, score = self._hear(story.title)
        return ScoredItem(
            story.id, source, story.title, story.url, published_ms, score, about.coins, about.categories, now_ms
        )

    def _hear(self, title: str) -> tuple[Attribution, float]:
        about = self._matcher.read(title)
        return about, headline_classifier().score(title, [(name.start, name.end) for name in about.mentions])


def known_as(tape: Mapping[str, Trading], categories: Mapping[str, Sequence[str]]) -> str:
    """A digest of what headlines are read with: it changes with the model and every coin, title, unit and category."""
    coins = sorted((symbol, view.title, view.units) for symbol, view in tape.items())
    return sha256(
        encode([SCORED_BY, coins, sorted((name, list(symbols)) for name, symbols in categories.items())])
    ).hexdigest()


def _comparable(title: str) -> str:
    return _LETTERS.sub("", title).lower()
