"""Whoever is signed in at a service elsewhere, and keeps none here, is told so."""

from pathlib import Path

import pytest

from service.__main__ import run
from service.client.profile import credentials
from service.client.profile.credentials import Kind, StoredCredential
from service.client.profile.files import state_dir

HERE = "http://127.0.0.1:8402"
LINES = ["keys list", "keys revoke verdict_sk_AbCd1234"]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Of somebody who keeps no service in the platform's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    return {"HOME": str(tmp_path)}


def signed_in(home: dict[str, str], kind: Kind = "session") -> None:
    credentials.keep(home, HERE, StoredCredential("ey.x.y", kind, None, None))


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")


@pytest.mark.parametrize("line", [*LINES, "keys create --name bot"])
def test_who_is_signed_in_and_keeps_no_service_here_is_told_how_to_act_there(
    home: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    signed_in(home)
    assert run(line.split(), home) == 1
    told = capsys.readouterr().err
    assert "there is no database in" in told
    assert f"or add --mine for your own keys at {HERE}, where you are signed in" in told
    assert not (tmp_path / "share/verdict").exists()


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("kept", ["nothing", "a key", "something broken"])
def test_who_is_not_signed_in_is_told_of_the_folder_alone(
    home: dict[str, str], capsys: pytest.CaptureFixture[str], line: str, kept: str
) -> None:
    if kept == "a key":
        signed_in(home, "api_key")
    if kept == "something broken":
        state_dir(home).mkdir(parents=True)
        (state_dir(home) / "credentials.json").write_text("{")
    assert run(line.split(), home) == 1
    told = capsys.readouterr().err
    assert "there is no database in" in told
    assert "--mine" not in told


def test_an_operator_who_names_the_folder_makes_the_first_key_there_although_signed_in(
    home: dict[str, str], tmp_path: Path
) -> None:
    signed_in(home)
    assert run(["keys", "create", "--name", "first"], home | {"VERDICT_DATA_DIR": str(tmp_path / "data")}) == 0
    assert (tmp_path / "data/verdict.db").exists()


def test_who_is_not_signed_in_makes_the_first_key_in_the_platforms_folder(home: dict[str, str], tmp_path: Path) -> None:
    assert run(["keys", "create", "--name", "first"], home) == 0
    assert (tmp_path / "share/verdict/verdict.db").exists()
