"""The published rule sets. The current one issues verdicts; older ones recompute theirs."""

from typing import Final, NamedTuple

from service.verdict.rules_v1 import TABLES_V1
from service.verdict.rules_v2 import TABLES_V2
from service.verdict.tables import RuleGroup, RuleTables
from service.wire.canonical import canonical, digest
from service.wire.verdict import CoinVerdict, Ruleset


class RuleSet(NamedTuple):
    """A rule set with prepared values.

    Attributes:
        tables: The rules.
        label: Name, version and digest, as verdicts carry them.
        form: Canonical JSON of the tables.
        groups: The groups of evidence that confidence counts.
        weight: The sum of all rules' weights.
    """

    tables: RuleTables
    label: Ruleset
    form: bytes
    groups: tuple[RuleGroup, ...]
    weight: float


def _publish(tables: RuleTables) -> RuleSet:
    label = Ruleset(tables.name, tables.version, digest(tables))
    return RuleSet(tables, label, canonical(tables), tables.evidence(), sum(rule.weight for rule in tables.rules))


VERSION_1: Final = _publish(TABLES_V1)
VERSION_2: Final = _publish(TABLES_V2)
CURRENT: Final = VERSION_2
"""The rule set that verdicts are issued by."""

_KNOWN: Final = {(known.label.name, known.label.version): known for known in (VERSION_1, VERSION_2)}


def find(name: str, version: int) -> RuleSet | None:
    """The rule set of a name and version; null if this program does not have it."""
    return _KNOWN.get((name, version))


def versions() -> str:
    """The rule sets that this program has, for people."""
    return " and ".join(f"{name} version {version}" for name, version in _KNOWN)


def claimed(verdict: CoinVerdict) -> float | None:
    """The probability that a verdict claims by its score alone; null except for version 1."""
    return _KNOWN[verdict.ruleset.name, verdict.ruleset.version].tables.claimed(verdict.score)
