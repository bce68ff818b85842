"""What a person's commands hold: tokens, a wallet's key, its file's password; searched for in all that they say.

They ask a service as it is, one that repeats what it was asked with, and one that is not there.
"""

import io
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from service.__main__ import run
from tests.client.signin.keys import KEY, PASSWORD, write_keystore
from tests.fakes.serving import serving
from tests.payments.signing import PAYEE
from tests.service.canaries import FailingParrot, Said, find_none, parrot

TOKEN = "verdict_sk_0123456789CanaryCanaryCanary01234567"
NOWHERE = "http://127.0.0.1:1"
BTC = ("coin", "risk", "BTC")
CALLS = (
    *(BTC, (*BTC, "--dry-run"), (*BTC, "--yes"), ("ask", "price of BTC?"), ("ask", "price of BTC?", "--yes")),
    *(("manifest",), ("whoami",), ("billing", "tier"), ("billing", "receipts"), ("signal", "BTC")),
    *(("watch", "prices"), ("keys", "list"), ("keys", "revoke", "verdict_sk_01234567")),
    *(("doctor",), ("spending",), ("spending", "receipts"), ("config", "list"), ("logout",)),
)

Verdict = Callable[..., tuple[str, str]]


@pytest.fixture
def verdict(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verdict:
    """Runs `verdict` with something piped in: what was typed, and all that was said."""
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    home = {"HOME": str(tmp_path)}

    def command(*typed: str, piped: str = "", **environment: str) -> tuple[str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(piped.encode())))
        run(typed, {**home, **environment})
        return " ".join(typed), "".join(capfd.readouterr())

    return command


@pytest.fixture
def keystore(tmp_path: Path) -> str:
    return write_keystore(tmp_path / "wallet.json")


def everything(verdict: Verdict, url: str, keystore: str, token: str) -> Said:
    """What commands say who have a token and a wallet: as a key, and in a file."""
    sealed = {"VERDICT_KEYSTORE_PASSWORD": PASSWORD}
    yield verdict("config", "set", "keystore", keystore)
    for wallet in ({"VERDICT_WALLET_KEY": KEY}, sealed):
        known = {"VERDICT_URL": url, "VERDICT_TOKEN": token, **wallet}
        for call in CALLS:
            yield verdict(*call, **known)
            yield verdict(*call, "--json", **known)
    yield verdict("login", "--token", "--json", piped=f"{token}\n", VERDICT_URL=url)
    yield verdict("login", "--keystore", keystore, "--json", VERDICT_URL=url, **sealed)
    yield verdict("login", "--keystore", keystore, piped=f"{PASSWORD}x\n", VERDICT_URL=url)
    yield verdict(*BTC, VERDICT_URL=url)


def hidden(token: str) -> Mapping[str, str]:
    return {"token": token, "end of the token": token[-20:], "wallet": KEY[2:], "password": PASSWORD}


@pytest.fixture(params=["parrot", "nobody"])
def stranger(request: pytest.FixtureRequest) -> Iterator[str]:
    """Where a service should be."""
    if request.param == "nobody":
        yield NOWHERE
        return
    with parrot(FailingParrot) as (url, _):
        yield url


def test_what_a_command_holds_is_told_nobody_where_its_service_fails(
    verdict: Verdict, stranger: str, keystore: str
) -> None:
    find_none(hidden(TOKEN), everything(verdict, stranger, keystore, TOKEN))


@pytest.mark.process
@pytest.mark.soak
def test_what_a_command_holds_is_told_nobody(verdict: Verdict, keystore: str, tmp_path: Path) -> None:
    with serving(tmp_path / "data", pay_to=PAYEE) as service:
        token = service.make_key()
        told = [*everything(verdict, f"http://127.0.0.1:{service.port}", keystore, token)]
        told += everything(verdict, f"http://127.0.0.1:{service.port}", keystore, token)
        kept = [(str(path), path.read_text()) for path in (tmp_path / ".local").rglob("*") if path.is_file()]
    assert any("The receipt is rcp_" in said for _, said in told), "something was paid for"
    find_none(hidden(token), told)
    find_none({"wallet": KEY[2:], "password": PASSWORD}, kept)


CANARY = "Canary7Tf3qLw9ZxR2"


@pytest.mark.parametrize(
    "environment",
    [
        {"VERDICT_TOKEN": f"{CANARY} {CANARY}"},
        {"VERDICT_TOKEN": f"{CANARY}\r\nX-Other: {CANARY}"},
        {"VERDICT_TOKEN": f"\u20ac{CANARY}"},
        {"VERDICT_WALLET_KEY": f"0x{CANARY}"},
        {"VERDICT_URL": f"http://verdict:{CANARY}@127.0.0.1:1"},
        {"VERDICT_URL": f"verdict:{CANARY}@127.0.0.1:1"},
        {"VERDICT_URL": f"http://127.0.0.1:1/a:{CANARY}@b"},
        {"VERDICT_URL": f"http://127.0.0.1:1/?key={CANARY}"},
        {"VERDICT_URL": f"127.0.0.1?key={CANARY}"},
    ],
    ids="+".join,
)
def test_a_secret_that_cannot_be_used_is_not_repeated(verdict: Verdict, environment: Mapping[str, str]) -> None:
    known = {"VERDICT_URL": NOWHERE, **environment}
    calls = [*CALLS, ("login", "--json")]
    find_none({"secret": CANARY}, [verdict(*call, **known) for call in calls])


@pytest.mark.parametrize(
    "content", [CANARY, f'{{"crypto":"{CANARY}"}}', f'{{"version":3,"{CANARY}":1}}', f"0x{CANARY}"]
)
def test_a_file_that_is_no_keystore_is_not_repeated(verdict: Verdict, tmp_path: Path, content: str) -> None:
    (tmp_path / "wallet.json").write_text(content)
    said = verdict("login", "--keystore", str(tmp_path / "wallet.json"), piped="a\n", VERDICT_URL=NOWHERE)
    find_none({"secret": CANARY}, [said])


def test_a_token_that_is_piped_in_and_cannot_be_used_is_not_repeated(verdict: Verdict) -> None:
    find_none({"secret": CANARY}, [verdict("login", "--token", piped=f"{CANARY} x\n", VERDICT_URL=NOWHERE)])
