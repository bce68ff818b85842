"""POST /api/cli: a question in plain words."""

from service.ask.desk import AskDesk, Inquiry
from service.routes.call import Call
from service.wire.ask import Question
from service.wire.queries import NoParameters


async def question(desk: AskDesk, call: Call[NoParameters, Question]) -> Inquiry:
    """Take a question up; what it becomes is told piece by piece.

    Raises:
        ServiceError: As the first tool asked, where all of them failed.
    """
    return await desk.ask(call.body, call.caller)
