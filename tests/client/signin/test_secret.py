import io

import pytest

from service.client import wallet as room
from service.client.errors import RefusalError
from service.client.wallet import read_secret


@pytest.fixture
def typed(terminal: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a person is asked at a terminal; answered with `typed`."""
    prompts: list[str] = []

    def ask(prompt: str, _stream: object) -> str:
        prompts.append(prompt)
        return "typed"

    monkeypatch.setattr(room, "getpass", ask)
    return prompts


def test_the_environment_goes_before_everything_else(typed: list[str]) -> None:
    assert read_secret("Password", {"PASSWORD": "told"}, "PASSWORD") == "told"
    assert typed == []


def test_a_person_is_asked_without_it_being_shown(typed: list[str]) -> None:
    assert read_secret("Password", {"PASSWORD": ""}, "PASSWORD") == "typed"
    assert typed == ["Password: "]


def test_a_program_pipes_it_in_as_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(" with blanks \r\nmore\n"))
    assert read_secret("Password", {}) == " with blanks "


def test_nothing_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    with pytest.raises(RefusalError, match="pipe it in as one line, or set PASSWORD"):
        read_secret("Password", {}, "PASSWORD")
    with pytest.raises(RefusalError, match=r"as one line$"):
        read_secret("Password", {})


def test_a_prompt_that_is_ended_is_nothing(terminal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def end(*_: object) -> str:
        raise EOFError

    monkeypatch.setattr(room, "getpass", end)
    with pytest.raises(RefusalError, match="nothing was given"):
        read_secret("Password", {})


def test_bytes_that_are_no_text_are_refused_and_not_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"pass\xffword\n"), encoding="utf-8"))
    with pytest.raises(RefusalError, match=r"^Password: what was piped in is no text$"):
        read_secret("Password", {})
