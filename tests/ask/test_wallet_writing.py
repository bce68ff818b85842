"""What is told of wallets: who is followed, and what moved in and out of them, to the last digit."""

import re
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.evidence import Evidence
from service.ask.generate import LEFT_OUT, generate
from service.ask.grounding import check
from service.ask.writing import wallets
from service.wire.ask import Classification, Entities, Plan
from tests.ask.followed_findings import (
    DESK,
    FUND,
    HOSTILE,
    LINK,
    LINKS,
    STRANGER,
    TWIN,
    WETH,
    moved,
    movements,
    recent,
    wallet,
    watchlist,
)
from tests.ask.telling import PERSONAS, Told, tell

SHORT = "0xdbF0…C6FB"


def rows_of(told: Told) -> list[str]:
    return [line for line in told.text.split("\n") if line.startswith("| ")][2:]


def test_the_largest_movement_comes_first_with_all_its_digits_and_what_it_was_worth() -> None:
    told = tell(wallets, recent(moved(), LINKS))
    assert told.main == "The largest movement: 88.840682373108978701 WETH ($331,375.75)"
    assert told.paragraphs[0].endswith(f"** out of A fund, main wallet to {SHORT} at 2025-07-25 13:48 UTC.")
    assert rows_of(told) == [
        f"| WETH | A fund, main wallet | out | 88.840682373108978701 | $331,375.75 | {SHORT} | 2025-07-25 13:48 UTC |",
        f"| LINK | 0xfB69…d359 | in | 1,500 | $27,600 | {SHORT} | 2025-07-25 13:48 UTC |",
    ]
    assert "902 movements of tokens with a known price went in or out of 10 watched wallets" in told.text
    assert "since 2025-07-24 14:02 UTC" in told.text
    assert "no purchase and no sale" in told.text
    assert told.unbound == ()


def test_a_token_that_came_in_came_from_somebody() -> None:
    assert f" into 0xfB69…d359 from {SHORT} at " in tell(wallets, recent(LINKS)).text


def test_of_many_movements_a_few_are_told_as_many_as_were_asked_for_or_all() -> None:
    rows = [moved(number) for number in range(20)]
    assert len(rows_of(tell(wallets, recent(*rows)))) == 5
    assert len(rows_of(tell(wallets, recent(*rows), limit=7))) == 7
    analyst = rows_of(tell(wallets, recent(*rows), persona="analyst"))
    assert len(analyst) == 20
    assert f"| 0x{7:064x} |" in analyst[7]
    assert rows_of(tell(wallets, recent(moved()))) == []


def test_where_nothing_moved_that_is_said() -> None:
    told = tell(wallets, recent(total=0, wallets=1))
    assert told.text == "**Nothing of known worth moved** in or out of 1 watched wallet since 2025-07-24 14:02 UTC."


@pytest.mark.parametrize("step", [recent(wallets=0, total=0), movements(chain=None), watchlist()])
def test_where_nobody_is_followed_that_is_said_and_nothing_else(step: object) -> None:
    told = tell(wallets, step)  # type: ignore[arg-type] # a step
    assert told.text == "**No wallets are followed here**: the operator of this service has listed none."


def test_movements_of_a_coin_say_which_token_it_is() -> None:
    told = tell(wallets, movements(moved(), moved(1)), coins=["ETH"])
    assert told.main.startswith("The newest movement: ")
    assert "On record: 415 movements of WETH in and out of the watched wallets." in told.text
    assert f"`ETH` is followed as WETH, the contract {WETH}: a token that stands for the coin, not the" in told.text
    assert told.unbound == ()
    link = tell(wallets, movements(LINKS, contract=LINK), coins=["LINK"])
    assert f"`LINK` is followed as the contract {LINK}." in link.text
    assert link.unbound == ()


def test_a_contract_that_no_coin_is_known_by_is_told_by_itself() -> None:
    told = tell(wallets, movements(contract=STRANGER))
    assert told.text == f"**No movements of {SHORT}** in or out of the watched wallets are on record."
    assert "is followed as" not in tell(wallets, movements(moved(contract=STRANGER), contract=STRANGER)).text


