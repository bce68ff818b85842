"""The question route: a question in, an answer out, piece by piece."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import Final, Literal

import msgspec

from service.access.caller import Caller
from service.ask.answers import write
from service.ask.data_services import AskDependencies, open_toolbox
from service.ask.glossary import TERMS
from service.ask.llm_writer import written_by
from service.ask.parser.names import NameIndex
from service.ask.parser.parse import Names, Parser
from service.ask.planner.data_reader import Data
from service.ask.planner.planner import Planner
from service.ask.planner.result import Result
from service.ask.query import Explain, Query, Route
from service.ask.references import Model
from service.ask.understanding import Understanding
from service.clock import Clock, iso
from service.errors import ServiceError
from service.market.categories.service import CategoryService
from service.market.service import MarketService
from service.rwa.service import RwaService
from service.transcripts.service import TranscriptService
from service.wallets.service import WalletService
from service.wire.ask import Classified, Done, Event, Plan, PlannedStep, Question, Source, Step, Text
from service.wire.envelope import encode
from service.wire.rwa import RwaAssets
from service.wire.transcripts import TranscriptSources, TranscriptsQuery

MOST_QUERIES: Final = 8
MOST_ASSETS: Final = 1_000
STEP_S: Final = 4.0
"""Longest time a query may take, in seconds."""

_FREE: Final = frozenset({"account", "pricing", "manifest"})
_TOOL: Final = "query"


class QuestionService:
    """Answers questions.

    Args:
        clock: Says what "since Monday" is.
        parsers: Gives the parser of what is listed now.
        planner: Runs queries.
        model: Writes a passage beside the text of the templates; null: none does.
    """

    def __init__(self, clock: Clock, parsers: "Parsers", planner: Planner, model: Model | None = None) -> None:
        self._clock = clock
        self._parsers = parsers
        self._planner = planner
        self._model = model

    async def ask(self, question: Question, caller: Caller | None) -> "Inquiry":
        """Take a question up.

        Returns:
            The answer, once it is known whether it costs something.

        Raises:
            ServiceError: The first query's, where all of them failed; if no coin is known, that of the prices.
        """
        parser = await self._parsers.current()
        context = [question.commandContext] if question.commandContext else []
        messages = [*context, *(message.content for message in question.messages if message.role == "user")]
        understanding = parser.read(messages, self._clock.now_ms())
        if understanding.refusal is not None:
            self._parsers.require_coins()  # while no coin is known, a name is not unknown
        queries = understanding.queries[:MOST_QUERIES]
        outcomes = await asyncio.gather(*(self._run(query, caller) for query in queries))
        errors = [outcome for outcome in outcomes if isinstance(outcome, ServiceError)]
        if errors and len(errors) == len(outcomes):
            raise errors[0]
        counted = any(_is_charged(query, outcome) for query, outcome in zip(queries, outcomes, strict=True))
        # What is free must not use up the model's budget.
        model = self._model if counted else None
        return Inquiry(question, understanding, queries, outcomes, model, counted=counted)

    async def _run(self, query: Query, caller: Caller | None) -> Result | ServiceError:
        try:
            async with asyncio.timeout(STEP_S):
                return await self._planner.run(query, caller)
        except ServiceError as error:
            return error
        except TimeoutError:
            return ServiceError("UNAVAILABLE", "The answer took too long. Try again.")


def _is_charged(query: Query, outcome: Result | ServiceError) -> bool:
    """Whether an answer costs a question: data were found."""
    if isinstance(outcome, ServiceError) or outcome.refusal is not None or isinstance(query.operation, Explain):
        return False
    return outcome.counted and not (isinstance(query.operation, Route) and query.operation.topic in _FREE)


class Inquiry:
    """An answer under way.

    Args:
        question: As asked.
        understanding: What it was understood as.
        queries: Those that were run.
        outcomes: What each found, or why it failed.
        model: Writes a passage after the first paragraph; null: none does.
        counted: Whether the answer costs a question.
    """

    def __init__(
        self,
        question: Question,
        understanding: Understanding,
        queries: Sequence[Query],
        outcomes: Sequence[Result | ServiceError],
        model: Model | None,
        *,
        counted: bool,
    ) -> None:
        self.counted = counted
        self._question = question
        self._understanding = understanding
        self._queries = queries
        self._outcomes = outcomes
        self._model = model

    async def events(self) -> AsyncIterator[Event]:
        """The answer: classification, plan, steps, text, done. A raw question has no text."""
        yield Classified(msgspec.to_builtins(self._understanding))
        args: list[Mapping[str, object]] = [msgspec.to_builtins(query) for query in self._queries]
        yield Plan(tuple(PlannedStep(f"s{place}", _TOOL, arg) for place, arg in enumerate(args, 1)))
        steps = [
            _step(place, arg, outcome) for place, (arg, outcome) in enumerate(zip(args, self._outcomes, strict=True), 1)
        ]
        for step in steps:
            yield step
        results = [outcome for outcome in self._outcomes if isinstance(outcome, Result)]
        passage = None
        if not self._question.raw:
            first, *rest = write(self._understanding, self._outcomes, self._question.archetype)
            yield _piece(first, last=not rest)
            if self._model is not None:
                passage = await written_by(self._model, self._question, self._queries, self._outcomes)
            paragraphs = rest if passage is None else [passage, *rest]
            for place, paragraph in enumerate(paragraphs, 1):
                yield _piece(paragraph, last=place == len(paragraphs))
        sources: tuple[Source, ...] = tuple(dict.fromkeys(source for result in results for source in result.sources))
        as_of = min((result.as_of_ms for result in results if result.as_of_ms is not None), default=None)
        engine: Literal["rules", "model"] = "rules" if passage is None else "model"
        yield Done(engine=engine, as_of=None if as_of is None else iso(as_of), sources=sources)

    async def close(self) -> None:
        """End what still runs: nothing does."""


def _piece(paragraph: str, *, last: bool) -> Text:
    """A paragraph and what ends it."""
    return Text(f"{paragraph}\n" if last else f"{paragraph}\n\n")


def _step(place: int, args: Mapping[str, object], outcome: Result | ServiceError) -> Step:
    if isinstance(outcome, ServiceError):
        return Step(id=f"s{place}", tool=_TOOL, args=args, result=None, as_of=None, error=outcome.message)
    as_of = None if outcome.as_of_ms is None else iso(outcome.as_of_ms)
    return Step(id=f"s{place}", tool=_TOOL, args=args, result=outcome, as_of=as_of)


class Parsers:
    """The parser of what is listed now; made anew when a listing changes.

    Args:
        coins: The coins there are.
        categories: The categories there are.
        rwa: The real-world assets there are.
        wallets: Follows wallets.
        transcripts: Follows shows.
    """

    def __init__(
        self,
        coins: MarketService,
        categories: CategoryService,
        rwa: RwaService,
        wallets: WalletService,
        transcripts: TranscriptService,
    ) -> None:
        self._coins = coins
        self._categories = categories
        self._rwa = rwa
        self._wallets = wallets
        self._transcripts = transcripts
        self._seen: tuple[object, ...] = ()
        self._parser: Parser | None = None

    async def current(self) -> Parser:
        """The parser.

        Raises:
            ServiceError: `UNAVAILABLE` if the store of wallets or shows cannot be read.
        """
        assets = self._assets()
        # By name: the order by size changes with every price.
        categories = tuple(sorted(self._categories.category_names()))
        wallets = {
            watched.label.casefold(): watched.address for watched in await self._wallets.watched() if watched.label
        }
        shows = await self._shows()
        seen = (self._coins.directory, assets, categories, wallets, shows)
        if self._parser is None or seen[0] is not self._seen[0] or seen[1:] != self._seen[1:]:
            known = NameIndex(self._coins.directory, assets, categories)
            self._seen, self._parser = seen, Parser(Names(known, _words(wallets), _words(shows), _terms()))
        return self._parser

    def require_coins(self) -> None:
        """Check that coins are known.

        Raises:
            ServiceError: As prices, if none is.
        """
        self._coins.require_coins("any coin")

    def _assets(self) -> Mapping[str, str]:
        """Names by id; none while no listing is known."""
        try:
            answer = self._rwa.assets(None, MOST_ASSETS).data
        except ServiceError:
            return {}
        listed = msgspec.convert(msgspec.json.decode(encode(answer)), RwaAssets)
        return {asset.id: asset.name for asset in sorted(listed.assets, key=lambda row: row.id)}

    async def _shows(self) -> Mapping[str, str]:
        answer = await self._transcripts.transcripts(TranscriptsQuery(action="sources"))
        sources = msgspec.convert(answer.data, TranscriptSources, from_attributes=True).sources
        return {show.name.casefold(): show.id for show in sources}


def _words(names: Mapping[str, str]) -> Mapping[str, str]:
    """Names as they are looked for: without the article, the first part before a comma."""
    return {name.partition(",")[0].removeprefix("the "): key for name, key in names.items()}


@cache
def _terms() -> Mapping[str, str]:
    terms: dict[str, str] = {}
    for key, term in TERMS.items():
        for name in (key.replace("-", " "), term.title.lower(), *term.synonyms):
            terms.setdefault(name, key)
    return terms


def open_questions(rooms: AskDependencies, model: Model | None = None) -> QuestionService:
    """Make the service.

    Args:
        rooms: The services that are asked.
        model: Writes a passage beside the text of the templates; null: none does.
    """
    market = rooms.market
    data = Data(
        clock=rooms.clock,
        table=rooms.table.coins,
        history=rooms.table.history,
        toolbox=open_toolbox(rooms),
        members=market.categories.members,
        categories=market.categories.category_names,
        fear_greed=rooms.sentiment.fear_greed,
        verdicts=rooms.verdict.verdicts,
        view=market.coins.view,
    )
    parsers = Parsers(market.coins, market.categories, rooms.rwa, rooms.wallets, rooms.transcripts)
    return QuestionService(rooms.clock, parsers, Planner(data), model)
