"""The identity of a verdict: one digest of what went in, by what it was judged, and what came out."""

import hashlib
from collections.abc import Mapping

from service.wire.canonical import canonical
from service.wire.verdict import VerdictInputs


def identify(inputs: VerdictInputs, output: Mapping[str, object], rules: bytes) -> str:
    """SHA-256, in hex, over the RFC 8785 form of inputs, rule set and output.

    The whole tables go in, not only their name: two verdicts of one identity were judged by the same rules, whoever
    wrote which version into them.

    Args:
        inputs: What was known.
        output: `verdict, score, confidence, confidence_basis, evidence, rules`.
        rules: Canonical JSON of the rule set's tables.

    Raises:
        ValueError: If something in it cannot be written: a number that is not finite, half of a surrogate pair.
    """
    # The tables' form is inserted at its place in the order of keys: writing it again for each verdict takes longer.
    form = b'{"inputs":%b,"output":%b,"ruleset":%b}' % (canonical(inputs), canonical(output), rules)
    return hashlib.sha256(form).hexdigest()
