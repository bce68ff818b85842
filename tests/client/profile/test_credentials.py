import json
import stat
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from service.client.credentials import StoredCredential, find, forget, keep
from service.client.errors import RefusalError
from service.client.files import state_dir

HERE = "http://127.0.0.1:8402"
ADA = StoredCredential("ey.to.ken", "session", "0x" + "ab" * 20, "2026-12-21T00:00:00.000Z")
KEY = StoredCredential("verdict_sk_x", "api_key", None, None)


class Keyring:
    """A keyring that keeps what it is given, unless it is locked or keeps nothing."""

    def __init__(self) -> None:
        self.priority, self.forgets = 5.0, False
        self.wrong: Exception | None = None
        self._kept: dict[tuple[str, str], str] = {}

    @property
    def kept(self) -> dict[tuple[str, str], str]:
        if self.wrong:
            raise self.wrong
        return self._kept

    def set_password(self, service: str, name: str, token: str) -> None:
        self.kept.update({} if self.forgets else {(service, name): token})

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
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


def test_a_credential_is_stored_for_its_service_in_a_file_of_its_owner(home: dict[str, str]) -> None:
    forget(home, HERE)
    assert not file(home).exists()
    assert keep(home, "https://Verdict.Example:443/", ADA) == str(file(home))  # no keyring works in tests
    assert stat.S_IMODE(file(home).stat().st_mode) == 0o600
    assert find(home, "https://verdict.example") == ADA
    for other in (HERE, "http://verdict.example", "https://verdict.example:8402", "https://verdict.example.evil.test"):
        assert find(home, other) is None
    keep(home, HERE, ADA)
    keep(home, HERE, KEY._replace(origin="make run"))
    assert find(home, HERE) == ("verdict_sk_x", "api_key", None, None, "make run")
    forget(home, HERE)
    assert (find(home, HERE), find(home, "https://verdict.example")) == (None, ADA)
    assert "verdict_sk_x" not in file(home).read_text()
    assert ADA.token not in f"{ADA!r} {ADA} {[ADA]}"


def test_a_token_in_a_working_keyring_is_nowhere_else(home: dict[str, str], keyring: Keyring) -> None:
    assert keep(home, HERE, ADA) == "the keyring"
    assert keyring.kept == {("verdict", HERE): ADA.token}
    assert ADA.token not in file(home).read_text()
    assert find(home, HERE) == ADA
    forget(home, HERE)
    assert (keyring.kept, find(home, HERE)) == ({}, None)
    assert keep(home, HERE, ADA, keyring=False) == str(file(home))
    keyring.priority = 0  # who keeps tokens in the file never waits for a keyring
    assert find(home, HERE) == ADA


@pytest.mark.parametrize(("name", "value"), [("wrong", RuntimeError("locked")), ("forgets", True), ("priority", 0.5)])
def test_a_keyring_that_does_not_work_is_replaced_by_the_file(
    home: dict[str, str], keyring: Keyring, name: str, value: object
) -> None:
    setattr(keyring, name, value)
    assert keep(home, HERE, ADA) == str(file(home))
    assert (find(home, HERE), keyring._kept) == (ADA, {})


@pytest.mark.parametrize("state", ["lost", "locked", "gone"])
def test_a_token_that_the_keyring_does_not_return_is_none(
    home: dict[str, str], keyring: Keyring, monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    keep(home, HERE, ADA)
    if state == "lost":
        keyring.kept.clear()
    elif state == "locked":
        keyring.wrong = RuntimeError("locked")
    else:
        monkeypatch.setitem(sys.modules, "keyring", None)
    assert find(home, HERE) is None
    forget(home, HERE)
    assert json.loads(file(home).read_text()) == {}


@pytest.mark.parametrize(
    "text",
    [
        "{", "[]", '{"a": 1}', '{"a": {"kind": "session"}}',
        '{"a": {"kind": "king", "wallet": null, "expires_at": null}}',
        '{"a": {"kind": [], "wallet": null, "expires_at": null, "token": "s3cret"}}',
        '{"a": {"kind": "session", "wallet": 1, "expires_at": null, "token": "s3cret"}}',
        '{"a": {"kind": "session", "wallet": null, "expires_at": null, "token": 5}}', '{"token": "s3cret', "[" * 99_999,
    ],
    ids=range(10),
)  # fmt: skip
def test_a_file_that_is_not_understood_is_refused_unchanged_and_not_quoted(home: dict[str, str], text: str) -> None:
    file(home).parent.mkdir(parents=True)
    file(home).write_text(text)
    for work in (find, forget, lambda home, url: keep(home, url, ADA)):
        with pytest.raises(RefusalError, match=r"is not valid\. Delete it, and sign in again") as caught:
            work(home, HERE)
        assert "s3cret" not in str(caught.value)
    assert file(home).read_text() == text


def test_a_file_that_cannot_be_read_or_written_says_why(home: dict[str, str]) -> None:
    file(home).mkdir(parents=True)
    with pytest.raises(RefusalError, match=r"Cannot read .*: Is a directory\.$"):
        find(home, HERE)
    file(home).rmdir()
    file(home).parent.rmdir()
    file(home).parent.write_bytes(b"")
    with pytest.raises(RefusalError, match=r"Cannot write .*: File exists\.$"):
        keep(home, HERE, ADA)
