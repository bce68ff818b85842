"""What is written of coins: the main figure first, what is stale or missing, and where it comes from."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from service.ask.evidence import Evidence
from service.ask.generate import LEFT_OUT, NOTHING, WRITERS, compose, generate
from service.ask.grounding import check
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import style_of
from service.wire.ask import Amount, Archetype, Classification, Entities, Intent, Plan, PlannedStep, Step
from tests.ask.findings import asset, carry, failed, found, history, risk, signal, value
from tests.ask.telling import PERSONAS

SLOW = failed("coin.risk", {"symbol": "ETH"}, "slow")

Case = tuple[Intent, Sequence[Step], Mapping[str, Any]]

CASES: Mapping[str, Case] = {
    "price": ("price", [risk("BTC")], {}),
    "prices": ("price", [risk("BTC"), risk("ETH", id="s2"), risk("KPEPE", id="s3")], {}),
    "no price": ("price", [risk("SOL", price=None, _stale_fields=["price"])], {}),
    "overview": ("overview", [risk("ETH"), signal("ETH", id="s2")], {}),
    "overview without a verdict": ("overview", [risk("SOL", sentiment_stance=None, sentiment_summary=None)], {}),
    "overview without a summary": ("overview", [risk("SOL", sentiment_summary=None)], {}),
    "overview without a state": (
        "overview",
        [SLOW, signal("ETH", id="s2")],
        {},
    ),
    "overviews": ("overview", [risk("ETH"), signal("ETH", id="s2"), risk("SOL", id="s3"), signal("SOL", id="s4")], {}),
    "no verdict": ("overview", [risk("KPEPE"), signal("KPEPE", id="s2")], {}),
    "verdict": ("verdict", [signal("BTC")], {}),
    "verdict and why": ("verdict", [signal("ETH")], {"why": True}),
    "verdicts": ("verdict", [signal("BTC"), signal("ETH", id="s2")], {}),
    "nothing flips": ("verdict", [signal("BTC", rules=[])], {"why": True}),
    "trend": ("trend", [risk("ETH"), risk("SOL", id="s2")], {}),
    "weekly trend": ("trend", [risk("ETH", trend_weekly_since=None)], {"timeframe": "weekly"}),
    "no trend": ("trend", [risk("SOL", trend_daily=None)], {"timeframe": "daily"}),
    "funding": ("funding", [risk("ETH")], {}),
    "fundings": ("funding", [risk("ETH"), risk("BTC", id="s2"), risk("SOL", id="s3", funding_apr=0.0)], {}),
    "no funding": ("funding", [risk("SOL", funding_apr=None)], {}),
    "carry": ("carry", [risk("BTC"), carry("BTC")], {}),
    "carry of a long": ("carry", [risk("BTC"), carry("BTC", "long")], {"amount": Amount(12500.0, "USD")}),
    "carry of a short": ("carry", [risk("BTC"), carry("BTC", "short", usd=-0.0712)], {}),
    "no carry": ("carry", [risk("BTC"), carry("BTC", usd=None)], {}),
    "sentiment": ("sentiment", [risk("BTC"), risk("ETH", id="s2", sentiment_summary=None)], {}),
    "no sentiment": ("sentiment", [risk("SOL", sentiment_stance=None)], {}),
    "correlation": ("correlation", [risk("ETH"), risk("SOL", id="s2"), risk("BTC", id="s3")], {}),
    "no correlation": ("correlation", [risk("ETH", btc_correlation=None)], {}),
    "comparison": ("comparison", [risk("ETH"), risk("SOL", id="s2")], {}),
    "comparison of funding": ("comparison", [risk("ETH"), risk("SOL", id="s2")], {"metric": "funding_apr"}),
    "comparison of volume": ("comparison", [risk("ETH"), asset("GOLD", id="s2")], {"metric": "volume_usd"}),
    "comparison with assets": ("comparison", [risk("ETH"), asset("GOLD", id="s2"), asset("JPY", id="s3")], {}),
    "which to prefer": (
        "comparison",
        [risk("ETH"), risk("SOL", id="s2"), signal("ETH", id="s3"), signal("SOL", id="s4")],
        {"action": "prefer"},
    ),
    "comparison of verdicts": ("comparison", [signal("ETH"), signal("BTC", id="s2")], {}),
    "history": ("history", [history("ETH")], {}),
    "history of hours": ("history", [history("ETH", count=24, unit="h")], {}),
    "histories": ("history", [history("BTC"), history("ETH", id="s2"), history("KPEPE", id="s3")], {}),
    "no history": ("history", [history("SOL")], {}),
    "worth": ("convert", [risk("ETH"), value("ETH", 2.5, "ETH")], {}),
    "buys": ("convert", [risk("ETH"), value("ETH", 500.0, "USD")], {}),
    "changes": ("convert", [risk("ETH"), risk("BTC", id="s3"), value("ETH", 2.0, "BTC")], {}),
    "worth nothing known": ("convert", [risk("ETH", price=None), value("ETH", 2.0, "ETH", price=None)], {}),
    "buys nothing known": ("convert", [value("ETH", 500.0, "USD", price=None)], {}),
    "track record": ("track-record", [signal("BTC")], {}),
    "no track record": ("track-record", [signal("BTC", claims=None, record=None)], {}),
    "nothing compared": ("comparison", [SLOW], {}),
    "nothing priced": ("price", [SLOW], {}),
    "nothing judged": ("verdict", [failed("signal", {"symbol": "ETH"}, "slow")], {}),
}


def assigned(case: Case, persona: Archetype = "base") -> Assignment:
    intent, steps, named = case
    entities = dict(named)
    why = entities.pop("why", False)
    asked = Classification(intent=intent, entities=Entities(**entities), why=why)
    plan = Plan(tuple(PlannedStep(step.id, step.tool, step.args) for step in steps))
    return Assignment(asked, plan, Evidence(steps, asked.entities), style_of(persona))


def told(name: str, persona: Archetype = "base") -> str:
    return "\n\n".join(compose(assigned(CASES[name], persona)))


def answered(intent: Intent, *steps: Step, persona: Archetype = "base", **entities: Any) -> str:
    return "\n\n".join(compose(assigned((intent, steps, entities), persona)))


@pytest.mark.parametrize("persona", PERSONAS)
@pytest.mark.parametrize("name", CASES)
def test_every_answer_stands_up_to_the_check(name: str, persona: Archetype) -> None:
    assignment = assigned(CASES[name], persona)
    text = "\n\n".join(compose(assignment))
    assert check(text, assignment.evidence) == (), text


@pytest.mark.parametrize("name", CASES)
def test_every_persona_is_told_the_main_figure(name: str) -> None:
    bold = {told(name, persona).split("**")[1:2][0] if "**" in told(name, persona) else "" for persona in PERSONAS}
    assert len(bold) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("price", "**BTC is at $118,234.5**"),
        ("prices", "KPEPE is the venue's kPEPE"),
        ("no price", "`price` missing"),
        ("overview", "Shorts pay longs 6.22 % a year on ETH."),
        ("no verdict", "KPEPE has **no verdict**: the evidence is insufficient"),
        ("verdict", "BTC's verdict is **strong-bull**, score +3.25, confidence high."),
        ("verdict and why", "`risk.funding_apr` turned to +43.8 %"),
        ("trend", "**ETH: daily DOWN since 2025-07-21 and weekly HODL since 2025-06-02**."),
        ("weekly trend", "**ETH: weekly HODL**; daily DOWN since 2025-07-21."),
        ("no trend", "**SOL: daily not known**"),
        ("fundings", "**Nobody pays funding on SOL**."),
        ("no funding", "**The funding of SOL is not known**."),
        ("carry", "**A long of $12,500 in BTC held 3 days would pay $9**."),
        ("carry", "No amount of it was named"),
        ("carry of a short", "**A short of $12,500 in BTC held 3 days would pay $0.071**."),
        ("no carry", "**The funding of BTC is not known**"),
        ("sentiment", "**The mood on BTC is euphoria**. Neutral: crowd and price"),
        ("no sentiment", "**Nothing is known of the mood on SOL**."),
        ("correlation", "**ETH's correlation to BTC is 0.83**."),
        ("no correlation", "ETH's correlation to BTC is not known"),
        ("comparison", "| Funding a year | -6.22 % | -22.25 % |"),
        ("comparison of funding", "**ETH: funding a year -6.22 %** and **SOL: funding a year -22.25 %**."),
        ("comparison with assets", "|  | ETH | GOLD | JPY |\n"),
        (
            "comparison with assets",
            "\n| Price | $3,811.27 | $3,340.65 | 147.22 |\n| Change a day | - | -0.81 % | +0.3 % |",
        ),
        ("which to prefer", "**ETH: bear** (score -1.75) and **SOL: neutral** (score -0.5)."),
        ("comparison of verdicts", "| Verdict | bear | strong-bull |\n| Score | -1.75 | +3.25 |"),
        ("history", "**ETH is up 5.85 % in 7 days**, from $3,600.5 to $3,811.27."),
        ("history of hours", "in 24 hours**"),
        ("histories", "**KPEPE is unchanged in 7 days**"),
        ("no history", "**SOL's price 7 days ago is not known**. Its price is $196.97 now."),
        ("worth", "**2.5 ETH is worth $9,528.18**"),
        ("buys", "**$500 buys 0.13118987 ETH** at $3,811.27"),
        ("changes", "**2 BTC buys 62.044673 ETH**"),
        ("worth nothing known", "**That cannot be said**"),
        ("track record", "Of 842 strong-bull verdicts 64.29 % were right."),
        ("no track record", "**No track record is known of BTC's verdict**."),
        ("nothing priced", "Not answered: `coin.risk` for `ETH`: slow."),
    ],
)
def test_an_answer_says(name: str, said: str) -> None:
    assert said in told(name)


def test_a_trader_gets_figures_and_no_explanations() -> None:
    assert len(told("overview", "trader")) < len(told("overview"))
    assert "Its trend" not in told("price", "trader")


def test_an_analyst_gets_every_threshold() -> None:
    assert "| funding-level | +25.55 % | +21.9 % | -0.25 | +43.8 % |" in told("verdict", "analyst")
    assert "| Price | $3,600.5 | $3,811.27 |" in told("history", "analyst")
    assert "| 3 days | 77 | 842 | 64.29 % | 59.12 % | 69.46 % | 55.12 % | +1.83 % |" in told("track record", "analyst")
    assert "longs pay shorts 10.95 % a year on BTC" in told("price", "analyst")
    assert "| funding-level | +25.55 % | +21.9 % | -0.25 | +43.8 % |" in told("overview", "analyst")


def test_an_explainer_is_told_what_the_words_mean() -> None:
    assert "Funding is" in told("funding", "explainer")
    assert "Funding is" not in told("funding")


def test_a_risk_manager_reads_what_is_missing_right_after_the_main_figure() -> None:
    steps = (risk("BTC", _stale_fields=["price", "sentiment_stance"], sentiment_stance=None), signal("BTC", id="s2"))
    paragraphs = answered("overview", *steps, persona="risk-manager").split("\n\n")
    assert paragraphs[1] == "Not as fresh as it should be:"
    assert paragraphs[2] == (
        "- coin.risk of BTC: `price` stale, shown as last known\n- coin.risk of BTC: `sentiment_stance` missing\n"
        "- signal of BTC: `funding` stale, shown as last known\n- signal of BTC: `regime` missing"
    )
    assert answered("overview", *steps).split("\n\n")[-3:-1] == paragraphs[1:3]


def test_the_last_line_names_the_sources_and_of_when_they_are() -> None:
    text = answered("overview", risk("BTC"), signal("BTC", id="s2"), found("glossary", {}, {}, id="s3", as_of=None))
    assert text.endswith(
        "_Sources: coin.risk as of 2025-07-25 14:02:10 UTC; signal as of 2025-07-25 00:00:00 UTC; glossary_"
    )


def test_what_is_unknown_is_said_with_what_may_be_meant() -> None:
    text = answered("price", risk("BTC"), unknown=("FOO", "PEPE"), candidates={"PEPE": ("KPEPE", "BTC")})
    assert "`FOO` is not known here.\n\n`PEPE` is not known here. Perhaps `KPEPE` or `BTC` is meant." in text


def test_what_is_left_out_of_too_many_is_named() -> None:
    text = answered("price", risk("BTC"), coins=("BTC", "ETH", "SOL", "DOGE", "XRP", "LINK"))
    assert "no more names than these: `ETH`, `SOL`, `DOGE`, `XRP` and `LINK`." in text
    assert "no more names" not in answered("price", risk("BTC"), coins=("BTC", "ETH"))


def test_a_failed_step_of_nobody_in_particular_is_told_as_it_failed() -> None:
    text = answered("price", risk("BTC"), failed("scan", {"limit": 5}, "did not answer within 2 s", id="s2"))
    assert "Not answered: `scan`: did not answer within 2 s." in text


def test_where_nothing_can_be_told_that_is_told() -> None:
    assert answered("price") == NOTHING
    refused = Classification(intent="price", entities=Entities(), refusal="ambiguous")
    assert generate(refused, Plan(()), (), "base") != ()


def test_a_figure_that_cannot_be_found_again_is_withheld(monkeypatch: pytest.MonkeyPatch) -> None:
    def invent(_assignment: Assignment, draft: Any) -> None:
        draft.say("BTC leads.")
        draft._paragraphs.append("BTC is at $150,000.")

    monkeypatch.setitem(WRITERS, "price", invent)
    asked = Classification(intent="price", entities=Entities(coins=("BTC",)))
    paragraphs = generate(asked, Plan(()), [risk("BTC")], "base")
    assert paragraphs[0] == "BTC leads."
    assert paragraphs[-1] == LEFT_OUT
    assert not any("150" in paragraph for paragraph in paragraphs)


@pytest.mark.promise("question.deterministic")
def test_the_same_findings_are_told_in_the_same_bytes() -> None:
    for case in CASES.values():
        intent, steps, _ = case
        asked = Classification(intent=intent, entities=Entities())
        first = generate(asked, Plan(()), steps, "analyst")
        assert first == generate(asked, Plan(()), steps, "analyst")
        assert LEFT_OUT not in first
