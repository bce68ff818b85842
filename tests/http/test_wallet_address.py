"""`walletAddress` in a question: a wallet's tier counts for whoever has proven it, and naming one changes nothing."""

from pathlib import Path

import pytest

from tests.access.signing import NETWORK, login, wallet
from tests.fakes.asgi import ask
from tests.http.questions import body_of, events, question
from tests.http.stage import TIER, Stage, staged


async def session(stage: Stage, number: int) -> str:
    """The session of whoever has proven a wallet."""
    nonce = stage.access.accounts.nonce().nonce
    return (await stage.access.accounts.login(login(wallet(number), nonce, stage.clock.now_ms()), NETWORK)).token


async def tier_of(stage: Stage, token: str) -> str:
    return str((await ask(stage.app, TIER, key=token)).json["data"]["tier"])


@pytest.mark.promise("question.wallet-proven")
async def test_naming_a_wallet_that_is_not_proven_changes_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        rich = wallet(1).address
        await stage.admin.add_grant(rich, "pro")
        owner = await session(stage, 1)
        for poor in (await stage.key(), await session(stage, 2)):
            for _ in range(10):
                assert (await question(stage, poor, body_of(walletAddress=rich))).status == 200
            for address in (rich, rich.lower(), None):
                spent = await question(stage, poor, body_of(walletAddress=address))
                assert spent.status == 402
                assert spent.json["gate"]["tier"] == "free"
            assert await tier_of(stage, poor) == "free"
        assert await tier_of(stage, owner) == "pro"


@pytest.mark.promise("question.wallet-proven")
@pytest.mark.parametrize("named", [True, False])
async def test_a_proven_wallets_tier_counts_whether_it_is_named_or_not(tmp_path: Path, named: bool) -> None:
    async with staged(tmp_path) as stage:
        mine = wallet(1).address
        await stage.admin.add_grant(mine, "pro")
        token = await session(stage, 1)
        body = body_of(walletAddress=mine) if named else body_of()
        assert {(await question(stage, token, body)).status for _ in range(12)} == {200}


@pytest.mark.promise("question.wallet-proven")
async def test_naming_another_wallet_takes_nothing_away_either(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        await stage.admin.add_grant(wallet(1).address, "pro")
        token = await session(stage, 1)
        other = body_of(walletAddress=wallet(2).address)
        assert {(await question(stage, token, other)).status for _ in range(12)} == {200}


@pytest.mark.promise("question.wallet-proven", "question.anonymous-403")
async def test_without_a_token_a_wallet_is_nobodys(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        rich = wallet(1).address
        await stage.admin.add_grant(rich, "pro")
        await session(stage, 1)
        assert (await question(stage, body=body_of(walletAddress=rich))).status == 403
        device = body_of(walletAddress=rich, deviceId="device-0001")
        assert [(await question(stage, body=device)).status for _ in range(2)] == [200, 403]
        assert await events(stage) == [(0, 1)]


@pytest.mark.parametrize("address", ["0x123", "vitalik.eth", "0x" + "g" * 40, 7])
async def test_an_address_that_is_none_is_400_and_costs_nothing(tmp_path: Path, address: object) -> None:
    async with staged(tmp_path) as stage:
        refused = await question(stage, await stage.key(), body_of(walletAddress=address))
        assert (refused.status, list(refused.json)) == (400, ["error"])
        assert await events(stage) == [(1, 2)]
