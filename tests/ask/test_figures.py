"""A value of a result, as prose shows it; a literal, which shows none; and every figure found again."""

import json
import re
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from service.ask import figures
from service.ask.cleaning import LONGEST, clean
from service.ask.draft import Draft, bold, joined, listed
from service.ask.evidence import Evidence, Found
from service.ask.generate import compose
from service.ask.glossary import TERMS
from service.ask.grounding import check
from service.ask.numerals import Numeral, Odd, scan
from service.wire.ask import Entities
from tests.ask import test_coin_writing as coins
from tests.ask import test_market_writing as market
from tests.ask.findings import found, risk
from tests.ask.telling import tell


def of(result: object, tool: str = "coin.risk", as_of: str | None = "2025-07-25T14:02:10.000Z") -> Found:
    first = Evidence([found(tool, {}, result, as_of=as_of)]).first(tool)
    assert first is not None
    return first


@pytest.mark.parametrize(
    ("form", "value", "shown"),
    [
        (figures.usd, 67123.4, "$67,123.4"),
        (figures.usd, 1e-07, "$0.0000001"),
        (figures.usd, 118234.0, "$118,234"),
        (figures.usd, None, "not known"),
        (figures.usd, True, "not known"),
        (figures.big_usd, 1_239_999_999.0, "$1.24B"),
        (figures.big_usd, 2_350_000_000_000, "$2.35T"),
        (figures.big_usd, 98_000_000.0, "$98M"),
        (figures.big_usd, 1_500.0, "$1.5k"),
        (figures.big_usd, 12.345, "$12.34"),
        (figures.cents, -12.345, "-$12.34"),
        (figures.size_usd, -12.3, "$12.3"),
        (figures.percent, 8.7654, "8.77 %"),
        (figures.percent, -0.004, "-0.004 %"),
        (figures.percent, 0.0, "0 %"),
        (figures.percent, -0.0, "0 %"),
        (figures.signed, 8.7654, "+8.77 %"),
        (figures.signed, -8.0, "-8 %"),
        (figures.signed, 0, "0 %"),
        (figures.size, -8.7654, "8.77 %"),
        (figures.moved, 3.2, "up 3.2 %"),
        (figures.moved, -3.2, "down 3.2 %"),
        (figures.moved, 0.0, "unchanged"),
        (figures.points, -4.9, "-4.9 points"),
        (figures.share, 0.4376, "43.76 %"),
        (figures.number, 0.8312, "0.83"),
        (figures.signed_number, 2.5, "+2.5"),
        (figures.count, 1234, "1,234"),
        (figures.days, 1, "1 day"),
        (figures.days, 12.0, "12 days"),
        (figures.hours, 8.0, "8 hours"),
        (figures.quantity, 0.0071234567891, "0.0071234568"),
        (figures.quantity, 62.044672773, "62.044673"),
        (figures.quantity, 0.0, "0"),
        (figures.date, "2025-07-25T14:02:10.000Z", "2025-07-25"),
        (figures.date, "2025-07-25", "2025-07-25"),
        (figures.instant, "2025-07-25T14:02:10.000Z", "2025-07-25 14:02 UTC"),
        (figures.instant, "soon", "not known"),
        (figures.instant, 5, "not known"),
        (figures.quote, "a\n[b](http://c) <i>", "a (b)(http c) \u2039i\u203a"),
        (figures.quote, None, "not known"),
    ],
)
def test_a_form_shows_a_value(form: Any, value: object, shown: str) -> None:
    assert form(of({"a": [{"b": value}]}), "/a/0/b").text == shown


def test_a_count_goes_with_its_noun() -> None:
    row = of({"one": 1, "many": 2, "none": None})
    assert figures.counted(row, "/one", "coin", "coins").text == "1 coin"
    assert figures.counted(row, "/many", "coin", "coins").text == "2 coins"
    assert figures.counted(row, "/none", "coin", "coins").text == "not known"


def test_a_list_has_a_length_and_anything_else_none() -> None:
    assert figures.length(of({"coins": [{}, {}]}), "/coins").text == "2"
    assert figures.length(of({"coins": 5}), "/coins").text == "0"


def test_a_field_speaks_of_a_time_or_it_is_a_defect() -> None:
    assert figures.window(of({}), "/change_24h").text == "24 h"
    with pytest.raises(LookupError):
        figures.window(of({}), "/price")


def test_a_result_is_as_old_as_its_step_says() -> None:
    assert figures.as_of(of({})).text == "2025-07-25 14:02:10 UTC"
    assert figures.as_of(of({}, as_of=None)).text == "not known"


