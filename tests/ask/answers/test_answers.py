"""Answers as text: what the first sentence says, what stands where, and that every number is a value of the result."""

import re
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jinja2 import Environment, nodes

from service.ask import answers as writing
from service.ask.answers import STYLES, bind, cells, formatted, templates, write
from service.ask.planner.result import Result
from service.ask.query import (
    All,
    Check,
    Compare,
    Count,
    Exists,
    Holding,
    List,
    Measure,
    Query,
    Rank,
    Record,
    Route,
    Subject,
    ValueOf,
    When,
    Why,
)
from service.ask.understanding import Refusal, Understanding
from service.errors import ServiceError
from service.wire.ask import Archetype
from tests.ask.answers.full import ANSWERS, QUERIES, REFUSED, world
from tests.ask.planner.asked import ALL, FUNDING, PRICE, SERVICE, UP, change, coins, days, of, where
from tests.ask.planner.world import CATEGORIES, COINS, World

SOURCES = tomllib.loads(Path(writing.__file__).with_suffix(".toml").read_text("utf-8"))


@pytest.fixture(autouse=True)
def _an_empty_category(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CATEGORIES, "Empty", [])


async def answered(*queries: Query, over: World | None = None, archetype: Archetype = "base", **rest: Any) -> str:
    market = over or world()
    results = [await market.ask(query) for query in queries]
    return "\n\n".join(write(Understanding(queries=queries, **rest), results, archetype))


@pytest.mark.promise("question.bound-references")
def test_no_template_holds_a_digit() -> None:
    environment = Environment()  # noqa: S701 - parses and renders nothing
    for rows in SOURCES.values():
        for text in rows.values():
            tree = environment.parse(text)
            literals = [node.data for node in tree.find_all(nodes.TemplateData)]
            literals += [node.value for node in tree.find_all(nodes.Const) if isinstance(node.value, str)]
            assert not re.search(r"\d", "".join(literals)), text


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(QUERIES))
async def test_every_kind_of_answer_has_a_template_whose_names_are_bound(kind: str) -> None:
    result = await world().ask(QUERIES[kind])
    assert result.kind == kind
    text = "\n".join(write(Understanding(queries=(QUERIES[kind],)), [result]))
    assert "Read as: " in text
    prose = "".join(line for line in text.splitlines() if not line.startswith("|"))
    assert not re.search(r"None|False|True|\{|\}|  ", prose), prose


async def test_answers_that_need_other_data() -> None:
    empty = {"total": 0, "wins": 0, "losses": 0, "winRate": None, "meanReturnPct": None}
    none = {**ANSWERS, "regime": {"summary": empty, "trades": []}}
    assert "no closed trade" in await answered(QUERIES["regime_record"], over=world(none))
    free = {**ANSWERS, "billing.quota": {"limit": None, "used": 2, "remaining": None, "period": "day"}}
    assert "no limit" in await answered(QUERIES["account"], over=world(free))
    unrun = {**ANSWERS, "walkforward": {"summary": None}}
    assert "has not run yet" in await answered(of(SERVICE, operation=Record("walkforward")), over=world(unrun))


def test_every_template_is_needed() -> None:
    assert templates()["answers"].keys() == QUERIES.keys() | {"no_trades", "unlimited"}
    assert templates()["refused"].keys() == REFUSED.keys() | {"no-run"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(REFUSED))
async def test_every_refusal_is_said_in_one_or_two_sentences_without_sources(kind: str) -> None:
    result = await world().ask(REFUSED[kind])
    assert (result.kind, result.refusal is None) == (kind, False)
    paragraphs = write(Understanding(queries=(REFUSED[kind],)), [result])
    assert len(paragraphs) == 1
    assert "Read as" not in paragraphs[0]
    assert re.fullmatch(r"[^.?!]+\.( You can ask: “[^”]+”)?", paragraphs[0]) or kind in {"no-measure", "news-of-one"}


def leftover(text: str, result: Result) -> str:
    """What of a text is not a value of the result."""
    said = [formatted(figure) for figure in result.figures.values()]
    said += [cell for row in result.rows for cell in (*cells(row, result.columns), row.subject)]
    said += [column.label for column in result.columns] + [*result.unknown]
    for value in sorted(filter(None, said), key=len, reverse=True):
        text = text.replace(value, " ")
    return text


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(QUERIES))
async def test_every_digit_of_the_first_paragraph_is_of_a_value(kind: str) -> None:
    result = await world().ask(QUERIES[kind])
    first = write(Understanding(queries=(QUERIES[kind],)), [result])[0]
    rest = re.sub(r"(Shown: \d+ of [\d,]+|and \d+ more)", "", leftover(first, result))
    assert not re.search(r"\d", rest), rest


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(QUERIES))
async def test_tables_have_at_most_80_columns_and_20_rows(kind: str) -> None:
    text = await answered(QUERIES[kind])
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert max((len(line) for line in lines), default=0) <= 80
    assert len(lines) <= 22


