"""Recompute the verdicts of every past day from what was known by then, and count their outcomes. Needs numpy."""

from collections.abc import Iterable, Sequence
from math import nan
from typing import Final

from service.analytics.breadth import Breadth
from service.analytics.market import Market
from service.analytics.recomputed import Funding, Inputs, Judged, count_outcomes, judge, recompute
from service.analytics.recomputed import Rule as PlainRule
from service.analytics.recomputed import RuleSet as PlainRuleSet
from service.clock import DAY_MS
from service.market.series import Days
from service.verdict.ledger import HORIZONS
from service.verdict.ruleset import CURRENT, RuleSet
from service.verdict.scorecard import FLAT_PCT, SIDES, Cell, Scorecard, Spread
from service.verdict.tables import Rule

_HOURS: Final = 24.0
"""What a day's sum of funding was paid for."""


def judge_days(days: Days, published: Iterable[Breadth] = ()) -> tuple[Market, Inputs, Judged]:
    """Recompute every verdict by the current rules.

    Args:
        days: All closed days.
        published: Breadths that were published, which the regime of the market follows.

    Returns:
        The market through the last day, what was known at the end of each day, and the verdict on it.
    """
    history = {coin: [(bar[0] * DAY_MS, *bar[1:5]) for bar in bars] for coin, bars in days.bars.items()}
    funding = {coin: _funding(paid) for coin, paid in days.funding.items()}
    market = Market(history, published)
    inputs = recompute(market, funding)
    return market, inputs, judge(inputs, rules_of(CURRENT))


def count(days: Days) -> Scorecard:
    """Recompute every verdict by the current rules, and count what became of them."""
    _, inputs, judged = judge_days(days)
    labels = [grade.verdict for grade in CURRENT.tables.grades]
    symbols = {coin.venue_symbol: coin.symbol for coin in days.coins}
    cells: list[Cell] = []
    spreads: list[Spread] = []
    for horizon in HORIZONS:
        sides = [SIDES[label] for label in labels]
        of_coins, of_days = count_outcomes(inputs, judged, horizon, FLAT_PCT[horizon], sides)
        cells += [Cell("daily", horizon, symbols[one.coin], labels[one.grade], *one[2:]) for one in of_coins]
        spreads += [Spread("daily", horizon, labels[one.grade], *one[1:]) for one in of_days]
    return Scorecard(CURRENT.label.version, cells, spreads)


def rules_of(known: RuleSet) -> PlainRuleSet:
    """The tables of a rule set without their sentences."""
    tables = known.tables
    places = {rule.id: at for at, rule in enumerate(tables.rules)}
    return PlainRuleSet(
        version=tables.version,
        rules=[_rule(rule) for rule in tables.rules],
        groups=[[places[id_] for id_ in group.rules] for group in known.groups],
        grades=[(grade.verdict, grade.at_least, grade.at_most) for grade in tables.grades],
        least=tables.trust.least,
    )


def _funding(paid: Sequence[tuple[int, float]]) -> Funding:
    """Of whole days; the newest payment of each is not kept."""
    return Funding([day for day, _ in paid], [sum_ for _, sum_ in paid], [_HOURS] * len(paid), [nan] * len(paid))


def _rule(rule: Rule) -> PlainRule:
    return PlainRule(
        inputs=rule.input.split(" - "),
        weight=rule.weight,
        names={category.name: category.contribution for category in rule.names},
        bands=[(band.at_least, band.at_most, band.contribution) for band in rule.bands],
    )
