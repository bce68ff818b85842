import pytest

from service.errors import ServiceError
from service.notify.rules import FORMS, ParsedRule, parse_rule, price_state


@pytest.mark.promise("notify.rules")
@pytest.mark.parametrize(
    ("typed", "rule"),
    [
        ("BTC > 120000", ParsedRule("price-above", "BTC", "120000")),
        (" btc<0.05 ", ParsedRule("price-below", "BTC", "0.05")),
        ("verdict eth", ParsedRule("verdict", "ETH")),
        ("FUNDING BTC", ParsedRule("funding", "BTC")),
        ("regime", ParsedRule("regime")),
        ("regime  BTC", ParsedRule("regime", "BTC")),
        ("breadth", ParsedRule("breadth")),
        ("regime > 1", ParsedRule("price-above", "REGIME", "1")),
    ],
)
def test_each_form_is_read_and_its_text_is_read_back(typed: str, rule: ParsedRule) -> None:
    assert parse_rule(typed) == rule
    assert parse_rule(rule.text) == rule


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", f"This is not a rule. Write {FORMS}."),
        ("BTC >= 5", "This is not a rule."),
        ("BTC = 5", "This is not a rule."),
        ("BTC > 120,000", "The price must be a positive number of USD in plain digits, such as 120000 or 0.0021."),
        ("BTC > 1e5", "The price must be"),
        ("BTC > 0.0", "The price must be"),
        ("BTC > \u0661\u0662", "The price must be"),
        ("BTC > 1\n", ""),
        ("verdict", "Name the coin, such as `verdict BTC`."),
        ("funding", "Name the coin, such as `funding BTC`."),
        ("breadth BTC", "Breadth is of the whole market. Write `breadth` alone."),
        ("verdict BTC ETH", "This is not a rule."),
        ("\u0412TC > 1", "This is not a rule."),
    ],
)
def test_anything_else_is_refused_in_one_sentence(typed: str, said: str) -> None:
    if not said:
        assert parse_rule(typed).text == "BTC > 1", "spaces around a rule do not matter"
        return
    with pytest.raises(ValueError, match=r"\.\Z") as caught:
        parse_rule(typed)
    assert str(caught.value).startswith(said)


def test_a_coin_is_looked_up_and_written_by_its_canonical_ticker() -> None:
    assert parse_rule("xbt > 1", lambda _: "BTC").text == "BTC > 1"
    assert parse_rule("verdict kPEPE", lambda _: "PEPE").text == "verdict PEPE"

    def find(_: str) -> str:
        raise ServiceError("UNKNOWN_SYMBOL", "no such coin")

    with pytest.raises(ServiceError):
        parse_rule("verdict XYZ", find)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("kPEPE > 0.012", "PEPE > 0.000012"),
        ("kpepe<12", "PEPE < 0.012"),
        ("1000PEPE > 1000", "PEPE > 1"),
        ("1000pepe > 100000", "PEPE > 100"),
    ],
)
def test_a_price_of_a_thousand_coins_is_refused_with_the_rule_for_one(typed: str, written: str) -> None:
    with pytest.raises(ValueError, match=f"is 1,000 PEPE. Write the price of one coin: `{written}`."):
        parse_rule(typed, lambda _: "PEPE")
    assert parse_rule(written, lambda _: "PEPE").text == written


@pytest.mark.promise("notify.once")
@pytest.mark.parametrize(
    ("rule", "prices", "states"),
    [
        ("BTC > 100", [99, 101, 100, 99.6, 101, 99.5, 101], "armed fired fired fired fired armed fired"),
        ("BTC < 100", [101, 99, 100, 100.4, 99, 100.5, 99], "armed fired fired fired fired armed fired"),
        ("BTC > 100", [100], "armed"),
        ("BTC > 100", [100.1, 99.9, 99], "fired fired armed"),
    ],
)
def test_a_price_rule_is_armed_again_half_a_percent_back(rule: str, prices: list[float], states: str) -> None:
    state: str | None = None
    seen = []
    for price in prices:
        state = price_state(parse_rule(rule), price, state)
        seen.append(state)
    assert " ".join(seen) == states