def test_movements_of_one_wallet_are_told_as_its_own() -> None:
    told = tell(wallets, movements(moved(), address=FUND.lower()), coins=["ETH"])
    assert "WETH in and out of A fund, main wallet." in told.text
    assert "in or out of this wallet are on record" in tell(wallets, movements(address=FUND.lower())).text
    assert told.unbound == ()


def test_a_coin_without_movements_is_told_all_the_same() -> None:
    told = tell(wallets, movements(), coins=["ETH"])
    assert told.main == "No movements of `ETH`"
    assert f"`ETH` is followed as the contract {WETH}: a token that stands for the coin" in told.text
    assert told.unbound == ()


def test_what_has_no_token_or_is_no_coin_is_said_to_make_no_difference() -> None:
    told = tell(wallets, movements(moved()), coins=["ETH", "SOL"], categories=["Meme"], assets=["xyz:GOLD"])
    assert "No token is known here for `SOL`" in told.text
    assert "What moves is not told apart by `Meme` and `xyz:GOLD`." in told.text
    assert told.unbound == ()


def test_who_is_followed_is_a_list_with_whole_addresses() -> None:
    told = tell(wallets, watchlist(wallet(), wallet(DESK, None, kind=None, tokens=[])))
    assert told.text.startswith("**2 wallets are followed**, on chain 1 up to block 22,998,896.")
    assert rows_of(told) == [
        f"| A fund, main wallet | fund | {FUND} | WETH at 2025-07-25 13:55 UTC |",
        f"| 0x5aAe…eAed |  | {DESK} | nothing yet |",
    ]
    assert told.unbound == ()
    assert "**1 wallet is followed**" in tell(wallets, watchlist(wallet())).text


def test_a_part_of_the_list_is_said_to_be_one() -> None:
    many = [wallet(f"0x{number:040x}", f"Wallet no. {number}") for number in range(12)]
    told = tell(wallets, watchlist(*many, total=60))
    assert len(rows_of(told)) == 10
    assert told.paragraphs[-1] == "This is a part of the list."
    assert len(rows_of(tell(wallets, watchlist(*many), persona="analyst"))) == 12


def test_one_wallet_is_told_with_its_tokens_each_by_a_name_that_can_be_told() -> None:
    told = tell(wallets, watchlist(wallet(), address=FUND.lower()))
    assert told.paragraphs[0] == f"**A fund, main wallet** (fund) is followed: {FUND}."
    assert rows_of(told) == [
        "| WETH | 0xC02a…6Cc2 | 96 | 2025-07-25 13:55 UTC |",
        f"| the token {STRANGER} | {STRANGER} | 1 | 2025-07-25 11:06 UTC |",
        f"| the token {TWIN} | {TWIN} | 3 | 2025-07-25 10:07 UTC |",
    ]
    assert "claim" not in told.text
    assert told.unbound == ()
    still = tell(wallets, watchlist(wallet(kind=None, tokens=[]), address=FUND.lower()))
    assert "**A fund, main wallet** is followed" in still.text
    assert "Nothing moved in or out of it yet." in still.text


def test_addresses_that_look_alike_are_written_out() -> None:
    told = tell(wallets, recent(moved(), moved(1, counterparty=TWIN)))
    assert STRANGER in told.text
    assert TWIN in told.text
    assert SHORT not in told.text
    assert told.unbound == ()
    assert check(f"It went to {SHORT}.", Evidence([recent(moved(), moved(1, counterparty=TWIN))])) != ()


@pytest.mark.parametrize("symbol", [HOSTILE, "million", "up 5", "100x", "", None, "two", "\u0661"])
def test_a_token_whose_name_cannot_be_told_is_told_by_its_contract(symbol: str | None) -> None:
    told = tell(wallets, recent(moved(token=symbol, contract=DESK), LINKS))
    assert "88.840682373108978701 the token 0x5aAe…eAed ($331,375.75)" in told.main
    assert len(rows_of(told)) == 2
    assert told.unbound == ()


