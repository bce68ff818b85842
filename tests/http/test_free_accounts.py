"""Signing in over HTTP: which accounts have free questions, and what the others are told."""

import json
from pathlib import Path

import pytest

from service.routes.call import Call
from tests.access.signing import login, wallet
from tests.fakes.asgi import Reply, ask
from tests.http.stage import PRICES, RISK, TIER, Stage, staged

LOGIN = "/api/auth/login"
TRUSTED = {"trusted_proxies": ("192.0.2.0/24",), "rate_per_minute": 1_000_000, "rate_burst": 1_000_000}


async def sign_in(stage: Stage, number: int, address: str) -> Reply:
    """Sign in with a wallet from an address."""
    wanted = login(wallet(number), stage.access.accounts.nonce().nonce, stage.clock.now_ms())
    body = json.dumps({"message": wanted.message, "signature": wanted.signature}).encode()
    headers = {"content-type": "application/json", "x-forwarded-for": address}
    reply = await ask(stage.app, LOGIN, "POST", body=body, headers=headers)
    assert reply.status == 200
    return reply


@pytest.mark.slow
@pytest.mark.promise("signin.free-accounts")
@pytest.mark.parametrize(
    ("network", "other"), [("203.0.113.{}", "203.0.114.9"), ("2001:db8:0:11{:02x}::1", "2001:db8:0:1200::1")]
)
async def test_of_200_wallets_in_a_minute_from_one_network_5_get_an_answer_and_195_a_truthful_bill(
    tmp_path: Path, network: str, other: str
) -> None:
    async with staged(tmp_path, **TRUSTED) as stage:
        tokens, notices = [], 0
        for number in range(1, 201):
            session = (await sign_in(stage, number, network.format(number))).json
            tokens.append(session["token"])
            notices += "notice" in session
        assert notices == 195
        replies = [await ask(stage.app, RISK, key=token) for token in tokens]
        assert [reply.status for reply in replies] == [200] * 5 + [402] * 195
        assert len(await stage.used()) == 1
        assert (await stage.used())[0][1] == 5
        beyond = replies[-1]
        assert beyond.json["gate"]["tier"] == "free"
        quota = {"used": 0, "limit": 0, "remaining": 0, "period": "lifetime", "wall": "grant"}
        assert beyond.json["gate"]["quota"] == quota
        assert beyond.json["gate"]["reset_at"] is None
        assert "your account has no free questions" in beyond.json["error"]["message"]
        assert beyond.headers["ratelimit"] == '"questions";r=0'
        assert (await ask(stage.app, TIER, key=tokens[-1])).headers["ratelimit-policy"] == '"questions";q=0'
        stream = await ask(stage.app, PRICES, key=tokens[-1])
        assert (stream.status, stream.code) == (429, "RATE_LIMITED")
        assert "your account has no free questions" in stream.json["error"]["message"]
        elsewhere = (await sign_in(stage, 201, other)).json
        assert "notice" not in elsewhere
        assert (await ask(stage.app, RISK, key=elsewhere["token"])).status == 200


def test_a_sign_in_without_the_gate_of_the_network_makes_no_account() -> None:
    with pytest.raises(RuntimeError, match="behind the network gate"):
        Call(None, None, None).known_network()
