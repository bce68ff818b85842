"""alternative.me, replayed; mounted under `/alternative`: the Fear & Greed index, a value a day, newest first."""

from functools import cached_property
from typing import Final

import msgspec
from aiohttp import web
from msgspec.structs import replace

from service.clock import DAY_MS, SECOND_MS
from service.upstream.replay.stage import Stage

FILE: Final = "alternative/fng.json"
_ONE: Final = "1"
_DAY_S: Final = DAY_MS // SECOND_MS


class Value(msgspec.Struct, frozen=True):
    """The index of a day as the venue writes it; `timestamp` is that day's first second, since 1970."""

    value: str
    value_classification: str
    timestamp: str


def routes(stage: Stage) -> list[web.RouteDef]:
    """What is served, by paths below the mount point."""
    return [web.get("/fng/", _Index(stage).serve)]


class _Index:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    @cached_property
    def _values(self) -> list[Value]:
        content = self._stage.files.get(FILE)
        return [] if content is None else msgspec.json.decode(content, type=list[Value])

    async def serve(self, request: web.Request) -> web.Response:
        """`GET /fng/?limit=N`; 0 is everything there is."""
        limit = request.query.get("limit", _ONE)
        if not (limit.isascii() and limit.isdigit()):
            limit = _ONE
        now_ms, shift_ms = self._stage.now()
        now_s, shift_s = now_ms // SECOND_MS, shift_ms // SECOND_MS
        known = [value for value in self._values if int(value.timestamp) <= now_s]
        rows = [
            msgspec.to_builtins(replace(value, timestamp=str(int(value.timestamp) + shift_s)))
            for value in known[: int(limit) or None]
        ]
        if rows:
            rows[0]["time_until_update"] = str(_DAY_S - now_s % _DAY_S)
        body = msgspec.json.encode({"name": "Fear and Greed Index", "data": rows, "metadata": {"error": None}})
        return web.Response(body=body, headers={"Content-Type": "application/json"})
