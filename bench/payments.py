"""What payment costs: 402s that nobody pays, and calls that are paid, beside the official middleware.

Every payment is signed afresh by code of its own, outside the time measured, and is used once. Ours checks the window
and the signature, keeps payment and answer, settles (`ledger`: instantly) and enters receipt and usage, all
of it committed to SQLite at `synchronous=FULL` before the answer leaves.
"""

import os
import secrets
import shutil
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import msgspec
from coincurve import PrivateKey

from bench.asked import at_least, short
from bench.load import Load, drive, drive_each
from bench.serving import (
    HOST,
    LOAD_CPU,
    Contender,
    create_key,
    exchange,
    request,
    service,
    serving,
    spread,
)
from service.clock import SystemClock
from service.ethereum.addresses import checksum_address, keccak256
from service.ethereum.signatures import sign
from service.ethereum.typed_data import domain_separator, transfer_digest
from service.payments.networks import NETWORKS

BARE, OURS = "bare uvicorn ASGI, the same bytes", "verdict"
TRUSTING = "official x402 middleware (FastAPI), nothing checked"
CHECKING = "official x402 middleware (FastAPI), payments checked"
PAYEE = "0x" + "1" * 40
PRICE = 5_000
SEPOLIA = NETWORKS["eip155:84532"]
SPENT = 11
OF_BARE, UNPAID, PAID = 0.9, 7.0, 4.0
"""What was asked for: of the bare server, and times the official middleware where nobody pays and where all do."""

FIRST_GUESS = 3_000
"""Paid calls a second; later rounds know how many it were."""


class Wallet:
    """Signs payments for the route's price."""

    def __init__(self, pay_to: str) -> None:
        self._key = PrivateKey()
        self._pay_to = pay_to
        public = self._key.public_key.format(compressed=False)
        self._address = checksum_address("0x" + keccak256(public[1:])[-20:].hex())
        domain = SEPOLIA.domain
        self._domain = domain_separator(domain.name, domain.version, 84_532, SEPOLIA.usdc)
        self._row = {
            "scheme": "exact", "network": SEPOLIA.chain_id, "amount": str(PRICE), "asset": SEPOLIA.usdc,
            "payTo": pay_to, "maxTimeoutSeconds": 60, "extra": {"name": domain.name, "version": domain.version},
        }  # fmt: skip

    def payment(self) -> str:
        """A header of x402 v2 that can be used once, within the next minute."""
        now_s, nonce = SystemClock().now_ms() // 1_000, "0x" + secrets.token_hex(32)
        times = {"validAfter": str(now_s - 600), "validBefore": str(now_s + 100)}
        digest = transfer_digest(
            self._domain, sender=self._address, receiver=self._pay_to, value=PRICE,
            valid_after_s=now_s - 600, valid_before_s=now_s + 100, nonce=nonce,
        )  # fmt: skip
        authorization = {"from": self._address, "to": self._pay_to, "value": str(PRICE), **times, "nonce": nonce}
        payload = {"signature": "0x" + sign(digest, self._key).hex(), "authorization": authorization}
        paid = {"x402Version": 2, "payload": payload, "accepted": self._row}
        return "PAYMENT-SIGNATURE: " + b64encode(msgspec.json.encode(paid)).decode()

    def requests(self, token: str, count: int) -> list[bytes]:
        """So many calls, each with a payment of its own."""
        return [request(token, self.payment()) for _ in range(count)]


@contextmanager
def ours(folder: Path) -> Iterator[Contender]:
    """The service, and a caller who has no question left."""
    with service(folder, {"VERDICT_PAY_TO": PAYEE}) as (port, environ):
        asked = request(create_key(environ, "free"))
        answers = [exchange(port, asked) for _ in range(SPENT)]
        assert answers[-1].startswith(b"HTTP/1.1 402"), "the questions were not spent"
        yield Contender(OURS, port, asked)


@contextmanager
def bare(folder: Path, answer: bytes) -> Iterator[Contender]:
    """An application that sends the same head and body."""
    (folder / "answer").write_bytes(answer)
    with serving(["-m", "bench.bare", str(folder / "answer")], {}) as server:
        yield Contender(BARE, server.port, request("x"))


@contextmanager
def official(name: str) -> Iterator[Contender]:
    way = "checking" if name == CHECKING else "trusting"
    with serving(["-m", "bench.x402_stack", PAYEE, way], {}) as server:
        yield Contender(name, server.port, request("x"))


