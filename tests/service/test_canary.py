"""Canaries: secrets that are handed to the service, and whatever it says, writes or keeps is searched for them."""

import re
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from Crypto.PublicKey import ECC

from service.settings import UPSTREAMS, Settings, SettingsError
from tests.client.signin.keys import PASSWORD, write_keystore
from tests.payments.signing import PAYEE
from tests.service.canaries import find_none, parrot, search

pytestmark = pytest.mark.process

OPERATOR = "0x" + "c0ffee" * 10 + "c0fe"


@pytest.mark.soak
@pytest.mark.promise("errors.upstream-redacted")
def test_what_opens_upstreams_models_and_facilitators_is_told_nobody(venue: str, tmp_path: Path) -> None:
    canaries = {
        name: f"CG-{name}Canary7Tf3qLw9ZxR2" for name in ("gecko", "model", "settler", "rpc", "wallets", "base")
    }
    with parrot() as (url, heard):
        settings: dict[str, Any] = {f"{name}_url": f"{url}/{name}" for name in UPSTREAMS} | {"hyperliquid_url": venue}
        search(
            tmp_path / "data",
            canaries,
            {
                **settings,
                "source": "live",
                "coingecko_key": canaries["gecko"],
                "llm_url": f"{url}/{canaries['base']}/v1",
                "llm_model": "parrot",
                "llm_key": canaries["model"],
                "settlement": "remote",
                "pay_to": PAYEE,
                "facilitator_url": f"{url}/{canaries['base']}",
                "facilitator_token": canaries["settler"],
                "rpc_url": f"{url}/v2/{canaries['rpc']}",
                "wallets_rpc": f"{url}/v3/{canaries['wallets']}",
            },
        )
        assert {name for name, secret in canaries.items() if not any(secret in each for each in heard)} == set()


@pytest.mark.soak
@pytest.mark.promise("errors.upstream-redacted")
@pytest.mark.parametrize("sealed", [False, True], ids=["key", "keystore"])
def test_what_moves_money_is_told_nobody(tmp_path: Path, *, sealed: bool) -> None:
    held = {"operator_key": OPERATOR}
    if sealed:
        keystore = write_keystore(tmp_path / "wallet.json", OPERATOR)
        held = {"operator_keystore": keystore, "operator_password": PASSWORD}
    with parrot() as (url, heard):
        settings = {"settlement": "chain", "pay_to": PAYEE, "rpc_url": f"{url}/v2/Canary7Tf3q", **held}
        canaries = {"operator": OPERATOR[2:], "password": PASSWORD, "rpc": "Canary7Tf3q"}
        search(tmp_path / "data", canaries, settings)
        assert heard
        assert not any(OPERATOR[2:] in each for each in heard)


@pytest.mark.soak
@pytest.mark.promise("errors.upstream-redacted")
def test_what_signs_for_coinbases_facilitator_is_told_nobody_nor_is_what_it_has_signed(tmp_path: Path) -> None:
    key = ECC.generate(curve="Ed25519")
    secret = b64encode(key.seed + key.public_key().export_key(format="raw")).decode()
    with parrot() as (url, heard):
        canaries = {"secret": secret, "seed": secret[:40]}
        settings = {"settlement": "remote", "pay_to": PAYEE, "facilitator_url": f"{url}/Canary7Tf3q", "rpc_url": url}
        settings |= {"cdp_key_id": "organizations/a/apiKeys/b", "cdp_key_secret": secret}
        told = search(tmp_path / "data", {**canaries, "facilitator": "Canary7Tf3q"}, settings)
        signed = {token for each in heard if "Bearer ey" in each for token in re.findall(r"Bearer ([\w.-]+)", each)}
        assert signed
        assert not any(secret[:40] in each for each in heard)
        find_none({token: token for token in signed}, told)


@pytest.mark.parametrize(
    "settings",
    [
        {"operator_key": OPERATOR[:-1], "settlement": "chain", "rpc_url": "http://a", "pay_to": PAYEE},
        {"facilitator_token": "CanaryTf3q Lw9ZxR2"},
        {"llm_key": "CanaryTf3q Lw9ZxR2"},
        {"coingecko_key": "CanaryTf3q Lw9ZxR2"},
        {"rpc_url": "ftp://CanaryTf3qLw9ZxR2"},
        {"wallets_rpc": "CanaryTf3qLw9ZxR2"},
        {"llm_url": "http://a b/CanaryTf3qLw9ZxR2", "llm_model": "a"},
        {"store": "CanaryTf3qLw9ZxR2"},
        {"cdp_key_secret": "CanaryTf3qLw9ZxR2"},
    ],
    ids="+".join,
)
def test_a_setting_that_is_refused_is_not_repeated_where_it_is_secret(settings: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.from_environ({f"VERDICT_{name.upper()}": value for name, value in settings.items()})
    assert not any(secret in str(refused.value) for secret in ("Canary", OPERATOR[2:-1])), refused.value
