"""Fear & Greed, decoded."""

import msgspec
import pytest

from service.sentiment.sources.alternative import FEAR_GREED

SAMPLE = b"""{"name":"Fear and Greed Index","data":[{"value":"40","value_classification":"Fear",
"timestamp":"1551157200","time_until_update":"68499"},{"value":"47","value_classification":"Neutral","timestamp":"1551070800"}],
"metadata":{"error":null}}"""
"""In the form that alternative.me documents."""


def test_the_documented_form_decodes() -> None:
    rows = FEAR_GREED.decode(SAMPLE).data
    assert [(row.value, row.timestamp) for row in rows] == [(40, 1_551_157_200), (47, 1_551_070_800)]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"{}",
        b'{"data":[{"value":"NaN","value_classification":"","timestamp":"1"}]}',
        b'{"data":[{"value":"101","value_classification":"","timestamp":"1"}]}',
        b'{"data":[{"value":"-1","value_classification":"","timestamp":"1"}]}',
        b'{"data":[{"value":"1","value_classification":"","timestamp":"99999999999999"}]}',
    ],
)
def test_nonsense_is_refused(body: bytes) -> None:
    with pytest.raises(msgspec.MsgspecError):
        FEAR_GREED.decode(body)
