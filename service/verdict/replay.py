"""Recompute a saved verdict from its own inputs, and say where the saved one differs. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from service.verdict.decide import decide
from service.verdict.ruleset import claimed, find, versions
from service.wire.verdict import Ruleset, Verdict, VerdictInputs

_RECORD_OF_VERSION_1: Final = "track_record"
NOT_JUDGED: Final = frozenset({"claims", "record", _RECORD_OF_VERSION_1})
"""Fields of an answer that are no part of the verdict. What version 1 claimed of the score is checked all the same."""

_CLAIM: Final = "probability_up"
_NOTHING: Final = object()


class ReplayError(Exception):
    """What was saved cannot be recomputed; the message says why."""


class Difference(NamedTuple):
    """A field (`rules[2].contribution`) whose saved value is not the recomputed one, both as JSON writes them."""

    field: str
    saved: str
    recomputed: str


class Replay(NamedTuple):
    """The verdict as recomputed, and every difference of the saved one from it; none means that they are the same."""

    verdict: Verdict
    differences: list[Difference]


def replay(saved: Mapping[str, object]) -> Replay:
    """Recompute a verdict by its own rule set and compare every field of it, its identity included.

    Args:
        saved: A verdict as JSON says it, with or without its claims and its record.

    Returns:
        What its inputs give, and where it differs from that.

    Raises:
        ReplayError: If it is no verdict, or one of a rule set that this program does not have.
    """
    try:
        ruleset = msgspec.convert(saved.get("ruleset"), Ruleset)
    except msgspec.ValidationError as error:
        raise ReplayError(f"this is not a verdict: no rule set is named ({error})") from error
    rules = find(ruleset.name, ruleset.version)
    if rules is None:
        raise ReplayError(
            f"this verdict was given by {ruleset.name} version {ruleset.version}; this program has {versions()}: use a "
            "release that has the other"
        )
    try:
        inputs = msgspec.convert({name: saved.get(name) for name in VerdictInputs.__struct_fields__}, VerdictInputs)
        verdict = decide(inputs, rules)
    except ValueError as error:
        raise ReplayError(f"this verdict's inputs cannot be read: {error}") from error
    expected = msgspec.to_builtins(verdict)
    compared = {name: value for name, value in saved.items() if name not in NOT_JUDGED}
    return Replay(verdict, [*_compare("", compared, expected), *_claim(saved, verdict)])


def _claim(saved: Mapping[str, object], verdict: Verdict) -> Iterator[Difference]:
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
    """Whether JSON means the same by both: 1 and 1.0 are one number there, and true is none."""
    if isinstance(saved, bool) or isinstance(expected, bool):
        return saved is expected
    return saved == expected


def _shown(value: object) -> str:
    if value is _NOTHING:
        return "not there"
    if isinstance(value, Mapping):
        return "{…}"
    return "[…]" if isinstance(value, list) else json.dumps(value, ensure_ascii=False)
