"""That what is searched is there: heads are remembered, and one that is told another's answer is found."""

from unittest.mock import patch

import pytest

from service.http.fast_path import FastRequest
from service.http.protocol import VerdictProtocol
from tests.fuzz.targets import heads


def test_heads_that_are_searched_are_heard_again() -> None:
    heard: list[bytes] = []
    hear = VerdictProtocol._repeat

    def noting(self: VerdictProtocol, last: FastRequest) -> bool:
        heard.append(last.exchange.head)
        return hear(self, last)

    with patch.object(VerdictProtocol, "_repeat", noting):
        heads.read_heads(next(iter(heads.TARGETS[0].seeds())))
    assert len(set(heard)) == 3


def test_a_head_that_is_taken_for_another_is_found() -> None:
    received = VerdictProtocol.data_received

    def confuse(self: VerdictProtocol, data: bytes) -> None:
        if self._repeatable is not None:
            self._repeatable.exchange.head = data
        received(self, data)

    with patch.object(VerdictProtocol, "data_received", confuse), pytest.raises(AssertionError, match="as known"):
        heads.read_heads(next(iter(heads.TARGETS[0].seeds())))