def unpaid(contenders: list[Contender], rounds: int, seconds: float, connections: int) -> list[list[Load]]:
    """Interleave, the first round thrown away as warm-up; for every round a load of each."""
    seen = []
    for _ in range(rounds + 1):
        loads = [
            drive(HOST, each.port, each.request, connections=connections, seconds=seconds, status=402)
            for each in contenders
        ]
        assert not any(load.not_ok for load in loads), "an answer was not a 402"
        seen.append(loads)
    return seen[1:]


def paid(contenders: list[Contender], rounds: int, seconds: float, connections: int) -> list[list[Load]]:
    """As `unpaid`, with calls that are paid for; as many as are answered in the time."""
    wallet, seen = Wallet(PAYEE), []
    most = [int(FIRST_GUESS * seconds)] * len(contenders)
    for _ in range(rounds + 1):
        loads = []
        for number, each in enumerate(contenders):
            token = each.request.partition(b"Bearer ")[2].partition(b"\r\n")[0].decode()
            asked = wallet.requests(token, most[number])
            load = drive_each(HOST, each.port, asked, connections=connections, seconds=seconds)
            assert load.not_ok == 0, f"{each.name}: {load.not_ok} paid calls were not answered 200"
            most[number] = max(200, int(load.per_second * seconds * 1.5))
            loads.append(load)
        seen.append(loads)
    return seen[1:]


def row(name: str, loads: list[Load], ratios: list[float]) -> str:
    return (
        f"| {name} | {spread([load.per_second for load in loads], 0)} | {spread(ratios, 2)} "
        f"| {spread([load.p50_ms for load in loads], 2)} | {spread([load.p99_ms for load in loads], 2)} |"
    )


def table(contenders: list[Contender], seen: list[list[Load]], against: int) -> str:
    rows = []
    for number, contender in enumerate(contenders):
        ratios = [loads[number].per_second / loads[against].per_second for loads in seen]
        rows.append(row(contender.name, [loads[number] for loads in seen], ratios))
    return "\n".join(rows)


def report(*, rounds: int, seconds: float, connections: int) -> str:
    """Measure, and write it up."""
    folder = Path(tempfile.mkdtemp(prefix="verdict-bench-"))
    try:
        with ExitStack() as stack:
            selling = stack.enter_context(ours(folder))
            answer = exchange(selling.port, selling.request)
            trusting, checking = (stack.enter_context(official(name)) for name in (TRUSTING, CHECKING))
            yardstick = stack.enter_context(bare(folder, answer))
            refused = unpaid([yardstick, selling, trusting], rounds, seconds, connections)
            sold = paid([selling, checking, trusting], rounds, seconds, connections)
    finally:
        shutil.rmtree(folder)
    times = [loads[1].per_second / loads[2].per_second for loads in refused]
    more, most = ([loads[0].per_second / loads[which].per_second for loads in sold] for which in (1, 2))
    of_bare = [loads[1].per_second / loads[0].per_second for loads in refused]
    head = "| server | answers/s, median (min to max) | ratio | p50 ms | p99 ms |\n|---|---|---|---|---|"
    return f"""## Calls that are not paid for: the 402

A caller whose quota is spent asks again. Bare: uvicorn sending the {len(answer)} bytes that the service sends.
Official: the middleware of the package `x402` behind FastAPI, whose challenge is a third as long. Ratios to bare; asked
for: {OF_BARE:g}.

{head}
{table([yardstick, selling, trusting], refused, 0)}

Verdict to the official middleware, round by round: {spread(times, 1)} times (asked for: {UNPAID:g}).

{short(at_least("of bare", of_bare, OF_BARE), at_least("times the official middleware", times, UNPAID))}

## Calls that are paid for

Each with a payment of its own. Verdict: decoded, signature recovered, claimed, run, settled (`ledger`: at once, nothing
moves on a chain), receipt and usage committed, all at `synchronous=FULL`. Official: a facilitator in the same process
that settles at once and keeps nothing; the same work, but for all that is durable, is what it does when it checks
payments too. Ratios to that.

{head}
{table([selling, checking, trusting], sold, 1)}

Verdict to the official middleware, round by round: {spread(more, 1)} times where payments are checked (asked for:
{PAID:g}), {spread(most, 1)} times where they are not.

{short(at_least("times the official middleware that checks", more, PAID))}
"""


if __name__ == "__main__":
    os.sched_setaffinity(0, {LOAD_CPU})
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    print(report(rounds=number, seconds=float(sys.argv[2]) if len(sys.argv) > 2 else 2.0, connections=64))
