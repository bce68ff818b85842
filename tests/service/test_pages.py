"""Pages of the service itself: over the market as it is, counted for nobody."""

import re
from pathlib import Path
from typing import Any

import pytest

from service.clock import iso
from tests.fakes.asgi import ask
from tests.pages.stage import text_of
from tests.service.indoors import Kept

BROWSER = {"accept": "text/html,*/*;q=0.8"}


class Shown:
    def __init__(self, body: bytes) -> None:
        self.body = body


def said(body: bytes) -> str:
    return text_of(Shown(body))  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.promise("pages.browser")
async def test_pages_show_what_the_api_answers_and_nobody_is_charged(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        app = house.service.app
        pages = {path: await ask(app, path, headers=BROWSER) for path in ("/", "/coin/BTC", "/scorecard", "/account")}
        assert {path: page.status for path, page in pages.items()} == dict.fromkeys(pages, 200)
        key = await house.make_key("free")
        health: Any = (await ask(app, "/api/cli/market/health", key=key)).json["data"]
        as_of = iso(house.clock.now_ms())
        verdict: Any = (await ask(app, f"/api/cli/signal/BTC?as_of={as_of}", key=key)).json["data"]
        looked = await ask(app, "/api/cli/regime", "HEAD", key=key)
    assert looked.headers["ratelimit"] == '"questions";r=8'
    assert f"{health['trends']['UP']} of {health['universe']} coins are in a daily uptrend" in said(pages["/"].body)
    coin = said(pages["/coin/BTC"].body)
    assert verdict["verdict"].replace("-", " ") in coin
    shown = re.search(r"Score (\+|-)?(\d\.\d\d)", coin)
    assert shown is not None
    assert float("".join(shown.groups(""))) == verdict["score"]
    assert all(sentence in coin for sentence in verdict["evidence"][:4])


async def test_without_pages_there_is_nothing_at_their_paths(kept: Kept, tmp_path: Path) -> None:
    async with kept.reopened(tmp_path / "data", pages="off") as house:
        for path in ("/", "/coin/BTC", "/static/site.css"):
            reply = await ask(house.service.app, path, headers=BROWSER)
            assert (reply.status, reply.code) == (404, "NOT_FOUND")
