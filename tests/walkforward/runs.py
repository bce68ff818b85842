"""Runs made by hand: some records of three coins, one of them since delisted."""

from collections.abc import Sequence
from typing import Literal, get_args

from service.analytics.costs import standard
from service.clock import DAY_MS, iso
from service.walkforward.parameters import ENGINE, Parameters
from service.walkforward.records import FoldRecord, GateFinding, PackedRun, WalkforwardRun, pack_run
from service.wire.walkforward import (
    BuyAndHold,
    Strategy,
    StrategySummary,
    WalkforwardMethod,
    WalkforwardOutcome,
    WalkforwardPosition,
    WalkforwardSignal,
    WalkforwardSummary,
)
from tests.fakes.clock import START_MS

TODAY = START_MS // DAY_MS
COINS = ("BTC", "PEPE", "MATIC")
HASH = "ab" * 32

Named = Strategy | Literal["all"]
NAMED: tuple[Named, ...] = ("all", *get_args(Strategy))


def date(day: int) -> str:
    return iso(day * DAY_MS)[:10]


def outcome(number: int, symbol: str = "BTC") -> WalkforwardOutcome:
    return WalkforwardOutcome(
        id=f"trend-following-{symbol}-{number}", symbol=symbol, direction="long", entryDate=date(TODAY - 30 - number),
        exitDate=date(TODAY - 20 - number), entryPrice=100.0, exitPrice=110.0, returnPct=9.8, fundingPct=0.0,
        costPct=0.2, holdDays=10, exitReason="trend-turned", fold=1, strategy="trend-following",
    )  # fmt: skip


def signal(number: int, symbol: str = "BTC") -> WalkforwardSignal:
    return WalkforwardSignal(
        id=f"trend-following-{symbol}-{number}", symbol=symbol, scanDate=date(TODAY - 31 - number), direction="long",
        strategy="trend-following", score=1.5, fold=1, entryPrice=None if number == 0 else 100.0,
    )  # fmt: skip


def position(number: int, symbol: str = "BTC", **changes: object) -> WalkforwardPosition:
    fields: dict[str, object] = {
        "id": f"trend-following-{symbol}-{number}", "symbol": symbol, "direction": "long",
        "entryDate": date(TODAY - 5), "entryPrice": 100.0, "currentPrice": 101.0, "holdDays": 4, "unrealizedPct": 1.0,
        "stop": 95.0, "strategy": "trend-following", "fold": 2,
    }  # fmt: skip
    return WalkforwardPosition(**{**fields, **changes})  # type: ignore[arg-type] # the fields are WalkforwardPosition's


def summary(refused: Strategy | None = None) -> WalkforwardSummary:
    def of(name: Named) -> StrategySummary:
        ok = name != refused
        return StrategySummary(
            strategy=name, published=ok, refused=None if ok else "sign-flip-surrogates: it earned on chance",
            total=3 if ok else 0, wins=2 if ok else 0, losses=1 if ok else 0, winRate=0.6667 if ok else None,
            meanReturnPct=1.5 if ok else None, returnPct=4.5 if ok else 0.0, sharpe=0.5 if ok else None,
            probabilisticSharpe=0.7 if ok else None, deflatedSharpe=0.1 if ok else None,
            maxDrawdownPct=12.3456 if ok else 0.0, exposure=0.5 if ok else 0.0, turnover=30.04 if ok else 0.0,
            fundingKnown=0.25 if ok else None, trials=162,
        )  # fmt: skip

    return WalkforwardSummary(
        total=3, wins=2, losses=1, winRate=0.6667, meanReturnPct=1.5, sharpe=0.5, deflatedSharpe=0.1,
        maxDrawdownPct=12.3456, exposure=0.5, trials=162, returnPct=4.5, probabilisticSharpe=0.7, turnover=30.04,
        firstDay=date(TODAY - 200), lastDay=date(TODAY - 1), folds=3, coins=3,
        strategies=[of(name) for name in NAMED],
        buyAndHold=BuyAndHold(returnPct=-8.25, sharpe=None, maxDrawdownPct=60.0), standard=standard(),
        method=WalkforwardMethod("A purge.", "No embargo.", "Sign-flip surrogates."),
    )  # fmt: skip


def made(
    run_id: str = "0123456789abcdef",
    *,
    signals: Sequence[WalkforwardSignal] = (),
    positions: Sequence[WalkforwardPosition] = (),
    outcomes: Sequence[WalkforwardOutcome] = (),
    told: WalkforwardSummary | None = None,
    message: str | None = None,
    ran_ms: int = START_MS,
) -> WalkforwardRun:
    return WalkforwardRun(
        engine=ENGINE, run_id=run_id, ran_at=iso(ran_ms), parameters_hash=HASH, tape_digest="cd" * 32,
        parameters=Parameters(), message=message, summary=told, signals=list(signals), positions=list(positions),
        outcomes=list(outcomes),
        folds=[
            FoldRecord(
                strategy="trend-following", fold=1, trained=[(date(1), date(2))], tested=(date(3), date(4)),
                chosen={"period": 10.0}, trials=9, train_sharpe=None, sharpes=[None] * 9,
            )
        ],
        findings=[GateFinding("trend-following", "fills", told is not None, "all of them")],
    )  # fmt: skip


def packed(run_id: str = "0123456789abcdef", count: int = 3, ran_ms: int = START_MS) -> PackedRun:
    """A run with so many records of each kind, coin after coin."""
    coins = [COINS[number % len(COINS)] for number in range(count)]
    run = made(
        run_id,
        signals=[signal(number, coin) for number, coin in enumerate(coins)],
        positions=[position(number, coin) for number, coin in enumerate(coins)],
        outcomes=[outcome(number, coin) for number, coin in enumerate(coins)],
        told=summary(),
        ran_ms=ran_ms,
    )
    return pack_run(run, TODAY - 1)