def test_an_amount_of_a_hundred_digits_is_not_written_out() -> None:
    told = tell(wallets, recent(moved(amount=str(2**256 - 1), amount_usd=None), LINKS))
    assert told.main == "The largest movement: an amount of too many digits to be told WETH"
    assert "| not known |" in told.text
    assert told.unbound == ()


def test_a_label_that_does_not_stand_up_to_the_check_costs_its_row_alone() -> None:
    bad = moved(2, ts="2025-07-25T13:50:00.000Z", label="\u200b", amount="9" * 40)
    assert tell(wallets, recent(moved(), bad, LINKS)).unbound == ()


@pytest.mark.parametrize(
    "label", ["Seven", "KRAKEN", "two", "Up 300 %", "<b>9</b>", "WETH", "bullish", "[x](http://y)"]
)
@pytest.mark.parametrize("persona", PERSONAS)
def test_whatever_a_wallet_is_called_the_answer_stands(label: str, persona: str) -> None:
    for step in (
        recent(moved(label=label), LINKS),
        movements(moved(label=label), moved(1)),
        watchlist(wallet(label=label)),
        watchlist(wallet(label=label), address=FUND.lower()),
    ):
        asked = Classification(intent="wallets", entities=Entities(coins=("ETH",)))
        paragraphs = generate(asked, Plan(()), [step], persona)  # type: ignore[arg-type] # one of them
        assert LEFT_OUT not in paragraphs
        assert not re.search(r"[<>\[\]]|://", "".join(paragraphs))


@given(st.text(max_size=40), st.text(max_size=80), st.sampled_from(["amount", "other"]))
def test_no_name_breaks_an_answer_or_gets_markup_through(symbol: str, label: str, kind: str) -> None:
    rows = [moved(token=symbol, label=label), LINKS]
    step = recent(*rows) if kind == "amount" else watchlist(wallet(label=label))
    asked = Classification(intent="wallets", entities=Entities())
    text = "\n".join(generate(asked, Plan(()), [step], "base"))
    assert not set("<>[]`\\") & set(text)
    assert check(text, Evidence([step])) == ()


_DIGIT = re.compile(r"\d")


@given(st.data())
def test_no_other_digit_stands_up_to_the_check(data: st.DataObject) -> None:
    steps = [recent(moved(), LINKS)]
    text = tell(wallets, *steps).text
    at = data.draw(st.sampled_from([found.start() for found in _DIGIT.finditer(text)]))
    digit = data.draw(st.sampled_from([each for each in "0123456789" if each != text[at]]))
    assert check(f"{text[:at]}{digit}{text[at + 1 :]}", Evidence(steps)) != ()


@pytest.mark.parametrize(
    "text",
    [
        "1,500 WETH moved.",
        "88.840682373108978701 LINK moved.",
        "88.840682373108978702 WETH moved.",
        "WETH worth $27,600 moved.",
        "88.84 WETH moved.",
        f"It went to {SHORT[:-1]}A.",
        "It went to 0xdbF0.",
    ],
)
def test_what_moved_of_one_token_is_not_said_of_another(text: str) -> None:
    assert check(text, Evidence([recent(moved(), LINKS)])) != ()


@pytest.mark.parametrize("text", ["88.840682373108978701 WETH moved.", "1,500 LINK moved.", f"It went to {STRANGER}."])
def test_what_moved_may_be_said(text: str) -> None:
    assert check(text, Evidence([recent(moved(), LINKS)])) == ()


def test_how_much_moved_of_one_token_is_not_said_of_another() -> None:
    both = Evidence([movements(moved()), movements(LINKS, contract=LINK, total=156, id="s2")])
    assert check("On record: 415 movements of WETH, and 156 movements of LINK.", both) == ()
    assert check("On record: 156 movements of WETH.", both) != ()


def test_a_list_that_cannot_be_told_safely_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[object] = []
    monkeypatch.setattr("service.ask.writing.sound.table", lambda *_: False)
    monkeypatch.setattr(wallets, "_cells", lambda *_: [])
    style, draft = SimpleNamespace(full=False), SimpleNamespace(say=said.append)
    wallets._table(*(cast(Any, each) for each in (None, None, style, ["one", "two"], draft)))
    assert said == ["A part of this list is left out: it could not be told safely."]
