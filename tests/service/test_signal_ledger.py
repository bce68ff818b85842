"""The ledger, from outside: every verdict that was answered stands in it, whoever answered it, whatever came after."""

import asyncio
import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from service.clock import DAY_MS, MINUTE_MS
from service.verdict.ledger import ABSTAINED
from tests.fakes.calls import request
from tests.fakes.serving import PATIENCE_S, Serving, run_verdict, serving
from tests.service.asking import UNBOUNDED, Caller
from tests.service.indoors import SIGNAL, Kept
from tests.service.verdicts import SYMBOLS, days, entries, is_sound

AT_ONCE = 40


async def ask_until_killed(service: Serving, key: str, answers: int) -> list[Any]:
    """Ask for every coin at once, and kill the service as soon as so many answers have come whole; all that came."""
    told: list[Any] = []

    async def ask_for(coin: str) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        writer.write(request(f"/api/cli/signal/{coin}", key))
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 200 "), head
            fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:-2])
            told.append(json.loads(await reader.readexactly(int(fields[b"content-length"])))["data"])
            if len(told) == answers:
                os.kill(service.process.pid, signal.SIGKILL)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async with asyncio.timeout(PATIENCE_S):
        await asyncio.gather(*map(ask_for, SYMBOLS))
    return told


@pytest.mark.process
@pytest.mark.promise("signal.verdict-id")
def test_a_process_killed_right_after_an_answer_has_written_down_every_verdict_that_it_gave(tmp_path: Path) -> None:
    made = run_verdict("admin", "keys", "create", "--name", "k", "--tier", "pro", "--json", data_dir=str(tmp_path))
    key = json.loads(made.stdout)["key"]
    told: list[Any] = []
    for answers in (1, 4):
        with serving(tmp_path, **UNBOUNDED) as service:
            came = asyncio.run(ask_until_killed(service, key, answers))
            assert len(came) >= answers
            service.process.wait(PATIENCE_S)
        told += came
        written = {entry.seq: entry for entry in entries(tmp_path) if entry.kind == "asked"}
        for said in told:
            entry = written[said["record"]["entries"]]
            assert (entry.symbol, entry.verdict) == (said["symbol"], said["verdict"])
            assert entry.verdict_id == said["verdict_id"] or said["verdict"] == ABSTAINED, "those are told once an hour"
        doctor = run_verdict("admin", "doctor", data_dir=str(tmp_path))
        assert doctor.returncode == 0, doctor.stdout
        assert f"{len(entries(tmp_path))} verdicts, each chained to the one before" in " ".join(doctor.stdout.split())


@pytest.mark.process
def test_two_workers_asked_at_once_write_one_entry_of_one_chain_and_answer_the_same(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2", replay="frozen", **UNBOUNDED) as service:
        service.wait_for("ready", 2)
        caller = Caller(service.port, service.make_key("--tier", "pro"))
        settle(caller)
        before = len(entries(tmp_path))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            replies = list(pool.map(caller.ask, ["signal/HYPE"] * AT_ONCE))
        assert {reply.status for reply in replies} == {200}
        assert len({reply.raw for reply in replies}) == 1
        said = replies[0].body["data"]
        (entry,) = entries(tmp_path)[before:]
        assert (entry.kind, entry.symbol, entry.verdict_id) == ("asked", "HYPE", said["verdict_id"])
        assert said["record"]["entries"] == entry.seq
        assert service.verdict("admin", "doctor").returncode == 0


def settle(caller: Caller) -> None:
    """Wait until both workers know everything, of which the last is what coins paid: all are asked for but HYPE."""
    for symbol in SYMBOLS:
        if symbol != "HYPE":
            agree(caller, symbol)


def agree(caller: Caller, symbol: str) -> None:
    """Ask until many answers in a row are one, and leave nothing out."""
    for _ in range(200):
        told = [caller.data(f"signal/{symbol}") for _ in range(12)]
        if len({said["verdict_id"] for said in told}) == 1 and set(told[0]["sources"].values()) == {"fulfilled"}:
            return
    raise AssertionError("the workers never came to agree")


@pytest.mark.slow
@pytest.mark.promise("signal.scale")
async def test_each_published_day_has_a_verdict_on_every_listed_coin_and_whoever_asks_adds_none(
    kept: Kept, tmp_path: Path
) -> None:
    async with kept.reopened(tmp_path / "data") as house:
        today = house.clock.at_ms // DAY_MS - 1
        assert days(house.data_dir) == {today: sorted(SYMBOLS)}
        await house.ask(SIGNAL, key=kept.key)
        house.clock.set_wall((today + 2) * DAY_MS - MINUTE_MS)
        await house.pass_time(50, 10)
        assert days(house.data_dir).keys() == {today}, "the day is not over"
        await house.pass_until(lambda: len(days(house.data_dir)) == 2, 10)
        assert house.clock.at_ms < (today + 2) * DAY_MS + 16 * MINUTE_MS
        await house.pass_time(300, 15)
        assert days(house.data_dir) == {today: sorted(SYMBOLS), today + 1: sorted(SYMBOLS)}
        assert sum(entry.kind == "asked" for entry in entries(house.data_dir)) == 1
        assert is_sound(house.data_dir)