@pytest.mark.slow
async def test_one_fact_answers_are_short() -> None:
    one_fact = [kind for kind in QUERIES if not kind.startswith("list_") and kind not in {"why", "screen", "explain"}]
    lengths = sorted(
        [
            len(re.sub(r"(?m)^\|.*$|^Read as.*$|^Sources.*$", "", await answered(QUERIES[kind])).split())
            for kind in one_fact
        ]
    )
    assert lengths[len(lengths) // 2] <= 30


EXPECTED = {
    "value": "BTC's price is $118,234.",
    "each": "BTC's 7-day change is +3.00 %, ETH's is -1.00 %.",
    "winner": "BTC has the higher price: $118,234, a difference of $114,423.",
    "tied": "BTC and SOL are tied: their 7-day change is +3.00 %.",
    "check": "Yes: BTC's daily trend is UP.",
    "checks": "No: BTC yes, ETH no.",
    "nothing": "No match for a price above 1,000,000,000 USD.",
    "convert": "2 BTC is worth 62.0447 ETH, that is $236,469.",
    "worth_one": "2 BTC is worth $236,469.",
    "account": "You have 3 of 5 questions left today, on the free tier.",
}


@pytest.mark.parametrize("kind", sorted(EXPECTED))
async def test_the_first_sentence_answers_the_question(kind: str) -> None:
    assert (await answered(QUERIES[kind])).startswith(EXPECTED[kind])


async def test_the_difference_of_two_percentages_is_in_points_and_has_no_sign() -> None:
    text = await answered(of(coins("BTC", "ETH"), change(days(7)), operation=Compare()))
    assert text.startswith("BTC's 7-day change is +3.00 %, ETH's is -1.00 %: a difference of 4.00 points.")


async def test_an_answer_ends_with_its_sources_and_how_it_was_read() -> None:
    text = await answered(QUERIES["rank"])
    assert text.endswith(
        "Sources: /api/cli/coins; as of 2025-07-25 11:59 UTC.\n\n"
        "Read as: coins in Layer 1 (L1), ranked by 7-day change, top 3."
    )


async def test_several_queries_are_answered_in_order_with_one_line_of_sources() -> None:
    text = await answered(of(coins("ETH"), PRICE), QUERIES["since"])
    assert text.count("Sources:") == text.count("Read as:") == 1
    assert text.index("ETH's price") < text.index("ETH's daily trend")
    assert "Sources: /api/cli/coins, stored bars and states; as of 2025-07-25 00:00 UTC." in text
    assert "Read as: ETH, price; then ETH, since when daily trend." in text


async def test_an_answer_beside_a_refusal() -> None:
    text = await answered(of(coins("ETH"), PRICE), REFUSED["not-over"])
    assert "I cannot take the days in the daily trend over a span of time." in text
    assert "Sources: " in text


async def test_what_is_left_out_old_or_not_considered_is_said() -> None:
    market = world(**{one: {"price": None} for one in COINS[:8]})
    market.table["BTC"].stale_fields = ["price"]
    text = await answered(
        of(ALL, PRICE, operation=Rank("most", 3)), over=market, ignored=("institutional",), unknown=("FOO",)
    )
    assert "Not known, so left out: C00, C01, C02, C03, C04 and 3 more." in text
    assert "Not refreshed in time: price." in text
    assert 'Not considered: "institutional".' in text
    assert "No coin here is called FOO." in text
    odd = world(BTC={"price": 5.0, "stale_fields": ["change_24h"], "change_24h": 1.0})
    assert "Not refreshed in time: change 24h." in await answered(of(coins("BTC"), change()), over=odd)


async def test_more_rows_than_shown_are_counted() -> None:
    text = await answered(of(ALL, PRICE))
    assert "Shown: 20 of 24." in text
    five = await answered(of(ALL, PRICE, operation=Rank("most", 5)))
    assert len([line for line in five.splitlines() if line.startswith("|")]) == 7
    alerts = {**ANSWERS["funding.alerts"], "meta": {"total": 1_234}}
    assert "Shown: 1 of 1,234." in await answered(
        QUERIES["list_alerts"], over=world({**ANSWERS, "funding.alerts": alerts})
    )


async def test_personas_change_length_and_order_and_no_value() -> None:
    numbers = re.compile(r"[-+]?\$?\d[\d,.]*")
    market = world(BTC={"price": 5.0, "stale_fields": ["price"]})
    for query in (of(coins("BTC"), PRICE, FUNDING), of(ALL, PRICE), QUERIES["extreme"]):
        base = set(numbers.findall(await answered(query, over=market)))
        for archetype in STYLES:
            said = await answered(query, over=market, archetype=archetype)
            assert set(numbers.findall(re.sub(r"Shown: \d+ of", "", said))) <= base | {"24."}
    terse = await answered(of(ALL, PRICE), over=market, archetype="trader")
    assert len([line for line in terse.splitlines() if line.startswith("|")]) == 7
    careful = await answered(of(ALL, PRICE), over=market, archetype="risk-manager")
    assert careful.index("Not refreshed") < careful.index("| price")
    assert "Known since" not in await answered(QUERIES["profit_percent"], archetype="trader")
    assert "Without fees" not in await answered(QUERIES["profit_percent"], archetype="trader")
    assert "no advice" in await answered(QUERIES["screen"], archetype="trader")
    explained = await answered(of(coins("BTC"), FUNDING), archetype="explainer")
    assert len(explained) > len(await answered(of(coins("BTC"), FUNDING)))
    assert "Shown: 20 of 24." in careful


async def test_pepe_is_said_to_be_traded_by_the_thousand() -> None:
    text = await answered(of(coins("PEPE"), PRICE))
    assert text.startswith("PEPE's price is $0.0000123. PEPE is traded as kPEPE: values are per coin.")


async def test_who_pays_stands_beside_the_figure_and_how_a_coin_is_traded_is_said_once() -> None:
    pepe = coins("PEPE")
    text = await answered(of(pepe, FUNDING), of(pepe, PRICE), over=world(PEPE={"price": 1.0, "funding_apr": 10.0}))
    assert text.startswith("PEPE's funding is +10.00 % a year. So longs pay shorts. PEPE is traded as kPEPE")
    assert text.count("traded as") == 1


@pytest.mark.parametrize(
    ("direction", "names", "said"),
    [
        ("most", ("BTC", "ETH"), "BTC has the higher price"),
        ("least", ("BTC", "ETH"), "ETH has the lower price"),
        ("most", ("BTC", "ETH", "SOL"), "BTC has the highest price"),
        ("least", ("BTC", "ETH", "SOL"), "SOL has the lowest price"),
    ],
)
async def test_of_two_things_one_is_higher_and_of_more_one_is_highest(
    direction: Any, names: tuple[str, ...], said: str
) -> None:
    assert (await answered(of(coins(*names), PRICE, operation=Compare(direction)))).startswith(said)


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (5, ": BTC, C00, C01, C02, C03."),
        (6, ": BTC, C00, C01 and 3 more."),
    ],
)
async def test_a_list_names_up_to_five_else_three_and_how_many_more(count: int, said: str) -> None:
    up = ("BTC", *COINS[: count - 1])
    market = world(**{one: {"trend_daily": "UP" if one in up else "DOWN"} for one in COINS})
    text = await answered(QUERIES["list"], over=market)
    assert text.startswith(f"{count} coins have a daily trend of UP{said}")


