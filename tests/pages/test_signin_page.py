"""The page that a command line opens: what it is told, and what it is not told."""

import re

import pytest

from service.errors import ServiceError
from service.pages.site import PageSite
from tests.pages.stage import Stage

STATE = "s" * 43


@pytest.fixture(scope="module")
def site() -> PageSite:
    return Stage().site


async def shown(site: PageSite, **query: str) -> str:
    page = await site.answer("/auth/cli", "", query)
    assert page.status == 200
    return page.body.decode()


@pytest.mark.parametrize("port", ["1024", "40404", "65535"])
async def test_it_returns_to_a_port_of_the_persons_own_machine(site: PageSite, port: str) -> None:
    html = await shown(site, state=STATE, port=port)
    assert f'data-state="{STATE}" data-port="{port}"' in html
    assert "If the terminal still waits" in html


async def test_without_a_port_there_is_no_way_back_but_by_hand(site: PageSite) -> None:
    html = await shown(site, state=STATE)
    assert 'data-port=""' in html
    assert 'id="back"' not in html
    assert "verdict login --paste" in html


@pytest.mark.parametrize("state", ["", "short", "s" * 129, "s" * 42 + '"', "s" * 42 + " ", "s" * 42 + "\n", "ß" * 43])
async def test_a_state_that_no_command_line_makes_is_refused(site: PageSite, state: str) -> None:
    with pytest.raises(ServiceError, match="verdict login") as refused:
        await site.answer("/auth/cli", "", {"state": state, "port": "40404"})
    assert (refused.value.status, refused.value.details) == (400, {"parameter": "state"})


@pytest.mark.parametrize(
    "port",
    ["0", "80", "1023", "65536", "99999", "123456", "040404", "+4040", "4040x", "٤٠٤٠", "4040\n", "a.example"],
)
async def test_a_port_that_no_command_line_listens_on_is_refused(site: PageSite, port: str) -> None:
    with pytest.raises(ServiceError, match="1024 to 65535") as refused:
        await site.answer("/auth/cli", "", {"state": STATE, "port": port})
    assert refused.value.details == {"parameter": "port"}


async def test_a_place_to_go_on_to_is_no_parameter(site: PageSite) -> None:
    with pytest.raises(ServiceError, match="next is not a parameter"):
        await site.answer("/auth/cli", "", {"state": STATE, "next": "https://evil.example"})


async def test_nothing_runs_or_is_styled_that_a_strict_policy_forbids(site: PageSite) -> None:
    pages = [await shown(site, state=STATE, port="40404"), (await site.answer("/auth/cli/done", "", {})).body.decode()]
    for html in pages:
        assert re.findall(r"<script(?! src=\"/static/)|<style|\sstyle=|\son[a-z]+=|javascript:", html) == []
        assert re.findall(r"(?:src|href)=\"(?!/)", html.replace('href="#main"', "")) == []


async def test_the_end_says_where_to_go(site: PageSite) -> None:
    page = await site.answer("/auth/cli/done", "", {"anything": "else"})
    assert b"Back to your terminal" in page.body


async def test_who_has_no_wallet_is_told_every_other_way(site: PageSite) -> None:
    html = await shown(site, state=STATE)
    for way in ("wallet extension", "verdict login --keystore FILE", "verdict login --token"):
        assert way in html
    account = (await site.answer("/account", "", {})).body.decode()
    assert "wallet extension" in account
    assert "Or use an API key, below." in account
