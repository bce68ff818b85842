import pytest

from service.client import credentials
from service.client.credentials import StoredCredential
from service.client.errors import UNAVAILABLE, UNREACHABLE, RefusalError
from tests.client.signin.gate import Gate
from tests.client.signin.keys import ADDRESS
from tests.client.signin.person import Person


@pytest.fixture
def session(gate: Gate, person: Person) -> str:
    """A session that is kept."""
    token, ends = gate.open_session(ADDRESS)
    credentials.keep(person.environment, gate.url, StoredCredential(token, "session", ADDRESS, ends))
    return token


def test_the_session_is_ended_at_the_service_and_forgotten_here(
    gate: Gate, person: Person, session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert person.logout() == 0
    assert gate.tokens == {}
    assert person.credential is None
    assert capsys.readouterr().out == f"Signed out of {gate.url}.\n"


def test_one_that_has_ended_already_is_forgotten_all_the_same(gate: Gate, person: Person, session: str) -> None:
    gate.tokens.clear()
    assert person.logout() == 0
    assert person.credential is None


@pytest.mark.parametrize("status", [429, 500])
def test_a_service_that_does_not_end_it_is_told_and_it_is_forgotten_here(
    gate: Gate, person: Person, session: str, status: int
) -> None:
    gate.answers["/api/auth/logout"] = (status, {"error": {"code": "X", "message": "Not now."}})
    with pytest.raises(RefusalError, match=r"still takes it until 20.*: Not now\.") as refused:
        person.logout()
    assert refused.value.code == UNAVAILABLE
    assert person.credential is None


def test_a_service_that_is_not_there_is_told_and_it_is_forgotten_here(person: Person) -> None:
    person.environment["VERDICT_URL"] = "http://127.0.0.1:1"
    credentials.keep(person.environment, person.url, StoredCredential("token", "session", ADDRESS, None))
    with pytest.raises(RefusalError, match="until it ends by itself") as refused:
        person.logout()
    assert refused.value.code == UNREACHABLE
    assert person.credential is None


def test_a_key_is_forgotten_and_not_ended(gate: Gate, person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    credentials.keep(person.environment, gate.url, StoredCredential("key", "api_key", None, None))
    assert person.logout() == 0
    assert gate.asked == []
    assert person.credential is None
    assert "It still works" in capsys.readouterr().out


def test_nobody_logs_out_well(gate: Gate, person: Person, capsys: pytest.CaptureFixture[str]) -> None:
    assert person.logout() == 0
    assert capsys.readouterr().out == f"Nobody was signed in to {gate.url}.\n"


def test_a_token_of_the_environment_is_said_to_be_used_still(
    person: Person, session: str, capsys: pytest.CaptureFixture[str]
) -> None:
    person.environment["VERDICT_TOKEN"] = "other"
    assert person.logout() == 0
    assert "VERDICT_TOKEN is still set" in capsys.readouterr().err
