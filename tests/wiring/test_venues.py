"""Who is asked for data, and what each of them is told of us."""

from aiohttp import web
from msgspec.json import Decoder

from service.settings import Settings
from service.upstream.replay.server import replay_server
from service.wiring.upstreams import PUBLISHED, open_upstreams
from tests.fakes.clock import FakeClock
from tests.fakes.serving import live_at

KEY = "CG-demo-0123456789"


async def test_an_operators_key_goes_to_the_upstream_it_is_for_and_to_no_other() -> None:
    seen: dict[str, str | None] = {}

    async def note(request: web.Request) -> web.StreamResponse:
        seen[request.path.split("/")[1]] = request.headers.get("x-cg-demo-api-key")
        return web.json_response({})

    clock = FakeClock()
    async with replay_server(Settings().fixtures_dir, clock, "shifted") as replay:
        replay.interceptor = note
        settings = Settings.from_environ(
            {f"VERDICT_{name.upper()}": value for name, value in live_at(replay.url).items()}
            | {"VERDICT_COINGECKO_KEY": KEY}
        )
        async with open_upstreams(settings, clock) as upstreams:
            assert upstreams.origin() == "live"
            assert upstreams.sessions.keys() == PUBLISHED.keys()
            for session in upstreams.sessions.values():
                await session.get("/x", weight=1, decoder=Decoder(dict[str, int]))
    assert {name for name, key in seen.items() if key == KEY} == {"coingecko"}
    assert len(seen) == len(PUBLISHED)
