"""Verdicts as answers carry them: their arithmetic, their replay by the operator's command, their ledger."""

import contextlib
import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from service.__main__ import run
from service.market.symbols import canonical
from service.storage.engine import connect
from service.verdict.audit import audit_ledger
from tests.fakes.handful import COINS
from tests.fakes.serving import PATIENCE_S

SYMBOLS = tuple(canonical(coin) for coin in COINS)
"""The handful, as it is answered."""

SOURCES = ("risk", "funding", "regime", "sentiment")
WEIGHTS = {
    "trend-daily": 0.5,
    "trend-weekly": 1.0,
    "regime-market": 0.5,
    "regime-coin": 0.5,
    "funding-level": 0.75,
    "funding-momentum": 0.25,
    "sentiment": 0.5,
}
GROUPS = (
    ("trend-daily", "trend-weekly", "regime-market", "regime-coin"),
    ("funding-level", "funding-momentum"),
    ("sentiment",),
)
"""Rules that confidence counts as one piece of evidence."""

LEAST = {"strong-bull": 2.5, "bull": 1.0, "neutral": -0.75, "bear": -2.25, "strong-bear": -4.0}
"""The least score of each verdict; points are quarters."""

STEPS = ("low", "medium", "high")


class Entry(NamedTuple):
    """A row of the ledger."""

    seq: int
    kind: str
    day: int | None
    symbol: str
    issued_ms: int
    verdict_id: str
    verdict: str
    price: float | None


_ENTRIES = "SELECT seq, kind, day, symbol, issued_ms, verdict_id, verdict, price FROM verdict_ledger ORDER BY seq"


def entries(data_dir: Path) -> list[Entry]:
    """The ledger, read beside whoever writes it."""
    return [Entry(*row) for row in select(data_dir, _ENTRIES)]


def select(data_dir: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Read the service's database."""
    with closing(connect(data_dir / "verdict.db", query_only=True)) as connection:
        return list(connection.execute(query, values))


def check(said: Any) -> None:
    """A verdict follows from its own figures: points, bands, coverage, agreement, confidence."""
    points = {rule["id"]: rule["contribution"] for rule in said["rules"]}
    assert points.keys() == WEIGHTS.keys()
    assert sum(points.values()) == said["score"]
    assert all(abs(point) <= WEIGHTS[rule] for rule, point in points.items())
    assert [rule["evidence"] for rule in said["rules"]] == list(range(len(WEIGHTS)))
    assert len(said["evidence"]) == len(WEIGHTS) + 2
    unknown = [rule for rule in said["rules"] if rule["value"] is None]
    assert all((rule["contribution"], rule["flips_at"]) == (0, None) for rule in unknown)
    basis, missing = said["confidence_basis"], sum(WEIGHTS[rule["id"]] for rule in unknown)
    assert said["evidence"][-1] == basis["explanation"]
    assert basis["coverage"] <= 1 - missing / 4
    most = sum(abs(sum(points[rule] for rule in group)) for group in GROUPS) + missing
    assert basis["agreement"] == (round(max(0, abs(said["score"]) - missing) / most, 4) if most else 1)
    if said["verdict"] == "insufficient-evidence":
        assert said["confidence"] == "low"
        return
    assert said["verdict"] == next(label for label, least in LEAST.items() if said["score"] >= least)
    if set(said["sources"].values()) == {"fulfilled"} and not unknown:
        assert basis["coverage"] == 1
        assert said["confidence"] == STEPS[(basis["agreement"] >= 0.5) + (basis["agreement"] >= 0.75)]
    else:
        assert said["confidence"] != "high"


def numbers(value: Any) -> Iterator[float]:
    """Every number in an answer."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)
    elif isinstance(value, float):
        yield value


def is_finite(body: Any) -> bool:
    """Whether no number of an answer is endless."""
    return all(map(math.isfinite, numbers(body)))


def recomputes(raw: bytes, path: Path) -> bool:
    """Whether `verdict verify` finds a saved answer to be what its inputs make of it, in this process."""
    path.write_bytes(raw)
    with contextlib.redirect_stdout(io.StringIO()):
        return run(["verify", str(path)], {}) == 0


def verify_apart(saved: bytes, name: str = "-") -> subprocess.CompletedProcess[bytes]:
    """Run `verdict verify` as somebody does who has nothing but the answer: no settings, no folder, no service."""
    return subprocess.run(
        [sys.executable, "-m", "service", "verify", name],
        input=saved,
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )


def bare(raw: bytes) -> bytes:
    """An answer without its envelope."""
    return json.dumps(json.loads(raw)["data"]).encode()


_hearing: list[tuple[Sequence[str], list[Any]]] = []


@contextlib.contextmanager
def told_by(*events: str) -> Iterator[list[Any]]:
    """What the interpreter's audit tells of events meanwhile: the address of a connection, else the first argument."""
    if not _hearing:
        sys.addaudithook(_hear)  # for ever: there is no way to take one off
        _hearing.append(((), []))
    heard: list[Any] = []
    _hearing.append((events, heard))
    try:
        yield heard
    finally:
        _hearing.pop()


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    for events, heard in _hearing:
        if event in events:
            heard.append(arguments[1] if event == "socket.connect" else arguments[0])


def is_sound(data_dir: Path) -> bool:
    """Whether every entry of the ledger follows the one before, and holds what its hash says."""
    with closing(connect(data_dir / "verdict.db", query_only=True)) as connection:
        return not audit_ledger(connection).findings


def days(data_dir: Path) -> dict[int, list[str]]:
    """The coins that each day has a verdict on."""
    found: dict[int, list[str]] = {}
    for entry in entries(data_dir):
        if entry.day is not None:
            found.setdefault(entry.day, []).append(entry.symbol)
    return found
