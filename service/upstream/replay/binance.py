"""Binance, replayed; mounted under `/binance`."""

from aiohttp import web

from service.upstream.replay.stage import Stage


def routes(stage: Stage) -> list[web.RouteDef]:  # noqa: ARG001 nothing is recorded yet
    """What is served, by paths below the mount point."""
    return []