async def test_a_measure_that_is_asked_for_and_tested_has_one_column() -> None:
    text = await answered(of(ALL, Measure("trend"), where=UP, operation=List()))
    assert "|  | daily trend |\n" in text


@pytest.mark.parametrize(
    ("quantifier", "states", "said"),
    [
        ("any", ("UP", "DOWN"), "Yes: BTC yes, ETH no."),
        ("any", ("DOWN", "DOWN"), "No: BTC no, ETH no."),
        ("any", (None, "UP"), "Yes: BTC not known, ETH yes."),
        ("all", ("UP", "DOWN"), "No: BTC yes, ETH no."),
        ("all", ("UP", "UP"), "Yes: BTC yes, ETH yes."),
        ("all", ("UP", None), "No: BTC yes, ETH not known."),
        ("none", ("UP", "DOWN"), "No: BTC yes, ETH no."),
        ("none", ("DOWN", "DOWN"), "Yes: BTC no, ETH no."),
    ],
)
async def test_whether_any_all_or_none_of_some_coins_are_so(
    quantifier: Any, states: tuple[str | None, str | None], said: str
) -> None:
    market = world(BTC={"trend_daily": states[0]}, ETH={"trend_daily": states[1]})
    text = await answered(of(coins("BTC", "ETH"), where=UP, operation=Exists(quantifier)), over=market)
    assert text.startswith(said)


