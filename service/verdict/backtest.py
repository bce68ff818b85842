"""Rule sets as `analytics.recomputed` applies them to every coin on every past day."""

from service.analytics import recomputed
from service.verdict.ruleset import RuleSet
from service.verdict.tables import Rule


def rules_of(known: RuleSet) -> recomputed.RuleSet:
    """The tables of a rule set without their sentences."""
    tables = known.tables
    places = {rule.id: at for at, rule in enumerate(tables.rules)}
    return recomputed.RuleSet(
        version=tables.version,
        rules=[_rule(rule) for rule in tables.rules],
        groups=[[places[id_] for id_ in group.rules] for group in known.groups],
        grades=[(grade.verdict, grade.at_least, grade.at_most) for grade in tables.grades],
        least=tables.trust.least,
    )


def _rule(rule: Rule) -> recomputed.Rule:
    return recomputed.Rule(
        inputs=rule.input.split(" - "),
        weight=rule.weight,
        names={category.name: category.contribution for category in rule.names},
        bands=[(band.at_least, band.at_most, band.contribution) for band in rule.bands],
    )
