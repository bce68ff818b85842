import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop

LoopFactory = Callable[[], asyncio.AbstractEventLoop]


def pytest_asyncio_loop_factories(config: pytest.Config, item: pytest.Item) -> Mapping[str, LoopFactory]:
    """The loop the service runs on; for what touches sockets also the one that stands in where there is no uvloop."""
    factories: dict[str, LoopFactory] = {"uvloop": uvloop.new_event_loop}
    if item.path.name.startswith("test_protocol"):
        factories["asyncio"] = asyncio.SelectorEventLoop
    return factories