@pytest.mark.parametrize(
    ("measure", "rate", "said"),
    [
        (Measure("carry", side="long"), 10.0, "A long in BTC pays 10.0 % a year in funding."),
        (Measure("carry", side="short"), 10.0, "A short in BTC receives 10.0 % a year in funding."),
        (
            Measure("carry", side="short", notional=36_500.0),
            -10.0,
            "A short of 36,500 USD in BTC would pay $10 in funding over a day.",
        ),
        (
            Measure("carry", days(10), side="long", notional=36_500.0),
            -10.0,
            "A long of 36,500 USD in BTC would receive $100 in funding over 10 days.",
        ),
    ],
)
async def test_a_side_pays_or_receives_funding(measure: Measure, rate: float, said: str) -> None:
    text = await answered(of(coins("BTC"), measure), over=world(BTC={"price": 100.0, "funding_apr": rate}))
    assert text.startswith(said)


async def test_a_side_of_a_holding_pays_or_receives_funding() -> None:
    market = world(ETH={"price": 100.0, "funding_apr": 36.5})
    short = of(coins("ETH"), Measure("carry", side="short"), operation=ValueOf((Holding(10.0, "ETH"),)))
    assert (await answered(short, over=market)).startswith("A short of 10 ETH ($1,000) would receive $1 in funding")
    both = of(coins("ETH"), Measure("carry"), operation=ValueOf((Holding(10.0, "ETH"),)))
    assert (await answered(both, over=market)).startswith(
        "A long of 10 ETH ($1,000) would pay $1 in funding over a day."
    )


async def test_a_list_by_a_bound_begins_with_what_is_farthest_from_it() -> None:
    market = world(**{one: {"change_24h": -float(place)} for place, one in enumerate(COINS)})
    fell = await answered(of(ALL, where=where(change(), "lt", -20.0), operation=List()), over=market)
    assert fell.startswith("3 coins have a 24-hour change below -20 %: SOL, PEPE, ETH.")
    between = All((where(change(), "ge", -2.0), where(change(), "lt", 0.0)))
    rose = await answered(of(ALL, where=between, operation=List()), over=market)
    assert rose.startswith("2 coins have a 24-hour change at least -2 % and a 24-hour change below 0 %: C01, C02.")
    held = All((UP, where(change(), "lt", -20.0)))
    by_name = await answered(of(ALL, where=held, operation=List()), over=_all_up(market))
    assert by_name.startswith("3 coins have a daily trend of UP and a 24-hour change below -20 %: ETH, PEPE, SOL.")
    nothing = of(ALL, change(), where=where(PRICE, "gt", 1e9), operation=Rank("most", 3))
    assert (await answered(nothing)).startswith("No match for a price above 1,000,000,000 USD.")


def _all_up(market: World) -> World:
    for row in market.table.values():
        row.trend_daily = "UP"
    return market


async def test_a_move_is_explained_over_the_time_that_was_asked_for() -> None:
    week = of(coins("BTC"), change(days(7)), operation=Why())
    assert " over 7 days, against " in await answered(week)
    assert " over a day, against " in await answered(of(coins("BTC"), operation=Why()))


async def test_against_another_coin_both_values_are_told() -> None:
    beats = where(change(days(7)), "gt", coin="BTC")
    text = await answered(of(coins("ETH"), where=beats, operation=Check()))
    assert text.startswith("No: ETH's 7-day change is -1.00 %, BTC's is +3.00 %.")
    text = await answered(of(coins("ETH", "SOL"), where=beats, operation=Check()))
    assert "|  | holds | 7-day change | BTC's |" in text
    both = All((beats, where(FUNDING, "gt", coin="BTC")))
    text = await answered(of(coins("ETH"), where=both, operation=Check()))
    assert "BTC's 7-day change is +3.00 %, BTC's funding is +10.95 % a year." in text


