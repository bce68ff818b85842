"""The configuration, and which service and token a command uses."""

import json
from pathlib import Path
from typing import Any

import pytest

from service.client import config, credentials
from service.client.caller import open_client
from service.client.config import Config, read_usdc, show_usdc
from service.client.credentials import StoredCredential
from service.client.errors import FAILED, UNKNOWN_CALLER, RefusalError
from service.client.files import config_dir, state_dir


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def write(home: dict[str, str], content: bytes) -> None:
    config.path(home).parent.mkdir(parents=True, exist_ok=True)
    config.path(home).write_bytes(content)


def test_what_is_chosen_is_read_again_as_it_was_written(home: dict[str, str]) -> None:
    assert config.read(home) == Config(None, None, None, None)
    chosen = Config("https://verdict.example", "/keys/ada.json", 50_000, 2_000_000)
    config.write(home, chosen)
    assert config.read(home) == chosen
    shown = {"url": "https://verdict.example", "keystore": "/keys/ada.json", "max-price": "0.05", "max-day": "2.00"}
    assert json.loads(config.path(home).read_text()) == shown


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        ([b"{", b"[" * 100_000, b"\xff\xfe{"], r"It is not JSON\."),
        ([b"[]"], r"It does not contain an object of names and values\."),
        ([b'{"max_price": "0.05"}'], r"There is no setting 'max_price'\. The settings are url, keystore, max-price, m"),
        ([b'{"max-price": 0.05}'], "max-price is not a text in quotation marks"),
        ([b'{"max-price": "a lot"}'], "'a lot' is not an amount of USDC"),
        ([b'{"url": "verdict.example"}', b'{"url": "\\ud800"}'], "not a valid service URL"),
        ([b'{"keystore": " "}'], r"The path is empty\."),
    ],
)  # fmt: skip
def test_a_file_that_is_not_understood_is_refused_with_what_is_wrong(
    home: dict[str, str], contents: list[bytes], said: str
) -> None:
    for content in contents:
        write(home, content)
        with pytest.raises(RefusalError, match=rf"{config.path(home)} is not valid\. .*{said}"):
            config.read(home)


def test_a_keystore_is_stored_by_its_whole_path_and_never_a_key(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    read = config.CHOICES["keystore"].read
    assert (read("ada.json"), read("~/ada.json")) == (str(tmp_path / "ada.json"), "/home/ada/ada.json")
    for key in ("ab" * 32, "0x" + "AB" * 32):
        with pytest.raises(ValueError, match="not the path of a file") as caught:
            read(key)
        assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "micro_usd", "shown"),
    [("0", 0, "0.00"), ("0.1", 100_000, "0.10"), ("1", 1_000_000, "1.00"), ("0.005", 5_000, "0.005"),
     ("0.000001", 1, "0.000001"), ("12.345678", 12_345_678, "12.345678"), ("1000", 1_000_000_000, "1000.00")],
)  # fmt: skip
def test_an_amount_is_read_to_the_millionth(text: str, micro_usd: int, shown: str) -> None:
    assert (read_usdc(text), show_usdc(micro_usd)) == (micro_usd, shown)


@pytest.mark.parametrize(
    ("said", "texts"),
    [
        ("is not an amount of USDC", ["", " 1", "1\n", ".5", "1.", "-1", "+1", "1e3", "1_0", "NaN", "Infinity",
                                  "\u0660.\u0661", "0.1234567", "0,10", "$1"]),
        ("highest possible limit, 1,000", ["1000.000001", "1001", "999999", "9999999", "9" * 20]),
    ],
)  # fmt: skip
def test_what_is_no_amount_or_too_much_is_refused(said: str, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(ValueError, match=said):
            read_usdc(text)


@pytest.mark.promise("clients.settings")
def test_the_typed_url_comes_before_the_environment_the_configuration_and_the_default(home: dict[str, str]) -> None:
    assert open_client(None, home).url == "http://127.0.0.1:8402"
    config.write(home, Config(url="http://configured.test"))
    assert open_client(None, home).url == "http://configured.test"
    home["VERDICT_URL"] = "http://environment.test:80/"
    assert open_client(None, home).url == "http://environment.test"
    assert open_client("https://TYPED.test", home).url == "https://typed.test"
    write(home, b"{")
    assert open_client("http://x", home).url == "http://x"
    with pytest.raises(RefusalError, match="is not valid"):
        open_client(None, {"HOME": home["HOME"]})


@pytest.mark.promise("clients.settings")
def test_the_environments_token_comes_before_the_one_stored_for_the_url(home: dict[str, str]) -> None:
    here, there = "http://here.test", "http://there.test"
    credentials.keep(home, here, StoredCredential("kept", "session", None, None))
    assert (open_client(here, home).token, open_client(there, home).token) == ("kept", None)
    told = {**home, "VERDICT_TOKEN": " told\n"}
    assert (open_client(here, told).token, open_client(here, told, token=False).token) == ("told", None)
    assert open_client(here, {**home, "VERDICT_TOKEN": " "}).token == "kept"
    credentials.keep(home, here, StoredCredential("s3cret token", "session", None, None))
    with pytest.raises(RefusalError, match=r"is not valid\. Run `verdict login`"):
        open_client(here, home)


@pytest.mark.parametrize(
    ("typed", "variables", "said", "code"),
    [
        (None, {"VERDICT_TOKEN": "s3cret\r\nX: 1"}, "VERDICT_TOKEN: This is not an API key or session", UNKNOWN_CALLER),
        ("h", {"VERDICT_URL": "http://x"}, "--url: .*Use http", FAILED),
        ("", {}, "--url: .*Use http", FAILED),
        (None, {"VERDICT_URL": "h"}, "VERDICT_URL: .*Use http", FAILED),
    ],
)
def test_a_url_or_token_that_is_not_valid_is_refused_by_its_source(
    home: dict[str, str], typed: Any, variables: dict[str, str], said: str, code: int
) -> None:
    with pytest.raises(RefusalError, match=said) as caught:
        open_client(typed, home | variables)
    assert caught.value.code == code
    assert "s3cret" not in str(caught.value)


def test_folders_are_those_of_xdg_else_below_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    chosen = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "HOME": "/home/ada"}
    assert (config_dir(chosen), state_dir(chosen)) == (Path("/c/verdict"), Path("/s/verdict"))
    for relative in ("", "relative/path", "."):
        other = {"XDG_CONFIG_HOME": relative, "XDG_STATE_HOME": relative, "HOME": "/home/ada"}
        assert config_dir(other) == Path("/home/ada/.config/verdict")
        assert state_dir(other) == Path("/home/ada/.local/state/verdict")
    assert config_dir({}) == Path.home() / ".config/verdict"
    monkeypatch.setattr(Path, "home", nowhere)
    with pytest.raises(RefusalError, match="Set HOME"):
        state_dir({})
