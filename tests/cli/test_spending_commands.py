"""`verdict spending`: the wallet that pays, its ceilings and its receipts, without a service."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from service.cli import spending_commands
from service.cli.terminal import Display
from service.client.paying.terms import OpenPaymentError
from tests.cli.commanding import typed
from tests.cli.snapshots import check
from tests.client.paying.stand import ASKED, NAME, SECRET, Stand, asking, refused, sold

ADDRESS = Account.from_key(SECRET).address


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path), "VERDICT_WALLET_KEY": SECRET.hex()}


@pytest.fixture
def stand(tmp_path: Path) -> Stand:
    return Stand(tmp_path / ".local" / "state" / "verdict", sold())


def configure(home: dict[str, str], **chosen: str) -> None:
    folder = Path(home["HOME"]) / ".config" / "verdict"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(chosen))


def told(home: dict[str, str], command: str = "show") -> Any:
    done = typed("spending", command, "--json", environment=home)
    assert done.code == 0
    return done.json


def test_it_tells_address_ceilings_and_what_is_signed_for(home: dict[str, str]) -> None:
    configure(home, **{"max-price": "0.02"})
    assert told(home) == {
        "address": ADDRESS,
        "from": "VERDICT_WALLET_KEY",
        "maxPriceUsdc": "0.02",
        "maxDayUsdc": "1.00",
        "signedTodayUsdc": "0.00",
        "open": [],
        "folder": f"{home['HOME']}/.local/state/verdict/paying",
    }
    assert SECRET.hex() not in str(told(home))


def test_it_tells_of_payments_whose_end_is_not_known(home: dict[str, str], stand: Stand) -> None:
    stand.clock.set_wall(2**42)  # far ahead, so that the payment is not forgotten by the clock of this machine
    stand.script = [refused(503)]
    with pytest.raises(OpenPaymentError):
        stand.buy(asking(date_ms=2**42))
    (row,) = told(home)["open"]
    assert (row["for"], row["service"], row["amountUsdc"]) == ("GET /api/cli/coin/risk/BTC", ASKED.url, "0.005")
    assert told(home)["signedTodayUsdc"] == "0.005"


@pytest.mark.parametrize(
    ("content", "address"),
    [
        (json.dumps({"address": ADDRESS[2:].lower()}), ADDRESS),
        (json.dumps({"address": ADDRESS}), ADDRESS),
        ("{}", None),
        ("[]", None),
        ('{"address": 7}', None),
        ('{"address": "0xab"}', None),
        ("no JSON", None),
    ],
)
def test_a_keystore_tells_its_address_without_its_password(
    home: dict[str, str], tmp_path: Path, content: str, address: str | None
) -> None:
    keystore = tmp_path / "wallet.json"
    keystore.write_text(content)
    configure(home, keystore=str(keystore))
    del home["VERDICT_WALLET_KEY"]
    found = told(home)
    assert (found["address"], found["from"]) == (address, str(keystore))


def test_without_a_wallet_there_is_no_address(home: dict[str, str]) -> None:
    del home["VERDICT_WALLET_KEY"]
    found = told(home)
    assert (found["address"], found["from"]) == (None, None)


def test_what_cannot_be_read_is_named(home: dict[str, str], stand: Stand) -> None:
    stand.buy()
    (stand.store.folder / "spent.json").write_text("{}")
    damaged = typed("spending", environment=home)
    assert (damaged.code, "is damaged" in damaged.err) == (1, True)
    configure(home, keystore="/nowhere/wallet.json")
    del home["VERDICT_WALLET_KEY"]
    assert "Cannot read /nowhere/wallet.json: " in typed("spending", environment=home).err


def test_receipts_are_listed_with_their_files(home: dict[str, str], stand: Stand) -> None:
    stand.buy()
    (row,) = told(home, "receipts")["receipts"]
    assert (row["id"], row["faults"], row["paid"]["amount"]) == (NAME, [], 5_000)
    assert json.loads(Path(row["file"]).read_text())["receipt"] == row["receipt"]


FOUND = {
    "address": "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A",
    "from": "/home/someone/wallet.json",
    "maxPriceUsdc": "0.10",
    "maxDayUsdc": "1.00",
    "signedTodayUsdc": "0.065",
    "open": [
        {
            "for": "GET /api/cli/coin/risk/BTC",
            "service": "http://127.0.0.1:8402",
            "amountUsdc": "0.005",
            "network": "eip155:84532",
            "payTo": "0x2222222222222222222222222222222222222222",
            "signedAt": "2025-07-25T12:00:00.000Z",
        }
    ],
    "folder": "/home/someone/.local/state/verdict/paying",
}


def test_a_wallet_looks_like_this() -> None:
    check("wallet", lambda on: spending_commands._lines(FOUND, on))
    closed = {**FOUND, "address": None, "open": []}
    check("wallet.closed", lambda on: spending_commands._lines(closed, on))
    check("wallet.none", lambda on: spending_commands._lines({**closed, "from": None}, on))


def test_receipts_look_like_this(stand: Stand) -> None:
    stand.buy()
    stand.pass_seconds(60)
    stand.receipt = {"amount": "1"}
    stand.buy(asking(asked=ASKED._replace(request=b"POST /api/cli\n{}"), date_ms=None))
    found = stand.store.receipts()

    def lines(on: Display) -> Any:
        return spending_commands._receipt_lines(found, on)

    check("wallet.receipts", lines)
