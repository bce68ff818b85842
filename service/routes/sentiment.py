"""GET /api/cli/category/sentiment/{name}: what is written about a category, and how its coins trade."""

from service.routes.call import Call
from service.sentiment.desk import SentimentDesk
from service.wire.envelope import Answer
from service.wire.queries import OfCategory


def category_sentiment(sentiment: SentimentDesk, call: Call[OfCategory, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_CATEGORY with candidates; UPSTREAM_4XX or UPSTREAM_5XX where nothing can be said;
            UNAVAILABLE before the first conclusions.
    """
    return sentiment.category(call.parameters.name)
