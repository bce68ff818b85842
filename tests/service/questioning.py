"""A service that knows everything, and the rooms that its questions ask."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from service.ask.data_services import AskDependencies
from service.ask.questions import QuestionService, open_questions
from service.wire.queries import AlertsQuery
from service.wiring import build as wiring
from tests.service.indoors import PATIENCE_S, Indoors, Kept


@asynccontextmanager
async def questioned(
    kept: Kept, data_dir: Path, **settings: Any
) -> AsyncIterator[tuple[Indoors, AskDependencies, QuestionService]]:
    """The service at rest, its rooms, and who answers its questions; `settings` are the service's own."""
    seen: list[tuple[AskDependencies, QuestionService]] = []

    def noted(rooms: AskDependencies, *more: Any) -> QuestionService:
        desk = open_questions(rooms, *more)
        seen.append((rooms, desk))
        return desk

    with patch.object(wiring, "open_questions", noted):
        async with kept.reopened(data_dir, **settings) as house:
            await house.settle()
            await _have_alerts_of_now(seen[0][0])
            yield house, *seen[0]


async def _have_alerts_of_now(rooms: AskDependencies) -> None:
    """Wait until alerts have been looked for, which takes threads alone: else their age would change."""
    async with asyncio.timeout(PATIENCE_S):
        while (await rooms.market.alerts.alerts(AlertsQuery())).as_of_ms != rooms.clock.now_ms():  # noqa: ASYNC110 - no event
            await asyncio.sleep(0.002)
