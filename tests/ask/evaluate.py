"""How well the questions of the banks are answered: `python -m tests.ask.evaluate [--show] [--record]` (`make eval`).

`--show` prints what falls short, `--record` writes down what may not get worse.
"""

import http.client
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from tests.ask import composed
from tests.ask.banks.case import BANKS, Case, Known, cases, record
from tests.ask.banks.check import faults
from tests.ask.banks.dated import AT_MS, dated_market
from tests.ask.banks.facts import Facts
from tests.ask.banks.numerals import unbound
from tests.ask.mutations import KNOWN, unseen
from tests.fakes.serving import PATIENCE_S
from tests.service.asking import Whole

Verdict = Literal["right", "wrong", "refused", "leak"]
"""`wrong`: another question was answered, or a part of it; `leak`: answered although nothing can answer it."""

COMPOSED = 5_000


class Told(NamedTuple):
    """An answer as it came, and how long it took."""

    body: bytes
    ms: float


class Outcome(NamedTuple):
    """A question and what became of it."""

    case: Case
    verdict: Verdict
    faults: Sequence[str]
    text: str
    unbound: Sequence[str]
    ms: float


def ask(
    market: Whole, messages: Sequence[str], token: str | None = None, said: str = "(answer)", archetype: str = "base"
) -> Told:
    """Ask the last of a user's messages, each of which but the last was answered with `said`."""
    turns = [turn for text in messages for turn in (("user", text), ("assistant", said))][:-1]
    told = [{"role": role, "content": text} for role, text in turns]
    body = json.dumps({"messages": told, "archetype": archetype})
    fields = {
        "Authorization": f"Bearer {token or market.pro.token}",
        "Content-Type": "application/json",
        "Accept": "application/json",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", market.service.port, timeout=PATIENCE_S)) as connection:
        begun = time.perf_counter()
        connection.request("POST", "/api/cli", body, fields)
        response = connection.getresponse()
        answer = response.read()
        return Told(answer, 1_000 * (time.perf_counter() - begun))


def examine(case: Case, told: Told, facts: Facts) -> Outcome:
    """Check an answer."""
    body = json.loads(told.body)
    if "error" in body:
        return Outcome(case, "leak" if case.answer == "refuse" else "wrong", [body["error"]], "", [], told.ms)
    text, _, _ = body["text"].partition("Read as: ")
    answered = any(_is_answered(step) for step in body["steps"])
    found: list[str] = []
    verdict: Verdict
    if case.answer == "refuse":
        verdict = "leak" if answered else "right"
    else:
        found = faults(case, text, facts)
        verdict = "right" if not found else "refused" if case.answer == "facts" and not answered else "wrong"
    loose = unbound(body["text"], [body["steps"], *case.ask]) if body["steps"] else []
    return Outcome(case, verdict, found, body["text"], loose, told.ms)


def _is_answered(step: Any) -> bool:
    return step.get("error") is None and not step["result"].get("refusal")


def evaluate(market: Whole, facts: Facts, bank: str) -> list[Outcome]:
    """Ask every question of a bank."""
    return [examine(case, ask(market, case.ask), facts) for case in cases(bank)]


def facts_of(market: Whole) -> Facts:
    """The facts of a service that stands at the banks' instant."""
    return Facts(market.pro.data, Path(market.service.settings["data_dir"]) / "verdict.db", AT_MS)


def fallen_short(outcomes: Sequence[Outcome]) -> Known:
    """What is not right."""

    def ids(answer: str, verdict: Verdict) -> tuple[str, ...]:
        return tuple(each.case.id for each in outcomes if each.case.answer == answer and each.verdict == verdict)

    return Known(
        right=len(ids("facts", "right")),
        wrong=ids("facts", "wrong"),
        leaks=ids("refuse", "leak"),
        misread=ids("free", "wrong"),
    )


def report(bank: str, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """The scores by kind, and those of the whole."""
    by_kind: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        if outcome.case.answer == "facts":
            by_kind.setdefault(outcome.case.kind, Counter())[outcome.verdict] += 1
    answerable = sum(by_kind.values(), Counter())
    yield f"bank {bank}: right, wrong (silent substitutions), refused"
    for kind, counts in [*sorted(by_kind.items()), ("all answerable", answerable)]:
        yield f"    {kind:20} {counts['right']:4} {counts['wrong']:4} {counts['refused']:4}   of {counts.total():4}"
    yield f"    answerable right: {answerable['right'] / answerable.total():.1%}"
    for answer, words in (("refuse", "unanswerable, without figures and uncharged"), ("free", "free, answered right")):
        right = [outcome.verdict == "right" for outcome in outcomes if outcome.case.answer == answer]
        yield f"    {words}: {sum(right)} of {len(right)}"
    yield f"    unbound numerals: {sum(len(outcome.unbound) for outcome in outcomes)}"
    times = sorted(outcome.ms for outcome in outcomes)
    yield f"    median {times[len(times) // 2]:.1f} ms, p95 {times[len(times) * 95 // 100]:.1f} ms"


def failures(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What falls short, by question."""
    for outcome in outcomes:
        if outcome.verdict != "right" or outcome.unbound:
            yield f"{outcome.verdict} {outcome.case.id} {' || '.join(outcome.case.ask)}"
            yield f"    {[*outcome.faults, *outcome.unbound]}"
            yield f"    {outcome.text!r}"


def main() -> None:
    """Print how every bank and the composed questions are answered."""
    with TemporaryDirectory() as folder, dated_market(Path(folder) / "data") as market:
        facts = facts_of(market)
        known: dict[str, list[Outcome]] = {}
        for bank in BANKS:
            outcomes = known[bank] = evaluate(market, facts, bank)
            lines = [*report(bank, outcomes), *(failures(outcomes) if "--show" in sys.argv[1:] else ())]
            sys.stdout.write("\n".join(lines) + "\n\n")
    if "--record" in sys.argv[1:]:
        record({bank: fallen_short(outcomes) for bank, outcomes in known.items()})
    changes = [change for bank in BANKS for change in unseen(bank)]
    if "--record" in sys.argv[1:]:
        KNOWN.write_text("".join(f"{change}\n" for change in changes), "utf-8")
    sys.stdout.write(f"changes of one constraint that leave the reading of a question as it was: {len(changes)}\n\n")
    dice = random.Random("composed")  # noqa: S311 - the same questions in every run
    sys.stdout.write("\n".join(composed.report(composed.examine(COMPOSED, dice))) + "\n")


if __name__ == "__main__":
    main()
