"""News feeds, replayed; mounted at the root: each path begins with its feed's name, `/coindesk` or `/cointelegraph`."""

from aiohttp import web

from service.upstream.replay.stage import Stage


def routes(stage: Stage) -> list[web.RouteDef]:  # noqa: ARG001 nothing is recorded yet
    """What is served, by whole paths."""
    return []
