"""`verdict verify` and `verdict admin receipts verify`: check a saved answer, without a service or settings.

A file is read strictly, and nothing in it can control the terminal. Exit code 4: the file cannot be checked.
"""

import json
import sys
import textwrap
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, Final, NoReturn

import click
import msgspec

from service.admin.folder import say
from service.cli.environment import Environment, VerdictCommand, VerdictGroup
from service.cli.layout import table
from service.cli.terminal import safe
from service.client.errors import DONE, FAILED, MISUSED, REFUSED, RefusalError
from service.ethereum.addresses import read_address
from service.formats import count, sentence
from service.payments.receipts import signer_of
from service.validation_errors import explain_invalid
from service.verdict.replay import NOT_JUDGED, Difference, ReplayError, replay
from service.wire.payment import Receipt, SignedReceipt
from service.wire.strict import StrictError, check_depth
from service.wire.verdict import CoinVerdict

_LARGEST: Final = 2**20
_EXACT: Final = 2**53
_BEFORE_JSON: Final = b"\xef\xbb\xbf\xfe\xff\x00 \t\r\n"
"""Byte order marks, white space, and the zeros of UTF-16."""

_SAVE: Final = {
    "verdict": (
        "Save the answer of `verdict signal SYMBOL --detail full --json`, or of /api/cli/signal/{symbol}?detail=full."
    ),
    "receipt": "Save the answer of `verdict billing show ID --json`, or of /api/receipts/{id}.",
}
_LEAD: Final = 8
_SHOWN: Final = 20
_WIDTH: Final = 80
_NAMES: Final = max(map(len, Receipt.__struct_encode_fields__)) + 1
"""Leaves space for a hash with its 0x: 80 columns hold all of it."""


@click.command("verify", cls=VerdictCommand, example="verdict verify sol.json")
@click.argument("file", type=click.Path(allow_dash=True), help="An answer of /api/cli/signal; - is standard input.")
@click.pass_obj
def verify(environment: Environment, file: str) -> int:
    """Recompute a saved verdict, without a service; exit code 1 where it differs."""
    saved = read_json(file, "verdict")
    if isinstance(saved, dict) and "schemaVersion" in saved:
        saved = saved.get("data")
    if not isinstance(saved, dict):
        raise RefusalError("This is not a verdict. Save the whole answer of /api/cli/signal/{symbol}.", REFUSED)
    try:
        found = replay(saved)
    except ReplayError as error:
        raise RefusalError(safe(str(error)), REFUSED) from error
    _print_verdict(environment, found.verdict)
    if not NOT_JUDGED.isdisjoint(saved):
        say("Not recomputed: its claims and its record, which are not part of the verdict.")
    if not found.differences:
        return say("", "Unchanged: every field of the verdict and its verdict_id match.")
    say("", f"CHANGED: the recomputed verdict differs in {count(len(found.differences), 'field')}.")
    rows = [[difference.field, *_apart(difference)] for difference in found.differences[:_SHOWN]]
    say(*table(environment.screen, ["FIELD", "SAVED", "RECOMPUTED"], rows))
    if len(found.differences) > _SHOWN:
        say(f"… and {len(found.differences) - _SHOWN} more")
    return FAILED


def _print_verdict(environment: Environment, verdict: CoinVerdict) -> None:
    given = [verdict.symbol, verdict.verdict, f"{verdict.score:+z.2f}", verdict.confidence, verdict.as_of]
    rules = [[rule.id, rule.value, f"{rule.contribution:+z.2f}", rule.flips_at] for rule in verdict.rules]
    say(
        *table(environment.screen, ["COIN", "VERDICT", "SCORE", "CONFIDENCE", "AS OF"], [given]),
        "",
        *table(environment.screen, ["RULE", "VALUE", "POINTS", "FLIPS AT"], rules),
        "",
        "Recomputed from the inputs in the file (symbol, as_of, sources, raw):",
        f"  {len(rules)} rules and their sum, {len(verdict.evidence)} sentences, confidence and what it rests on",
        f"  rule set    {verdict.ruleset.name} version {verdict.ruleset.version}",
        f"  its digest  {verdict.ruleset.digest}",
        f"  verdict_id  {verdict.verdict_id}",
    )


def _apart(difference: Difference) -> tuple[str, str]:
    """Both values without most of their common beginning, so that the difference fits a column."""
    saved, recomputed = difference.saved, difference.recomputed
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(saved, recomputed, strict=False))
    cut = sum(1 for _ in alike) - _LEAD
    return (saved, recomputed) if cut <= 1 else (f"…{saved[cut:]}", f"…{recomputed[cut:]}")


