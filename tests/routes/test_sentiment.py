"""The route of sentiment asks for narratives where the action names them."""

from typing import cast

import pytest

from service.narratives.service import NarrativeService
from service.routes.call import Call
from service.routes.market import sentiment
from service.sentiment.views import SentimentViews
from service.wire.envelope import Answer
from service.wire.queries import SentimentQuery
from tests.fakes.clock import START_MS


class Asked:
    """Narratives and views that answer with what they were asked for."""

    async def attention(self) -> Answer:
        return Answer("attention", START_MS)

    async def narrative(self, name: str) -> Answer:
        return Answer(f"narrative {name}", START_MS)

    def view(self, query: SentimentQuery) -> Answer:
        return Answer(f"view {query.action}", START_MS)


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (SentimentQuery("narratives"), "attention"),
        (SentimentQuery("narrative", name="Meme"), "narrative Meme"),
        (SentimentQuery("category", name="Meme"), "view category"),
    ],
)
async def test_an_action_of_narratives_is_answered_by_them_and_any_other_by_the_views(
    query: SentimentQuery, answer: str
) -> None:
    asked = Asked()
    views, narratives = cast(SentimentViews, asked), cast(NarrativeService, asked)
    assert (await sentiment(views, narratives, Call(query, None, None))).data == answer
