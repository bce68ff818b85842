"""The checker on what only a model would write: it says what is wrong, and never breaks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ask.evidence import Evidence
from service.ask.grounding import check
from tests.ask.findings import risk, signal

EVIDENCE = Evidence([risk("BTC"), signal("BTC", id="s2"), risk("ETH", id="s3"), signal("ETH", id="s4")])
WRITTEN = (
    "bull bear strong-bull strong bear insufficient-evidence risk-on risk-off up hodl down uptrend downtrend euphoria "
    "high medium low confidence neutral verdict BTC ETH bitcoin DOGE funding price correlation 10.95 % $118,234.5 0.83 "
    "- | ** ` ( ) [ ] < > . , ; : 2025-07-25 14:02 UTC k M bps ½ two million \u0663 \u2167 \u202e \n \t \\ \0 ' 's"
)
PIECES = WRITTEN.split(" ")


@given(
    st.lists(st.sampled_from([case for piece in PIECES for case in (piece, piece.upper(), piece.title())]), max_size=40)
)
def test_whatever_is_written_is_read_to_its_end(pieces: list[str]) -> None:
    for glue in ("", " "):
        assert isinstance(check(glue.join(pieces), EVIDENCE), tuple)


@pytest.mark.parametrize("label", ["BULL", "Bull", "STRONG-BULL", "RISK-ON", "EUPHORIA", "HIGH confidence", "Uptrend"])
def test_a_label_in_capitals_is_a_label(label: str) -> None:
    assert label.split(maxsplit=1)[0] in [each.text for each in check(f"ETH: {label}", EVIDENCE)]


@pytest.mark.parametrize(
    "text",
    [
        "ETH has low confidence, and BTC has high confidence.",
        "Confidence in ETH: low.",
        "| Name | Confidence |\n| --- | --- |\n| BTC | high |\n| ETH | low |",
        "BTC is low and ETH is high.",
    ],
)
def test_confidence_is_that_of_the_coin_named(text: str) -> None:
    assert check(text, EVIDENCE) == ()


@pytest.mark.parametrize(
    "text",
    [
        "ETH has high confidence.",
        "Confidence in BTC: low.",
        "BTC has medium confidence.",
        "| Name | Confidence |\n| --- | --- |\n| ETH | high |",
    ],
)
def test_confidence_of_another_is_refused(text: str) -> None:
    assert [each.why for each in check(text, EVIDENCE)] == ["a label that differs from the evidence's"]


def test_a_percentage_that_is_no_correlation_is_not_taken_for_one() -> None:
    assert check("Correlation of BTC is 10.95 %.", EVIDENCE) != ()
    assert check("Funding of BTC is 10.95 %.", EVIDENCE) == ()