async def test_drawdowns_are_deep_and_states_have_lasted() -> None:
    drawdown = Measure("drawdown", days(30))
    assert "the deepest 30-day drawdown" in await answered(of(ALL, drawdown, operation=Rank("least", 3)))
    assert "the smaller 30-day drawdown" in await answered(of(coins("BTC", "ETH"), drawdown, operation=Compare("most")))
    assert (await answered(QUERIES["since"])).startswith("ETH's daily trend has been ")
    assert ". It was HODL last from 2025-0" in await answered(QUERIES["not_now"])
    ended = of(coins("BTC"), where=where(PRICE, "gt", 100.0), operation=When("since"))
    assert (await answered(ended)).startswith("Not now. BTC's price was above 100 USD last from ")
    assert "the largest part in BTC (95.4 %)." in await answered(QUERIES["worth"])


async def test_many_sources_are_shortened() -> None:
    result = await world().ask(QUERIES["why"])
    assert len({source.tool for source in result.sources}) > 3
    market = world()
    results = [
        await market.ask(QUERIES[kind]) for kind in ("why", "breadth", "screen", "record", "pricing", "list_shows")
    ]
    queries = tuple(QUERIES[kind] for kind in ("why", "breadth", "screen", "record", "pricing", "list_shows"))
    assert " more; as of" in "\n".join(write(Understanding(queries=queries), results))


async def test_an_answer_without_data_names_no_source() -> None:
    only_words = Result(kind="explain", title="", figures=(await world().ask(QUERIES["explain"])).figures)
    text = "\n".join(write(Understanding(queries=(QUERIES["explain"],)), [only_words]))
    assert "Sources" not in text


async def test_a_part_that_failed_is_said_beside_the_others() -> None:
    queries = (QUERIES["value"], QUERIES["breadth"], QUERIES["share"])
    failed = ServiceError("UNAVAILABLE", "Breadth is not available yet.")
    text = "\n".join(write(Understanding(queries=queries), [await world().ask(queries[0]), failed]))
    assert "A part could not be answered: Breadth is not available yet." in text
    assert "Only the first parts of the question are answered" in text
    assert "Read as: BTC, price; then breadth." in text


@pytest.mark.parametrize("courtesy", ["greeting", "thanks", "help", "goodbye"])
def test_courtesies_are_answered_in_a_sentence(courtesy: Any) -> None:
    assert len(write(Understanding(courtesy=courtesy), [])) == 1
    assert templates()["courtesies"].keys() == {"greeting", "thanks", "help", "goodbye"}


@pytest.mark.parametrize("reason", sorted(SOURCES["refusals"]))
def test_refusals_of_a_whole_question(reason: Any) -> None:
    refusal = Refusal(reason, ("foo",), ("FOOD",), "What is the price of FOOD?")
    text = write(Understanding(refusal=refusal), [])[0]
    assert not re.search(r"\d", text)
    assert ("What is the price of FOOD?" in text) == (reason not in {"unknown-symbol", "language", "per-coin"})
    plain = write(Understanding(refusal=Refusal(reason)), [])[0]
    assert "None" not in plain


def test_results_can_be_encoded() -> None:
    result = Result(kind="value", title="x")
    assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result


async def test_every_result_survives_the_wire() -> None:
    market = world()
    for query in (*QUERIES.values(), *REFUSED.values()):
        result = await market.ask(query)
        assert msgspec.json.decode(msgspec.json.encode(result), type=Result) == result


async def test_values_are_bound_as_text() -> None:
    bound = bind(await world().ask(QUERIES["rank"]))
    assert all(isinstance(cell["value"], str) for row in bound["rows"] for cell in row["cells"])


async def test_a_count_of_one_is_singular() -> None:
    only = world(**{one: {"trend_daily": "DOWN"} for one in COINS if one != "BTC"})
    assert (await answered(QUERIES["list"], over=only)).startswith("1 coin has a daily trend of UP: BTC.")
    counted = await answered(of(ALL, where=UP, operation=Count()), over=only)
    assert counted.startswith("1 of 24 coins has a daily trend of UP: BTC.")
    market = Subject(scope="market")
    regime = await answered(of(market, Measure("market_regime")))
    assert regime.startswith("The market's regime is ")
    assert (await answered(of(market, Measure("fear_greed")))).startswith("The market's Fear & Greed index is 55.")
    assert (await answered(of(SERVICE, operation=Route("wallets", {"count": "yes"})))).startswith("1 transfer of")
    assert "over 7 days" in await answered(of(coins("ETH"), change(), time=days(7)))
    assert "over 7 days" not in await answered(of(coins("ETH"), change(days(7)), time=days(7)))
