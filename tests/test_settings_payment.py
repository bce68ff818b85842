"""What an operator may say of payments, and what is refused before anybody could lose money by it."""

from pathlib import Path

import pytest

from service.settings import NOBODY, Secret, Settings, SettingsError
from tests.test_settings import read

PAYEE = "0x2222222222222222222222222222222222222222"
KEY = "0x" + "1f" * 32
REMOTE = {"settlement": "remote", "pay_to": PAYEE, "facilitator_url": "https://x402.example.org/v2"}
CHAIN = {"settlement": "chain", "pay_to": PAYEE, "rpc_url": "https://rpc.example.org/key", "operator_key": KEY}


@pytest.mark.promise("pay.ledger")
def test_payments_are_only_recorded_unless_the_operator_says_otherwise() -> None:
    settings = Settings.from_environ({})
    assert (settings.settlement, settings.network, settings.pay_to) == ("ledger", "eip155:84532", NOBODY)


def test_what_settles_for_money_is_taken_with_what_it_needs() -> None:
    assert read(**REMOTE, facilitator_token="t" * 2_000).facilitator_token == Secret("t" * 2_000)
    assert read(**REMOTE, cdp_key_id="organizations/1", cdp_key_secret="s").cdp_key_id == "organizations/1"
    assert read(**CHAIN, network="eip155:8453", gas_cap_gwei="5", confirmations="2").confirmations == 2
    stored = {**CHAIN, "operator_key": "", "operator_keystore": "~/key.json", "operator_password": "p"}
    assert read(**stored).operator_keystore == Path.home() / "key.json"


def test_a_secret_is_not_to_be_seen_in_what_is_printed() -> None:
    assert KEY not in repr(read(**CHAIN))
    assert len({Secret("a"), Secret("a"), Secret("b")}) == 2
    assert Secret("a") != "a"


@pytest.mark.promise("pay.ledger")
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": "eip155:8453"}, "VERDICT_SETTLEMENT=ledger moves no money, so it takes no mainnet"),
        ({"settlement": "free"}, "VERDICT_SETTLEMENT takes ledger or remote or chain, not 'free'"),
        ({**REMOTE, "pay_to": ""}, "VERDICT_PAY_TO must name your address"),
        ({**REMOTE, "facilitator_url": ""}, "VERDICT_SETTLEMENT=remote needs VERDICT_FACILITATOR_URL."),
        ({**REMOTE, "facilitator_url": "x402.org"}, "VERDICT_FACILITATOR_URL takes a scheme and a host"),
        ({**REMOTE, "rpc_url": "ws://rpc"}, "VERDICT_RPC_URL takes a scheme and a host"),
        ({**REMOTE, "facilitator_token": "a\nb"}, "VERDICT_FACILITATOR_TOKEN takes printable characters"),
        ({**REMOTE, "cdp_key_id": "k"}, "VERDICT_CDP_KEY_ID and VERDICT_CDP_KEY_SECRET go together"),
        (
            {**REMOTE, "cdp_key_id": "k", "cdp_key_secret": "s", "facilitator_token": "t"},
            "VERDICT_FACILITATOR_TOKEN and VERDICT_CDP_KEY_ID exclude each other",
        ),
        ({**CHAIN, "rpc_url": ""}, "VERDICT_SETTLEMENT=chain needs VERDICT_RPC_URL."),
        ({**CHAIN, "operator_key": ""}, "needs one of VERDICT_OPERATOR_KEY and VERDICT_OPERATOR_KEYSTORE"),
        ({**CHAIN, "operator_keystore": "k.json"}, "needs one of VERDICT_OPERATOR_KEY and VERDICT_OPERATOR_KEYSTORE"),
        ({**CHAIN, "operator_key": "0x1f"}, "VERDICT_OPERATOR_KEY takes a private key"),
        (
            {**CHAIN, "operator_key": "", "operator_keystore": "k.json"},
            "VERDICT_OPERATOR_KEYSTORE needs VERDICT_OPERATOR_PASSWORD.",
        ),
        ({**CHAIN, "gas_cap_gwei": "0"}, "VERDICT_GAS_CAP_GWEI takes 1 to 100000, not 0"),
        ({**CHAIN, "confirmations": "101"}, "VERDICT_CONFIRMATIONS takes 1 to 100, not 101"),
    ],
)
def test_what_cannot_work_is_refused_at_the_start_naming_the_variable(given: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        read(**given)


def test_a_refusal_never_repeats_a_secret() -> None:
    with pytest.raises(SettingsError) as caught:
        read(**{**CHAIN, "operator_key": "0x1f"})
    assert "0x1f" not in str(caught.value)
