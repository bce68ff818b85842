from pathlib import Path

import pytest

from service.access.sign_in import NONCE_MS, SignIn, WalletProof, sign_in_chain, sign_in_domains, spend_nonce
from service.clock import DAY_MS, iso
from service.errors import ServiceError
from service.settings import Settings
from service.storage.database import Database
from service.wire.access import Login
from tests.access.signing import CHAIN_ID, DOMAIN, login, message, sign, wallet
from tests.fakes.clock import START_MS, FakeClock

WALLET = wallet()
KEY = b"k" * 32


@pytest.fixture
def sign_in(clock: FakeClock) -> SignIn:
    return SignIn(clock, KEY, {DOMAIN}, CHAIN_ID)


def refusal(sign_in: SignIn, asked: Login) -> str:
    with pytest.raises(ServiceError) as caught:
        sign_in.check(asked)
    assert (caught.value.status, caught.value.headers) == (401, {"WWW-Authenticate": "Bearer"})
    return caught.value.message


def test_a_message_signed_by_its_wallet_proves_it(sign_in: SignIn) -> None:
    nonce, expires_ms = sign_in.nonce()
    assert sign_in.check(login(WALLET, nonce, START_MS)) == WalletProof(WALLET.address, nonce, expires_ms)


@pytest.mark.promise("signin.nonce-once")
def test_a_nonce_is_alphanumeric_never_the_same_and_lasts_five_minutes(sign_in: SignIn) -> None:
    nonces = [sign_in.nonce() for _ in range(50)]
    assert len(set(nonces)) == 50
    assert all(nonce.isalnum() and nonce.isascii() and len(nonce) == 40 for nonce, _ in nonces)
    assert {expires_ms for _, expires_ms in nonces} == {START_MS + 300_000}


def test_another_process_with_the_same_secret_knows_the_nonce(sign_in: SignIn, clock: FakeClock) -> None:
    nonce, _ = SignIn(clock, KEY, {DOMAIN}, CHAIN_ID).nonce()
    sign_in.check(login(WALLET, nonce, START_MS))


@pytest.mark.promise("signin.nonce-once")
def test_a_nonce_expires_to_the_millisecond(sign_in: SignIn, clock: FakeClock) -> None:
    asked = login(WALLET, sign_in.nonce()[0], START_MS + 60_000)
    clock.at_ms = START_MS + NONCE_MS - 1
    sign_in.check(asked)
    clock.at_ms += 1
    assert "nonce expired at 2025-07-25T12:05:00.000Z" in refusal(sign_in, asked)


def test_a_nonce_somebody_made_up_is_refused(sign_in: SignIn, clock: FakeClock) -> None:
    foreign, _ = SignIn(clock, b"x" * 32, {DOMAIN}, CHAIN_ID).nonce()
    own, _ = sign_in.nonce()
    for nonce in (foreign, own[:-1] + ("0" if own[-1] != "0" else "1"), own[:16] + "zzzzzzzz" + own[24:], own[:39],
                  own + "0", "a" * 8):  # fmt: skip
        assert "not issued" in refusal(sign_in, login(WALLET, nonce, START_MS))


@pytest.mark.promise("signin.domain-chain")
@pytest.mark.parametrize(
    "domain", ["evil.example", "api.example.org.evil.example", "api.example.org:8402", "evil@api.example.org"]
)
def test_a_message_for_another_domain_is_refused(sign_in: SignIn, domain: str) -> None:
    asked = login(WALLET, sign_in.nonce()[0], START_MS, domain=domain)
    assert refusal(sign_in, asked) == "The message is for another domain. This service is api.example.org."


def test_the_domain_is_compared_without_regard_to_case(sign_in: SignIn) -> None:
    sign_in.check(login(WALLET, sign_in.nonce()[0], START_MS, domain="API.example.ORG"))


@pytest.mark.promise("signin.domain-chain")
@pytest.mark.parametrize("chain_id", ["1", "8453", "84533"])
def test_a_message_for_another_chain_is_refused(sign_in: SignIn, chain_id: str) -> None:
    asked = login(WALLET, sign_in.nonce()[0], START_MS, chain_id=chain_id)
    assert "chain 84532" in refusal(sign_in, asked)


@pytest.mark.parametrize("off_ms", [-NONCE_MS - 1, NONCE_MS + 1, DAY_MS, -DAY_MS])
def test_a_message_issued_at_another_time_is_refused(sign_in: SignIn, off_ms: int) -> None:
    assert "within five minutes" in refusal(sign_in, login(WALLET, sign_in.nonce()[0], START_MS + off_ms))


@pytest.mark.parametrize("off_ms", [-NONCE_MS, NONCE_MS])
def test_a_browser_whose_clock_is_a_little_off_signs_in(sign_in: SignIn, off_ms: int) -> None:
    sign_in.check(login(WALLET, sign_in.nonce()[0], START_MS + off_ms))


