"""A purchase that ends, or meets a full disk, before any one of its steps: what was sent is counted, and kept."""

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from service.client.answer import RawAnswer
from service.client.paying.terms import UnpaidError
from tests.client.paying.stand import BODY, Stand, asking, payment_in, sold

STEPS = ((os, "open"), (os, "fsync"), (os, "replace"), (os, "unlink"), (os, "mkdir"), (fcntl, "flock"))
"""What a purchase asks of the system, beside closing files, which happens to the dead as well."""

MOST = 60
PRICE = 5_000


class KilledError(BaseException):
    """Nothing after this happens, whoever would clean up."""


class Machine:
    """Counts steps; at one of them the process ends, or the disk is full from then on.

    Args:
        last: The step that is not done any more.
        fault: What it raises, and every later one.
    """

    def __init__(self, last: int, fault: BaseException) -> None:
        self.done = 0
        self._last = last
        self._fault = fault

    def step(self) -> None:
        self.done += 1
        if self.done >= self._last:
            raise self._fault

    @contextmanager
    def running(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        with monkeypatch.context() as patched:
            for module, name in STEPS:
                patched.setattr(module, name, self._counting(getattr(module, name)))
            yield

    def _counting(self, real: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            self.step()
            return real(*given, **named)

        return call


def signatures(stand: Stand) -> set[str]:
    return {payment_in(headers)["payload"]["signature"] for headers in stand.sent}


@pytest.mark.promise("cli.pay-once")
def test_who_is_killed_before_any_step_has_counted_and_kept_what_was_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = []
    for last in range(1, MOST):
        stand, machine = Stand(tmp_path / str(last), sold()), Machine(last, KilledError())

        def send(headers: Mapping[str, str], stand: Stand = stand, machine: Machine = machine) -> RawAnswer:
            machine.step()
            answer = stand.send(headers)
            machine.step()
            return answer

        try:
            with machine.running(monkeypatch):
                stand.buyer().buy(asking(), send, stand)
        except KilledError:
            ends.append(len(stand.sent))
        else:
            assert machine.done < last
            break
        later = Stand(stand.state, sold())
        assert later.store.spent_today() >= PRICE * len(stand.sent)
        bought = list((stand.store.folder / "receipts").glob("*.json"))
        assert later.buy().body == BODY
        if stand.sent and not bought:
            assert signatures(later) == signatures(stand), f"paid twice when killed at step {last}"
    assert last < MOST - 1  # it came to its end at last
    assert {0, 1} == set(ends)


def test_a_disk_that_is_full_from_any_step_on_has_nothing_sent_or_its_answer_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for last in range(1, MOST):
        stand, machine = Stand(tmp_path / str(last), sold()), Machine(last, OSError(28, "No space left on device"))
        try:
            with machine.running(monkeypatch):
                assert stand.buy().body == BODY
        except UnpaidError as error:
            said = str(error)
        else:
            said = ""
        assert len(stand.sent) == ("No space left" not in said)
        assert stand.store.spent_today() >= PRICE * len(stand.sent)
        if machine.done < last:
            break
    assert last < MOST - 1