@pytest.mark.parametrize(
    ("result", "pointer", "shown"),
    [
        ({"verdict": "bull"}, "/verdict", "bull"),
        ({"funding_apr": 3.0}, "/funding_apr", "+3 %"),
        ({"input": "risk.funding_apr", "value": 21.9}, "/value", "+21.9 %"),
        ({"input": "funding.apr_24h - funding.apr_7d", "value": -10.0}, "/value", "-10 points"),
        ({"input": "sentiment.stance - what", "value": 1.5}, "/value", "+1.5"),
        ({"price": 147.2, "assetType": "fx"}, "/price", "+147.2"),
        ({"UP": 5}, "/UP", "5"),
        ({"breadth_pct": {"UP": 41.25}}, "/breadth_pct/UP", "+41.25 %"),
        ({"count": 7, "unit": "d"}, "/count", "7 days"),
        ({"count": 7, "unit": "h"}, "/count", "7 hours"),
        ({"amount": 7.5, "unit": "USD"}, "/amount", "$7.5"),
        ({"amount": 7.5, "unit": "ETH"}, "/amount", "7.5"),
        ({"amount": 7.5}, "/amount", "$7.5"),
        ({"whatever": 7.125}, "/whatever", "+7.12"),
    ],
)
def test_a_field_is_shown_in_its_own_unit(result: object, pointer: str, shown: str) -> None:
    assert figures.shown(of(result), pointer).text == shown


def test_a_pointer_leads_to_a_value_or_to_none() -> None:
    row = of({"a/b": {"~c": [1]}})
    assert row.get("/a~1b/~0c/0") == 1
    assert row.get("/a~1b/~0c/9") is None
    assert row.get("/a~1b/~0c/x") is None
    assert row.get("/a~1b/~0c/0/x") is None


def test_a_result_may_be_anything_that_json_can_say() -> None:
    for result in (5, "BTC", None, [], [1, 2], {"price_usdc": "0.005", "n": "12", "t": True, "x": "1.", "y": "1.x"}):
        assert check("", Evidence([found("scan", {}, result)])) == ()
    priced = Evidence([found("manifest", {}, {"price_usdc": "0.005", "perDay": "12"})])
    assert check("A call costs $0.005, and 12 are free.", priced) == ()


def test_a_literal_holds_no_numeral_in_any_disguise() -> None:
    for literal in (
        "5",
        "two",
        "\u00bd",
        "\u4e94",
        "doubled",
        "a third",
        "\u0665",
        "1st",
        "2025-07-25",
        "&#57;",
        "a\tb",
    ):
        with pytest.raises(ValueError, match="numeral"):
            Draft().say("BTC is at ", literal)


def test_the_sentences_that_explain_are_literals() -> None:
    for term in TERMS.values():
        assert scan(term.short) == [], term.key


def test_a_draft_is_paragraphs_lists_and_tables() -> None:
    draft = Draft(explains=True)
    draft.say(" ")
    draft.items([])
    draft.table(["a"], [])
    draft.say(listed(["a"]), " ", listed(["a", "b", "c"]), " ", bold("d"), *joined(["e", "f"], "; "))
    draft.items(["a", ("b", "c")])
    draft.table(["a", "b"], [["c|d", ("e", "f")]])
    draft.explain("funding")
    draft.explain("funding")
    assert draft.paragraphs == (
        "a a, b and c **d**e; f",
        "- a\n- bc",
        "| a | b |\n| --- | --- |\n| c/d | ef |",
        TERMS["funding"].short,
    )


def test_what_was_said_may_be_repeated_only_if_it_cannot_pass_for_a_figure() -> None:
    entities = Entities(unknown=("5k", "100x", "1000PEPE", "FOO9", "`x`"))
    answered = Evidence([risk("BTC")], entities)
    assert check("`1000PEPE` and `FOO9` are not known.", answered) == ()
    assert check("BTC is at `5k`.", answered) != ()
    assert check("BTC made `100x`.", answered) != ()
    assert check(f"{figures.said('5k').text} is not known.", Evidence([], entities)) == ()


