"""The identity of a verdict: one digest of what went in, by what it was judged, and what came out."""

import hashlib
from collections.abc import Mapping
from typing import Final

from service.verdict.ruleset import TABLES
from service.wire.canonical import canonical
from service.wire.verdict import VerdictInputs

_RULES: Final = canonical(TABLES)


def identify(inputs: VerdictInputs, output: Mapping[str, object]) -> str:
    """SHA-256, in hex, over the RFC 8785 form of inputs, rule set and output.

    The whole tables go in, not only their name: two verdicts of one identity were judged by the same rules, whoever
    wrote which version into them.

    Args:
        inputs: What was known.
        output: `verdict, score, confidence, confidence_basis, evidence, rules`.

    Raises:
        ValueError: If something in it cannot be written: a number that is not finite, half of a surrogate pair.
    """
    # The tables never change while the program runs: their form is spliced in, at its place in the order of keys.
    form = b'{"inputs":%b,"output":%b,"ruleset":%b}' % (canonical(inputs), canonical(output), _RULES)
    return hashlib.sha256(form).hexdigest()
