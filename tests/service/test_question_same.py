"""The same question at the same `as_of` gives the same bytes: again and again, in other processes, in any order."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.ask.questions import QuestionService
from service.wire.ask import Classified, Message, Question, Step, Text
from tests.ask.banks.case import BANKS, cases
from tests.service.indoors import Kept
from tests.service.questioning import questioned

ARCHETYPES = ("base", "trader", "analyst", "risk-manager", "explainer")


def one_of_each_kind() -> dict[str, Question]:
    """The first question of every kind in the banks that needs no account."""
    found: dict[str, Question] = {}
    for case in (case for bank in BANKS for case in cases(bank) if "account" not in case.kind):
        found.setdefault(case.kind, Question([Message("user", text) for text in case.ask]))
    return found


@pytest.fixture
async def desk(kept: Kept, tmp_path: Path) -> AsyncIterator[QuestionService]:
    async with questioned(kept, tmp_path / "data") as (_, __, desk):
        yield desk


async def told(desk: QuestionService, question: Question) -> bytes:
    """Everything that is told, as it travels."""
    inquiry = await desk.ask(question, None)
    try:
        return b"\n".join([msgspec.json.encode(event) async for event in inquiry.events()])
    finally:
        await inquiry.close()


async def told_again_and_again(desk: QuestionService, times: int) -> set[bytes]:
    question = Question([Message("user", "price and trend of eth")])
    return {await told(desk, question) for _ in range(times)}


@pytest.mark.promise("question.deterministic")
async def test_a_question_is_answered_a_hundred_times_with_the_same_bytes(desk: QuestionService) -> None:
    assert len(await told_again_and_again(desk, 100)) == 1


@pytest.mark.soak
async def test_a_question_is_answered_a_thousand_times_with_the_same_bytes(desk: QuestionService) -> None:
    assert len(await told_again_and_again(desk, 1_000)) == 1


@pytest.mark.slow
@pytest.mark.promise("question.deterministic")
async def test_no_answer_depends_on_what_was_asked_before(desk: QuestionService) -> None:
    questions = one_of_each_kind()
    assert len(questions) >= 15
    first = {kind: await told(desk, question) for kind, question in questions.items()}
    for kind in reversed(questions):
        assert await told(desk, questions[kind]) == first[kind], kind


AGAIN = """
import sys
import msgspec
from fixtures.assets import ASSETS
from fixtures.coins import CATEGORIES, COINS
from service.ask.answers import write
from service.ask.parser.names import NameIndex
from service.ask.parser.parse import Names, Parser
from service.ask.planner.result import Result
from service.ask.understanding import Understanding
from service.market.symbols import canonical, CoinDirectory, CoinListing
from service.wire.ask import Archetype, Question

directory = CoinDirectory([CoinListing(coin.name, canonical(coin.name), coin.title) for coin in COINS])
known = NameIndex(directory, {"xyz:" + asset.ticker: asset.title for asset in ASSETS}, sorted(CATEGORIES.values()))
parser = Parser(Names(known, {}, {}, {}))
rows = msgspec.json.decode(
    sys.stdin.buffer.read(), type=list[tuple[Question, Understanding, list[Result], Archetype]]
)
written = [[*write(*row[1:])] for row in rows]
read = [parser.read([message.content for message in row[0].messages if message.role == "user"], 0) for row in rows]
sys.stdout.buffer.write(msgspec.json.encode([written, read]))
"""


@pytest.mark.process
@pytest.mark.promise("question.deterministic")
async def test_no_answer_depends_on_the_process_that_gives_it(desk: QuestionService) -> None:
    """Sets and hashes of strings are ordered anew in each process."""
    rows, texts = [], []
    for place, question in enumerate(one_of_each_kind().values()):
        archetype = ARCHETYPES[place % len(ARCHETYPES)]
        inquiry = await desk.ask(msgspec.structs.replace(question, archetype=archetype), None)
        events = [event async for event in inquiry.events()]
        steps = [event for event in events if isinstance(event, Step)]
        if any(step.error for step in steps):
            continue
        assert isinstance(events[0], Classified)
        rows.append((question, events[0].understanding, [step.result for step in steps], archetype))
        texts.append("".join(event.text for event in events if isinstance(event, Text)))
    assert len(rows) >= 10
    first, second = await asyncio.gather(*(do_again(msgspec.json.encode(rows), seed) for seed in ("0", "1")))
    assert ["\n\n".join(paragraphs) + "\n" for paragraphs in first[0]] == texts
    assert first == second


async def do_again(rows: bytes, seed: str) -> list[Any]:
    """What a process that hashes strings by this seed makes of the same findings, and of the same questions."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        AGAIN,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    async with asyncio.timeout(60):
        output, _ = await process.communicate(rows)
    assert process.returncode == 0
    made: list[Any] = json.loads(output)
    return made
