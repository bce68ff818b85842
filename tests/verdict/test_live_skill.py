"""A claim that was earned is withdrawn where its live record shows that the base rate is better."""

import random
from collections import defaultdict
from collections.abc import Callable
from statistics import fmean, median

import msgspec
import pytest

from service.clock import DAY_MS
from service.storage.database import Database
from service.verdict.claims import claims, withdrawal
from service.verdict.ledger import Ledger
from service.verdict.ledger_statistics import count_ledger
from service.verdict.measured import MEASURED, IsotonicModel, MeasuredClaim, MeasuredSkill
from service.verdict.ruleset import CURRENT, VERSION_1
from service.verdict.scorecard import LiveSkill, Scorecard
from service.wire.verdict import Label, Target
from tests.fakes.clock import START_MS
from tests.verdict.issuing import ORIGIN, judged

COINS = [f"C{place}" for place in range(20)]
MODEL = IsotonicModel([-9.0, 0.0], [0.2, 0.8])
"""Says 80 % of a bullish verdict, and 20 % of a bearish one."""

Move = Callable[[random.Random, Label], float]


def luck(chance: random.Random, _verdict: Label) -> float:
    """A move that the verdict knows nothing about, in percent."""
    return chance.choice((-1.0, 1.0)) * chance.uniform(0.5, 4)


def skilled(chance: random.Random, verdict: Label) -> float:
    """A move that goes the verdict's way four times in five."""
    side = 1 if verdict == "bull" else -1
    return (side if chance.random() < 0.8 else -side) * chance.uniform(0.5, 4)


def planted(target: Target = "rises", days: int = 1) -> MeasuredSkill:
    """As if a target had been earned."""
    looks = [
        msgspec.structs.replace(look, model=MODEL)
        if (look.ruleset, look.target, look.days) == (CURRENT.label.version, target, days)
        else look
        for look in MEASURED.looks
    ]
    return msgspec.structs.replace(MEASURED, looks=looks)


def look_of(measured: MeasuredSkill) -> MeasuredClaim:
    return next(look for look in measured.looks if look.model is not None)


class Lived(msgspec.Struct):
    """Daily verdicts with their outcome: by day, the coin, the verdict and the move in percent."""

    days: dict[int, list[tuple[str, Label, float]]]


async def live_through(database: Database, days: int, move: Move, *, coins: int = 20, horizon: int = 1) -> Lived:
    """Issue a verdict a day on every coin, and have each turn out.

    Beside them stand verdicts that do not count: one by version 1, one that somebody asked for, one of another history,
    and one without a price.
    """
    chance, ledger, lived = random.Random(days), Ledger(database), Lived({})  # noqa: S311 - a made-up past
    outcomes: list[tuple[object, ...]] = []
    seq = 0
    for day in range(days):
        rows = [(coin, chance.choice(("bull", "bear"))) for coin in COINS[:coins]]
        drawn: list[tuple[str, Label, float]] = []
        for coin, side in rows:
            verdict: Label = "bull" if side == "bull" else "bear"
            drawn.append((coin, verdict, move(chance, verdict)))
        at_ms = START_MS + day * DAY_MS
        others = [judged("OLD", 50.0, "bull", rules=VERSION_1), judged("NONE", 50.0, "bull")]
        await ledger.issue_day(ORIGIN, day, [*(judged(coin, 50.0, said) for coin, said, _ in drawn), *others], at_ms)
        for _, _, moved in drawn:
            seq += 1
            outcomes.append((1, seq, horizon, 1, 50.0 * (1 + moved / 100), moved, None))
        outcomes.append((1, seq + 1, horizon, 1, 99.0, 98.0, None))
        outcomes.append((1, seq + 2, horizon, None, None, None, "no such hour"))
        seq += 2
        lived.days[day] = drawn
    await ledger.issue(ORIGIN, judged("C0", 77.0), START_MS)
    await ledger.issue_day("another", 0, [judged("C0", 78.0)], START_MS)
    outcomes += [(1, seq + place, horizon, 1, 99.0, 98.0, None) for place in (1, 2)]
    await database.write(
        lambda connection: (
            connection.executemany(
                "INSERT INTO verdict_outcomes (scored_ms, seq, days, price_ms, price, move_pct, void) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                outcomes,
            ).rowcount
        )
    )
    return lived


async def count(database: Database, measured: MeasuredSkill) -> Scorecard:
    return await database.inspect(lambda connection: count_ledger(connection, ORIGIN, measured))


