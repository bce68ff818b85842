"""Messages that callers, operators and readers of pages read are whole sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import service

SERVICE = Path(service.__path__[0])
CLIENT_ERRORS = {
    "RefusalError", "UnpaidError", "OpenPaymentError", "UnreachableError", "UnreadableAnswerError", "VerdictError",
    "UsageError", "StreamEndedError", "_CutError", "ValueError", "BadParameter", "tell", "_tell", "fail",
}  # fmt: skip
SERVICE_ERRORS = {
    "ServiceError", "PaymentRefusedError", "UnknownTokenError", "NotByKeyError", "invalid_credential", "bad_parameter",
    "_unavailable", "SettingsError", "StorageError", "LostStoreError", "TransactionError", "SecretsError",
    "ReplayError", "FixtureError", "RecordingsError", "DatasetChangedError", "CompletionError", "NodeError", "Unknown",
}  # fmt: skip
"""`BodyError`, `RedirectRefusedError`, `FeedError` and `FailureReason` are phrases that stand in other sentences."""

PACKAGES = {
    **dict.fromkeys(("cli", "client"), CLIENT_ERRORS),
    **dict.fromkeys(
        ("access", "admin", "ask", "ethereum", "http", "lookup", "market", "mcp", "narratives", "notify", "pages",
         "payments", "routes", "rwa", "sentiment", "storage", "streams", "transcripts", "upstream", "verdict",
         "walkforward", "wallets", "wire"),
        SERVICE_ERRORS,
    ),
}  # fmt: skip
"""Package -> the errors and notices whose texts are checked."""

PREFIX = re.compile(r"verdict: |-{2}\w+: |(\w+|\{\}): (?=[A-Z{])")
BEGINS = re.compile(r"[A-Z'\"`{]|--[a-z]")
ENDS = re.compile(r"[.?}:]$")
NOT_SENTENCES = {"  {}"}
"""An indented URL."""


def literal(node: ast.expr) -> str | None:
    """A text with `{}` for each placeholder; None if it is not a literal."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(literal(part) or "{}" for part in node.values)
    return None


def messages(source: str, errors: set[str]) -> Iterator[str]:
    """The literals among the first two arguments of errors and notices; `{}` alone and codes are left out."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in errors:
            yield from (text for text in map(literal, node.args[:2]) if text and " " in text)


def is_sentence(text: str) -> bool:
    """Whether a text, after a prefix, begins with a capital letter or what is quoted, and ends with an end mark."""
    rest = PREFIX.sub("", text, count=1)
    return bool(BEGINS.match(rest) and ENDS.search(rest)) or text in NOT_SENTENCES


@pytest.mark.parametrize(
    "text",
    [
        "There is no wallet. Name a keystore with --keystore FILE.",
        "--keystore takes a path.",
        "verdict: The service answered {}.",
        "{} is not valid. {}",
        "Is it https:// instead?",
    ],
)
def test_a_sentence_begins_with_a_capital_letter_and_ends_with_an_end_mark(text: str) -> None:
    assert is_sentence(text)


@pytest.mark.parametrize(
    "text", ["nothing was paid.", "Nothing was paid", "verdict: shown plainly", "the keystore {} cannot be read ({})"]
)
def test_a_fragment_is_not_a_sentence(text: str) -> None:
    assert not is_sentence(text)


def test_every_message_is_a_sentence() -> None:
    files = [(path, errors) for name, errors in PACKAGES.items() for path in (SERVICE / name).rglob("*.py")]
    files += [(path, SERVICE_ERRORS) for path in SERVICE.glob("*.py")]
    found = {text: path.name for path, errors in files for text in messages(path.read_text(), errors)}
    assert len(found) > 250
    assert {text: name for text, name in found.items() if not is_sentence(text)} == {}
