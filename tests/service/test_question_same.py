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

from service.ask.desk import AskDesk
from service.wire.ask import Done, Message, Question, Step, Text
from tests.service.indoors import Kept
from tests.service.questioning import questioned

DEV = Path(__file__).parent.parent.parent / "fixtures" / "questions" / "dev.jsonl"
ARCHETYPES = ("base", "trader", "analyst", "risk-manager", "explainer")


def one_of_each_intent() -> dict[str, Question]:
    """The first question of every intent that the published half has."""
    found: dict[str, Question] = {}
    for line in DEV.read_text().splitlines():
        asked = json.loads(line)
        turns = asked.get("messages") or [["user", asked["ask"]]]
        found.setdefault(asked["intent"], Question([Message(role, said) for role, said in turns]))
    return found


@pytest.fixture
async def desk(kept: Kept, tmp_path: Path) -> AsyncIterator[AskDesk]:
    async with questioned(kept, tmp_path / "data") as (_, __, desk):
        yield desk


async def told(desk: AskDesk, question: Question) -> bytes:
    """Everything that is told, as it travels."""
    inquiry = await desk.ask(question, None)
    try:
        return b"\n".join([msgspec.json.encode(event) async for event in inquiry.events()])
    finally:
        await inquiry.close()


async def told_again_and_again(desk: AskDesk, times: int) -> set[bytes]:
    question = Question([Message("user", "price and trend of eth")])
    return {await told(desk, question) for _ in range(times)}


@pytest.mark.unmeasured
@pytest.mark.promise("question.deterministic")
async def test_a_question_is_answered_a_hundred_times_with_the_same_bytes(desk: AskDesk) -> None:
    assert len(await told_again_and_again(desk, 100)) == 1


@pytest.mark.soak
async def test_a_question_is_answered_a_thousand_times_with_the_same_bytes(desk: AskDesk) -> None:
    assert len(await told_again_and_again(desk, 1_000)) == 1


@pytest.mark.promise("question.deterministic")
async def test_no_answer_depends_on_what_was_asked_before(desk: AskDesk) -> None:
    questions = {intent: q for intent, q in one_of_each_intent().items() if intent != "account"}
    assert len(questions) >= 28
    first = {intent: await told(desk, question) for intent, question in questions.items()}
    for intent in reversed(questions):
        assert await told(desk, questions[intent]) == first[intent], intent


AGAIN = """
import sys
import msgspec
from fixtures.assets import ASSETS
from fixtures.coins import CATEGORIES, COINS
from service.ask.classify import Classifier
from service.ask.generate import generate
from service.ask.parser.known import Known
from service.ask.reading.reader import Reader
from service.market.symbols import Directory, Listing
from service.wire.ask import Archetype, Classification, Plan, Question, Step

directory = Directory([Listing(coin.name, coin.name.upper(), coin.title) for coin in COINS])
known = Known(directory, {"xyz:" + asset.ticker: asset.title for asset in ASSETS}, sorted(CATEGORIES.values()))
classify = Classifier(Reader(known)).classify
rows = msgspec.json.decode(
    sys.stdin.buffer.read(), type=list[tuple[Question, Classification, Plan, list[Step], Archetype]]
)
told = [[*generate(*row[1:])] for row in rows]
sys.stdout.buffer.write(msgspec.json.encode([told, [classify(row[0]) for row in rows]]))
"""


@pytest.mark.promise("question.deterministic")
async def test_no_answer_depends_on_the_process_that_gives_it(desk: AskDesk) -> None:
    """Sets and hashes of strings are ordered anew in each process."""
    rows, texts = [], []
    for place, (intent, question) in enumerate(one_of_each_intent().items()):
        if intent == "account":
            continue
        archetype = ARCHETYPES[place % len(ARCHETYPES)]
        inquiry = await desk.ask(msgspec.structs.replace(question, archetype=archetype), None)
        events = [event async for event in inquiry.events()]
        steps = [event for event in events if isinstance(event, Step)]
        rows.append((question, events[0], events[1], steps, archetype))
        texts.append("".join(event.text for event in events if isinstance(event, Text)))
        assert isinstance(events[-1], Done)
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
