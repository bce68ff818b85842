"""Reading stories: which are new, what they say, whom they are about. Pure but for the lexicon, which it loads once."""

import re
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from msgspec.structs import replace

from service.clock import DAY_MS
from service.sentiment.matcher import Attribution, Known, Matcher
from service.sentiment.mood import HORIZON_MS, Item
from service.sentiment.scoring import scorer
from service.sentiment.sources.rss import Story
from service.sentiment.stance import Trading
from service.wire.envelope import encode

SAME_STORY_MS: Final = DAY_MS
"""Two items with one title, published within a day, are one story that was passed on."""

_LETTERS: Final = re.compile(r"[\W_]+")


class Reader:
    """Reads stories for the coins and categories that are known.

    Args:
        tape: How coins trade, by symbol; their titles are what texts call them.
        categories: Name → symbols of its coins.
    """

    def __init__(self, tape: Mapping[str, Trading], categories: Mapping[str, Sequence[str]]) -> None:
        self._matcher = Matcher([Known(symbol, view.title) for symbol, view in tape.items()], categories)

    def read(self, source: str, stories: Iterable[Story], held: Iterable[Item], now_ms: int) -> list[Item]:
        """Score and attribute the stories that are not held yet.

        Args:
            source: Whose feed it is.
            stories: As the feed told them.
            held: What is known already.
            now_ms: Nothing was published after it; what was published before it by more than eight days is left out.
        """
        ids, told = set(), {}
        for item in held:
            ids.add(item.id)
            told[_told(item.title)] = item.published_ms
        fresh = []
        for story in stories:
            published_ms = now_ms if story.published_ms is None else min(story.published_ms, now_ms)
            title = _told(story.title)
            twice = title in told and abs(told[title] - published_ms) <= SAME_STORY_MS
            if story.id in ids or twice or published_ms < now_ms - HORIZON_MS:
                continue
            ids.add(story.id)
            told[title] = published_ms
            fresh.append(self._item(source, story, published_ms, now_ms))
        return fresh

    def attribute(self, items: Iterable[Item]) -> list[Item]:
        """Say anew whom items are about and how they sound: a name that is known now is no praise any more.

        Returns:
            Those for which that has changed.
        """
        changed = []
        for item in items:
            about, score = self._hear(item.title)
            if (about.coins, about.categories, score) != (item.coins, item.categories, item.score):
                changed.append(replace(item, coins=about.coins, categories=about.categories, score=score))
        return changed

    def _item(self, source: str, story: Story, published_ms: int, now_ms: int) -> Item:
        about, score = self._hear(story.title)
        return Item(
            story.id, source, story.title, story.url, published_ms, score, about.coins, about.categories, now_ms
        )

    def _hear(self, title: str) -> tuple[Attribution, float]:
        about = self._matcher.read(title)
        return about, scorer().score(title, [(name.start, name.end) for name in about.mentions])


def known_as(tape: Mapping[str, Trading], categories: Mapping[str, Sequence[str]]) -> str:
    """A digest of what texts are searched for: it changes with every coin, title and category."""
    titles = sorted((symbol, view.title) for symbol, view in tape.items())
    return sha256(encode([titles, sorted((name, list(symbols)) for name, symbols in categories.items())])).hexdigest()


def _told(title: str) -> str:
    return _LETTERS.sub("", title).lower()
