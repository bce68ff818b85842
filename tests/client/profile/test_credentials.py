import json
import os
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.client import credentials
from service.client.credentials import StoredCredential, find, forget, keep
from service.client.errors import RefusalError
from service.client.files import state_dir

HERE = "http://127.0.0.1:8402"
ADA = StoredCredential("ey.to.ken", "session", "0x" + "ab" * 20, "2026-12-21T00:00:00.000Z")
KEY = StoredCredential("verdict_sk_x", "api_key", None, None)


class Keyring:
    """A keyring that keeps what it is given, as long as nothing is wrong with it."""

    priority: float = 5

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.wrong: Exception | None = None

    def _work(self) -> None:
        if self.wrong:
            raise self.wrong

    def set_password(self, service: str, name: str, token: str) -> None:
        self._work()
        self.kept[service, name] = token

    def get_password(self, service: str, name: str) -> str | None:
        self._work()
        return self.kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        self._work()
        del self.kept[service, name]


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def keyring(monkeypatch: pytest.MonkeyPatch) -> Keyring:
    made = Keyring()
    monkeypatch.setitem(sys.modules, "keyring", SimpleNamespace(get_keyring=lambda: made))
    return made


def file(home: dict[str, str]) -> Path:
    return state_dir(home) / "credentials.json"


def test_a_credential_is_kept_in_a_file_of_its_owner_and_found_again(home: dict[str, str]) -> None:
    assert keep(home, HERE, ADA) == str(file(home))
    assert find(home, HERE) == ADA
    assert stat.S_IMODE(file(home).stat().st_mode) == 0o600


def test_a_credential_belongs_to_its_address_however_that_is_written(home: dict[str, str]) -> None:
    keep(home, "https://Verdict.Example:443/", ADA)
    assert find(home, "https://verdict.example") == ADA
    for other in (HERE, "http://verdict.example", "https://verdict.example:8402", "https://verdict.example.evil.test"):
        assert find(home, other) is None


def test_the_next_one_takes_the_place_of_the_one_before_and_others_stay(home: dict[str, str]) -> None:
    keep(home, HERE, ADA)
    keep(home, "https://other.example", KEY)
    keep(home, HERE, KEY)
    assert find(home, HERE) == find(home, "https://other.example") == KEY


def test_what_is_forgotten_is_gone_and_may_be_forgotten_again(home: dict[str, str]) -> None:
    forget(home, HERE)
    assert not file(home).exists()
    keep(home, HERE, ADA)
    forget(home, HERE)
    assert find(home, HERE) is None
    assert ADA.token not in file(home).read_text()


def test_where_a_keyring_works_the_token_is_in_it_and_nowhere_else(home: dict[str, str], keyring: Keyring) -> None:
    assert keep(home, HERE, ADA) == "the keyring"
    assert keyring.kept == {("verdict", HERE): ADA.token}
    assert ADA.token not in file(home).read_text()
    assert find(home, HERE) == ADA
    forget(home, HERE)
    assert keyring.kept == {}
    assert find(home, HERE) is None


def test_who_keeps_tokens_in_the_file_never_waits_for_a_keyring(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(home, HERE, ADA)
    monkeypatch.setattr(credentials, "_keyring", None)  # calling it fails
    assert find(home, HERE) == ADA
    assert find(home, "http://localhost") is None
    forget(home, HERE)


@pytest.mark.parametrize("wrong", [RuntimeError("locked"), OSError("no bus"), KeyError("odd")])
def test_a_keyring_that_does_not_work_gives_way_to_the_file(
    home: dict[str, str], keyring: Keyring, wrong: Exception
) -> None:
    keyring.wrong = wrong
    assert keep(home, HERE, ADA) == str(file(home))
    assert find(home, HERE) == ADA


def test_a_keyring_that_keeps_nothing_without_a_word_gives_way_to_the_file(
    home: dict[str, str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyring, "set_password", lambda *_: None)
    assert keep(home, HERE, ADA) == str(file(home))


def test_a_keyring_that_is_no_better_than_a_file_is_not_used(home: dict[str, str], keyring: Keyring) -> None:
    keyring.priority = 0.5
    assert keep(home, HERE, ADA) == str(file(home))
    assert keyring.kept == {}


def test_a_token_that_the_keyring_lost_is_none(home: dict[str, str], keyring: Keyring) -> None:
    keep(home, HERE, ADA)
    keyring.kept.clear()
    assert find(home, HERE) is None
    forget(home, HERE)
    assert json.loads(file(home).read_text()) == {}


def test_a_token_in_a_keyring_that_is_locked_or_gone_is_none(
    home: dict[str, str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(home, HERE, ADA)
    keyring.wrong = RuntimeError("locked")
    assert find(home, HERE) is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert find(home, HERE) is None
    forget(home, HERE)
    assert json.loads(file(home).read_text()) == {}


def test_a_credential_that_comes_after_the_keyring_has_gone_is_found_in_the_file(
    home: dict[str, str], keyring: Keyring
) -> None:
    keep(home, HERE, ADA)
    keyring.priority = 0
    keep(home, HERE, KEY)
    assert find(home, HERE) == KEY


def test_the_real_keyring_is_asked_and_says_that_it_is_switched_off(home: dict[str, str]) -> None:
    assert os.environ["PYTHON_KEYRING_BACKEND"] == "keyring.backends.null.Keyring"
    assert keep(home, HERE, ADA) == str(file(home))


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", '{"a": 1}', '{"a": {"kind": "session"}}',
        '{"a": {"kind": "king", "wallet": null, "expires_at": null}}',
        '{"a": {"kind": "session", "wallet": 1, "expires_at": null, "token": "s3cret"}}',
        '{"a": {"kind": "session", "wallet": null, "expires_at": null, "token": 5}}', '{"token": "s3cret', "[" * 99_999,
    ],
)  # fmt: skip
def test_a_file_that_is_not_understood_is_refused_and_nothing_of_it_is_told(home: dict[str, str], text: str) -> None:
    file(home).parent.mkdir(parents=True)
    file(home).write_text(text)
    for work in (find, forget):
        with pytest.raises(RefusalError, match="cannot be understood; delete it, and sign in again") as caught:
            work(home, HERE)
        assert "s3cret" not in str(caught.value)
    with pytest.raises(RefusalError):
        keep(home, HERE, ADA)
    assert file(home).read_text() == text


def test_a_file_that_cannot_be_read_or_written_says_why(home: dict[str, str]) -> None:
    file(home).mkdir(parents=True)
    with pytest.raises(RefusalError, match=r"cannot be read \(Is a directory\)"):
        find(home, HERE)
    file(home).rmdir()
    file(home).parent.rmdir()
    file(home).parent.write_bytes(b"")
    with pytest.raises(RefusalError, match=r"cannot be written \(File exists\)"):
        keep(home, HERE, ADA)


@pytest.mark.parametrize("work", [find, forget])
def test_what_is_no_address_has_no_credential(home: dict[str, str], work: object) -> None:
    with pytest.raises(RefusalError, match="not a valid service URL"):
        work(home, "verdict")  # type: ignore[operator]


def test_a_credential_does_not_show_its_token() -> None:
    assert ADA.token not in f"{ADA!r} {ADA} {[ADA]}"
    assert credentials.FILE == "credentials.json"
