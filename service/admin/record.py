"""`verdict record`: capture the live upstreams into a fixture set, which `VERDICT_FIXTURES_DIR` then replays."""

import asyncio
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from service.admin.folder import refusing
from service.client.errors import DONE, RefusalError
from service.clock import SystemClock
from service.settings import Settings
from service.upstream.fixture_set import Metadata
from service.upstream.recorder import record
from service.upstream.session import open_session
from service.wiring.upstreams import HYPERLIQUID, PUBLISHED


def capture(arguments: Namespace, environment: Mapping[str, str]) -> int:
    """Capture; nothing is written unless all of it was had."""
    target = Path(arguments.out)
    if target.exists() and any(target.iterdir()):
        raise RefusalError(f"{target} is not empty; name a new folder")
    with refusing():
        settings = Settings.from_environ(environment)
        metadata = asyncio.run(_capture(settings, target, arguments.coins))
    sys.stdout.write(
        f"{target} holds {len(metadata.files)} files up to {metadata.last_day}. Replay them with\n"
        f"  VERDICT_SOURCE=fixtures VERDICT_FIXTURES_DIR={target} verdict serve\n"
    )
    return DONE


async def _capture(settings: Settings, target: Path, coins: list[str]) -> Metadata:
    session = open_session(
        HYPERLIQUID, settings.hyperliquid_url, SystemClock(), weight_per_minute=PUBLISHED[HYPERLIQUID]
    )
    async with session as opened:
        return await record(opened, target, coins)