def test_its_own_expiry_and_beginning_are_exact(sign_in: SignIn, clock: FakeClock) -> None:
    after = f"\nExpiration Time: {iso(START_MS + 20)}\nNot Before: {iso(START_MS + 10)}"
    asked = login(WALLET, sign_in.nonce()[0], START_MS, after=after)
    clock.at_ms = START_MS + 9
    assert "not valid before" in refusal(sign_in, asked)
    for clock.at_ms in (START_MS + 10, START_MS + 19):
        sign_in.check(asked)
    clock.at_ms = START_MS + 20
    assert "message expired" in refusal(sign_in, asked)


def test_the_signature_of_another_wallet_is_refused(sign_in: SignIn) -> None:
    text = message(WALLET.address, sign_in.nonce()[0], START_MS)
    assert "not the one of the wallet" in refusal(sign_in, Login(text, sign(wallet(2), text)))


def test_a_message_changed_after_signing_is_refused(sign_in: SignIn) -> None:
    asked = login(WALLET, sign_in.nonce()[0], START_MS)
    changed = Login(asked.message.replace("Sign in", "Log in"), asked.signature)
    assert "signature" in refusal(sign_in, changed)


@pytest.mark.parametrize("signature", ["0x" + "00" * 65, "0x" + "ff" * 65, "0x" + "00" * 64 + "1b"])
def test_a_signature_of_nobody_is_refused(sign_in: SignIn, signature: str) -> None:
    text = message(WALLET.address, sign_in.nonce()[0], START_MS)
    assert "signature is not valid" in refusal(sign_in, Login(text, signature))


def test_the_malleated_twin_of_a_good_signature_is_refused(sign_in: SignIn) -> None:
    order = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
    asked = login(WALLET, sign_in.nonce()[0], START_MS)
    raw = bytes.fromhex(asked.signature[2:])
    twin = raw[:32] + (order - int.from_bytes(raw[32:64])).to_bytes(32, "big") + bytes([55 - raw[64]])
    assert "high" in refusal(sign_in, Login(asked.message, "0x" + twin.hex()))


def test_a_text_that_is_no_sign_in_message_is_the_callers_mistake(sign_in: SignIn) -> None:
    with pytest.raises(ServiceError) as caught:
        sign_in.check(Login("sign me in", "0x" + "00" * 65))
    assert (caught.value.code, caught.value.details) == ("BAD_REQUEST", {"parameter": "message"})


@pytest.mark.promise("signin.nonce-once")
async def test_a_nonce_is_spent_once_and_kept_for_a_day_past_its_expiry(db: Database) -> None:
    proof = WalletProof(WALLET.address, "n" * 40, START_MS)
    await db.write(lambda connection: spend_nonce(connection, proof, START_MS))
    for now_ms in (START_MS, START_MS + DAY_MS, START_MS - DAY_MS):
        with pytest.raises(ServiceError, match="used already"):
            await db.write(lambda connection, at=now_ms: spend_nonce(connection, proof, at))  # type: ignore[misc]
    other = WalletProof(WALLET.address, "m" * 40, START_MS + DAY_MS)
    await db.write(lambda connection: spend_nonce(connection, other, START_MS + DAY_MS + 1))
    assert await db.read("SELECT nonce FROM spent_nonces") == [("m" * 40,)]


@pytest.mark.parametrize(
    ("given", "domains"),
    [
        ({"public_url": "https://API.example.org"}, {"api.example.org"}),
        ({"public_url": "https://api.example.org:443"}, {"api.example.org"}),
        ({"public_url": "http://api.example.org:80"}, {"api.example.org"}),
        ({"public_url": "https://api.example.org:8443", "host": "0.0.0.0"}, {"api.example.org:8443"}),
        ({"host": "127.0.0.1", "port": 8402}, {"127.0.0.1:8402", "localhost:8402", "[::1]:8402"}),
        ({"host": "0.0.0.0", "port": 80}, {"127.0.0.1", "localhost", "[::1]"}),
        ({"host": "::", "port": 80}, {"127.0.0.1", "localhost", "[::1]"}),
        ({"host": "Box.local", "port": 8402}, {"box.local:8402"}),
        ({"host": "box.local", "port": 443, "tls_cert": Path("c"), "tls_key": Path("k")}, {"box.local"}),
        ({"host": "10.0.0.7", "port": 443}, {"10.0.0.7:443"}),
    ],
)
def test_the_domain_is_where_callers_reach_the_service(given: dict[str, object], domains: set[str]) -> None:
    assert sign_in_domains(Settings(**given)) == domains  # type: ignore[arg-type]


def test_the_chain_is_the_one_of_payments() -> None:
    assert sign_in_chain(Settings(network="eip155:8453")) == 8_453
