"""Recomputes a saved verdict from its own inputs and lists the differences."""

import json
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from service.validation_errors import explain_invalid
from service.verdict.decide import decide
from service.verdict.ruleset import claimed, find, versions
from service.wire.verdict import CoinVerdict, Ruleset, VerdictInputs

_RECORD_OF_VERSION_1: Final = "track_record"
NOT_JUDGED: Final = frozenset({"claims", "record", _RECORD_OF_VERSION_1})
"""Fields of an answer outside the verdict. The claim of version 1 is checked nevertheless."""

_CLAIM: Final = "probability_up"
_NOTHING: Final = object()


class ReplayError(Exception):
    """The saved verdict cannot be recomputed; the message says why."""


class Difference(NamedTuple):
    """A field (`rules[2].contribution`) whose saved and recomputed values differ; both as JSON."""

    field: str
    saved: str
    recomputed: str


class VerdictReplay(NamedTuple):
    """The recomputed verdict and the differences of the saved one from it."""

    verdict: CoinVerdict
    differences: list[Difference]


def replay(saved: Mapping[str, object]) -> VerdictReplay:
    """Recompute a verdict by its own rule set and compare every field of it, its identity included.

    Args:
        saved: A verdict decoded from JSON, with or without claims and record.

    Returns:
        The recomputed verdict and the differences.

    Raises:
        ReplayError: If it is not a verdict, or this program does not have its rule set.
    """
    try:
        ruleset = msgspec.convert(saved.get("ruleset"), Ruleset)
    except msgspec.ValidationError as error:
        raise ReplayError(
            f"This is not a verdict, because it names no rule set: {explain_invalid(error, Ruleset).sentence('it')}."
        ) from error
    rules = find(ruleset.name, ruleset.version)
    if rules is None:
        raise ReplayError(
            f"This verdict was made by {ruleset.name} version {ruleset.version}. This program has {versions()}. Use a "
            "release that has the other."
        )
    if "raw" not in saved and "omitted" in saved:
        raise ReplayError(
            "This is the brief form of a verdict, without its inputs. Save the answer with detail=full "
            "(`--detail full` on the command line)."
        )
    try:
        inputs = msgspec.convert({name: saved.get(name) for name in VerdictInputs.__struct_fields__}, VerdictInputs)
        verdict = decide(inputs, rules)
    except ValueError as error:
        invalid = isinstance(error, msgspec.ValidationError)
        reason = explain_invalid(error, VerdictInputs).sentence("it") if invalid else str(error)
        raise ReplayError(f"The inputs of this verdict cannot be read: {reason}.") from error
    expected = msgspec.to_builtins(verdict)
    compared = {name: value for name, value in saved.items() if name not in NOT_JUDGED}
    return VerdictReplay(verdict, [*_compare("", compared, expected), *_claim(saved, verdict)])


def _claim(saved: Mapping[str, object], verdict: CoinVerdict) -> Iterator[Difference]:
    record = saved.get(_RECORD_OF_VERSION_1)
    if isinstance(record, dict) and _CLAIM in record:
        yield from _compare(f"{_RECORD_OF_VERSION_1}.{_CLAIM}", record[_CLAIM], claimed(verdict))


def _compare(field: str, saved: object, expected: object) -> Iterator[Difference]:
    if isinstance(saved, Mapping) and isinstance(expected, Mapping):
        for name in [*expected, *(name for name in saved if name not in expected)]:
            path = f"{field}.{name}" if field else str(name)
            yield from _compare(path, saved.get(name, _NOTHING), expected.get(name, _NOTHING))
    elif isinstance(saved, list) and isinstance(expected, list):
        for at in range(max(len(saved), len(expected))):
            yield from _compare(f"{field}[{at}]", _item(saved, at), _item(expected, at))
    elif not _same(saved, expected):
        yield Difference(field, _shown(saved), _shown(expected))


def _item(items: list[object], at: int) -> object:
    return items[at] if at < len(items) else _NOTHING


def _same(saved: object, expected: object) -> bool:
    """Whether two JSON values are equal: 1 equals 1.0, and true is not a number."""
    if isinstance(saved, bool) or isinstance(expected, bool):
        return saved is expected
    return saved == expected


def _shown(value: object) -> str:
    if value is _NOTHING:
        return "not there"
    if isinstance(value, Mapping):
        return "{…}"
    return "[…]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
