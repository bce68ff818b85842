"""The identity of a verdict: one digest of what went in, by what it was judged, and what came out."""

from collections.abc import Mapping

from service.verdict.ruleset import TABLES
from service.wire.canonical import digest
from service.wire.verdict import VerdictInputs


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
    return digest({"inputs": inputs, "ruleset": TABLES, "output": output})
