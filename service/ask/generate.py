"""From findings to prose: each intent has its writer, and what it wrote is read once more before it leaves."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from service.ask.draft import Draft
from service.ask.evidence import Evidence
from service.ask.grounding import check
from service.ask.writing import (
    account,
    alerts,
    breadth,
    carry,
    category,
    category_sentiment,
    closing,
    comparison,
    convert,
    correlation,
    crossings,
    definition,
    funding,
    history,
    overview,
    price,
    pricing,
    ranking,
    refusals,
    regime,
    rwa,
    rwa_list,
    sentiment,
    smalltalk,
    track_record,
    transcripts,
    trend,
    verdict,
    walkforward,
    wallets,
)
from service.ask.writing import help as help_
from service.ask.writing.assignment import Assignment
from service.ask.writing.styles import style_of
from service.wire.ask import Archetype, Classification, Intent, Plan, Step

Writer = Callable[[Assignment, Draft], None]

WRITERS: Final[Mapping[Intent, Writer]] = {
    "price": price.write,
    "overview": overview.write,
    "verdict": verdict.write,
    "trend": trend.write,
    "funding": funding.write,
    "carry": carry.write,
    "sentiment": sentiment.write,
    "correlation": correlation.write,
    "comparison": comparison.write,
    "ranking": ranking.write,
    "regime": regime.write,
    "breadth": breadth.write,
    "crossings": crossings.write,
    "alerts": alerts.write,
    "category": category.write,
    "category-sentiment": category_sentiment.write,
    "rwa": rwa.write,
    "rwa-list": rwa_list.write,
    "history": history.write,
    "walkforward": walkforward.write,
    "track-record": track_record.write,
    "wallets": wallets.write,
    "transcripts": transcripts.write,
    "convert": convert.write,
    "definition": definition.write,
    "account": account.write,
    "pricing": pricing.write,
    "help": help_.write,
    "smalltalk": smalltalk.write,
    "forecast": refusals.write,
    "out-of-scope": refusals.write,
}
"""Who writes what."""

_TELLS_ASSETS: Final = frozenset({"rwa", "comparison"})
"""Intents whose writers tell of real-world assets; those of coins do not, though a question may name both."""

LEFT_OUT: Final = "A part of this answer is left out: it did not stand up to its own check."
NOTHING: Final = "Nothing was found that can be told."

_log = logging.getLogger("verdict.ask")


def generate(
    classification: Classification, plan: Plan, steps: Sequence[Step], archetype: Archetype
) -> tuple[str, ...]:
    """Write an answer.

    Args:
        classification: What the question was taken for.
        plan: What was looked up.
        steps: What that found, in the order of the plan.
        archetype: For whom it is written.

    Returns:
        Paragraphs of Markdown, at least one, without surrounding newlines; the last one names the sources, where there
        are some. Every figure is one of the steps'. The same arguments give the same bytes.
    """
    evidence = Evidence(steps, classification.entities)
    paragraphs = compose(Assignment(classification, plan, evidence, style_of(archetype)))
    refused = check("\n\n".join(paragraphs), evidence)
    if not refused:
        return paragraphs
    # A figure of ours that cannot be found again is a defect: it is told to the operator, and nobody gets the figure.
    _log.error("a part of an answer was withheld", extra={"refused": [f"{each.text}: {each.why}" for each in refused]})
    return (*(paragraph for paragraph in paragraphs if not check(paragraph, evidence)), LEFT_OUT)


def compose(assignment: Assignment) -> tuple[str, ...]:
    """Write an answer without reading it again."""
    draft = _draft(assignment)
    refused = assignment.classification.refusal is not None
    writer = refusals.write if refused else WRITERS[assignment.classification.intent]
    writer(assignment, draft)
    if not refused and assignment.classification.intent not in _TELLS_ASSETS:
        rwa.write(assignment, draft)
    told = draft.paragraphs
    if refused:
        return told or (NOTHING,)
    after = _draft(assignment)
    closing.caveats(assignment, after)
    aside = after.paragraphs
    ends = _draft(assignment)
    closing.sources(assignment, ends)
    if not told and not aside:
        told = (NOTHING,)
    if assignment.style.cautious:
        return (*told[:1], *aside, *told[1:], *ends.paragraphs)
    return (*told, *aside, *ends.paragraphs)


def _draft(assignment: Assignment) -> Draft:
    return Draft(explains=assignment.style.explains)