@click.group("receipts", cls=VerdictGroup)
def receipts() -> None:
    """Verify saved receipts. `verdict admin payments export` prints all receipts."""


@receipts.command("verify", example="verdict admin receipts verify receipt.json")
@click.argument("file", type=click.Path(allow_dash=True), help="An answer of /api/receipts/{id}; - is standard input.")
@click.option("--signer", metavar="0x…", help="Who must have signed: `receiptSigner` of the service's manifest.")
def verify_receipt(file: str, signer: str | None) -> int:
    """Say who signed a saved receipt, without a service; exit code 1 if another."""
    try:
        wanted = None if signer is None else read_address(signer)
    except ValueError as error:
        raise RefusalError(f"--signer: {error}", MISUSED) from error
    document: Any = read_json(file, "receipt")
    try:
        saved = msgspec.convert(document, SignedReceipt)
    except msgspec.ValidationError as error:
        reason = explain_invalid(error, SignedReceipt).sentence("it")
        remedy = "Save the whole answer of /api/receipts/{id}."
        raise RefusalError(safe(f"This is not a signed receipt: {reason}. {remedy}"), REFUSED) from error
    print_fields(saved.receipt)
    # The signature covers the receipt as it stands in the file, unknown fields included.
    said, code = _judge(document["receipt"], saved, wanted)
    say("", *textwrap.wrap(said, _WIDTH, break_long_words=False, break_on_hyphens=False))
    return code


def _judge(receipt: object, saved: SignedReceipt, wanted: str | None) -> tuple[str, int]:
    """A sentence on the signature of a receipt, and the exit code."""
    try:
        signer = signer_of(receipt, saved.signature)
    except ValueError as error:
        return f"INVALID SIGNATURE: {safe(sentence(str(error)))}", FAILED
    if signer.lower() != saved.signer.lower():
        return f"INVALID SIGNATURE: {safe(saved.signer)} did not sign this receipt as it stands here.", FAILED
    if wanted is None:
        manifest = (
            "To check that this is the service, compare `receiptSigner` in its manifest, or pass it with --signer."
        )
        return f"Valid: signed by {signer}. {manifest}", DONE
    if signer != wanted:
        return f"WRONG SIGNER: signed by {signer}, not by {wanted}.", FAILED
    return f"Valid: signed by {signer}, as required.", DONE


def print_fields(document: object) -> None:
    """Print one field per line. A value that is too long continues on the next lines, so that it can be copied."""
    for name, value in msgspec.to_builtins(document).items():
        shown = safe("-" if value is None else value)
        lines = textwrap.wrap(shown, _WIDTH - _NAMES, break_on_hyphens=False) or [""]
        heads = [name.ljust(_NAMES)] + [" " * _NAMES] * len(lines)
        say(*(f"{head}{line}".rstrip() for head, line in zip(heads, lines, strict=False)))


def read_json(name: str, what: str) -> object:
    """Read a file of JSON.

    Args:
        name: Its path; `-` is standard input.
        what: What should be in it, a `verdict` or a `receipt`, for error messages.

    Raises:
        RefusalError: With exit code 4 if it cannot be read, is over 1 MiB, is not JSON, repeats a member, or is the
            answer of a call that failed.
    """
    try:
        with sys.stdin.buffer if name == "-" else Path(name).open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise RefusalError(f"Cannot read {safe(name)}: {error.strerror}.", REFUSED) from error
    if len(content) > _LARGEST:
        raise RefusalError(f"{safe(name)} is over 1 MiB. No answer of the service is that large.", REFUSED)
    try:
        check_depth(content)
        document = json.loads(
            content, object_pairs_hook=_members, parse_constant=_refuse, parse_float=_number, parse_int=_number
        )
    except ValueError as error:
        if content.lstrip(_BEFORE_JSON)[:1] not in {b"{", b"["}:
            raise RefusalError(f"This is not JSON. {_SAVE[what]}", REFUSED) from error
        reason = f"It {error}." if isinstance(error, StrictError) else sentence(str(error))
        raise RefusalError(f"This is not JSON: {safe(reason)}", REFUSED) from error
    if isinstance(document, dict) and isinstance(failure := document.get("error"), dict):
        raise RefusalError(safe(f"This answer is a failure ({failure.get('code')}), not a {what}."), REFUSED)
    return document


def _members(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        # Readers differ in which of two members of one name they take.
        raise ValueError("a member is repeated")
    return members


def _number(text: str) -> float:
    """A JSON number is a double: 720, 720.0 and 7.2e2 are the same."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")
