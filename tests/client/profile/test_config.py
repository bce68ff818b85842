import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client import config
from service.client.config import Config, read_usdc, show_usdc
from service.client.errors import RefusalError


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


def written(home: dict[str, str], text: str) -> None:
    config.path(home).parent.mkdir(parents=True)
    config.path(home).write_text(text)


def test_where_nothing_is_chosen_there_is_nothing(home: dict[str, str]) -> None:
    assert config.read(home) == Config(None, None, None, None)


def test_what_is_chosen_is_read_again_as_it_was_written(home: dict[str, str]) -> None:
    chosen = Config("https://verdict.example", "/keys/ada.json", 50_000, 2_000_000)
    config.write(home, chosen)
    assert config.read(home) == chosen
    assert json.loads(config.path(home).read_text()) == {
        "url": "https://verdict.example",
        "keystore": "/keys/ada.json",
        "max-price": "0.05",
        "max-day": "2.00",
    }
    config.write(home, Config(max_day_micro_usd=0))
    assert json.loads(config.path(home).read_text()) == {"max-day": "0.00"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it holds no names and values"),
        ('{"max_price": "0.05"}', "it names 'max_price', and there are only url, keystore, max-price, max-day"),
        ('{"max-price": 0.05}', "max-price is not a text in quotation marks"),
        ('{"max-price": "a lot"}', "'a lot' is no amount of USDC"),
        ('{"url": "verdict.example"}', "not a valid service URL"),
        ('{"keystore": " "}', "a path is missing"),
        ('{"url": "\\ud800"}', "not a valid service URL"),
    ],
)
def test_a_file_that_is_not_understood_is_refused_with_what_is_wrong(
    home: dict[str, str], text: str, said: str
) -> None:
    written(home, text)
    with pytest.raises(RefusalError, match="cannot be understood") as caught:
        config.read(home)
    assert said in str(caught.value)
    assert str(config.path(home)) in str(caught.value)


def test_bytes_that_are_no_text_are_not_understood(home: dict[str, str]) -> None:
    written(home, "")
    config.path(home).write_bytes(b"\xff\xfe{")
    with pytest.raises(RefusalError, match="cannot be understood"):
        config.read(home)


def test_a_file_that_cannot_be_read_or_written_says_why(home: dict[str, str]) -> None:
    config.path(home).mkdir(parents=True)
    with pytest.raises(RefusalError, match=r"cannot be read \(Is a directory\)"):
        config.read(home)
    with pytest.raises(RefusalError, match=r"cannot be written \(Is a directory\)"):
        config.write(home, Config())


@pytest.mark.parametrize("key", ["ab" * 32, "0x" + "AB" * 32])
def test_a_key_in_place_of_its_file_is_not_kept(key: str) -> None:
    with pytest.raises(ValueError, match="not the path of a file") as caught:
        config.CHOICES["keystore"].read(key)
    assert key not in str(caught.value)


def test_a_keystore_is_kept_by_its_whole_path(
    home: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ada")
    read = config.CHOICES["keystore"].read
    assert read("ada.json") == str(tmp_path / "ada.json")
    assert read("~/ada.json") == "/home/ada/ada.json"


@pytest.mark.parametrize(
    ("text", "micro_usd", "shown"),
    [
        ("0", 0, "0.00"),
        ("0.1", 100_000, "0.10"),
        ("0.10", 100_000, "0.10"),
        ("1", 1_000_000, "1.00"),
        ("0.005", 5_000, "0.005"),
        ("0.000001", 1, "0.000001"),
        ("12.345678", 12_345_678, "12.345678"),
        ("1000", 1_000_000_000, "1000.00"),
    ],
)
def test_an_amount_is_read_to_the_millionth(text: str, micro_usd: int, shown: str) -> None:
    assert read_usdc(text) == micro_usd
    assert show_usdc(micro_usd) == shown


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1\n",
        ".5",
        "1.",
        "-1",
        "+1",
        "1e3",
        "1_0",
        "NaN",
        "Infinity",
        "\u0660.\u0661",
        "0.1234567",
        "0,10",
        "$1",
    ],
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no amount of USDC"):
        read_usdc(text)


@pytest.mark.parametrize("text", ["1000.000001", "1001", "999999"])
def test_more_than_anybody_means_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="above 1000"):
        read_usdc(text)


@settings(max_examples=50)
@given(st.integers(0, 1_000_000_000))
def test_an_amount_is_read_again_as_it_was_shown(micro_usd: int) -> None:
    assert read_usdc(show_usdc(micro_usd)) == micro_usd