@given(st.lists(st.sampled_from(["&", "amp;", "lt;", "gt;", "*", "~", "#60;", "\u201c", "a", " "])).map("".join))
def test_what_was_escaped_is_neutralised_once_and_for_all(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not set(once) & set("<>*~\u201c\u201d")
    assert not re.search("&(?:amp|lt|gt);", once)


@given(st.integers(0, 359_999))
def test_a_place_in_a_recording_is_read_as_the_seconds_that_it_was_written_from(seconds: int) -> None:
    steps = [found("transcripts", {}, {"start_seconds": seconds})]
    [told] = Evidence(steps).found
    text = figures.place(told, "/start_seconds").text
    (token,) = scan(text)
    assert isinstance(token, Numeral)
    assert (int(token.value), token.unit, token.start, token.end) == (seconds, "place", 0, len(text))
    assert check(f"It begins at {text}.", Evidence(steps)) == ()
    wrong = figures.place(Found("s1", "transcripts", {}, None, {"start_seconds": seconds + 1}), "/start_seconds").text
    assert check(f"It begins at {wrong}.", Evidence(steps)) != ()


@pytest.mark.parametrize(
    "text", ["1:2", "1:60", "60:00", "00:10:00", "1:00:60", "-1:00", "$1:00", "1:00%", "14:02 UTC"]
)
def test_what_is_no_place_in_a_recording_is_not_read_as_one(text: str) -> None:
    assert not any(isinstance(token, Numeral) and token.unit == "place" for token in scan(text))


def test_an_amount_keeps_every_digit_and_another_is_refused() -> None:
    exact = "1234567.890123456789012345"
    step = found("wallets", {"contract": "0x0"}, {"movements": [{"contract": "0x0", "token": "WETH", "amount": exact}]})
    told = Evidence([step])
    text = figures.amount(told.found[0], "/movements/0/amount").text
    assert text == "1,234,567.890123456789012345"
    assert check(f"{text} WETH", told) == ()
    assert check(f"{text[:-1]}6 WETH", told) != ()
    assert check(f"{text} USD", told) != ()


@given(st.text(max_size=2 * LONGEST))
def test_cleaned_text_is_one_harmless_line_and_stays_as_it_is(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert len(once) <= LONGEST
    assert not set(once) & set("\n\t\0<>[]`|\\*~")
    assert "://" not in once


@given(st.text(max_size=200))
def test_whatever_is_read_is_read_to_its_end(text: str) -> None:
    evidence = Evidence([risk("BTC")])
    for token in scan(text):
        assert 0 <= token.start < token.end <= len(text)
    check(text, evidence)


@pytest.mark.parametrize(
    "unit",
    [
        "1 ",
        "1,",
        "$1.",
        "*1",
        "and ",
        "BTC ",
        "| 1 ",
        "(",
        "_1_ ",
        "2025-07-25 ",
        "twenty",
        "`a`",
        "\n",
        "- 1 %",
        "9" * 9,
    ],
)
def test_the_longest_text_is_read_in_bounded_time(unit: str) -> None:
    assert check((unit * 8_000)[:8_000], Evidence([risk("BTC"), risk("ETH", id="s2")])) is not None


def _answers() -> list[tuple[str, Evidence]]:
    written = []
    for case in coins.CASES.values():
        assignment = coins.assigned(case, "analyst")
        written.append(("\n\n".join(compose(assignment)), assignment.evidence))
    for writer, steps in market.CASES.values():
        written.append((tell(writer, *steps, persona="analyst").text, Evidence(steps)))
    return [(text, evidence) for text, evidence in written if any(map(str.isdigit, text)) and evidence.found]


ANSWERS = _answers()
_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def _shown(evidence: Evidence) -> set[str]:
    """Digits that some value of the results could show, by another way than the checker's: formatted, not parsed."""
    shown: set[str] = set()
    for step in evidence.steps:
        for text in re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", json.dumps(msgspec.to_builtins(_plain(step.result)))):
            value = abs(Decimal(text))
            for scale in (0, 2, -3, -6, -9, -12):
                shown |= {_digits(f"{value.scaleb(scale):.{places}f}") for places in range(9)}
    return shown | {_digits(str(length)) for length in range(60)}


def _plain(result: Any) -> Any:
    return None if result is None else msgspec.json.decode(result)


def _digits(text: str) -> str:
    plain = text.replace(",", "")
    return (plain.rstrip("0").rstrip(".") if "." in plain else plain).lstrip("0")


@pytest.mark.promise("question.bound-numbers")
@settings(max_examples=300, deadline=None)
@given(st.data())
def test_an_altered_digit_of_any_answer_is_refused(data: st.DataObject) -> None:
    text, evidence = data.draw(st.sampled_from(ANSWERS))
    at = data.draw(st.sampled_from([index for index, letter in enumerate(text) if letter.isdigit()]))
    digit = data.draw(st.sampled_from([digit for digit in "0123456789" if digit != text[at]]))
    altered = f"{text[:at]}{digit}{text[at + 1 :]}"
    number = next(run.group() for run in _NUMBER.finditer(altered) if run.start() <= at < run.end())
    assume(_digits(number) not in _shown(evidence))
    assert check(altered, evidence), altered


@settings(max_examples=100, deadline=None)
@given(st.floats(min_value=1e-9, max_value=1e12), st.integers(0, 12), st.sampled_from(["", "$"]))
def test_an_invented_number_is_refused_wherever_it_is_put(value: float, places: int, dollar: str) -> None:
    text = f"{value:,.{places}f}"
    evidence = Evidence([risk("BTC"), risk("ETH", id="s2")])
    assume(_digits(text) not in _shown(evidence))
    assert check(f"ETH is at {dollar}{text}.", evidence)
    assert check(f"| ETH | {dollar}{text} |", evidence)


def test_a_figure_longer_than_any_of_ours_is_none() -> None:
    (token,) = scan("1" * 40)
    assert isinstance(token, Odd)
