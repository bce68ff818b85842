"""A secret that was typed where none belongs is not told again: errors end up in logs, and in front of others."""

import json

import pytest

from tests.cli.commanding import typed

KEY = "verdict_sk_AbCd1234EfGhIjKlMnOp"
SESSION = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl-_x"
PRIVATE = "c0" * 32


@pytest.mark.parametrize(
    ("secret", "told"),
    [(KEY, "verdict_sk_AbCd1234..."), (SESSION, "..."), (PRIVATE, "..."), (f"0x{PRIVATE.upper()}", "...")],
)
@pytest.mark.parametrize("line", ["login --token {}", "login {}", "{}", "spending {}", "config set {} 1"])
def test_a_secret_on_the_command_line_is_not_told_again(secret: str, told: str, line: str) -> None:
    code, _, said = typed(*line.format(secret).split())
    assert code == 1
    assert secret not in said
    assert told in (json.loads(said)["error"]["message"] if said.startswith("{") else said)
    assert "shell's history: replace it." in said


@pytest.mark.parametrize("word", ["verdict_sk_AbCd1234", "0x" + "c0" * 20, "c0" * 33, "eyJ.x"])
def test_what_is_no_secret_is_told_as_it_was_typed(word: str) -> None:
    assert f"Got unexpected extra argument ({word}). See" in typed("login", word).err
