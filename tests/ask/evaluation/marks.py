"""Whether one answer is right, in each of the ways that are scored."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.ask.evaluation.labelled import Call, Fact, Labelled
from tests.ask.evaluation.numerals import Count, count_unbound, numerals, plain
from tests.ask.evaluation.payloads import Payloads, at
from tests.ask.evaluation.told import Told

CUT = "part of this answer is left out"
"""What an answer says of which a part was not fit to be told."""

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_DECIMAL = re.compile(r"\d+(?:\.\d+)?")
_NONE = re.compile(r"\b(no|not|none|nothing|never)\b", re.IGNORECASE)


class Overlap(NamedTuple):
    """Things named: rightly found, found in all, and to be found."""

    right: int
    found: int
    wanted: int


class Marks(NamedTuple):
    """How one question was answered. What is not scored of it is null.

    Attributes:
        question: Which.
        said: What it was taken for.
        intent: Whether that is right.
        overlap: Of what it names.
        tools: Whether what must be called is planned, and nothing where nothing may be.
        missing: Facts that the text does not say; null where none are demanded.
        unbound: Numerals with nothing behind them.
        refused: Whether an unanswerable question was refused, at no cost, in a sentence without figures.
        reason: Whether it was refused for its reason.
        wrongly_refused: Whether an answerable one was refused.
        cut: Whether a part of the text is left out because it did not pass the service's own check.
    """

    question: Labelled
    said: str
    intent: bool | None
    overlap: Overlap | None
    tools: bool
    missing: list[str] | None
    unbound: Count
    refused: bool | None
    reason: bool | None
    wrongly_refused: bool
    cut: bool


def mark(question: Labelled, told: Told, payloads: Payloads, names: Sequence[str]) -> Marks:
    """Score an answer."""
    took, refusal = told.classification, told.classification.get("refusal")
    results = [[step["result"], step["args"], step["as_of"]] for step in told.steps]
    unbound = count_unbound(told.text, [*results, told.done], [*names, *_own_words(question, told.text)])
    missing = [fact.at for fact in question.facts if not _is_told(fact, told, payloads)] if question.facts else None
    refused = refusal is not None and not told.plan and bool(told.text.strip()) and not unbound.unbound
    return Marks(
        question,
        f"{took['intent']}/{refusal}" if refusal else took["intent"],
        None if question.intent is None else took["intent"] == question.intent,
        None if question.refusal == "language" else overlap(question, took.get("entities", {})),
        are_planned(question.tools, told.plan),
        missing,
        unbound,
        refused if question.refusal else None,
        (refused and refusal == question.refusal) if question.refusal else None,
        wrongly_refused=question.refusal is None and refusal is not None,
        cut=CUT in told.text,
    )


def overlap(question: Labelled, entities: Mapping[str, Any]) -> Overlap:
    """Compare what was found with what is named."""
    may = {("coins", name) for name in question.may}
    wanted = {(kind, _bare(name)) for kind in _KINDS for name in getattr(question, kind)} - may
    found = {(kind, _bare(name)) for kind in _KINDS for name in entities.get(kind, ())} - may
    return Overlap(len(wanted & found), len(found), len(wanted))


_KINDS = ("coins", "assets", "categories", "unknown")


def _bare(name: str) -> str:
    return name.removeprefix("$").upper()


def are_planned(wanted: Sequence[Call], plan: Sequence[Mapping[str, Any]]) -> bool:
    """Whether every call is planned, and none where none is wanted."""
    if not wanted:
        return not plan
    return all(any(is_call(call.tool, call.args, step) for step in plan) for call in wanted)


def is_call(tool: str, args: Mapping[str, Any], step: Mapping[str, Any]) -> bool:
    """Whether a planned step is a call with these arguments, whatever its others are."""
    given = step["args"]
    if tool != step["tool"]:
        return False
    if "unit" in args and "count" in args:
        same_span = _hours(args) == _hours(given)
        return same_span and _same(args["symbol"], given["symbol"])
    return all(name in given and _same(value, given[name]) for name, value in args.items())


def _hours(args: Mapping[str, Any]) -> float:
    return float(args["count"] * (24 if args["unit"] == "d" else 1))


def _same(wanted: Any, given: Any) -> bool:
    if isinstance(wanted, list):
        return isinstance(given, list) and sorted(wanted) == sorted(given)
    if isinstance(wanted, str):
        return str(wanted).removeprefix("xyz:").casefold() == str(given).removeprefix("xyz:").casefold()
    return bool(wanted == given)


def _own_words(question: Labelled, text: str) -> list[str]:
    """What the text quotes as code, where somebody has written it."""
    written = " ".join(said for _, said in question.turns).casefold()
    return [quoted for quoted in re.findall(r"`([^`]+)`", text) if quoted.casefold() in written]


def _is_told(fact: Fact, told: Told, payloads: Payloads) -> bool:
    """Whether the text says a fact, of the very call that was planned where that is more exact."""
    planned = next((step["args"] for step in told.plan if is_call(fact.tool, fact.args, step)), fact.args)
    payload = payloads.of(fact.tool, planned)
    values = at(payload, fact.at) or at(payloads.of(fact.tool, fact.args), fact.at)
    if values:
        return any(says(told.text, fact.at, value) for value in values)
    through = fact.at.partition("/*")[0]
    return bool(_NONE.search(told.text)) if "*" in fact.at and at(payload, through) else True


def says(text: str, pointer: str, value: Any) -> bool:
    """Whether a text says the value of a field."""
    if isinstance(value, str) and _DECIMAL.fullmatch(value):
        return re.search(rf"(?<![\d.]){re.escape(value)}(?![\d]|\.\d)", text.replace(",", "")) is not None
    if isinstance(value, int | float) and not isinstance(value, bool):
        key = pointer.rpartition("/")[2]
        return any(each.shows(key, float(value)) for each in numerals(plain(text)))
    if _INSTANT.fullmatch(value):
        return value[:10] in text
    shouted = value.isupper() and len(value) <= 20
    said, wanted = (plain(text), plain(value)) if shouted else (plain(text).casefold(), plain(value).casefold())
    return re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", said) is not None
