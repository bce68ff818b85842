"""A service that answers with the frozen answers of a real one, and refuses where a test wants it to."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

ANSWERS = Path(__file__).resolve().parent.parent / "client" / "answers"
PATIENCE_S = 30.0

_NAMES = (
    "manifest billing.tier coin.lookup resolve market.prices market.baselines market.global coins rwa.assets "
    "narratives market.crossing funding.alerts"
)
"""Answers that are named as their route."""

_FILES: Mapping[str, str] = {
    "": "question",
    "/coin/risk/BTC": "coin.risk",
    "/coin/by-id/fartcoin": "coin.lookup",
    "/coin/by-name/Fartcoin": "coin.lookup",
    "/coin/by-contract/0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48": "coin.by-contract",
    "/coin/historical/BTC": "coin.historical.days",
    "/coin/sentiment/BTC": "coin.sentiment",
    "/signal/BTC": "signal",
    "/category/info/Layer%201%20%28L1%29": "category.info",
    "/category/sentiment/Layer%201%20%28L1%29": "category.sentiment",
    "/market/health": "market.health.context",
    "/rwa/symbol/AAPL": "rwa.symbol",
    "/rwa/asset/xyz%3AAAPL": "rwa.asset",
    "/signal-quality": "signal.quality",
    "/transcripts": "transcripts.highlights",
    "/api/receipts": "receipts.list",
    **{f"/{name.replace('.', '/')}": name for name in _NAMES.split()},
}
_BY_ACTION = frozenset({"/regime", "/sentiment", "/walkforward", "/wallets"})


class Heard(NamedTuple):
    """One request: its path, its query, its bearer, its body."""

    path: str
    query: Mapping[str, str]
    bearer: str | None
    body: Any
    key: str | None


class Refusal(NamedTuple):
    """An answer that a test wants at a path."""

    status: int
    document: Any
    headers: Mapping[str, str] = {}


class Recorded:
    """What a test says to the service, and hears of it."""

    def __init__(self) -> None:
        self.url = ""
        self.heard: list[Heard] = []
        self.instead: dict[str, Refusal] = {}
        self.headers: dict[str, str] = {}

    def forget(self) -> None:
        """Be as at the start."""
        self.heard.clear()
        self.instead.clear()

    def answer(self, heard: Heard) -> Refusal:
        """What is said to a request."""
        if heard.path in self.instead:
            return self.instead[heard.path]
        path = heard.path.removeprefix("/api/cli")
        name = f"{path[1:]}.{heard.query['action']}" if path in _BY_ACTION else _FILES.get(path, "")
        if heard.query.get("signal_type") == "verdict":
            name = "signal.quality.verdict"
        if heard.query.get("detail") == "brief":
            name = f"{name}.brief"
        if not name:
            return Refusal(404, load("refused.unknown"))
        return Refusal(200, load(name), self.headers)


def load(name: str) -> Any:
    """A frozen answer."""
    return json.loads((ANSWERS / f"{name}.json").read_bytes())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128  # with 5, the kernel drops some of many connections at once, and they come a second later


@contextmanager
def recorded() -> Iterator[Recorded]:
    """Serve while the test runs."""
    told = Recorded()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            bearer = self.headers.get("Authorization")
            heard = Heard(parts.path, dict(parse_qsl(parts.query)), bearer, body, self.headers.get("Idempotency-Key"))
            told.heard.append(heard)
            reply = told.answer(heard)
            payload = json.dumps(reply.document).encode()
            self.send_response(reply.status)
            for name, value in {**reply.headers, "Content-Length": str(len(payload))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(payload)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            """Nothing to see."""

    server = _Server(("127.0.0.1", 0), Handler)
    told.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        server.shutdown()
        server.server_close()
        thread.join(PATIENCE_S)
