"""Ten thousand random input sets: against the rules written a second time, and by other processes and Pythons."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from service.verdict.decide import decide
from service.verdict.replay import replay
from service.verdict.rules import apply
from service.verdict.ruleset import VERSION_1, VERSION_2
from service.wire.verdict import AppliedRule, CoinVerdict, VerdictInputs
from tests.verdict.knowledge import COUNT, inputs
from tests.verdict.reference import exact, opine

FINGERPRINTS = {
    1: "f46fb43b1245da5e3346c800149fbd7719ed013870b8c1113351da920eff8430",
    2: "47b46dc8e2fdc87905ab3b9b150349671eb2615906027506d1db34c3487a2863",
}
"""SHA-256 over ten thousand verdicts of each version, as they are sent.

If one changes, verdicts of that version cannot be recomputed any more: make a new version instead.
"""

RULE_SETS = {1: VERSION_1, 2: VERSION_2}
VERSIONS = pytest.mark.parametrize("version", RULE_SETS)

ROOT = Path(__file__).resolve().parents[2]
ASK = "from tests.verdict.knowledge import fingerprint; print(fingerprint(1), fingerprint(2))"
OTHERS = tuple(f"python3.{minor}" for minor in range(11, 20))


@pytest.mark.slow
@pytest.mark.promise("signal.rules")
@VERSIONS
def test_two_thousand_verdicts_are_what_the_rules_say_and_can_be_replayed_byte_for_byte(version: int) -> None:
    """Whether all ten thousand are the known ones is asked of another process below, which only decides."""
    _, verdicts = examined(2_000, version)
    assert len(verdicts) >= 15, "of every verdict with every confidence one at the most is missing"


@VERSIONS
@pytest.mark.soak
def test_ten_thousand_verdicts_are_what_the_rules_say_and_can_be_replayed_byte_for_byte(version: int) -> None:
    fingerprint, verdicts = examined(COUNT, version)
    assert len(verdicts) == 16, "every verdict with every confidence"
    assert min(verdicts.values()) >= 10
    assert fingerprint == FINGERPRINTS[version]


def examined(count: int, version: int) -> tuple[str, Counter[str]]:
    """Hold the first so many against the rules written a second time; return their fingerprint, and them by kind."""
    whole, verdicts = sha256(), Counter[str]()
    for known in inputs(count):
        verdict = decide(known, RULE_SETS[version])
        agrees_with_the_reference(known, verdict)
        assert sum(Fraction(rule.contribution) for rule in verdict.rules) == Fraction(verdict.score)
        flips_flip(known, verdict)
        sent = msgspec.json.encode(verdict)
        replayed = replay(json.loads(sent))
        assert replayed.differences == []
        assert msgspec.json.encode(replayed.verdict) == sent
        whole.update(sent)
        verdicts[f"{verdict.verdict}, {verdict.confidence}"] += 1
    assert verdicts.total() == count
    return whole.hexdigest(), verdicts


def agrees_with_the_reference(known: VerdictInputs, verdict: CoinVerdict) -> None:
    opinion = opine(known, verdict.ruleset.version)
    assert [judged_of(rule) for rule in verdict.rules] == [rule[:4] for rule in opinion.rules]
    assert Fraction(verdict.score) == opinion.score
    assert (verdict.verdict, verdict.confidence) == (opinion.verdict, opinion.confidence)
    basis = verdict.confidence_basis
    assert (basis.coverage, basis.agreement) == (
        round(float(opinion.coverage), 4),
        round(float(opinion.agreement), 4),
    )


def judged_of(rule: AppliedRule) -> tuple[object, ...]:
    return (
        as_written(rule.value),
        int(rule.contribution * 4),
        as_written(rule.threshold),
        as_written(rule.flips_at),
    )


def as_written(value: str | float | None) -> str | Fraction | None:
    return exact(value) if isinstance(value, float) else value


def flips_flip(known: VerdictInputs, verdict: CoinVerdict) -> None:
    tables = RULE_SETS[verdict.ruleset.version].tables
    for rule, applied in zip(tables.rules, verdict.rules, strict=True):
        if applied.value is None:
            assert applied.flips_at is None
            continue
        other = apply(tables, rule, with_value(known, rule.input, applied.flips_at), 0).applied
        assert other.value == applied.flips_at
        assert other.contribution != applied.contribution


def with_value(known: VerdictInputs, path: str, value: object) -> VerdictInputs:
    """The same, with another value of what a rule looks at; of a difference, the first part moves."""
    path, _, less = path.partition(" - ")
    source, _, field = path.partition(".")
    facts = getattr(known.raw, source)
    if less:
        assert isinstance(value, float)
        value += getattr(facts, less.partition(".")[2])
    return replace(known, raw=replace(known.raw, **{source: replace(facts, **{field: value})}))


@pytest.mark.process
def test_another_process_with_another_order_of_hashes_gives_the_same_bytes() -> None:
    assert asked(sys.executable) == [*FINGERPRINTS.values()]


@pytest.mark.process
def test_another_version_of_python_gives_the_same_bytes() -> None:
    others = [path for path in map(shutil.which, OTHERS) if path and is_another(path)]
    if not others:
        pytest.skip("no other Python (3.11 or later) with msgspec and rfc8785 is on the PATH")
    assert {other: asked(other) for other in others} == {other: [*FINGERPRINTS.values()] for other in others}


def asked(python: str) -> list[str]:
    # Nothing of this process goes along, so that neither its hashes nor its measuring do.
    environment = {"PYTHONHASHSEED": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [python, "-c", ASK], cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=100
    )
    return done.stdout.split()


def is_another(python: str) -> bool:
    """Whether this is a Python of another version that has what a verdict needs."""
    program = "import sys, msgspec, rfc8785; print(*sys.version_info[:2])"
    done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False, timeout=100)
    return done.returncode == 0 and done.stdout.split() != [str(part) for part in sys.version_info[:2]]
