"""Recomputes the verdicts of every past day from what was known then, and counts their outcomes. Needs numpy."""

from collections.abc import Sequence
from math import nan

from service.analytics.breadth import Breadth
from service.analytics.market import MarketAnalytics
from service.analytics.recomputed import ArrayRule as PlainRule
from service.analytics.recomputed import ArrayRuleSet as PlainRuleSet
from service.analytics.recomputed import DayInputs, FundingDays, JudgedDays, count_outcomes, judge_inputs, recompute
from service.market.daily_report.models import BreadthDay
from service.market.series import ClosedDays
from service.verdict.ledger import HORIZONS
from service.verdict.ruleset import CURRENT, RuleSet
from service.verdict.scorecard import FLAT_PCT, SIDES, DaySpread, OutcomeCell, Scorecard
from service.verdict.tables import VerdictRule


def recompute_verdicts(
    days: ClosedDays, published: Sequence[BreadthDay]
) -> tuple[MarketAnalytics, DayInputs, JudgedDays]:
    """Recompute every verdict by the current rules: the one computation of all answers about past days.

    Args:
        days: All closed days.
        published: Published breadths. The regime of the market follows them, whatever bars came since; only days
            without one are counted from the bars.

    Returns:
        The market through the last day, the inputs at the end of each day, and the verdicts on them.
    """
    funding = {coin: _funding(paid) for coin, paid in days.funding.items()}
    market = MarketAnalytics(days.bars, [Breadth(day.day, day.up, day.hodl, day.down) for day in published])
    inputs = recompute(market, funding)
    return market, inputs, judge_inputs(inputs, plain_rules(CURRENT))


def recompute_scorecard(days: ClosedDays, published: Sequence[BreadthDay]) -> Scorecard:
    """Recompute every verdict as `recompute_verdicts` and count the outcomes."""
    _, inputs, judged = recompute_verdicts(days, published)
    labels = [grade.verdict for grade in CURRENT.tables.grades]
    symbols = {coin.venue_symbol: coin.symbol for coin in days.coins}
    cells: list[OutcomeCell] = []
    spreads: list[DaySpread] = []
    for horizon in HORIZONS:
        sides = [SIDES[label] for label in labels]
        of_coins, of_days = count_outcomes(inputs, judged, horizon, FLAT_PCT[horizon], sides)
        cells += [OutcomeCell("daily", horizon, symbols[one.coin], labels[one.grade], *one[2:]) for one in of_coins]
        spreads += [DaySpread("daily", horizon, labels[one.grade], *one[1:]) for one in of_days]
    return Scorecard(CURRENT.label.version, cells, spreads, counts=days.counts)


def plain_rules(known: RuleSet) -> PlainRuleSet:
    """A rule set without its sentences, for `service.analytics.recomputed`."""
    tables = known.tables
    places = {rule.id: at for at, rule in enumerate(tables.rules)}
    return PlainRuleSet(
        version=tables.version,
        rules=[_rule(rule) for rule in tables.rules],
        groups=[[places[id_] for id_ in group.rules] for group in known.groups],
        grades=[(grade.verdict, grade.at_least, grade.at_most) for grade in tables.grades],
        least=tables.trust.least,
    )


def _funding(paid: Sequence[tuple[int, float, float]]) -> FundingDays:
    """Funding by day, without the newest payment of each day."""
    days, sums, hours = zip(*paid, strict=True) if paid else ((), (), ())
    return FundingDays(days, sums, hours, [nan] * len(paid))


def _rule(rule: VerdictRule) -> PlainRule:
    return PlainRule(
        inputs=rule.input.split(" - "),
        weight=rule.weight,
        names={category.name: category.contribution for category in rule.names},
        bands=[(band.at_least, band.at_most, band.contribution) for band in rule.bands],
    )
