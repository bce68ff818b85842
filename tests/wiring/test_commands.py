"""The lines that the page about the API shows can be typed."""

import shlex

import pytest

from service.wire.offers import OFFERS
from service.wiring.examples import lines
from tests.cli.commanding import options

LINES = [(offer, line) for offer, typed in lines().items() for line in typed]


@pytest.mark.parametrize("line", [line for _, line in LINES])
def test_a_line_is_one_that_the_command_line_takes(line: str) -> None:
    program, *typed = shlex.split(line)
    assert program == "verdict"
    options(*typed)


def test_every_offer_that_can_be_typed_has_its_line() -> None:
    assert {offer.id for offer in OFFERS} - {offer for offer, _ in LINES} == {"auth.nonce"}  # is part of signing in
    assert {offer for offer, _ in LINES} <= {offer.id for offer in OFFERS}


def test_the_line_of_a_route_is_about_it() -> None:
    assert list(lines()["coin.risk"]) == ["verdict coin risk BTC"]
    assert "verdict whoami" in lines()["billing.tier"]
    assert "verdict billing tier" in lines()["billing.tier"]
