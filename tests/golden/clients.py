"""The command line and the tools for agents: both ask the service over its socket."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.golden.answers import Answer, numbered
from tests.golden.commands import answers_of_commands
from tests.golden.idle import HandClock, run
from tests.golden.start import service
from tests.golden.tools import answers_of_tools


def record_clients(folder: Path) -> Mapping[str, Sequence[Answer]]:
    """Record commands and tool calls, on the whole recording at its last instant."""

    async def work(clock: HandClock) -> Mapping[str, Sequence[Answer]]:
        async with service(folder / "data", clock, knows_port=True) as running:
            await clock.advance(60)
            return {
                "commands": numbered(await answers_of_commands(running, folder)),
                "tools": await answers_of_tools(running),
            }

    return run(work)
