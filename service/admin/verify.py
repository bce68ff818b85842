"""`verdict verify FILE`: recompute a saved verdict from its own inputs; no service, no data folder, no settings."""

import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

from service.admin.output import print_table
from service.admin.saved import plain, read_json
from service.client.errors import DONE, FAILED, REFUSED, RefusalError
from service.verdict.replay import NOT_JUDGED, Difference, ReplayError, VerdictReplay, replay
from service.wire.verdict import Verdict

_LEAD: Final = 8
_SHOWN: Final = 20


def verify(arguments: Namespace, environment: Mapping[str, str]) -> int:  # noqa: ARG001 - needs no settings
    """Recompute a verdict and compare: exit code 0 where every field is the same, 1 where one differs.

    Raises:
        RefusalError: With exit code 4 where there is nothing to compare: no file, no JSON, no verdict, other rules.
    """
    saved = _verdict_in(read_json(arguments.file))
    try:
        found = replay(saved)
    except ReplayError as error:
        raise RefusalError(plain(str(error)), REFUSED) from error
    _report(found, judged_past=not NOT_JUDGED.isdisjoint(saved))
    return FAILED if found.differences else DONE


def _verdict_in(document: object) -> Mapping[str, object]:
    """The verdict in a saved answer: bare, or within its envelope."""
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict):
        raise RefusalError(plain(f"this answer is a failure ({error.get('code')}), not a verdict"), REFUSED)
    if isinstance(document, dict) and "schemaVersion" in document:
        document = document.get("data")
    if not isinstance(document, dict):
        raise RefusalError("this is not a verdict: save the whole answer of /api/cli/signal/{symbol}", REFUSED)
    return document


def _report(found: VerdictReplay, *, judged_past: bool) -> None:
    _write_verdict(found.verdict)
    if judged_past:
        _write("Not recomputed: its claims and its record, which are no part of the verdict.")
    _write("")
    if found.differences:
        _write_differences(found.differences)
    else:
        _write("The same: every field of the verdict, and its identity.")


def _write_verdict(verdict: Verdict) -> None:
    given = [verdict.symbol, verdict.verdict, f"{verdict.score:+z.2f}", verdict.confidence, verdict.as_of]
    print_table(["COIN", "VERDICT", "SCORE", "CONFIDENCE", "AS OF"], [given], nothing="")
    _write("")
    rules = [[rule.id, rule.value, f"{rule.contribution:+z.2f}", rule.flips_at] for rule in verdict.rules]
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


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
