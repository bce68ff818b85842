"""Markets at the edge of what there can be: every one is walked, told in finite numbers, and refused for nothing."""

import math
import os
import random
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import pytest

from service.clock import DAY_MS
from service.walkforward import gate
from service.walkforward.engine import run_walkforward
from service.walkforward.parameters import BarTuple, CoinHistoryInput, Parameters, Scheme, WalkforwardRequest

FIRST = 20_000
DAYS = 480
TRAIN = Parameters().train_days


@pytest.fixture(autouse=True)
def _a_quicker_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "SURROGATES", 2)
    monkeypatch.setattr(gate, "CUT_EVERY", 160)


def coin(
    name: str, days: range = range(DAYS), *, move: float = 0.04, scale: float = 1.0, volume: float = 1e6,
    paid: float = 0.001, without: range = range(0),
) -> CoinHistoryInput:  # fmt: skip
    """A coin that wanders by its name alone, with funding on every day that has a bar."""
    dice, price = random.Random(name), 100.0  # noqa: S311 - prices, not secrets
    bars: list[BarTuple] = []
    funding = []
    for day in days:
        opened, price = price, price * math.exp(dice.gauss(0, move))
        high, low = max(opened, price) * (1 + move / 4), min(opened, price) / (1 + move / 4)
        if day not in without:
            bars.append((FIRST + day, opened * scale, high * scale, low * scale, price * scale, volume))
            funding.append((FIRST + day, dice.gauss(0.0003, paid)))
    return CoinHistoryInput(name, bars, funding)


def coins(count: int = 12, **how: Any) -> list[CoinHistoryInput]:
    return [coin(f"C{number:02d}", **how) for number in range(count)]


def steady(name: str) -> CoinHistoryInput:
    return CoinHistoryInput(name, [(FIRST + day, 1.0, 1.0, 1.0, 1.0, 5.0) for day in range(DAYS)], [])


MARKETS: Mapping[str, list[CoinHistoryInput]] = {
    "nothing": [],
    "a coin without bars": [CoinHistoryInput("A", [], [])],
    "one coin": [coin("A")],
    "a coin of the last day alone": [*coins(), coin("Z", range(DAYS - 1, DAYS))],
    "a coin listed in a fold": [*coins(), coin("Z", range(TRAIN + 5, DAYS))],
    "coins delisted while they are held": [*coins(6), *(coin(f"X{end}", range(end)) for end in range(370, 450, 10))],
    "all of them delisted but one": [coin("A"), *(coin(f"X{number}", range(400)) for number in range(9))],
    "days without any bar": coins(without=range(400, 412)),
    "no bar from the eve of the first fold on, for weeks": coins(without=range(TRAIN - 1, TRAIN + 60)),
    "a training without bars": coins(without=range(30, 340)),
    "no volume": coins(volume=0.0),
    "prices of a billionth": coins(scale=1e-11),
    "prices of a billion": coins(scale=1e7),
    "prices that never move": [steady(f"S{number}") for number in range(12)],
    "one price that never moves": [*coins(), steady("S")],
    "prices that move by half": coins(move=0.5),
    "prices that move by powers of ten": coins(move=3.0),
    "funding of more than there is": coins(paid=2.0),
}


def walked(histories: list[CoinHistoryInput], parameters: Parameters | None = None) -> dict[str, Any]:
    last = max((bar[0] for history in histories for bar in history.bars), default=FIRST)
    request = WalkforwardRequest((last + 1) * DAY_MS, parameters or Parameters(), histories)
    told: dict[str, Any] = msgspec.to_builtins(run_walkforward(request, lambda _done, _total: None))
    return told


def numbers(told: object) -> Iterator[float]:
    if isinstance(told, float):
        yield told
    for one in told.values() if isinstance(told, dict) else told if isinstance(told, list) else ():
        yield from numbers(one)


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", MARKETS)
def test_a_market_at_the_edge_is_told_in_finite_numbers_and_refused_for_nothing(name: str) -> None:
    told = walked(MARKETS[name])
    assert all(math.isfinite(one) for one in numbers(told))
    assert [finding for finding in told["findings"] if not finding["held"]] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("days", "folds", "message"),
    [
        (TRAIN, 0, "Nothing was walked: 365 days are recorded, and the first fold needs 366."),
        (TRAIN + 1, 1, None),
        (TRAIN + 90, 1, None),
        (TRAIN + 91, 2, None),
    ],
)
@pytest.mark.parametrize("scheme", ["anchored", "rolling"])
def test_a_fold_begins_on_the_day_after_the_one_before_it_ends(
    days: int, folds: int, message: str | None, scheme: Scheme
) -> None:
    told = walked(coins(5, days=range(days)), Parameters(scheme=scheme))
    assert (told["message"], len(told["folds"])) == (message, 3 * folds)
    assert [finding for finding in told["findings"] if not finding["held"]] == []


@pytest.mark.process
def test_another_process_with_other_hashes_and_another_order_of_coins_gives_the_same_bytes() -> None:
    asked = (
        "import hashlib, msgspec, sys;"
        "from tests.walkforward import test_adversary_markets as markets;"
        "markets.gate.SURROGATES, markets.gate.CUT_EVERY = 2, 160;"
        "told = markets.walked(markets.coins(5, days=range(400))[:: int(sys.argv[1])]);"
        "print(hashlib.sha256(msgspec.json.encode(told)).hexdigest())"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", asked, order],
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            timeout=60,
        ).stdout
        for seed, order in (("1", "1"), ("2", "-1"))
    }
    assert len(said) == 1
