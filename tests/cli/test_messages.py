"""Messages of the client and the command line are whole sentences."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import service.cli
import service.client

ERRORS = {
    "RefusalError", "UnpaidError", "OpenPaymentError", "UnreachableError", "UnreadableAnswerError", "VerdictError",
    "UsageError", "StreamEndedError", "_CutError", "ValueError", "BadParameter",
}  # fmt: skip
NOTICES = {"tell", "_tell", "fail"}
PREFIX = re.compile(r"verdict: |-{2}\w+: |\w+: (?=[A-Z])")
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


def messages(source: str) -> Iterator[str]:
    """The first arguments of errors and notices that are literals."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            text = literal(node.args[0]) if name in ERRORS | NOTICES else None
            if text is not None:
                yield text


def is_sentence(text: str) -> bool:
    """Whether a text, after a prefix, begins with a capital letter or what is quoted, and ends with an end mark."""
    rest = PREFIX.sub("", text, count=1)
    return bool(BEGINS.match(rest) and ENDS.search(rest)) or text in NOT_SENTENCES


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("There is no wallet. Name a keystore with --keystore FILE.", True),
        ("--keystore takes a path.", True),
        ("verdict: The service answered {}.", True),
        ("{} is not valid. {}", True),
        ("Is it https:// instead?", True),
        ("nothing was paid.", False),
        ("Nothing was paid", False),
        ("verdict: shown plainly", False),
        ("the keystore {} cannot be read ({})", False),
    ],
)
def test_a_sentence_begins_with_a_capital_letter_and_ends_with_an_end_mark(text: str, is_one: bool) -> None:
    assert is_sentence(text) is is_one


def test_every_message_is_a_sentence() -> None:
    folders = [Path(package.__path__[0]) for package in (service.cli, service.client)]
    found = {
        text: path.name for folder in folders for path in folder.rglob("*.py") for text in messages(path.read_text())
    }
    assert len(found) > 80
    assert {text: name for text, name in found.items() if not is_sentence(text)} == {}
