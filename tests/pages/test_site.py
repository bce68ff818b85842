"""The site as a whole."""

import pytest

from service.errors import STATUS, ServiceError
from tests.pages.stage import Stage, text_of


@pytest.mark.parametrize("code", sorted(STATUS))
def test_every_failure_is_a_page(code: str) -> None:
    refused = Stage().site.refuse(ServiceError(code, "why <so>"))
    assert refused.status == STATUS[code]
    assert refused.content_type == b"text/html; charset=utf-8"
    assert "why <so>" in text_of(refused)
    assert b"why &lt;so&gt;" in refused.body


async def test_the_account_page_is_the_same_for_everybody() -> None:
    stage = Stage()
    assert await stage.page("/account") is await stage.page("/account")
    assert "verdict whoami" in await stage.text("/account")  # what to do where there is no script


async def test_every_path_of_the_site_is_known() -> None:
    assert {"/", "/coin/{symbol}", "/scorecard", "/account", "/static/{file}"} <= set(Stage().site.paths)


async def test_every_file_that_a_page_names_is_there() -> None:
    stage = Stage()
    for path, segment in (("/", ""), ("/coin/{symbol}", "BTC"), ("/scorecard", ""), ("/account", "")):
        body = (await stage.page(path, segment)).body.decode()
        for part in body.split('"/static/')[1:]:
            assert (await stage.page("/static/{file}", part.partition('"')[0])).status == 200
