import asyncio
from contextlib import ExitStack
from pathlib import Path

from service.wiring.leader import claim_leadership
from tests.fakes.clock import FakeClock


def test_the_first_process_on_a_folder_leads_and_the_second_follows(tmp_path: Path) -> None:
    with claim_leadership(tmp_path) as first, claim_leadership(tmp_path) as second:
        second.contend()
        assert (first.held(), second.held()) == (True, False)


async def test_a_follower_takes_over_within_a_second_of_the_leaders_end(tmp_path: Path) -> None:
    clock = FakeClock()
    leading = ExitStack()
    leading.enter_context(claim_leadership(tmp_path))
    with leading, claim_leadership(tmp_path) as second:
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            group.create_task(second.watch(clock))
            await clock.advance(3)
            assert not second.held()
            leading.close()
            await clock.advance(1)
            assert second.held()


async def test_a_leader_has_nothing_to_watch_for(tmp_path: Path) -> None:
    with claim_leadership(tmp_path) as first:
        async with asyncio.timeout(5):
            await first.watch(FakeClock())
        assert first.held()
