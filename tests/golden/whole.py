"""The whole recording at its last instant: routes, pages, questions, commands and tools of one service."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.golden.answers import Answer, numbered
from tests.golden.commands import answers_of_commands
from tests.golden.idle import ManualClock, run
from tests.golden.questions import answers_of_questions
from tests.golden.routes import answers_of_pages, answers_of_routes, tokens_of
from tests.golden.start import service
from tests.golden.tools import answers_of_tools


def record_whole(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record them. The service is started once: that takes as long as all of them."""

    async def work(clock: ManualClock) -> Mapping[str, Sequence[Answer]]:
        async with service(folder / "data", clock, knows_port=True) as running:
            await clock.advance(60)
            tokens = await tokens_of(running)
            return {
                "routes": await answers_of_routes(running, tokens),
                "pages": await answers_of_pages(running),
                "questions": await answers_of_questions(running, tokens),
                "commands": numbered(await answers_of_commands(running, folder)),
                "tools": await answers_of_tools(running),
            }

    return run(work)
