"""Lines of streams, as a service sends them."""

import json
from collections.abc import Sequence
from typing import Any

from tests.cli.recorded import ANSWERS


def line(**members: object) -> bytes:
    """One line."""
    return json.dumps(members).encode() + b"\n"


def event(tick: int, data: object = None, stream: str = "prices", age_s: int = 0) -> bytes:
    """An event; its cursor is `c` and its tick."""
    when = f"2025-07-25T12:00:{tick:02}.000Z"
    meta = {"ts": when, "as_of": when, "data_age_seconds": age_s, "tick": tick, "cursor": f"c{tick}"}
    return line(type="event", stream=stream, data=prices() if data is None else data, meta=meta)


def prices(**changed: float | None) -> dict[str, object]:
    """What an event of prices tells: of three coins, and others by name; null is none any more.

    In a day each has moved by a hundredth of its price in percent, but AAVE, of which that is not known.
    """
    told = {"BTC": 100.0, "ETH": 10.0, "AAVE": 5.0, **changed}
    return {"prices": {symbol: None if price is None else tick(symbol, price) for symbol, price in told.items()}}


def tick(symbol: str, price: float) -> dict[str, object]:
    """What an event tells of one coin."""
    moved = None if symbol == "AAVE" else price / 100
    ago = {} if moved is None else {"24h": "2025-07-24T12:00:00.000Z"}
    return {"price": price, "ts": "2025-07-25T12:00:00.000Z", "change_24h": moved, "changes_from": ago}


def recorded(stream: str) -> Sequence[dict[str, Any]]:
    """The lines of a stream of the frozen service."""
    return [json.loads(text) for text in (ANSWERS / f"watch.{stream}.ndjson").read_text().splitlines()]


OPEN = line(type="open", stream="prices", interval=10, source="fixtures", cursor="c0")
HEARTBEAT = line(type="heartbeat", meta={"ts": "2025-07-25T12:00:15.000Z", "live": True})
SILENT = line(type="heartbeat", meta={"ts": "2025-07-25T12:00:15.000Z", "live": False})
CLOSE = line(type="close", reason="end", cursor="c9")
