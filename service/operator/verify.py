"""`verdict verify FILE`: recompute a saved verdict from its own inputs; no service, no data folder, no settings."""

import json
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Final, NoReturn

from service.operator.output import print_table
from service.operator.refusal import DONE, FAILED, MISUSED, RefusalError
from service.verdict.replay import NOT_JUDGED, Difference, Replay, ReplayError, replay
from service.wire.verdict import Verdict

_STDIN: Final = "-"
_LARGEST: Final = 2**20
_EXACT: Final = 2**53
_LEAD: Final = 8
_SHOWN: Final = 20


def verify(arguments: Namespace, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - needs no settings
    """Recompute a verdict and compare: exit code 0 where every field is the same, 1 where one differs.

    Raises:
        RefusalError: With exit code 2 where there is nothing to compare: no file, no JSON, no verdict, other rules.
    """
    saved = _verdict_in(_json_of(_read(arguments.file)))
    try:
        found = replay(saved)
    except ReplayError as error:
        raise RefusalError(_plain(str(error)), MISUSED) from error
    _report(found, judged_past=NOT_JUDGED in saved)
    return FAILED if found.differences else DONE


def _read(name: str) -> bytes:
    try:
        if name == _STDIN:
            content = sys.stdin.buffer.read(_LARGEST + 1)
        else:
            with Path(name).open("rb") as file:
                content = file.read(_LARGEST + 1)
    except OSError as error:
        raise RefusalError(f"cannot read {_plain(name)}: {error.strerror}", MISUSED) from error
    if len(content) > _LARGEST:
        raise RefusalError(f"{_plain(name)} is over 1 MiB: no answer is", MISUSED)
    return content


def _json_of(content: bytes) -> object:
    try:
        return json.loads(
            content, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_number, parse_int=_number
        )
    except (ValueError, RecursionError) as error:
        raise RefusalError(f"this is not JSON: {_plain(str(error))}", MISUSED) from error


def _members(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        # Of two members of one name another reader may take the other: such a file says nothing for certain.
        raise ValueError("a member is there twice")
    return members


def _number(text: str) -> float:
    """A number as JSON has it, a double, however it was written down: 720, 720.0 and 7.2e2 are one."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number")


def _verdict_in(document: object) -> Mapping[str, object]:
    """The verdict in a saved answer: bare, or within its envelope."""
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict):
        raise RefusalError(_plain(f"this answer is a failure ({error.get('code')}), not a verdict"), MISUSED)
    if isinstance(document, dict) and "schemaVersion" in document:
        document = document.get("data")
    if not isinstance(document, dict):
        raise RefusalError("this is not a verdict: save the whole answer of /api/cli/signal/{symbol}", MISUSED)
    return document


def _report(found: Replay, *, judged_past: bool) -> None:
    _write_verdict(found.verdict)
    if judged_past:
        _write(f"Not recomputed: {NOT_JUDGED}, but for what the score claims; the ledger holds it.")
    _write("")
    if found.differences:
        _write_differences(found.differences)
    else:
        _write("The same: every field of the verdict, and its identity.")


def _write_verdict(verdict: Verdict) -> None:
    given = [verdict.symbol, verdict.verdict, f"{verdict.score:+.2f}", verdict.confidence, verdict.as_of]
    print_table(["COIN", "VERDICT", "SCORE", "CONFIDENCE", "AS OF"], [given], nothing="")
    _write("")
    rules = [[rule.id, rule.value, f"{rule.contribution:+.2f}", rule.flips_at] for rule in verdict.rules]
    print_table(["RULE", "VALUE", "POINTS", "FLIPS AT"], rules, nothing="")
    _write("")
    _write("Recomputed from the inputs in the file (symbol, as_of, sources, raw):")
    _write(f"  {len(rules)} rules and their sum, {len(verdict.evidence)} sentences, confidence and what it rests on")
    _write(f"  rule set    {verdict.ruleset.name} version {verdict.ruleset.version}")
    _write(f"  its digest  {verdict.ruleset.digest}")
    _write(f"  verdict_id  {verdict.verdict_id}")


def _write_differences(differences: Sequence[Difference]) -> None:
    _write(f"NOT THE SAME in {_counted(len(differences))}:")
    rows = [[difference.field, *_apart(difference)] for difference in differences[:_SHOWN]]
    print_table(["FIELD", "SAVED", "RECOMPUTED"], rows, nothing="")
    if len(differences) > _SHOWN:
        _write(f"… and {len(differences) - _SHOWN} more")


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"


def _apart(difference: Difference) -> tuple[str, str]:
    """Both values, without most of what they begin with alike: a column is narrower than a sentence."""
    saved, recomputed = difference.saved, difference.recomputed
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(saved, recomputed, strict=False))
    cut = sum(1 for _ in alike) - _LEAD
    return (saved, recomputed) if cut <= 1 else (f"…{saved[cut:]}", f"…{recomputed[cut:]}")


def _plain(text: str) -> str:
    """What a file says, unable to steer the terminal."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
