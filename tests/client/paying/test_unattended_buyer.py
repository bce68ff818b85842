"""Which ceilings hold, and whose wallet is meant."""

import json
import threading
from pathlib import Path

import pytest
from eth_account import Account

from service.client.config import Config
from service.client.errors import RefusalError
from service.client.paying.buyer import ceilings_of, find_wallet, unattended_buyer
from service.client.paying.terms import Ceilings
from tests.client.paying.stand import SECRET, Stand, asking, sold
from tests.fakes.clock import FakeClock

ADDRESS = Account.from_key(SECRET).address
KEY = {"VERDICT_WALLET_KEY": "0x" + SECRET.hex()}


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path)}


@pytest.fixture
def keystore(tmp_path: Path) -> Path:
    """A wallet's file of another key than the environment's, as cheap to open as one can be."""
    path = tmp_path / "wallet.json"
    path.write_text(json.dumps(Account.encrypt(b"\x12" * 32, "secret", kdf="pbkdf2", iterations=2)))
    return path


def choose(home: dict[str, str], **chosen: str) -> None:
    folder = Path(home["HOME"]) / ".config" / "verdict"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps({name.replace("_", "-"): value for name, value in chosen.items()}))


@pytest.mark.parametrize(
    ("chosen", "typed", "held"),
    [
        (Config(), None, (100_000, 1_000_000)),
        (Config(max_price_micro_usd=5_000), None, (5_000, 1_000_000)),
        (Config(max_price_micro_usd=0), None, (0, 1_000_000)),
        (Config(max_day_micro_usd=0), None, (100_000, 0)),
        (Config(max_price_micro_usd=5_000), 500_000, (500_000, 1_000_000)),
        (Config(max_price_micro_usd=5_000), 1_000, (1_000, 1_000_000)),
        (Config(max_day_micro_usd=7), 0, (0, 7)),
    ],
)
def test_what_is_typed_holds_for_a_call_then_what_is_configured_and_the_day_is_configured_alone(
    chosen: Config, typed: int | None, held: Ceilings
) -> None:
    assert ceilings_of(chosen, typed) == held


def test_the_key_of_the_environment_comes_before_the_configured_keystore(home: dict[str, str], keystore: Path) -> None:
    config = Config(keystore=str(keystore))
    found = find_wallet({**home, **KEY}, config)
    assert found is not None
    assert found().address == ADDRESS
    found = find_wallet({**home, "VERDICT_KEYSTORE_PASSWORD": "secret"}, config)
    assert found is not None
    assert found().address == Account.from_key(b"\x12" * 32).address
    assert find_wallet(home, Config()) is None


def test_a_wallet_is_not_opened_before_it_is_needed(home: dict[str, str]) -> None:
    found = find_wallet(home, Config(keystore="/nowhere"))
    assert found is not None
    with pytest.raises(RefusalError, match="cannot be read"):
        found()


def test_an_unattended_buyer_asks_nobody_and_opens_its_wallet_once(
    home: dict[str, str], keystore: Path, tmp_path: Path
) -> None:
    choose(home, keystore=str(keystore), max_price="0.01")
    environment = {**home, "VERDICT_KEYSTORE_PASSWORD": "secret"}
    told: list[str] = []
    buyer = unattended_buyer(environment, FakeClock(), told.append, threading.Event().wait)
    assert buyer.ceilings == Ceilings(10_000, 1_000_000)
    keystore.unlink()
    stand = Stand(tmp_path, sold())
    buyer.buy(asking(), stand.send, stand)
    assert len(stand.sent) == len(told) == 1
    assert (Path(home["HOME"]) / ".local" / "state" / "verdict" / "paying" / "spent.json").exists()


def test_an_unattended_buyer_without_a_wallet_or_its_password_is_refused_at_once(
    home: dict[str, str], keystore: Path
) -> None:
    def open_it() -> None:
        unattended_buyer(home, FakeClock(), print, print)

    with pytest.raises(RefusalError, match="there is no wallet to pay with: set VERDICT_WALLET_KEY"):
        open_it()
    choose(home, keystore=str(keystore))
    with pytest.raises(RefusalError, match=r"nobody can be asked for the password .*: set VERDICT_KEYSTORE_PASSWORD"):
        open_it()