def expected(lived: Lived, measured: MeasuredSkill) -> tuple[int, float]:
    """Days and skill, counted the slow way."""
    look = look_of(measured)
    base = next(
        row.base_rate for row in measured.followed if (row.ruleset, row.target, row.days) == (2, look.target, look.days)
    )
    past: dict[str, list[tuple[int, float]]] = defaultdict(list)
    own, reference = [], []
    for day, rows in lived.days.items():
        middle = median(moved for _, _, moved in rows)
        scores = []
        for coin, verdict, moved in rows:
            sizes = [abs(one) for at, one in past[coin] if day - look.days - 60 < at <= day - look.days]
            came = {
                "rises": moved > 0,
                "beats-median": moved > middle,
                "moves-more": len(sizes) == 60 and abs(moved) > median(sizes),
            }[look.target]
            if look.target != "moves-more" or len(sizes) == 60:
                said = 0.8 if verdict == "bull" else 0.2
                scores.append(((said - came) ** 2, (base - came) ** 2))
            past[coin].append((day, moved))
        if scores:
            own.append(fmean(score for score, _ in scores))
            reference.append(fmean(score for _, score in scores))
    return len(own), 1 - sum(own) / sum(reference)


@pytest.mark.slow
@pytest.mark.promise("claims.withdrawn")
async def test_a_claim_without_live_skill_is_withdrawn_and_says_what_was_measured(database: Database) -> None:
    measured = planted()
    before = claims(judged("BTC"), measured=measured)[0]
    assert (before.probability, before.reason) == (0.8, None)
    await live_through(database, 60, luck)
    (skill,) = (await count(database, measured)).skills
    assert (skill.target, skill.days, skill.days_seen) == ("rises", 1, 60)
    assert skill.skill < skill.skill_high < 0
    claim = claims(judged("BTC"), [skill], measured)[0]
    assert claim.probability is None
    assert claim.reason == (
        "Withdrawn: on 60 live days the probability was worse than the base rate. Its skill was "
        f"{100 * skill.skill:.1f}%, at most {100 * skill.skill_high:.1f}% (95 %)."
    )
    others = claims(judged("BTC"), [skill], measured)[1:]
    assert others == claims(judged("BTC"))[1:]
    assert claims(judged("BTC", None), [skill], measured)[0].reason == "An abstention claims nothing."


@pytest.mark.slow
@pytest.mark.promise("claims.withdrawn")
async def test_a_claim_with_live_skill_stays_published(database: Database) -> None:
    measured = planted()
    await live_through(database, 60, skilled)
    (skill,) = (await count(database, measured)).skills
    assert skill.skill > 0
    assert not skill.withdraws
    assert claims(judged("BTC"), [skill], measured) == claims(judged("BTC"), measured=measured)


@pytest.mark.slow
@pytest.mark.promise("claims.withdrawn")
@pytest.mark.parametrize(("days", "coins"), [(59, 20), (60, 19), (0, 20)])
async def test_below_sixty_days_of_twenty_coins_the_live_record_withdraws_nothing(
    database: Database, days: int, coins: int
) -> None:
    await live_through(database, days, luck, coins=coins)
    assert (await count(database, planted())).skills == []


@pytest.mark.slow
async def test_nothing_is_measured_of_claims_that_were_not_earned(database: Database) -> None:
    await live_through(database, 60, luck)
    assert (await count(database, MEASURED)).skills == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "horizon", "days"), [("rises", 1, 61), ("rises", 3, 70), ("beats-median", 1, 61), ("moves-more", 1, 125)]
)
async def test_live_skill_equals_an_independent_count(
    database: Database, target: Target, horizon: int, days: int
) -> None:
    measured = planted(target, horizon)
    lived = await live_through(database, days, luck, horizon=horizon)
    (skill,) = (await count(database, measured)).skills
    seen, value = expected(lived, measured)
    assert (skill.days, skill.days_seen) == (horizon, seen)
    assert skill.skill == pytest.approx(value, abs=5.1e-5)


@pytest.mark.slow
async def test_a_move_has_no_bound_before_there_are_sixty_others(database: Database) -> None:
    await live_through(database, 59, luck)
    assert (await count(database, planted("moves-more"))).skills == []


@pytest.mark.parametrize(
    ("skill", "withdrawn"),
    [
        (LiveSkill("rises", 1, 60, -0.1, -0.0001), True),
        (LiveSkill("rises", 1, 60, -0.1, 0.0), False),
        (LiveSkill("rises", 1, 59, -0.1, -0.05), False),
        (LiveSkill("rises", 3, 60, -0.1, -0.05), False),
        (LiveSkill("beats-median", 1, 60, -0.1, -0.05), False),
    ],
)
def test_only_sixty_days_and_an_upper_bound_below_zero_withdraw_a_claim(skill: LiveSkill, *, withdrawn: bool) -> None:
    assert (withdrawal(look_of(planted()), [skill]) is not None) == withdrawn
