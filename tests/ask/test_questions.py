"""The question route over queries that fail, and the parser of what is listed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from service.ask import questions
from service.ask.planner.planner import Planner
from service.ask.planner.result import Result, text, usd
from service.ask.query import Query
from service.ask.questions import Inquiry, Parsers, QuestionService
from service.errors import ServiceError
from service.market.symbols import CoinDirectory
from service.wire.ask import Done, Event, Message, Question, Step, Text
from tests.ask.universe import directory, parser
from tests.fakes.clock import FakeClock

Run = Callable[[], Awaitable[Result]]


async def found() -> Result:
    figures = {"subject": text("BTC"), "label": text("price"), "value": usd(5.0), "when": text(""), "verb": text("is")}
    return Result(kind="value", title="price", figures=figures, counted=True)


async def fails() -> Result:
    raise ServiceError("UNAVAILABLE", "no price is known yet")


async def hangs() -> Result:
    await asyncio.Event().wait()
    raise AssertionError


async def ask(runs: Mapping[str, Run], text: str) -> Inquiry:
    """Ask of a planner that does for each coin as it is told."""

    async def run(query: Query, _: object) -> Result:
        return await runs[query.subject.coins[0]]()

    async def current() -> object:
        return parser()

    parsers, planner = SimpleNamespace(current=current), SimpleNamespace(run=run)
    service = QuestionService(FakeClock(), cast(Parsers, parsers), cast(Planner, planner))
    return await service.ask(Question([Message("user", text)]), None)


async def events(inquiry: Inquiry) -> list[Event]:
    return [event async for event in inquiry.events()]


@pytest.mark.parametrize(("run", "message"), [(fails, "no price is known yet"), (hangs, "The answer took too long.")])
async def test_a_query_that_fails_is_told_beside_the_others(
    monkeypatch: pytest.MonkeyPatch, run: Run, message: str
) -> None:
    monkeypatch.setattr(questions, "STEP_S", 0.01)
    inquiry = await ask({"BTC": found, "ETH": run}, "price of btc. funding of eth.")
    told = await events(inquiry)
    assert inquiry.counted
    first, second = [event for event in told if isinstance(event, Step)]
    assert first.error is None
    assert message in str(second.error)
    assert message in "".join(event.text for event in told if isinstance(event, Text))
    assert isinstance(told[-1], Done)


async def test_where_every_query_fails_the_question_fails_as_the_first_did() -> None:
    with pytest.raises(ServiceError, match="no price is known yet"):
        await ask({"BTC": fails, "ETH": fails}, "price of btc. funding of eth.")


async def test_while_no_coin_is_known_no_name_is_called_unknown() -> None:
    def require_coins(text: str) -> None:
        raise ServiceError("UPSTREAM_UNREACHABLE", f"No prices of {text}.")

    listed: Any = Listings()
    listed.directory, listed.require_coins = CoinDirectory([]), require_coins
    parsers = Parsers(listed, listed, listed, listed, listed)
    service = QuestionService(FakeClock(), parsers, cast(Planner, None))
    with pytest.raises(ServiceError, match="No prices of any coin"):
        await service.ask(Question([Message("user", "price of BTC")]), None)


class Listings:
    """What a service lists, which may change."""

    def __init__(self) -> None:
        self.directory = directory()
        self.wallets = [
            SimpleNamespace(label="Tern Foundation", address="0x1"),
            SimpleNamespace(label="", address="0x2"),
        ]
        self.assets: Callable[..., Any] = self.none

    @staticmethod
    def none(*_: object) -> object:
        raise ServiceError("UNAVAILABLE", "no listing is known yet")

    def category_names(self) -> list[str]:
        return ["Meme"]

    async def watched(self) -> list[SimpleNamespace]:
        return self.wallets

    async def transcripts(self, _: object) -> SimpleNamespace:
        return SimpleNamespace(data=SimpleNamespace(sources=[]))


async def test_the_parser_is_kept_until_a_listing_changes() -> None:
    listed: Any = Listings()
    parsers = Parsers(listed, listed, listed, listed, listed)
    first = await parsers.current()
    assert await parsers.current() is first
    listed.wallets.pop(0)
    second = await parsers.current()
    assert second is not first
    listed.directory = directory()
    assert await parsers.current() is not second
