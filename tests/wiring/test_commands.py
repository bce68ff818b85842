"""The lines that the page about the API shows can be typed."""

import shlex

import pytest

from service.__main__ import SECTIONS
from service.clients.cli.arguments import read
from service.clients.cli.words import find
from service.wire.offers import OFFERS
from service.wiring.commands import lines

LINES = [(offer, line) for offer, typed in lines().items() for line in typed]


@pytest.mark.parametrize("line", [line for _, line in LINES])
def test_a_line_is_one_that_the_command_line_takes(line: str) -> None:
    program, *typed = shlex.split(line)
    found = find(typed, [command for _, commands in SECTIONS for command in commands])
    assert program == "verdict"
    assert found.command is not None
    read(found.command, found.rest)


def test_every_offer_that_can_be_typed_has_its_line() -> None:
    assert {offer.id for offer in OFFERS} - {offer for offer, _ in LINES} == {"auth.nonce"}  # is part of signing in
    assert {offer for offer, _ in LINES} <= {offer.id for offer in OFFERS}


def test_the_line_of_a_route_is_about_it() -> None:
    assert list(lines()["coin.risk"]) == ["verdict coin risk BTC"]
    assert "verdict whoami" in lines()["billing.tier"]
    assert "verdict billing tier" in lines()["billing.tier"]
