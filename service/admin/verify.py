"""`verdict verify FILE`: recompute a saved verdict from its own inputs; no service, no data folder, no settings."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Final

import click

from service.admin.folder import print_table, say
from service.admin.saved import read_json
from service.cli.environment import Environment, VerdictCommand
from service.cli.terminal import safe
from service.client.errors import DONE, FAILED, REFUSED, RefusalError
from service.verdict.replay import NOT_JUDGED, Difference, ReplayError, VerdictReplay, replay
from service.wire.verdict import CoinVerdict

_LEAD: Final = 8
_SHOWN: Final = 20


@click.command("verify", cls=VerdictCommand, example="verdict verify sol.json")
@click.argument("file", type=click.Path(allow_dash=True), help="An answer of /api/cli/signal; - is standard input.")
@click.pass_obj
def verify(environment: Environment, file: str) -> int:
    """Recompute a saved verdict, without a service; exit code 1 where it differs."""
    saved = _verdict_in(read_json(file))
    try:
        found = replay(saved)
    except ReplayError as error:
        raise RefusalError(safe(str(error)), REFUSED) from error
    _report(environment, found, judged_past=not NOT_JUDGED.isdisjoint(saved))
    return FAILED if found.differences else DONE


def _verdict_in(document: object) -> Mapping[str, object]:
    """The verdict in a saved answer: bare, or within its envelope."""
    if isinstance(document, dict) and isinstance(error := document.get("error"), dict):
        raise RefusalError(safe(f"this answer is a failure ({error.get('code')}), not a verdict"), REFUSED)
    if isinstance(document, dict) and "schemaVersion" in document:
        document = document.get("data")
    if not isinstance(document, dict):
        raise RefusalError("this is not a verdict: save the whole answer of /api/cli/signal/{symbol}", REFUSED)
    return document


def _report(environment: Environment, found: VerdictReplay, *, judged_past: bool) -> None:
    _write_verdict(environment, found.verdict)
    if judged_past:
        say("Not recomputed: its claims and its record, which are no part of the verdict.")
    say("")
    if found.differences:
        _write_differences(environment, found.differences)
    else:
        say("The same: every field of the verdict, and its identity.")


def _write_verdict(environment: Environment, verdict: CoinVerdict) -> None:
    given = [verdict.symbol, verdict.verdict, f"{verdict.score:+z.2f}", verdict.confidence, verdict.as_of]
    print_table(environment, ["COIN", "VERDICT", "SCORE", "CONFIDENCE", "AS OF"], [given], nothing="")
    say("")
    rules = [[rule.id, rule.value, f"{rule.contribution:+z.2f}", rule.flips_at] for rule in verdict.rules]
    print_table(environment, ["RULE", "VALUE", "POINTS", "FLIPS AT"], rules, nothing="")
    say("")
    say(
        "Recomputed from the inputs in the file (symbol, as_of, sources, raw):",
        f"  {len(rules)} rules and their sum, {len(verdict.evidence)} sentences, confidence and what it rests on",
        f"  rule set    {verdict.ruleset.name} version {verdict.ruleset.version}",
        f"  its digest  {verdict.ruleset.digest}",
        f"  verdict_id  {verdict.verdict_id}",
    )


def _write_differences(environment: Environment, differences: Sequence[Difference]) -> None:
    say(f"NOT THE SAME in {_counted(len(differences))}:")
    rows = [[difference.field, *_apart(difference)] for difference in differences[:_SHOWN]]
    print_table(environment, ["FIELD", "SAVED", "RECOMPUTED"], rows, nothing="")
    if len(differences) > _SHOWN:
        say(f"… and {len(differences) - _SHOWN} more")


def _counted(fields: int) -> str:
    return "1 field" if fields == 1 else f"{fields} fields"


def _apart(difference: Difference) -> tuple[str, str]:
    """Both values, their common beginning shortened, so that the difference fits a column."""
    saved, recomputed = difference.saved, difference.recomputed
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(saved, recomputed, strict=False))
    cut = sum(1 for _ in alike) - _LEAD
    return (saved, recomputed) if cut <= 1 else (f"…{saved[cut:]}", f"…{recomputed[cut:]}")
