"""The page that finds coins."""

import pytest
from msgspec.structs import replace

from service.errors import ServiceError
from tests.pages.stage import Stage, quote, text_of


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.show(quote("ETH"), quote("ETHFI"), quote("SETH"), quote("W/A", volume_usd=1.0), quote("XMR"))
    return stage


@pytest.mark.parametrize(
    ("text", "where"), [("eth", b"/coin/ETH"), (" Xm ", b"/coin/XMR"), ("monero", b""), ("w/a coin", b"/coin/W%2FA")]
)
async def test_a_ticker_or_a_name_that_fits_one_coin_leads_to_it(stage: Stage, text: str, where: bytes) -> None:
    page = await stage.page("/search", q=text)
    assert (page.status, page.location) == (303 if where else 200, where)


async def test_coins_that_fit_are_listed_with_beginnings_first(stage: Stage) -> None:
    page = await stage.page("/search", q="et")
    body = page.body.decode()
    assert body.index("/coin/ETH") < body.index("/coin/ETHFI") < body.index("/coin/SETH")
    assert "/coin/XMR" not in body
    assert "Coins like" in body
    assert "Search; prices 0 s old" in text_of(page)


async def test_without_a_text_coins_are_listed_and_without_a_coin_it_says_so(stage: Stage) -> None:
    assert "The largest coins" in await stage.text("/search")
    assert "No coin is like “<b>”." in await stage.text("/search", q="<b>")


async def test_a_text_without_an_end_is_refused(stage: Stage) -> None:
    with pytest.raises(ServiceError, match="more than 200") as refused:
        await stage.page("/search", q="x" * 201)
    assert refused.value.details == {"parameter": "q"}


async def test_a_coin_without_a_name_is_found_by_its_ticker(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = stage.rows()
    monkeypatch.setattr(stage, "rows", lambda: [replace(row, name=None) for row in rows])
    assert (await stage.page("/search", q="xmr")).location == b"/coin/XMR"
