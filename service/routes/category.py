"""GET /api/cli/category/info/{name}: a category's trend breakdown."""

from service.market.categories.desk import CategoryDesk
from service.routes.call import Call
from service.wire.envelope import Answer
from service.wire.queries import OfCategory


def info(categories: CategoryDesk, call: Call[OfCategory, None]) -> Answer:
    """Answer from memory.

    Raises:
        ServiceError: UNKNOWN_CATEGORY with candidates; UPSTREAM_4XX or UPSTREAM_5XX where nothing can be said.
    """
    return categories.info(call.parameters.name)
